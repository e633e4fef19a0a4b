"""Nodes that follow the only one that leads to them share its row until something else comes (see `engine.kernel.followers`)."""

from __future__ import annotations

import numpy as np
import pytest

from cypher.schema import Int32
from engine.kernel.solver import KernelSolver
from tests.engine.feeding import column
from tests.engine.handmade import (
    FIELD,
    MANY,
    OBJECT,
    TEXT,
    both_orders,
    made,
    nodes,
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


def followers(solver: KernelSolver) -> list[int]:
    return np.flatnonzero(nodes(solver)["leader"]).tolist()


@both_orders
def test_a_chain_has_one_row(late: bool) -> None:
    solver = made()
    chain, sources, _ = chained(solver, late)
    assert followers(solver) == chain.tolist()
    found = solver.points_to()
    assert set(found.representative[chain].tolist()) == {int(sources[0])}
    assert np.flatnonzero(np.diff(found.at)).tolist() == sources.tolist()


@both_orders
def test_a_second_edge_parts_a_follower(late: bool) -> None:
    solver = made()
    chain, sources, objects = chained(solver, late)
    middle = MANY // 2
    solver.assign(sources[1:2], chain[middle : middle + 1])
    solve(solver)
    first, second = objects[:2].tolist()
    assert sets(solver, chain) == [[first]] * middle + [[first, second]] * (MANY - middle)
    assert followers(solver) == [each for index, each in enumerate(chain.tolist()) if index != middle]
    more = solver.add_objects(column([TEXT]))
    solver.new(sources[:1], column([more]))
    solve(solver)
    assert sets(solver, chain) == [[first, more]] * middle + [[first, second, more]] * (MANY - middle)


@both_orders
def test_an_object_parts_a_follower(late: bool) -> None:
    solver = made()
    chain, _, objects = chained(solver, late)
    middle = MANY // 2
    solver.new(chain[middle : middle + 1], objects[1:2])
    solve(solver)
    first, second = objects[:2].tolist()
    assert sets(solver, chain) == [[first]] * middle + [[first, second]] * (MANY - middle)


@both_orders
def test_followers_load_and_store(late: bool) -> None:
    """What a follower does to objects, it does to those that came before and to those that come after."""
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


def test_followers_of_each_other_are_a_cycle() -> None:
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
def test_tracked_objects_come_to_followers_that_ask(late: bool) -> None:
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
