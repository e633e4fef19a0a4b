"""Whether the modes of a report are ordered: each has all that the one before it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cli.diff import compare
from cli.report.studies import Study
from cli.run import Run


class Step(NamedTuple):
    """How many methods, call edges and targets of reflective calls mode `before` has and `after` lacks."""

    program: str
    before: str
    after: str
    methods: int
    edges: int
    targets: int


def steps(studies: Sequence[Study], modes: Sequence[str]) -> Iterator[Step]:
    """Yields how each mode of a program compares to the one before; where a limit ended an analysis, it doesn't."""
    for study in studies:
        runs = ((mode, Run(study.runs[mode])) for mode in modes if mode in study.runs)
        whole = ((mode, run) for mode, run in runs if run.manifest["complete"])
        for (before, had), (after, has) in pairwise(whole):
            found = compare(had, has, everything=True)
            yield Step(
                study.program.name, before, after, len(found.methods_lost), len(found.edges_lost),
                sum(len(each.lost) for each in found.sites),
            )  # fmt: skip
