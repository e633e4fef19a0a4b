"""From options to a result: inputs, units, linking, entries, the solver, and the limits of a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cli.entries import Wanted, entries_of
from cli.exits import Exit, Failure
from cli.memory import default_limit, resident_bytes
from cli.naming import Columns, columns_of
from cli.phases import Phases
from cli.progress import Advance, Progress
from cli.units import units_of
from cypher.program import Program
from cypher.schema import Diagnostic
from engine.analysis import Options, analyse
from engine.reflection.modes import DEFAULT
from engine.result import Result
from engine.solver import Solver, Statistics
from loader.archives import Inputs, open_inputs
from loader.jdk import Jdk, find_jdk
from loader.link import link
from loader.source import InputError


@dataclass(frozen=True)
class Job:
    """What is to be analysed, and how. `timeout` is in seconds, `max_memory` in bytes."""

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


@dataclass
class Outcome:
    """What came of a job."""

    result: Result
    names: Columns
    mains: list[str]
    jdk: Jdk
    inputs: Inputs
    diagnostics: list[Diagnostic]
    phases: Phases = field(default_factory=Phases)


def analyse_job(job: Job, progress: Progress) -> Outcome:
    """Returns what the analysis finds. Raises `Failure`."""
    began, phases = time.monotonic(), Phases()
    try:
        with phases.phase("inputs"):
            jdk = find_jdk(job.jdk)
            inputs = open_inputs(job.inputs, job.classpath, jdk.home, job.release)
        with phases.phase("classes"):
            found: list[Diagnostic] = []
            units = units_of(inputs.archives, job.cached, progress, found)
    except InputError as problem:
        raise Failure(Exit.NO_INPUT, str(problem), problem.diagnostics) from None
    with phases.phase("linking"):
        roles = [(each.role, each.label) for each in inputs.archives]
        program = link([(unit, *role) for unit, role in zip(units, roles, strict=True)])
        own = [unit for unit, (role, _) in zip(units, roles, strict=True) if role == "application"]
        wanted = Wanted(job.mains, job.library, job.entries, inputs.main_class)
        entries, mains = entries_of(program, own, wanted, inputs.release)
    with phases.phase("solver"):
        solver = _solver(job, program, progress)
    with phases.phase("analysis"), progress.bar("analysing", None) as advance:
        tick = _tick(job, began, advance)
        result = analyse(program, solver, entries, Options(job.mode, tick=tick))
    with phases.phase("names"):
        names = columns_of(program, result)
    found = [*inputs.diagnostics, *found, *(each for unit in units for each in unit.diagnostics)]
    diagnostics = list(dict.fromkeys([*found, *program.diagnostics, *result.diagnostics]))
    return Outcome(result, names, mains, jdk, inputs, diagnostics, phases)


def _solver(job: Job, program: Program, progress: Progress) -> Solver:
    object_type, class_type = (program.type_named(f"java/lang/{each}") for each in ("Object", "Class"))
    if object_type < 0 or class_type < 0:
        text = "the class library has no java.lang.Object and java.lang.Class: name a JDK with --jdk"
        raise Failure(Exit.NO_INPUT, text)
    if job.solver == "reference":
        from engine.reference import ReferenceSolver

        return ReferenceSolver(object_type, class_type)
    from cli import kernel

    kernel.ready(progress)
    return kernel.solver(object_type, class_type)


def _tick(job: Job, began: float, advance: Advance) -> Callable[[Statistics], bool]:
    """Returns what is called between the steps of the solver: shows progress, and says whether to stop."""
    limit = job.max_memory or default_limit()

    def tick(sizes: Statistics) -> bool:
        advance(0, f"{sizes.reachable:,} methods, {sizes.calls:,} call edges, {sizes.objects:,} objects")
        late = job.timeout is not None and time.monotonic() - began > job.timeout
        return late or (limit is not None and resident_bytes() > limit)

    return tick
