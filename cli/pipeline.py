"""From options to a result: inputs, units, linking, entries, the solver, and the limits of a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cli.entries import Wanted, entries_of
from cli.exits import Exit, Failure
from cli.memory import default_limit, resident_bytes
from cli.naming import Columns, columns_of, members_in
from cli.phases import Phases
from cli.progress import Advance, Progress
from cli.structure import Structure, structure_of
from cli.units import units_of
from cypher.program import Program
from cypher.schema import Diagnostic
from engine.analysis import PROGRAM, Options, analyse, without
from engine.entry import Entries
from engine.reflection.modes import DEFAULT
from engine.result import Result
from engine.solver import Solver, Statistics
from loader.archives import Inputs, open_inputs
from loader.containers import APPLICATION
from loader.jdk import Jdk, find_jdk
from loader.link import LinkedProgram, link
from loader.source import InputError
from loader.unit import Unit

if TYPE_CHECKING:
    from cli.kernel import Compilation


@dataclass(frozen=True)
class Job:
    """What is to be analysed, and how. `timeout` is in seconds, `max_memory` in bytes, `without` switches off."""

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


def analyse_job(job: Job, progress: Progress) -> Outcome:
    """Returns what the analysis finds. Raises `Failure`."""
    began, phases = time.monotonic(), Phases()
    with contextlib.ExitStack() as stack:
        with phases.phase("inputs"):
            jdk, inputs = _open(job)
        with phases.phase("solver"):
            compilation = _compilation(job, progress, stack)
        with phases.phase("classes"):
            loaded = _read(job, progress, jdk, inputs)
        with phases.phase("linking"):
            program, entries, mains = _link(job, loaded)
        with phases.phase("solver"):
            solver = _solver(program, compilation)
        with phases.phase("analysis"), progress.bar("analysing", None) as advance:
            tick = _tick(job, began, advance)
            options = Options(job.mode, job.scope, tick=tick, **without(job.without))
            result = analyse(program, solver, entries, options)
        # Before names are asked for, since what only these mention is no part of the analysis.
        found = dict.fromkeys((*loaded.diagnostics, *program.diagnostics, *result.diagnostics))
        types_met = program.number_of_types
        with phases.phase("names"):
            members = members_in(program, result)
            structure = structure_of(program, members.methods)
            names = columns_of(program, result, members)
    return Outcome(result, names, structure, types_met, mains, jdk, inputs, list(found), phases)


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


def _compilation(job: Job, progress: Progress, stack: contextlib.ExitStack) -> Compilation | None:
    """Begins to compile the solver, unless that was done before or the plain one is wanted."""
    if job.solver != "kernel":
        return None
    from cli.kernel import Compilation

    compilation = Compilation(progress)
    stack.callback(compilation.stop)
    return compilation


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
    program = link([(unit, *role) for unit, role in zip(loaded.units, roles, strict=True)])
    if program.type_named("java/lang/Object") < 0:
        text = "the class library has no java.lang.Object: name a JDK with --jdk"
        raise Failure(Exit.NO_INPUT, text, [*loaded.diagnostics, *program.diagnostics])
    wanted = Wanted(job.mains, job.library, job.entries, loaded.inputs.main_class)
    try:
        return program, *entries_of(program, loaded.application, wanted, loaded.inputs.release)
    except Failure as failure:
        raise Failure(failure.code, str(failure), loaded.diagnostics) from None


def _solver(program: Program, compilation: Compilation | None) -> Solver:
    """Returns the compiled solver, or the plain one if nothing is compiled. Raises `Failure`."""
    object_type, class_type = (program.type_named(f"java/lang/{each}") for each in ("Object", "Class"))
    if object_type < 0 or class_type < 0:
        text = "the class library has no java.lang.Object and java.lang.Class: name a JDK with --jdk"
        raise Failure(Exit.NO_INPUT, text)
    if compilation is None:
        from engine.reference import ReferenceSolver

        return ReferenceSolver(object_type, class_type)
    from cli.kernel import solver

    compilation.wait()
    return solver(object_type, class_type)


def _tick(job: Job, began: float, advance: Advance) -> Callable[[Statistics], bool]:
    """Returns what is called between the steps of the solver: shows progress, and says whether to stop."""
    limit = job.max_memory or default_limit()

    def tick(sizes: Statistics) -> bool:
        advance(0, f"{sizes.reachable:,} methods, {sizes.calls:,} call edges, {sizes.objects:,} objects")
        late = job.timeout is not None and time.monotonic() - began > job.timeout
        return late or (limit is not None and resident_bytes() > limit)

    return tick
