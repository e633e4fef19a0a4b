"""The numbers of a report, counted in runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.run import Run
from cypher.program import APPLICATION as OF_APPLICATION
from cypher.schema import Int32
from engine.reflection.modes import NOTHING
from engine.report import MOST_UNKNOWN
from engine.result import PARTIAL, RESOLVED, UNRESOLVED, ReflectiveSite
from loader import maven

FOR_NAME = "java.lang.Class.forName"
APPLICATION, LIBRARY, ALL = "application", "library", "all"
# The largest number of targets in each class of the distribution but the last.
BOUNDS = (1, 5, 20, 100)
SPREAD_NAMES = ("targets1", "targets2To5", "targets6To20", "targets21To100", "targetsOver100")
# How many sites with many targets are kept of each run.
WIDEST = 10


class Calls(NamedTuple):
    """Calls of `Class.forName`: how many, by status, and those of the resolved ones that find no class.

    `points` are the different unknown values that arrive; `more` tells whether not all of them are counted.
    """

    total: int
    fully: int
    partially: int
    unresolved: int
    class_absent: int
    no_name: int
    points: int
    more: bool


# The same, without the total, in records.
CALL_NAMES = (
    "fully", "partially", "unresolved", "classAbsent", "noName", "specificationPoints", "specificationPointsMore",
)  # fmt: skip


class Code(NamedTuple):
    """What was counted in application code, or in all code; `spread` are sites by their number of targets."""

    calls: Calls
    classes: int
    methods: int
    spread: tuple[int, ...]


class WideSite(NamedTuple):
    """A reflective call with many targets; `place` is its name for people."""

    program: str
    mode: str
    site: str
    place: str
    code: str
    api: str
    targets: int
    status: str
    reason: str


class Figures(NamedTuple):
    """The numbers of a program in one mode; `solver` and `total` are CPU seconds."""

    program: str
    mode: str
    complete: bool
    application: Code
    everything: Code
    solver: float
    total: float
    widest: tuple[WideSite, ...]
    run: str

    def codes(self) -> tuple[tuple[str, Code], ...]:
        """Returns what was counted in application code, and in all."""
        return (APPLICATION, self.application), (ALL, self.everything)

    def records(self) -> list[dict[str, Any]]:
        """Returns the numbers for programs: application code first, then all. What the mode can't tell is None."""
        return [
            {
                "program": self.program, "mode": self.mode, "code": name, "complete": self.complete,
                "calls": code.calls.total, **self._resolved(code), "classes": code.classes, "methods": code.methods,
                "solverSeconds": self.solver, "totalSeconds": self.total, "run": self.run,
            }
            for name, code in self.codes()
        ]  # fmt: skip

    def _resolved(self, code: Code) -> dict[str, int | None]:
        names = (*CALL_NAMES, *SPREAD_NAMES)
        if self.mode == NOTHING:
            return dict.fromkeys(names)
        return dict(zip(names, (*code.calls[1:], *code.spread), strict=True))


def figures_of(run: Run, program: str, mode: str) -> Figures:
    """Returns the numbers of a run. Raises `Failure` if a part of it is missing or damaged."""
    result, names = run.result, run.names
    sites = result.reflective
    methods = result.sites.method[np.array([each.site for each in sites], np.int32)]
    own_sites = names.is_application(methods) if len(sites) else np.zeros(0, np.bool_)
    own_methods = names.is_application(result.reached)
    chosen = [each for each, own in zip(sites, own_sites.tolist(), strict=True) if own]
    solver, total = _seconds(run.manifest)
    return Figures(
        program, mode, run.manifest["complete"], _code(run, chosen, result.reached[own_methods]),
        _code(run, sites, result.reached), solver, total, _widest(run, program, mode, methods), str(run.folder),
    )  # fmt: skip


def _code(run: Run, sites: Sequence[ReflectiveSite], methods: Int32) -> Code:
    declaring = run.names.declaring(methods)
    return Code(_calls(sites), len(np.unique(declaring)), len(methods), _spread(sites))


def _calls(sites: Sequence[ReflectiveSite]) -> Calls:
    calls = [each for each in sites if each.api == FOR_NAME]
    status = [each.status for each in calls]
    reasons = [each.reason for each in calls if each.status == RESOLVED]
    unknown = [[source.obj for source in each.sources if source.kind == "unknown"] for each in calls]
    # What is no object, as what the JDK keeps somewhere, is a point of its call.
    points = {
        obj if obj >= 0 else ~row for row, listed in enumerate(unknown) for obj in listed[:MOST_UNKNOWN]
    }
    return Calls(
        len(calls), status.count(RESOLVED), status.count(PARTIAL), status.count(UNRESOLVED),
        reasons.count("class-absent"), reasons.count("no-name-arrives"), len(points),
        any(len(each) > MOST_UNKNOWN for each in unknown),
    )  # fmt: skip


def _spread(sites: Sequence[ReflectiveSite]) -> tuple[int, ...]:
    """Returns how many sites have a number of targets up to each of the bounds, and above the last."""
    numbers = np.array([len(each.targets) for each in sites if each.targets], np.int64)
    classes: NDArray[np.int64] = np.searchsorted(np.array(BOUNDS), numbers)
    return tuple(np.bincount(classes, minlength=len(BOUNDS) + 1).tolist())


def _widest(run: Run, program: str, mode: str, methods: Int32) -> tuple[WideSite, ...]:
    """Returns the sites with the most targets, the widest first."""
    if mode == NOTHING:
        return ()
    result, names = run.result, run.names
    numbers = np.array([len(each.targets) for each in result.reflective], np.int64)
    found = []
    for row in np.argsort(-numbers, kind="stable")[:WIDEST].tolist():
        site = result.reflective[row]
        method, offset = int(methods[row]), int(result.sites.offset[site.site])
        line = names.line(method, offset)
        caller = names.method(method)
        exact = f"{caller}@{offset}"
        found.append(
            WideSite(
                program, mode, exact, f"{caller.qualified}:{line}" if line >= 0 else exact,
                APPLICATION if caller.flags & OF_APPLICATION else LIBRARY, site.api, len(site.targets),
                site.status, site.reason,
            )
        )  # fmt: skip
    return tuple(each for each in found if each.targets)


def _seconds(manifest: dict[str, Any]) -> tuple[float, float]:
    """Returns the CPU seconds of the analysis alone, and of the run.

    Fetching with Maven, and compiling or loading the compiled solver, doesn't count: it says nothing of the program.
    """
    summary = manifest["summary"]
    phases = summary["phases"]
    fetched = any(map(maven.is_coordinates, manifest["inputs"]))
    apart = phases["solver"] + (phases["inputs"] if fetched else 0.0)
    return phases["analysis"], round(summary["cpuSeconds"] - apart, 3)
