"""Commands that read runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cli.commands.options import AllOption, Format, FormatOption, LimitOption, OutOption, RunOption

SiteArgument = Annotated[
    str, typer.Argument(metavar="SITE", help="A reflective call: a.b.C.m:LINE or a.b.C.m(I)V@OFFSET.")
]


class CallGraphFormat(StrEnum):
    """The forms of an exported call graph."""

    CSV = "csv"
    JSON = "json"
    DOT = "dot"
    JCG = "jcg"


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command(epilog="Example: heliograph sites --all --format json")(sites)
    app.command(epilog="Example: heliograph explain com.acme.Loader.load:12")(explain)
    app.command(epilog="Example: heliograph callgraph --from com.acme.Main.main --to com.acme.Plugin.start")(
        callgraph
    )
    app.command(epilog="Example: heliograph census --all")(census)
    app.command(epilog="Example: heliograph diff RUN RUN --limit 50")(diff)
    export = typer.Typer(
        help="Writes a run in the format of another tool.", no_args_is_help=True, rich_markup_mode=None
    )
    export.command("callgraph", epilog="Example: heliograph export callgraph --format dot --out calls.dot")(
        export_callgraph
    )
    export.command("tamiflex", epilog="Example: heliograph export tamiflex --out refl.log")(export_tamiflex)
    export.command(
        "native-image", epilog="Example: heliograph export native-image --out reachability-metadata.json"
    )(export_native_image)
    export.command("proguard", epilog="Example: heliograph export proguard --out reflection.pro")(
        export_proguard
    )
    export.command("sarif", epilog="Example: heliograph export sarif --out heliograph.sarif")(export_sarif)
    app.add_typer(export, name="export")


def sites(
    run: RunOption = None,
    everything: AllOption = False,
    output_format: FormatOption = Format.TABLE,
    status: Annotated[
        str | None, typer.Option(help="Only those that are resolved, partial or unresolved.")
    ] = None,
    all_sources: Annotated[
        bool,
        typer.Option(
            "--all-sources",
            help="In JSON, all that may come to a call and why it has each target, not the nearest 20 and the first 100.",
        ),
    ] = False,
) -> None:
    """Lists reflective calls: their status, targets, and what is unknown about them."""
    from cli.present import write_json
    from cli.run import find
    from cli.sites import documents, rows, write

    read = find(run)
    found = rows(read, everything, status)
    if output_format is Format.JSON:
        write_json(documents(read, found, whole=all_sources))
    else:
        write(read, found, everything)


def explain(
    site: SiteArgument,
    run: RunOption = None,
    everything: Annotated[bool, typer.Option("--all", help="All targets, not the first few.")] = False,
    output_format: FormatOption = Format.TABLE,
) -> None:
    """Shows, step by step, why a reflective call has its targets."""
    from cli.explain import explain as explained
    from cli.present import write_json, write_line
    from cli.run import find

    found = explained(find(run), site, None) if everything else explained(find(run), site)
    if output_format is Format.JSON:
        write_json([each.document() for each in found])
        return
    for number, each in enumerate(found):
        if number:
            write_line()
        for line in each.lines():
            write_line(line)


def callgraph(
    run: RunOption = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="METHOD", help="What these methods call; * stands for any text."),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option("--to", metavar="METHOD", help="What calls these methods; with --from: the path."),
    ] = None,
    output_format: FormatOption = Format.TABLE,
    limit: LimitOption = 50,
) -> None:
    """Shows calls from a method, calls to a method, or how one leads to the other."""
    from cli.callgraph import answer, write
    from cli.present import write_json
    from cli.run import find

    found = answer(find(run), origin, goal)
    if output_format is Format.JSON:
        write_json([[each.document() for each in path] for path in found.paths])
    else:
        write(found, limit)


def census(
    run: RunOption = None, everything: AllOption = False, output_format: FormatOption = Format.TABLE
) -> None:
    """Counts calls of the reflective API in code that may run, by category and method."""
    from cli.census import count, write
    from cli.present import write_json
    from cli.run import find

    found = count(find(run), everything)
    if output_format is Format.JSON:
        write_json([each._asdict() for each in found])
    else:
        write(found)


def diff(
    before: Annotated[str, typer.Argument(metavar="RUN")],
    after: Annotated[str, typer.Argument(metavar="RUN")],
    everything: AllOption = False,
    output_format: FormatOption = Format.TABLE,
    limit: LimitOption = 20,
) -> None:
    """Compares two runs: methods, call edges and reflective calls that one has and the other lacks."""
    from cli.diff import compare, write
    from cli.present import write_json
    from cli.run import find

    found = compare(find(before), find(after), everything)
    if output_format is Format.JSON:
        write_json(found.document())
    else:
        write(found, limit)


def export_callgraph(
    run: RunOption = None,
    output_format: Annotated[
        CallGraphFormat, typer.Option("--format", help="jcg: the JSON of call-graph comparison suites.")
    ] = CallGraphFormat.CSV,
    out: OutOption = None,
    application: Annotated[
        bool, typer.Option("--application", help="Only edges from or to the application.")
    ] = False,
) -> None:
    """Writes the call graph as CSV, JSON, Graphviz's DOT, or the JSON of comparison suites."""
    from importlib import import_module

    from cli.export.writing import to_file
    from cli.run import find

    exporter = import_module(f"cli.export.{output_format.value}_format")
    to_file(exporter.lines(find(run), application), out)


def export_tamiflex(run: RunOption = None, out: OutOption = None, everything: AllOption = False) -> None:
    """Writes the targets of reflective calls as a log of TamiFlex."""
    from cli.export.tamiflex_format import lines
    from cli.export.writing import to_file
    from cli.run import find

    to_file(lines(find(run), everything), out)


def export_native_image(run: RunOption = None, out: OutOption = None) -> None:
    """Writes what reflective calls may reach as reachability metadata of GraalVM Native Image."""
    from cli.export.native_image_format import lines
    from cli.export.writing import to_file
    from cli.run import find

    to_file(lines(find(run)), out)


def export_proguard(run: RunOption = None, out: OutOption = None) -> None:
    """Writes rules that have ProGuard or R8 keep what reflective calls may reach."""
    from cli.export.proguard_format import lines
    from cli.export.writing import to_file
    from cli.run import find

    to_file(lines(find(run)), out)


def export_sarif(run: RunOption = None, out: OutOption = None) -> None:
    """Writes the reflective calls that outside input reaches, with its way there, as SARIF (CWE-470)."""
    from cli.export.sarif_format import lines
    from cli.export.writing import to_file
    from cli.run import find

    to_file(lines(find(run)), out)
