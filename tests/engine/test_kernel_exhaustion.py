"""A kernel whose pools are full says so, and keeps a part of the truth."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kernel import state as pools
from engine.kernel.graph import LAST_STAMP
from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity
from engine.solver import EXHAUSTED
from tests.engine.feeding import Feeder, solved
from tests.engine.naive import naive
from tests.engine.programs import CLASS, OBJECT, Program, Script, programs, random_program, scripts

pytestmark = pytest.mark.usefixtures("kernel")

ROOMY = Capacity(1 << 14, 1 << 14, 1 << 14, 1 << 14, 1 << 10, 1 << 12, 1 << 10)
capacities = st.builds(
    lambda field, most: ROOMY._replace(**{field: most}),
    st.sampled_from(Capacity._fields),
    st.integers(0, 9).flatmap(lambda exponent: st.integers(1, 1 << exponent)),
)


@given(program=programs(), capacity=capacities, script=scripts, least=st.sampled_from((0, 3, 1 << 60)))
def test_full_pools_leave_a_part_of_the_result(
    program: Program, capacity: Capacity, script: Script, least: int
) -> None:
    feeder = Feeder(KernelSolver(OBJECT, CLASS, capacity, ratio=0, least=least), program, script)
    if feeder.run():
        assert feeder.result() == naive(program)
    else:
        assert feeder.result().within(naive(program))


@pytest.mark.parametrize("field", Capacity._fields)
def test_each_full_pool_is_reported_and_stays_so(field: str) -> None:
    feeder = Feeder(KernelSolver(OBJECT, CLASS, ROOMY._replace(**{field: 1})), random_program(0))
    assert not feeder.run()
    solver = feeder.solver
    assert solver.add_pointers(1) == -1
    assert solver.add_objects(np.zeros(1, np.int32)) == -1
    assert solver.class_objects(np.zeros(1, np.int32)).tolist() == [-1]
    assert solver.solve(1 << 40) == EXHAUSTED


@pytest.fixture
def limited() -> Iterator[None]:
    """Leaves this process 6 GiB of addresses to take."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_bytes().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (taken + (6 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of processes")
@pytest.mark.usefixtures("limited")
def test_it_makes_do_with_the_room_that_it_gets() -> None:
    solver = KernelSolver(OBJECT, CLASS)
    assert solver._state.sets.word.size < Capacity().words
    assert np.zeros(1 << 30, np.uint8).size  # there is room for others
    assert Feeder(solver, random_program(0)).run()


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of processes")
def test_what_is_reserved_counts_only_where_it_is_touched() -> None:
    """Else Linux refuses pools larger than its memory, and forks of a process that has them."""
    state = KernelSolver(OBJECT, CLASS)._state
    start = state.sets.word.ctypes.data
    inside, flags = False, ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(found[1], 16) <= start < int(found[2], 16)
        elif inside and line.startswith("VmFlags:"):
            flags = line
    assert flags
    assert "ac" not in flags.split()


@given(program=programs(), script=scripts, before=st.integers(0, 40))
def test_marks_start_anew_before_they_overflow(program: Program, script: Script, before: int) -> None:
    solver = KernelSolver(OBJECT, CLASS, ROOMY, ratio=0, least=0)
    solver._state.counters[pools.STAMP] = LAST_STAMP - before
    assert solved(solver, program, script) == naive(program)


@given(program=programs(), script=scripts)
def test_hash_tables_grow(program: Program, script: Script) -> None:
    solver = KernelSolver(OBJECT, CLASS, ROOMY, ratio=0, least=0)
    tables = [pools.FIELD_SLOTS, pools.CHOICE_SLOTS, pools.CALL_SLOTS, pools.PASSAGE_SLOTS]
    solver._state.counters[tables] = 1
    assert solved(solver, program, script) == naive(program)
    entries = solver._state.counters[[pools.FIELD_NODES, pools.CHOICES, pools.CALLS, pools.PASSAGES]]
    assert (solver._state.counters[tables] >= entries).all()
