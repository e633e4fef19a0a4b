"""Edges whose number would be a product go through nodes of their own: passages (see `engine.kernel.edges`)."""

from __future__ import annotations

import numpy as np
import pytest

from cypher.schema import Int32
from engine.kernel import state as pools
from engine.kernel.solver import KernelSolver
from tests.engine.feeding import column
from tests.engine.handmade import (
    CLASS,
    FIELD,
    MANY,
    OBJECT,
    TEXT,
    TEXTS,
    both_orders,
    made,
    nodes,
    of_type,
    pointers,
    sets,
    solve,
)

pytestmark = pytest.mark.usefixtures("kernel")


def repeated(pointer: int) -> Int32:
    return np.full(MANY, pointer, np.int32)


def edges(solver: KernelSolver) -> int:
    return int(nodes(solver)["edges"].sum())


@both_orders
def test_loads_and_stores_of_one_field(late: bool) -> None:
    solver = made()
    base = solver.add_pointers(1)
    _, objects = of_type(solver, OBJECT)
    sources, values = of_type(solver, TEXT)
    targets = pointers(solver)
    solver.new(sources, values)
    if not late:
        solver.new(repeated(base), objects)
    solver.store(sources, repeated(FIELD), repeated(base))
    solver.load(repeated(base), repeated(FIELD), targets)
    if late:
        solve(solver)
        solver.new(repeated(base), objects)
    solve(solver)
    assert sets(solver, targets) == [values.tolist()] * MANY
    assert edges(solver) <= 6 * MANY + 2  # not MANY * MANY; two are of what both accesses share
    found = solver.points_to()
    words = np.concatenate(([0], np.cumsum(np.bitwise_count(found.word.view(np.uint64)))))
    sizes = np.diff(words[found.at])[found.representative]
    assert sizes.sum() == MANY * (1 + 1 + MANY + MANY)  # passages are no pointers


@both_orders
def test_accesses_of_bases_that_have_the_same_objects(late: bool) -> None:
    """They share the edges from and to the fields of these objects."""
    solver = made()
    first = solver.add_pointers(1)
    _, objects = of_type(solver, OBJECT)
    sources, values = of_type(solver, TEXT)
    bases, targets = pointers(solver), pointers(solver)
    solver.new(sources, values)
    solver.assign(repeated(first), bases)
    if not late:
        solver.new(repeated(first), objects)
    solver.store(sources, repeated(FIELD), bases)
    solver.load(bases, repeated(FIELD), targets)
    if late:
        solve(solver)
        solver.new(repeated(first), objects)
    solve(solver)
    assert sets(solver, targets) == [values.tolist()] * MANY
    assert edges(solver) <= 8 * MANY  # not MANY * MANY


def test_accesses_of_bases_that_become_one() -> None:
    """Each base loads once, or has a passage, when all turn out to be one cycle."""
    solver = made(least=0)
    bases, objects = of_type(solver, OBJECT)
    targets, more = pointers(solver), pointers(solver)
    sources, values = of_type(solver, TEXT)
    solver.new(sources, values)
    solver.new(bases, objects)
    solver.load(bases, repeated(FIELD), targets)
    solver.store(sources, repeated(FIELD), bases)
    solver.load(bases[: MANY // 2], repeated(FIELD)[: MANY // 2], more[: MANY // 2])
    solve(solver)
    assert sets(solver, targets) == [[each] for each in values.tolist()]
    solver.assign(bases, np.roll(bases, 1))
    solve(solver)
    solver.load(bases[MANY // 2 :], repeated(FIELD)[MANY // 2 :], more[MANY // 2 :])
    later = solver.add_objects(column([OBJECT]))
    solver.new(bases[:1], column([later]))
    solve(solver)
    assert sets(solver, targets) == sets(solver, more) == [values.tolist()] * MANY
    count, uses = solver._state.counters, solver._state.graph.use
    kinds = uses["kind"][: count[pools.USES]]
    assert [int((kinds == each).sum()) for each in (pools.USE_LOAD, pools.USE_STORE)] == [1, 1]


def test_many_edges_on_one_condition() -> None:
    solver = made()
    source = solver.add_pointers(1)
    _, texts = of_type(solver, TEXT)
    _, others = of_type(solver, OBJECT)
    targets = pointers(solver)
    solver.cast(repeated(source), repeated(TEXT), targets)
    solver.cast(repeated(source), repeated(CLASS), targets)
    solver.new(repeated(source), texts)
    solver.new(repeated(source), others)
    solve(solver)
    assert sets(solver, targets) == [texts.tolist()] * MANY
    conditional = solver._state.graph.node[source]["edges"]
    assert conditional == 2 * 2  # the first edge on each condition, and that to its passage


def test_edges_on_one_condition_from_nodes_that_become_one() -> None:
    solver = made(least=0)
    sources, texts = of_type(solver, TEXT)
    _, others = of_type(solver, OBJECT)
    target = pointers(solver, 1)
    solver.cast(sources, repeated(TEXT), repeated(int(target[0])))
    solver.new(sources, texts)
    solver.new(sources, others)
    solve(solver)
    assert edges(solver) == MANY
    solver.assign(sources, np.roll(sources, 1))
    solve(solver)
    assert sets(solver, target) == [texts.tolist()]
    assert edges(solver) == 1


def test_an_array_takes_what_its_element_type_admits() -> None:
    solver = made()
    base, source = solver.add_pointers(1), solver.add_pointers(1)
    _, arrays = of_type(solver, TEXTS)
    _, texts = of_type(solver, TEXT, 2)
    _, others = of_type(solver, OBJECT, 2)
    target = pointers(solver, 1)
    solver.new(repeated(base), arrays)
    for listed in (texts, others):
        solver.new(repeated(source)[:2], listed)
    solver.store(column([source]), column([-1]), column([base]))
    solver.load(column([base]), column([-1]), target)
    solve(solver)
    assert sets(solver, target) == [texts.tolist()]
    assert solver._state.graph.node[source]["edges"] == 2
