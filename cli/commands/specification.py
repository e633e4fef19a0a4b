"""The command that asks for what an analysis cannot know: `spec`."""

from __future__ import annotations

import typer

from cli.commands.options import AllOption, OutOption, RunOption


def register(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command(
        epilog="Example: heliograph spec --out app.spec, then heliograph analyze app.jar --spec app.spec"
    )(spec)


def spec(run: RunOption = None, everything: AllOption = False, out: OutOption = None) -> None:
    """Writes a file to fill in: the points where names enter the program that the analysis can't know."""
    from cli.export.writing import to_file
    from cli.run import find
    from cli.specifying import lines

    to_file(lines(find(run), everything), out)
