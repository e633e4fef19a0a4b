"""How much of an analysis a graph holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.run import Run
from cypher.schema import Rows
from engine import heap
from engine.flows import Flows
from engine.result import Result
from engine.sets import Sets
from engine.solver import PointsToRows


class Kept(NamedTuple):
    """The pointers that a graph has; those of fields of sets follow those of the result."""

    pointers: NDArray[np.bool_]

    def rows(self, rows: Rows, columns: Sequence[str]) -> NDArray[np.bool_]:
        """Returns which rows name only pointers that are kept, in all these columns."""
        found = np.ones(len(rows), np.bool_)
        for each in columns:
            column = getattr(rows, each)
            found &= (column >= 0) & self.pointers[column]
        return found


def everything(flows: Flows) -> Kept:
    """Returns all pointers."""
    return Kept(np.ones(flows.first_set + len(flows.set_of), np.bool_))


def kept_in(run: Run, flows: Flows, strings: NDArray[np.bool_]) -> Kept:
    """Returns the variables of the application, and what holds objects that reflection may depend on.

    These are strings, classes, members and handles that are told apart, and what is unknown at a reflective call:
    so the slices, forward and backward, of all reflective calls are among them. They go on through computations, for
    which all objects that are in `strings` are needed.
    """
    result, points_to = run.result, run.result.points_to
    told = np.isin(result.objects.kind, sorted(heap.TRACKED)) | strings
    told[[source.obj for each in result.reflective for source in each.sources if source.obj >= 0]] = True
    kept = np.zeros(flows.first_set + len(flows.set_of), np.bool_)
    kept[: flows.first_set] = holding(points_to, told)[points_to.representative]
    kept[: flows.first_set] |= _application_variables(run, flows.first_set)
    for each in result.reflective:
        kept[[pointer for pointer in each.operands.values() if pointer >= 0]] = True
    # Fields of sets that a kept variable reads or writes.
    sets = (flows.source >= flows.first_set) | (flows.target >= flows.first_set)
    for pointer, other in (
        (flows.source[sets], flows.target[sets]),
        (flows.target[sets], flows.source[sets]),
    ):
        touched = (pointer >= flows.first_set) & (other < flows.first_set)
        variable = touched & (points_to.base[np.where(touched, other, 0)] < 0) & kept[other]
        kept[pointer[variable]] = True
    return Kept(kept)


def holding(points_to: PointsToRows, told: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns which sets have one of these objects."""
    masks = Sets(points_to).dense(np.flatnonzero(told).astype(np.int32), len(told))
    before = np.concatenate(([0], np.cumsum((points_to.word & masks[points_to.key]) != 0)))
    found: NDArray[np.bool_] = before[points_to.at[1:]] > before[points_to.at[:-1]]
    return found


def _application_variables(run: Run, number: int) -> NDArray[np.bool_]:
    """Returns which of the first `number` pointers are variables of methods of the application."""
    owner = owners(run.result, number)
    own = run.names.is_application(run.result.reached)
    found: NDArray[np.bool_] = (owner >= 0) & own[owner] & (run.result.points_to.base < 0)
    return found


def owners(result: Result, number: int) -> NDArray[np.intp]:
    """Returns the place in `reached` of the last method whose variables begin at each pointer or before it, or -1."""
    order = np.argsort(result.first_variable, kind="stable")
    place = np.searchsorted(result.first_variable[order], np.arange(number), "right") - 1
    return np.where(place >= 0, order[place], -1)
