"""Equal sets are one, however pointers come to them (see `engine.kernel.sets`)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypher.schema import Int32
from engine.kernel import state as pools
from engine.kernel.closure import MANY_EDGES
from engine.kernel.solver import KernelSolver
from tests.engine.feeding import column
from tests.engine.handmade import (
    FIELD,
    MANY,
    OBJECT,
    TEXT,
    both_orders,
    made,
    of_type,
    pointers,
    sets,
    solve,
)

pytestmark = pytest.mark.usefixtures("kernel")


def chained(solver: KernelSolver, late: bool) -> tuple[Int32, Int32, Int32]:
    """Returns a chain of pointers, and sources and their objects, the first of which leads to the chain."""
    sources, objects = of_type(solver, OBJECT)
    chain = pointers(solver)
    if not late:
        solver.new(sources, objects)
    solver.assign(sources[:1], chain[:1])
    solver.assign(chain[:-1], chain[1:])
    if late:
        solve(solver)
        solver.new(sources, objects)
    solve(solver)
    assert sets(solver, chain) == [[int(objects[0])]] * MANY
    return chain, sources, objects


@both_orders
def test_a_chain_has_one_set(late: bool) -> None:
    solver = made()
    chain, sources, _ = chained(solver, late)
    found = solver.points_to()
    assert len(set(found.representative[chain].tolist())) == 1
    assert len(set(found.representative[sources].tolist())) == MANY
    assert np.diff(found.at).tolist() == [0] + [1] * MANY


@both_orders
def test_a_second_edge_in_a_chain(late: bool) -> None:
    solver = made()
    chain, sources, objects = chained(solver, late)
    middle = MANY // 2
    solver.assign(sources[1:2], chain[middle : middle + 1])
    solve(solver)
    first, second = objects[:2].tolist()
    assert sets(solver, chain) == [[first]] * middle + [[first, second]] * (MANY - middle)
    more = solver.add_objects(column([TEXT]))
    solver.new(sources[:1], column([more]))
    solve(solver)
    assert sets(solver, chain) == [[first, more]] * middle + [[first, second, more]] * (MANY - middle)


@both_orders
def test_an_object_in_a_chain(late: bool) -> None:
    solver = made()
    chain, _, objects = chained(solver, late)
    middle = MANY // 2
    solver.new(chain[middle : middle + 1], objects[1:2])
    solve(solver)
    first, second = objects[:2].tolist()
    assert sets(solver, chain) == [[first]] * middle + [[first, second]] * (MANY - middle)


@both_orders
def test_a_chain_loads_and_stores(late: bool) -> None:
    """Uses see the objects that came before them and those that come after."""
    solver = made()
    chain, sources, objects = chained(solver, late)
    target = pointers(solver, 1)
    solver.store(sources[2:3], column([FIELD]), chain[-1:])
    solver.load(chain[5:6], column([FIELD]), target)
    solve(solver)
    assert sets(solver, target) == [[int(objects[2])]]
    solver.new(sources[:1], objects[1:2])
    solver.new(sources[2:3], objects[3:4])
    solve(solver)
    assert sets(solver, target) == [objects[2:4].tolist()]
    reader = pointers(solver, 2)
    solver.assign(sources[1:2], reader[:1])
    solver.load(reader[:1], column([FIELD]), reader[1:])
    solve(solver)
    assert sets(solver, reader) == [[int(objects[1])], objects[2:4].tolist()]


@both_orders
def test_a_chain_that_becomes_a_cycle(late: bool) -> None:
    solver = made(least=0)
    chain, sources, objects = chained(solver, late)
    beside = pointers(solver, 1)
    solver.assign(chain[7:8], beside)
    solver.assign(chain[-1:], chain[:1])
    solver.assign(sources[1:2], chain[9:10])
    solve(solver)
    assert sets(solver, chain) == [objects[:2].tolist()] * MANY
    assert sets(solver, beside) == [objects[:2].tolist()]


def test_a_ring_is_a_cycle() -> None:
    solver = made(least=0)
    ring = pointers(solver)
    sources, objects = of_type(solver, OBJECT, 1)
    solver.assign(ring, np.roll(ring, 1))
    solve(solver)
    solver.new(sources, objects)
    solver.assign(sources, ring[3:4])
    solve(solver)
    assert sets(solver, ring) == [objects.tolist()] * MANY


@both_orders
def test_tracked_objects_come_to_those_that_ask(late: bool) -> None:
    solver = made()
    chain, sources, objects = chained(solver, late)
    tracked = solver.add_tracked(column([TEXT, TEXT]))
    solver.new(sources[:1], column([tracked]))
    solve(solver)
    generic = sets(solver, chain)[0][-1]
    assert sets(solver, chain) == [[int(objects[0]), generic]] * MANY
    solver.watch(chain[3:4], column([0]))
    solve(solver)
    solver.take_watched()  # what is watched may add edges: only then are tracked objects told apart
    solve(solver)
    assert solver.take_watched()[1].tolist() == [tracked]
    solver.new(sources[:1], column([tracked + 1]))
    solve(solver)
    every = [int(objects[0]), generic, tracked, tracked + 1]
    assert sets(solver, chain) == [every] * 4 + [every[:2]] * (MANY - 4)
    tags, seen = solver.take_watched()
    assert seen.tolist() == [tracked + 1]
    assert tags.tolist() == [0]


def test_dropped_sets_are_made_again() -> None:
    """What is dropped after each step is no set of a pointer; the others go on under other numbers."""
    solver = made()
    chain, sources, objects = chained(solver, late=False)
    targets = pointers(solver)
    for index in range(1, MANY):
        solver.assign(sources[index : index + 1], chain[index : index + 1])
        solver.assign(chain[index : index + 1], targets[index : index + 1])
        solve(solver)
        found = solver.points_to()  # drops sets
        assert np.diff(found.at).size <= MANY * 2
        if index % 7 == 0:
            solver.new(sources[:1], objects[index : index + 1])
    solve(solver)
    added = objects[7::7].tolist()
    expected = [sorted({*objects[: index + 1].tolist(), *added}) for index in range(MANY)]
    assert sets(solver, chain) == expected
    assert sets(solver, targets) == [[], *expected[1:]]


@pytest.mark.parametrize("number", [MANY_EDGES, MANY_EDGES + 1])
def test_many_edges_wait_but_pass_all_on(number: int) -> None:
    """A node from which many edges lead passes everything on, itself and through a ring back to itself."""
    solver = made()
    hub = pointers(solver, 1)
    targets = pointers(solver, number)
    sources, objects = of_type(solver, OBJECT)
    solver.new(sources, objects)
    solver.assign(np.full(number, hub[0], np.int32), targets)
    solver.assign(sources, np.full(MANY, hub[0], np.int32))
    solver.store(targets[:1], column([FIELD]), targets[1:2])
    solver.load(targets[2:3], column([FIELD]), hub)
    solve(solver)
    solver.new(targets[3:4], objects[:1])
    solve(solver)
    assert sets(solver, targets) == [objects.tolist()] * number
    assert solver._state.counters[pools.LATE] == 0


object_sets = st.lists(st.sets(st.integers(0, 700), max_size=40), min_size=2, max_size=8)


@given(parts=object_sets, order=st.randoms(use_true_random=False))
@settings(deadline=None)
def test_sets_are_those_of_python(parts: list[set[int]], order: random.Random) -> None:
    """Unions are those of Python's sets, in any order; equal ones have the same number."""
    solver = made()
    first = solver.add_objects(np.full(701, OBJECT, np.int32))
    sources, targets = pointers(solver, len(parts)), pointers(solver, len(parts))
    for source, part in zip(sources.tolist(), parts, strict=True):
        for obj in part:
            solver.new(column([source]), column([first + obj]))
    pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1)]
    order.shuffle(pairs)
    for target, source in pairs:
        solver.assign(sources[source : source + 1], targets[target : target + 1])
        solve(solver)
    unions = [sorted(set().union(*parts[: index + 1])) for index in range(len(parts))]
    assert sets(solver, targets) == [[first + obj for obj in each] for each in unions]
    found = solver.points_to().representative
    numbers: dict[tuple[int, ...], int] = {}
    for pointer, each in zip([*sources, *targets], [*map(sorted, parts), *unions], strict=True):
        assert numbers.setdefault(tuple(each), int(found[pointer])) == int(found[pointer])
    assert len(set(numbers.values())) == len(numbers)
