"""A kernel whose pools are full says so, and keeps a part of the truth."""

from __future__ import annotations

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


@given(program=programs(), script=scripts, before=st.integers(0, 40))
def test_marks_start_anew_before_they_overflow(program: Program, script: Script, before: int) -> None:
    solver = KernelSolver(OBJECT, CLASS, ROOMY, ratio=0, least=0)
    solver._state.counters[pools.STAMP] = LAST_STAMP - before
    assert solved(solver, program, script) == naive(program)


@given(program=programs(), script=scripts)
def test_hash_tables_grow(program: Program, script: Script) -> None:
    solver = KernelSolver(OBJECT, CLASS, ROOMY, ratio=0, least=0)
    tables = [pools.FIELD_SLOTS, pools.CHOICE_SLOTS, pools.CALL_SLOTS]
    solver._state.counters[tables] = 1
    assert solved(solver, program, script) == naive(program)
    entries = solver._state.counters[[pools.FIELD_NODES, pools.CHOICES, pools.CALLS]]
    assert (solver._state.counters[tables] >= entries).all()
