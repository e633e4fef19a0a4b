"""A solver with a few types, for tests that enter every edge and object by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cypher.program import TypeRows
from cypher.schema import Int32
from engine.kernel import state as pools
from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity, Nodes
from engine.solver import FIXPOINT
from tests.engine.feeding import column, offsets

OBJECT, CLASS, TEXT, TEXTS = range(4)
NOTHING = column([])
TYPES = TypeRows(
    0,
    column([-1, OBJECT, OBJECT, OBJECT]),
    column([-1, -1, -1, TEXT]),
    column([0, 0, 0, 0]),
    offsets([1, 2, 2, 2]),
    column([OBJECT, OBJECT, CLASS, OBJECT, TEXT, OBJECT, TEXTS]),
    offsets([0, 0, 0, 0]),
    NOTHING,
    NOTHING,
)
FIELD, MANY = 0, 50

both_orders = pytest.mark.parametrize("late", [False, True], ids=["objects first", "objects last"])


def made(least: int = 1 << 60) -> KernelSolver:
    """Returns a solver that knows the types; with `least` 0 it looks for cycles all the time."""
    solver = KernelSolver(
        OBJECT, CLASS, Capacity(1 << 16, 1 << 18, 1 << 18, 1 << 14, 64, 64, 64), ratio=0, least=least
    )
    solver.add_types(TYPES)
    return solver


def of_type(solver: KernelSolver, type_: int, number: int = MANY) -> tuple[Int32, Int32]:
    """Returns fresh pointers, and a fresh object of a type for each."""
    first = solver.add_objects(np.full(number, type_, np.int32))
    return pointers(solver, number), np.arange(first, first + number, dtype=np.int32)


def pointers(solver: KernelSolver, number: int = MANY) -> Int32:
    first = solver.add_pointers(number)
    return np.arange(first, first + number, dtype=np.int32)


def sets(solver: KernelSolver, wanted: Int32) -> list[list[int]]:
    return [solver.objects_of(each).tolist() for each in wanted.tolist()]


def solve(solver: KernelSolver) -> None:
    assert solver.solve(1 << 60) == FIXPOINT


def nodes(solver: KernelSolver) -> Nodes:
    return solver._state.graph.node[: solver._state.counters[pools.NODES]]
