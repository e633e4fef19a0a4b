"""`heliograph browse`."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command("browse", epilog="Example: heliograph browse --print")(browse)


def browse(
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the address, don't open it; so without a display.")
    ] = False,
) -> None:
    """Opens Neo4j Browser on the managed server, with a guide to the graph."""
    from cli.browse import open_browser

    open_browser(only_print=only_print)
