"""Commands about the graph database: `graph start`, `stop`, `status`, `remove`; `load` and `infer` are files of their own."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cli.commands import inferring, loading
from cli.commands.options import Format, FormatOption, QuietOption
from cli.exits import usage

_SIZE = "a size such as 512m or 2g; remembered"


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    graph = typer.Typer(
        help="Runs a Neo4j server of your own on this machine.", no_args_is_help=True, rich_markup_mode=None
    )
    graph.command("start", epilog="Example: heliograph graph start --heap 2g")(start)
    loading.register(graph)
    inferring.register(graph)
    graph.command("stop", epilog="Example: heliograph graph stop")(stop)
    graph.command("status", epilog="Example: heliograph graph status --format json")(status)
    graph.command("remove", epilog="Example: heliograph graph remove --all --yes")(remove)
    app.add_typer(graph, name="graph")


def start(
    neo4j: Annotated[
        str | None,
        typer.Option("--neo4j", metavar="VERSION", help="5.26.… or 2026.… (Java 21 or newer); remembered."),
    ] = None,
    heap: Annotated[str | None, typer.Option(metavar="SIZE", help=f"Java's heap, {_SIZE}.")] = None,
    page_cache: Annotated[
        str | None, typer.Option(metavar="SIZE", help=f"Memory for the graph itself, {_SIZE}.")
    ] = None,
    transaction_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help=f"What one transaction may take, {_SIZE}.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the server's jars with their checksums, not only sizes.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Starts the server and waits for its answer.

    The first time it is fetched with Maven (about 140 MB), under Neo4j's own licence. It listens on this machine only,
    with a random password.
    """
    from cli.progress import Progress
    from cli.server import failing, managed, telling, write_started

    server = managed()
    with failing(), telling(Progress(quiet)) as tell:
        fresh = server.start(
            tell,
            version=neo4j,
            heap=heap,
            page_cache=page_cache,
            transaction_memory=transaction_memory,
            verify=verify,
        )
    with failing():
        write_started(server, fresh=fresh)


def stop(quiet: QuietOption = False) -> None:
    """Stops the server; its database stays."""
    from cli.present import write_line
    from cli.progress import Progress
    from cli.server import failing, managed, telling

    with failing(), telling(Progress(quiet)) as tell:
        stopped = managed().stop(tell)
    write_line("stopped" if stopped else "the server was not running")


def status(
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare the server's jars with their checksums.")
    ] = False,
    output_format: FormatOption = Format.TABLE,
) -> None:
    """Shows how the server is, and where it answers."""
    from cli.server import failing, managed, write_status

    with failing():
        write_status(managed(), as_json=output_format is Format.JSON, verify=verify)


def remove(
    everything: Annotated[bool, typer.Option("--all", help="The server's jars too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Stops the server and deletes its database.

    Runs stay, and can be loaded again.
    """
    from cli.present import write_line
    from cli.progress import Progress
    from cli.server import failing, managed, telling

    server = managed()
    if not yes:
        if not sys.stdin.isatty():
            raise usage("this deletes the database; say --yes")
        with failing():
            question = f"Delete the database{' and the jars' if everything else ''} in {server.folder}?"
        if not typer.confirm(question, err=True):
            write_line("nothing was deleted")
            return
    with failing(), telling(Progress(quiet)) as tell:
        server.remove(tell, everything=everything)
    write_line("deleted")
