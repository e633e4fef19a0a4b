"""Commands that analyse: `analyze` and `demo`."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.commands.options import (
    Format,
    FormatOption,
    InsecureOption,
    JdkOption,
    QuietOption,
    ReleaseOption,
    UriOption,
    UserOption,
    VerboseOption,
    memory_bytes,
)
from cli.exits import Exit, usage


class Scope(StrEnum):
    """Whose code is analysed."""

    PROGRAM = "program"
    APPLICATION = "application"


class SolverName(StrEnum):
    """Which solver computes the closure."""

    KERNEL = "kernel"
    REFERENCE = "reference"
    CYPHER = "cypher"


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command(epilog="Example: heliograph analyze app.jar --main com.acme.Main --classpath lib.jar")(
        analyze
    )
    app.command(epilog="Example: heliograph demo")(demo)


def analyze(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT…", help="Jars, wars, folders of classes, jmods, or Maven coordinates."),
    ],
    main: Annotated[
        list[str] | None,
        typer.Option("--main", metavar="CLASS", help="Start in this class; may be repeated."),
    ] = None,
    library: Annotated[
        bool,
        typer.Option("--library", help="Every public and protected method of public types may be called."),
    ] = False,
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Methods that match may be called, as in 'com.acme.*.handle*'."),
    ] = None,
    classpath: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Libraries of the inputs; may list several.")
    ] = None,
    jdk: JdkOption = None,
    release: ReleaseOption = None,
    add_opens: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE/PACKAGE", help="Open to reflection, as `java` is told; may be repeated."
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="How reflective calls are resolved: none, local, points-to, casts or sound. Points-to if not given, "
            "sound with --spec."
        ),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What names may enter at which points of the program, for mode sound; `spec` writes such a file.",
        ),
    ] = None,
    scope: Annotated[
        Scope,
        typer.Option(
            help="All code that is reached, or only the application's: library code is closed off by a model, and what "
            "enters it may come back, by type. Quick, and coarser."
        ),
    ] = Scope.PROGRAM,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE",
            help="Switch off what makes results more precise or smaller: merged-strings, merged-builders, "
            "merged-throwables, merged-tables, told-collections, filtered-array-stores, passed-arguments, "
            "bounded-lists, confined-jdk.",
        ),
    ] = None,
    solver: Annotated[
        SolverName,
        typer.Option(
            help="The compiled solver, the plain one, or rules in Cypher on a Neo4j server, with --scope application."
        ),
    ] = SolverName.KERNEL,
    uri: UriOption = None,
    user: UserOption = "neo4j",
    insecure: InsecureOption = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the run goes; the folder of runs if not given.")
    ] = None,
    output_format: FormatOption = Format.TABLE,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Neither use nor keep translated archives.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 if anything may make the result lack parts.")
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Stop after this time.")
    ] = None,
    max_memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Stop before more memory is taken, as in 4g.")
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Computes the call graph, points-to sets and targets of reflective calls of a program."""
    from cli import analyze as analysing
    from cli.diagnostics import tell
    from cli.pipeline import Job, uncollected
    from cli.present import write_json
    from cli.progress import Progress
    from cli.query import Place
    from engine.analysis import SWITCHES
    from engine.reflection.modes import DEFAULT, MODES, SOUND

    mode = mode or (SOUND if spec else DEFAULT)
    if mode not in MODES:
        raise usage(f"there is no mode {mode}: choose {', '.join(MODES)}")
    if spec and mode != SOUND:
        raise usage(f"--spec is for mode {SOUND}")
    for feature in without or ():
        if feature not in SWITCHES:
            raise usage(f"there is no feature {feature}: choose {', '.join(SWITCHES)}")
    for opened in add_opens or ():
        if not re.fullmatch(r"[\w.]+/[\w.$]+(=[\w.,-]+)?", opened):
            raise usage(f"--add-opens {opened}: expected MODULE/PACKAGE, as in java.base/java.lang")
    if solver is SolverName.CYPHER and scope is not Scope.APPLICATION:
        raise usage(
            "--solver cypher is for --scope application: a server can't hold what a whole program points to"
        )
    job = Job(
        tuple(inputs), tuple(main or ()), library, tuple(entry or ()), tuple(classpath or ()), jdk, release, mode,
        solver.value, not no_cache, timeout, memory_bytes(max_memory), tuple(without or ()), scope.value,
        spec, Place(uri, user, insecure), tuple(add_opens or ()),
    )  # fmt: skip
    with uncollected():
        found, outcome = analysing.analyze(job, out, Progress(quiet, verbose))
        if not quiet:
            tell(outcome.diagnostics, notes=verbose)
        if output_format is Format.JSON:
            write_json(found)
        else:
            analysing.write_summary(found)
    code = analysing.exit_code(outcome, strict)
    if code is not Exit.DONE:
        raise typer.Exit(code)


def demo(quiet: QuietOption = False, verbose: VerboseOption = False) -> None:
    """Analyses a real program, fetched with Maven, and shows its reflective calls and why one has its target."""
    from cli.demo import show
    from cli.progress import Progress

    show(Progress(quiet, verbose))
