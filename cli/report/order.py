"""Whether the modes of a report are ordered: each has all that the one before it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cli.diff import edges_in, methods_in
from cli.report.studies import Study
from cli.run import Run
from cli.sites import rows


class Step(NamedTuple):
    """How many methods, call edges and targets of reflective calls mode `before` has and `after` lacks."""

    program: str
    before: str
    after: str
    methods: int
    edges: int
    targets: int


class _Found(NamedTuple):
    """What a run found, by names."""

    methods: set[str]
    edges: set[tuple[str, str, str]]
    targets: set[tuple[str, str]]


def steps(studies: Sequence[Study], modes: Sequence[str]) -> Iterator[Step]:
    """Yields how each mode of a program compares to the one before; where a limit ended an analysis, it doesn't."""
    for study in studies:
        runs = ((mode, Run(study.runs[mode])) for mode in modes if mode in study.runs)
        found = ((mode, _found(run)) for mode, run in runs if run.manifest["complete"])
        for (before, had), (after, has) in pairwise(found):
            yield Step(
                study.program.name, before, after, len(had.methods - has.methods), len(had.edges - has.edges),
                len(had.targets - has.targets),
            )  # fmt: skip


def _found(run: Run) -> _Found:
    targets = {(each.name, target) for each in rows(run, everything=True) for target in each.targets}
    return _Found(methods_in(run, everything=True), edges_in(run, everything=True), targets)
