"""Naive sets, the reference solver and the kernel compute the same, however the rows come in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity
from engine.reference import ReferenceSolver
from engine.solver import Solver
from tests.engine.feeding import Feeder, solved
from tests.engine.naive import naive
from tests.engine.programs import (
    CLASS,
    LARGE,
    MIDDLE,
    OBJECT,
    Program,
    Row,
    Script,
    programs,
    programs_and_rows,
    random_program,
    scripts,
)

pytestmark = pytest.mark.usefixtures("kernel")

NEVER = 1 << 60
ROOMY = Capacity(1 << 18, 1 << 20, 1 << 20, 1 << 17, 1 << 10, 1 << 12, 1 << 10)


def reference(waiting: int = 2000) -> Solver:
    return ReferenceSolver(OBJECT, CLASS, waiting)


def collapsing(waiting: int = 2000) -> Solver:
    return KernelSolver(OBJECT, CLASS, ROOMY, waiting, ratio=0, least=0)


def plain(waiting: int = 2000) -> Solver:
    return KernelSolver(OBJECT, CLASS, ROOMY, waiting, ratio=0, least=NEVER)


SOLVERS = {"reference": reference, "kernel": plain, "collapsing kernel": collapsing}
every_solver = pytest.mark.parametrize("make", SOLVERS.values(), ids=SOLVERS)


@every_solver
@given(program=programs())
def test_solver_computes_what_the_rules_say(make: Callable[[], Solver], program: Program) -> None:
    assert solved(make(), program) == naive(program)


@every_solver
@given(program=programs(), script=scripts, waiting=st.sampled_from((0, 1, 2000)))
def test_rows_in_pieces_give_the_same_as_all_at_once(
    make: Callable[[int], Solver], program: Program, script: Script, waiting: int
) -> None:
    assert solved(make(waiting), program, script) == naive(program)


@every_solver
@given(program_and_row=programs_and_rows(), script=scripts)
def test_a_further_row_removes_nothing(
    make: Callable[[], Solver], program_and_row: tuple[Program, int, Row], script: Script
) -> None:
    program, method, row = program_and_row
    feeder = Feeder(make(), program, script)
    assert feeder.run()
    before = feeder.result()
    feeder.program = program.with_row(method, row)
    if method in feeder.first:
        feeder.waiting.append((method, len(program.bodies[method])))
    assert feeder.run()
    assert before.within(feeder.result())
    assert feeder.result() == naive(feeder.program)


@every_solver
@given(seed=st.integers(0, 1 << 32), script=scripts)
def test_larger_programs(make: Callable[[], Solver], seed: int, script: Script) -> None:
    program = random_program(seed, MIDDLE)
    assert solved(make(), program, script) == naive(program)


@pytest.mark.slow
@every_solver
@settings(max_examples=settings().max_examples // 3)
@given(seed=st.integers(0, 1 << 32), script=scripts)
def test_large_programs(make: Callable[[], Solver], seed: int, script: Script) -> None:
    program = random_program(seed, LARGE)
    assert solved(make(), program, script) == naive(program)
