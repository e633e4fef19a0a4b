"""Selection follows JVMS 5.4.6, in the kernel and in the reference solver; a wrong one would be noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity
from engine.reference import ReferenceSolver
from engine.solver import Solver
from tests.engine import mutation
from tests.engine.dispatch import Case, Select, mistakes, random_cases, written_cases
from tests.engine.feeding import method_rows, type_rows
from tests.engine.naive import selection
from tests.engine.programs import CLASS, OBJECT, Program

pytestmark = pytest.mark.usefixtures("kernel")

CAPACITY = Capacity(1 << 14, 1 << 10, 1 << 10, 1 << 10, 1 << 10, 1 << 10, 1)
SOLVERS = {
    "kernel": lambda: KernelSolver(OBJECT, CLASS, CAPACITY),
    "reference": lambda: ReferenceSolver(OBJECT, CLASS),
}


def test_oracle_agrees_with_the_written_cases() -> None:
    for case in written_cases():
        assert selection(case.program, case.type, case.signature) == case.expected, case


@pytest.mark.parametrize("make", SOLVERS.values(), ids=SOLVERS)
def test_selection(make: Callable[[], Solver]) -> None:
    def select_in(program: Program) -> Select:
        solver = make()
        solver.add_types(type_rows(program, 0, len(program.types)))
        solver.add_methods(method_rows(program, 0, len(program.methods)))
        return solver.select

    cases: list[Case] = [*written_cases(), *random_cases(60)]
    assert {case.expected >= 0 for case in cases} == {True, False}
    assert list(mistakes(cases, select_in)) == []


# Mutants that select the same.
EQUIVALENT = {
    # The search stops at the first that isn't less.
    "is_subtype+4: types.supertype[at] <= supertype",
    "declared_in+5: types.declared_signature[at] <= signature",
    # Any number below zero says that there is none.
    "declared_in+7: 1 becomes 2",
    "select+21: 0 becomes -1",
    # A superclass that declares the signature was found before.
    "look_up+21: without types.type[subinterface].flags & INTERFACE",
    "look_up+22: types.type[subinterface].flags | INTERFACE",
    # Some work more, or less.
    "look_up+27: without break",
    "select+19: count[CHOICES] >= count[CHOICE_SLOTS]",
    # The number of entries never passes that.
    "select+11: entry >= choice.size",
    # An entry's chain in the smaller table has all that it has in the larger one.
    "select+25: without choice[entry].next = slots[place]",
}


@pytest.mark.slow
def test_changed_selection_is_noticed() -> None:
    surviving, number = mutation.survivors(8)
    assert number > 100
    assert set(surviving) == EQUIVALENT
