"""Commands that ask the graph database: `query`, `console`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.commands.options import Format, FormatOption, InsecureOption, UriOption, UserOption
from cli.exits import usage

_RUN = "run"

_EXAMPLES = """Examples:

\b
  heliograph query list reflection
  heliograph query show forname-provenance
  heliograph query forname-provenance --param kind=property
  heliograph query site-targets --param site=com.acme.Loader.load:12 --format json
  heliograph query --cypher 'MATCH (c:Class) RETURN c.name LIMIT 5'
  heliograph query --cypher - --format graphml < calls.cypher > calls.graphml
"""


class Form(StrEnum):
    """How answers are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    GRAPHML = "graphml"


class QueryGroup(TyperGroup):
    """Takes a first word that is no command for the name of a query: `query NAME` is `query run NAME`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


LoadedRunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="NAME", help="A run's name in the graph; the newest if not given."),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="NAME=VALUE", help="The value of a parameter; as often as needed."),
]
SecondsOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="When a query is ended.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    query = typer.Typer(
        cls=QueryGroup,
        help="Asks the graph: a query of the catalogue by its name, or your own in Cypher.",
        epilog=_EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    query.command("list", epilog="Example: heliograph query list provenance")(list_queries)
    query.command("show", epilog="Example: heliograph query show forname-provenance")(show)
    query.command(_RUN, epilog=_EXAMPLES)(run_query)
    app.add_typer(query, name="query")
    app.command(epilog="Example: heliograph console --run app:points-to")(console)


def list_queries(
    group: Annotated[str | None, typer.Argument(metavar="[GROUP]", help="Only those of one group.")] = None,
    output_format: FormatOption = Format.TABLE,
) -> None:
    """Lists the queries of the catalogue."""
    from cli.query import write_list

    write_list(group, as_json=output_format is Format.JSON)


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `query list` has it.")],
    output_format: FormatOption = Format.TABLE,
) -> None:
    """Shows a query of the catalogue: what it answers, its parameters, its text."""
    from cli.query import write_query

    write_query(name, as_json=output_format is Format.JSON)


def run_query(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A query of the catalogue (see `query list`).")
    ] = None,
    param: ParamOption = None,
    cypher: Annotated[
        str | None,
        typer.Option(
            "--cypher",
            metavar="TEXT",
            help="A query of your own, - to read it from standard input. It may only read the graph. Values of "
            "parameters are JSON, or else text.",
        ),
    ] = None,
    run: LoadedRunOption = None,
    output_format: Annotated[
        Form, typer.Option("--format", help="A table for people; the others for programs.")
    ] = Form.TABLE,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="ROWS", min=0, help="Stop after so many rows (10,000); 0 for all."),
    ] = None,
    timeout: SecondsOption = 30.0,
    write: Annotated[
        bool, typer.Option("--write", help="Let the query of --cypher do whatever this user may.")
    ] = False,
    sure: Annotated[bool, typer.Option("--yes", help="Don't ask before a query that may write.")] = False,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Ask a run, too, that is not loaded completely.")
    ] = False,
    uri: UriOption = None,
    user: UserOption = "neo4j",
    insecure: InsecureOption = False,
) -> None:
    """Asks a query of the catalogue by its name, or with --cypher one of your own."""
    from cli.query import Place, Wanted, ask_adhoc, ask_catalogue

    place = Place(uri, user, insecure)
    wanted = Wanted(run, param or (), output_format.value, limit, timeout, allow_incomplete)
    if (name is None) == (cypher is None):
        raise usage("name a query (see `heliograph query list`), or give one with --cypher")
    if cypher is not None:
        ask_adhoc(cypher, place, wanted, write=write, sure=sure)
    elif name is not None:
        if write:
            raise usage("--write goes with --cypher: queries of the catalogue only read")
        ask_catalogue(name, place, wanted)


def console(
    run: LoadedRunOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="ROWS", min=1, help="Rows of an answer that are fetched.")
    ] = 1000,
    timeout: SecondsOption = 30.0,
    uri: UriOption = None,
    user: UserOption = "neo4j",
    insecure: InsecureOption = False,
) -> None:
    """Opens a console for queries in Cypher, which may only read; `:help` says more."""
    from cli.console import Settings, start
    from cli.query import Place

    start(Place(uri, user, insecure), Settings(run, limit, timeout))
