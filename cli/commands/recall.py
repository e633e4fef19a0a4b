"""The command that compares a run with what was observed while the program ran."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.commands.options import Format, FormatOption, RunOption


def register(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command(epilog="Example: heliograph recall --observed calls.tsv --format json")(recall)


def recall(
    observed: Annotated[
        Path,
        typer.Option("--observed", metavar="FILE", help="A recording of calls, or a log of TamiFlex."),
    ],
    run: RunOption = None,
    output_format: FormatOption = Format.TABLE,
    everything: Annotated[
        bool, typer.Option("--all", help="All that is missing, not the first few of each cause.")
    ] = False,
) -> None:
    """Compares a run with calls that were observed while the program ran: what it lacks, and why."""
    from cli.observed import read
    from cli.present import write_json
    from cli.recall import compare, write
    from cli.run import find

    found = compare(find(run), read(observed))
    if output_format is Format.JSON:
        write_json(found.document())
    else:
        write(found, everything)
