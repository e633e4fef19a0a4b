"""Commands about what is kept on disk: `runs` and `cache`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cli.commands.options import Format, FormatOption
from cli.exits import usage


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    runs = typer.Typer(help="Lists and removes runs.", no_args_is_help=True, rich_markup_mode=None)
    runs.command("list", epilog="Example: heliograph runs list")(list_runs)
    runs.command("remove", epilog="Example: heliograph runs remove --keep 3")(remove_runs)
    app.add_typer(runs, name="runs")
    cache = typer.Typer(
        help="Shows and empties the cache of translated archives and compiled code.",
        no_args_is_help=True, rich_markup_mode=None,
    )  # fmt: skip
    cache.command("list", epilog="Example: heliograph cache list")(list_cache)
    cache.command("clear", epilog="Example: heliograph cache clear")(clear_cache)
    cache.command("path", epilog="Example: du -sh $(heliograph cache path)")(cache_path)
    app.add_typer(cache, name="cache")


def list_runs(output_format: FormatOption = Format.TABLE) -> None:
    """Lists the runs, the newest first."""
    from cli.present import write_json
    from cli.runs import rows, write

    found = rows()
    if output_format is Format.JSON:
        write_json([each.document() for each in found])
    else:
        write(found)


def remove_runs(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="RUN…", help="Names as `runs list` has them.")
    ] = None,
    keep: Annotated[int | None, typer.Option(min=0, metavar="N", help="Remove all but the newest N.")] = None,
) -> None:
    """Deletes runs."""
    from cli.runs import remove

    if not names and keep is None:
        raise usage("name the runs to remove, or say how many to keep with --keep N")
    remove(names or [], keep)


def list_cache(output_format: FormatOption = Format.TABLE) -> None:
    """Lists what the cache holds."""
    from cli.caches import rows, write
    from cli.present import write_json

    found = rows()
    if output_format is Format.JSON:
        write_json([each._asdict() for each in found])
    else:
        write(found)


def clear_cache() -> None:
    """Deletes translated archives and compiled code; both are made again when needed."""
    from cli.caches import clear

    clear()


def cache_path() -> None:
    """Prints the folder of the cache."""
    from cli.folders import cache_root

    sys.stdout.write(f"{cache_root()}\n")
