"""`heliograph graph load`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cli.commands.options import (
    Format,
    FormatOption,
    InsecureOption,
    QuietOption,
    RunOption,
    UriOption,
    UserOption,
)


class Detail(StrEnum):
    """How much of a run the graph holds."""

    STRUCTURE = "structure"
    SLICES = "slices"
    FULL = "full"


def register(graph: typer.Typer) -> None:
    """Adds the command to the group `graph`."""
    graph.command("load", epilog="Example: heliograph graph load --detail structure")(load)


def load(
    run: RunOption = None,
    detail: Annotated[
        Detail,
        typer.Option(
            help="structure: classes, members, calls. slices: also variables, objects and flows of the application, and "
            "of all that reflection depends on. full: of all code."
        ),
    ] = Detail.SLICES,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What queries call the run; its program and mode if not given."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Delete all other runs of the managed server; faster than adding."),
    ] = False,
    uri: UriOption = None,
    user: UserOption = "neo4j",
    insecure: InsecureOption = False,
    output_format: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Loads a run into the graph database, beside the runs that are there."""
    from cli import run as runs
    from cli.exits import usage
    from cli.loading import Wanted, load_managed, load_over_bolt, name_of, password_of, write_loaded
    from cli.progress import Progress
    from cli.server import failing, managed, telling
    from cypher.connection import connect

    found = runs.find(run)
    wanted = Wanted(found, detail.value, name or name_of(found))
    if uri is not None and replace:
        raise usage("--replace is for the managed server")
    with failing(), telling(Progress(quiet)) as tell:
        if uri is None:
            loaded = load_managed(wanted, managed(), tell, replace=replace)
        else:
            with connect(uri, user, password_of(user), insecure=insecure) as driver:
                loaded = load_over_bolt(wanted, driver, tell, uri)
    write_loaded(loaded, as_json=output_format is Format.JSON)
