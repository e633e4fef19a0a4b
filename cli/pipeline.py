"""From options to a result: inputs, units, linking, entries, the solver, and the limits of a run."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from cli.entries import Wanted, entries_of
from cli.exits import Exit, Failure
from cli.memory import default_limit, resident_bytes
from cli.naming import Columns, columns_of, members_in
from cli.phases import Phases
from cli.progress import Advance, Progress
from cli.query import MANAGED, Place
from cli.specification import Matching, read
from cli.structure import Structure, structure_of
from cli.units import units_of
from cypher.program import Program
from cypher.schema import Diagnostic
from engine.analysis import PROGRAM, Options, analyse, without
from engine.entry import Entries
from engine.reflection.modes import DEFAULT
from engine.result import Result
from engine.rules import MakeApplier, in_process
from engine.solver import Solver, Statistics
from loader import maven
from loader.archives import Inputs, open_inputs
from loader.containers import APPLICATION
from loader.declared import packages_in
from loader.jdk import Jdk, find_jdk
from loader.link import LinkedProgram, link
from loader.source import InputError
from loader.unit import Unit

# Makes a solver from the types Object and Class.
MakeSolver: TypeAlias = Callable[[int, int], Solver]


@dataclass(frozen=True)
class Job:
    """What is to be analysed, and how. `timeout` is in seconds, `max_memory` in bytes, `without` switches off.

    `server` is that of the solver `cypher`; `add_opens` are packages with their modules, as `java` takes them.
    """

    inputs: Sequence[str]
    mains: Sequence[str] = ()
    library: bool = False
    entries: Sequence[str] = ()
    classpath: Sequence[str] = ()
    jdk: str | None = None
    release: int | None = None
    mode: str = DEFAULT
    solver: str = "kernel"
    cached: bool = True
    timeout: float | None = None
    max_memory: int | None = None
    without: Sequence[str] = ()
    scope: str = PROGRAM
    specification: Path | None = None
    server: Place = MANAGED
    add_opens: Sequence[str] = ()


@dataclass
class Outcome:
    """What came of a job. The first `types_met` types are those that the analysis came across."""

    result: Result
    names: Columns
    structure: Structure
    types_met: int
    mains: list[str]
    jdk: Jdk
    inputs: Inputs
    diagnostics: list[Diagnostic]
    phases: Phases


class _Loaded(NamedTuple):
    """What was read: a unit for each archive."""

    jdk: Jdk
    inputs: Inputs
    units: list[Unit]
    diagnostics: list[Diagnostic]

    @property
    def application(self) -> list[Unit]:
        """Returns the units of what is analysed."""
        pairs = zip(self.units, self.inputs.archives, strict=True)
        return [unit for unit, archive in pairs if archive.role == APPLICATION]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Has Python look for no cycles of garbage: an analysis makes none to speak of, and millions of rows that stay.

    They stay until the next analysis of the process begins, and Python doesn't look at them before either.
    """
    enabled = gc.isenabled()
    gc.disable()
    if enabled and gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()


@uncollected()
def analyse_job(job: Job, progress: Progress) -> Outcome:
    """Returns what the analysis finds. Raises `Failure`."""
    began, phases = time.monotonic(), Phases()
    specified = read(job.specification) if job.specification else []
    with contextlib.ExitStack() as stack:
        with phases.phase("inputs"):
            jdk, inputs = _open(job)
        with phases.phase("solver"):
            make, applier = _begun(job, progress, stack)
        with phases.phase("classes"):
            loaded = _read(job, progress, jdk, inputs)
        with phases.phase("linking"):
            program, entries, mains = _link(job, loaded)
        with phases.phase("solver"):
            solver = _solver(program, make)
        with phases.phase("analysis"), progress.bar("analysing", None) as advance:
            tick = _tick(job, began, advance)
            matching = Matching(job.specification, specified, program)
            options = Options(
                job.mode, job.scope, tick=tick, specification=matching.specification, applier=applier,
                **without(job.without),
            )  # fmt: skip
            result = analyse(program, solver, entries, options)
            del solver  # what it holds is more than all that comes after needs
        # Before names are asked for, since what only these mention is no part of the analysis.
        found = dict.fromkeys(
            (*loaded.diagnostics, *program.diagnostics, *result.diagnostics, *matching.diagnostics())
        )
        types_met = program.number_of_types
        with phases.phase("names"):
            members = members_in(program, result)
            structure = structure_of(program, members.methods)
            names = columns_of(program, result, members)
    return Outcome(result, names, structure, types_met, mains, jdk, inputs, list(found), phases)


