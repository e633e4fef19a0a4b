"""How much of an analysis a graph holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.run import Run
from cli.strings import string_objects
from cypher.schema import Rows
from engine import heap
from engine.flows import Flows
from engine.result import Result
from engine.sets import Sets


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


def kept_in(run: Run, flows: Flows) -> Kept:
    """Returns the variables of the application, and what holds objects that reflection may depend on.

    These are strings, classes, members and handles that are told apart, and what is unknown at a reflective call:
    so the slices, forward and backward, of all reflective calls are among them. They go on through computations, for
    which all strings that are no constants are needed.
    """
    result, points_to = run.result, run.result.points_to
    told = np.isin(result.objects.kind, sorted(heap.TRACKED)) | string_objects(run, constant=False)
    told[[source.obj for each in result.reflective for source in each.sources if source.obj >= 0]] = True
    kept = np.zeros(flows.first_set + len(flows.set_of), np.bool_)
    kept[: flows.first_set] = Sets(points_to).holding(told)
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
