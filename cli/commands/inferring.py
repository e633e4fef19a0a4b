"""`heliograph graph infer`."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.commands.options import (
    Format,
    FormatOption,
    InsecureOption,
    QuietOption,
    UriOption,
    UserOption,
)
from cli.commands.query import LoadedRunOption


def register(graph: typer.Typer) -> None:
    """Adds the command to the group `graph`."""
    graph.command("infer", epilog="Example: heliograph graph infer dispatch specPts")(infer)


def infer(
    rule: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RULE]…", help="What these rules need, too; all if not given."),
    ] = None,
    run: LoadedRunOption = None,
    listed: Annotated[bool, typer.Option("--list", help="Only list the rules.")] = False,
    uri: UriOption = None,
    user: UserOption = "neo4j",
    insecure: InsecureOption = False,
    output_format: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Derives relationships from those of a run, by rules in Cypher, on the server.

    What was derived before is derived anew. Runs of `analyze --scope application` suit best: rules take time and room
    on the server.
    """
    from cli.infer import infer_in, write_inferred, write_rules
    from cli.progress import Progress
    from cli.query import Place

    if listed:
        write_rules(as_json=output_format is Format.JSON)
        return
    found = infer_in(Place(uri, user, insecure), run, rule or (), Progress(quiet))
    write_inferred(found, as_json=output_format is Format.JSON)