def prepare(job: Job, progress: Progress) -> tuple[Job, Inputs]:
    """Fetches, translates and compiles what an analysis of `job` needs, so that it costs what the analysis itself does.

    Returns the job with files in place of Maven coordinates, and what it reads. Raises `Failure`.
    """
    from cli.kernel import Compilation

    fetched = _fetched(job, progress)
    with contextlib.ExitStack() as stack:
        jdk, inputs = _open(fetched)
        compilation = Compilation(progress)
        stack.callback(compilation.stop)
        _read(fetched, progress, jdk, inputs)
        compilation.wait()
    return fetched, inputs


def _fetched(job: Job, progress: Progress) -> Job:
    """Returns the job with files in place of Maven coordinates."""
    inputs: list[str] = []
    runtime: list[str] = []
    for each in job.inputs:
        if maven.is_coordinates(each):
            progress.say(f"fetching {each} with Maven")
            with _refusals():
                artifact = maven.resolve(each)
            inputs.append(str(artifact.file))
            runtime += map(str, artifact.runtime)
        else:
            inputs.append(each)
    return replace(job, inputs=tuple(inputs), classpath=(*job.classpath, *runtime))


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Turns an input error into a failure: its first diagnostic is the sentence."""
    try:
        yield
    except InputError as problem:
        first, *others = problem.diagnostics
        where = f"{first.archive}: " if first.archive else ""
        raise Failure(Exit.NO_INPUT, f"{where}{first.text}", others) from None


def _open(job: Job) -> tuple[Jdk, Inputs]:
    with _refusals():
        jdk = find_jdk(job.jdk)
        return jdk, open_inputs(job.inputs, job.classpath, jdk.home, job.release)


def _begun(job: Job, progress: Progress, stack: contextlib.ExitStack) -> tuple[MakeSolver, MakeApplier]:
    """Begins what a solver needs, its compilation or its server; returns what makes it and what applies rules."""
    if job.solver == "kernel":
        from cli.kernel import Compilation, solver

        compilation = Compilation(progress)
        stack.callback(compilation.stop)

        def compiled(object_type: int, class_type: int) -> Solver:
            compilation.wait()
            return solver(object_type, class_type)

        return compiled, in_process
    if job.solver == "cypher":
        from cli.cypher_solver import on_server

        return on_server(job.server, progress, stack)
    from engine.reference import ReferenceSolver

    return ReferenceSolver, in_process


def _read(job: Job, progress: Progress, jdk: Jdk, inputs: Inputs) -> _Loaded:
    """Returns the inputs as units. Raises `Failure` if there is nothing to analyse."""
    about_cache: list[Diagnostic] = []
    with _refusals():
        units = units_of(inputs.archives, job.cached, progress, about_cache)
    found = [*inputs.diagnostics, *about_cache, *(each for unit in units for each in unit.diagnostics)]
    loaded = _Loaded(jdk, inputs, units, found)
    if not any(len(unit.class_type) for unit in loaded.application):
        text = f"none of the classes in {', '.join(job.inputs)} can be read"
        raise Failure(Exit.NO_INPUT, text, found)
    return loaded


def _link(job: Job, loaded: _Loaded) -> tuple[LinkedProgram, Entries, list[str]]:
    """Returns the program, where it starts, and the classes whose `main` does. Raises `Failure`."""
    roles = ((each.role, each.label) for each in loaded.inputs.archives)
    units = [(unit, *role) for unit, role in zip(loaded.units, roles, strict=True)]
    program = link(units, packages_in(" ".join(job.add_opens)))
    if program.type_named("java/lang/Object") < 0:
        text = "the class library has no java.lang.Object: name a JDK with --jdk"
        raise Failure(Exit.NO_INPUT, text, [*loaded.diagnostics, *program.diagnostics])
    wanted = Wanted(job.mains, job.library, job.entries, loaded.inputs.main_class, loaded.inputs.agents)
    try:
        return program, *entries_of(program, loaded.application, wanted, loaded.inputs.release)
    except Failure as failure:
        raise Failure(failure.code, str(failure), loaded.diagnostics) from None


def _solver(program: Program, make: MakeSolver) -> Solver:
    """Returns the solver. Raises `Failure` if the program has not what it asks for."""
    object_type, class_type = (program.type_named(f"java/lang/{each}") for each in ("Object", "Class"))
    if object_type < 0 or class_type < 0:
        text = "the class library has no java.lang.Object and java.lang.Class: name a JDK with --jdk"
        raise Failure(Exit.NO_INPUT, text)
    return make(object_type, class_type)


def _tick(job: Job, began: float, advance: Advance) -> Callable[[Statistics], bool]:
    """Returns what is called between the steps of the solver: shows progress, and says whether to stop."""
    limit = job.max_memory or default_limit()

    def tick(sizes: Statistics) -> bool:
        advance(0, f"{sizes.reachable:,} methods, {sizes.calls:,} call edges, {sizes.objects:,} objects")
        late = job.timeout is not None and time.monotonic() - began > job.timeout
        return late or (limit is not None and resident_bytes() > limit)

    return tick
