"""Commands that analyse several programs in several ways: `report`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.commands.options import JdkOption, QuietOption, ReleaseOption, VerboseOption, memory_bytes
from cli.exits import Exit


class ReportFormat(StrEnum):
    """How a report is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    report = typer.Typer(
        help="Analyses programs in several modes and compares.", no_args_is_help=True, rich_markup_mode=None
    )
    report.command(
        "livshits", epilog="Example: heliograph report livshits app.jar org.hsqldb:hsqldb:2.7.3 --out report"
    )(livshits)
    app.add_typer(report, name="report")


def livshits(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…", help="Programs: each a jar, war, folder of classes, jmod, or Maven coordinates."
        ),
    ],
    main: Annotated[
        list[str] | None,
        typer.Option(
            "--main", metavar="[INPUT=]CLASS", help="Start this program in this class; may be repeated."
        ),
    ] = None,
    library: Annotated[
        bool,
        typer.Option(
            "--library",
            help="Of programs without --main and --entry, every public and protected method may be called.",
        ),
    ] = False,
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="[INPUT=]PATTERN", help="Methods of this program that may be called."),
    ] = None,
    classpath: Annotated[
        list[str] | None, typer.Option(metavar="[INPUT=]PATH", help="Libraries of this program.")
    ] = None,
    spec: Annotated[
        list[str] | None,
        typer.Option(metavar="[INPUT=]FILE", help="What names enter this program, for mode sound."),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODE", help="Only this mode; may be repeated. All modes of the paper if not given."
        ),
    ] = None,
    jdk: JdkOption = None,
    release: ReleaseOption = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Analyse anew what there are runs of; else these serve.")
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Stop each analysis after this time.")
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Stop an analysis before it takes more memory, as in 4g."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write report.md, CSV files and a plot here, too."),
    ] = None,
    output_format: Annotated[
        ReportFormat,
        typer.Option("--format", help="Tables for people, Markdown, or all numbers for programs."),
    ] = ReportFormat.TABLE,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Shows the tables of Livshits, Whaley and Lam (2005) for programs: resolved calls, call graphs, time by mode."""
    from cli.pipeline import Job
    from cli.progress import Progress
    from cli.report import livshits as reporting
    from cli.report.programs import Options, programs

    common = Job((), jdk=jdk, release=release, timeout=timeout, max_memory=memory_bytes(max_memory))
    options = Options(
        tuple(main or ()), tuple(entry or ()), tuple(classpath or ()), tuple(spec or ()), library, common
    )
    found = reporting.report(
        programs(inputs, options), reporting.modes_of(mode or ()), Progress(quiet, verbose), fresh=fresh
    )
    if out is not None:
        reporting.write_files(found, out)
    reporting.write(found, output_format.value)
    code = found.exit_code()
    if code is not Exit.DONE:
        raise typer.Exit(code)
