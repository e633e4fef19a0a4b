"""Calls of one signature that run the same methods share their edges (see `engine.kernel.calls`)."""

from __future__ import annotations

import numpy as np
import pytest

from cypher.schema import NONE, VIRTUAL
from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity
from engine.reference import ReferenceSolver
from engine.solver import FIXPOINT, Solver
from tests.engine.feeding import column, method_rows, offsets, type_rows
from tests.engine.handmade import MANY, both_orders, nodes
from tests.engine.programs import CLASS, OBJECT, MethodSpec, Program, TypeSpec

pytestmark = pytest.mark.usefixtures("kernel")

SIGNATURE = 0
# Each method has `this`, a parameter, what it returns and what it throws.
THIS, PARAMETER, RETURNED, THROWN, VARIABLES = range(5)
FIRST = 2  # the first of the types that declare a method
ERROR = 0  # what all methods throw: the first object


def program() -> Program:
    """MANY classes that declare a method each: one returns its receiver, one its argument, the others what is in a variable."""
    above = [
        TypeSpec(NONE, NONE, 0, (OBJECT,), {}),
        TypeSpec(OBJECT, NONE, 0, (OBJECT, CLASS), {}),
    ]
    types = [TypeSpec(OBJECT, NONE, 0, (OBJECT, FIRST + each), {SIGNATURE: each}) for each in range(MANY)]
    methods = [
        MethodSpec(FIRST + each, SIGNATURE, 2, VARIABLES, 0, each if each < 2 else NONE)
        for each in range(MANY)
    ]
    return Program((*above, *types), tuple(methods), FIRST + MANY, MANY, 1, {})


def fixpoint(solver: Solver) -> None:
    while solver.solve(1 << 60) != FIXPOINT:
        methods, first = solver.take_reached()
        solver.assign(first + PARAMETER, first + RETURNED)
        solver.new(first + THROWN, np.full(methods.size, ERROR, np.int32))


def run(solver: Solver, *, late: bool, sites: int = MANY) -> dict[str, list[list[int]]]:
    """Calls the methods of all classes at each site; returns what came to the results, the handlers and the parameters."""
    made = program()
    solver.add_types(type_rows(made, 0, len(made.types)))
    solver.add_methods(method_rows(made, 0, len(made.methods)))
    solver.add_objects(column([OBJECT]))
    first = solver.add_objects(np.arange(FIRST, FIRST + MANY, dtype=np.int32))
    receivers = np.arange(first, first + MANY, dtype=np.int32)
    first = solver.add_objects(np.full(sites, OBJECT, np.int32))
    passed = np.arange(first, first + sites, dtype=np.int32)
    shared = solver.add_pointers(1)
    first = solver.add_pointers(4 * sites)
    bases, arguments, results, handlers = np.arange(first, first + 4 * sites, dtype=np.int32).reshape(4, -1)
    everything = np.full(MANY, shared, np.int32), receivers
    if not late:
        solver.new(*everything)
    solver.assign(np.full(sites, shared, np.int32), bases)
    solver.new(arguments, passed)
    each = np.ones(sites, np.int32)
    solver.add_sites(
        VIRTUAL * each, SIGNATURE * each, bases, results, handlers, offsets(each.tolist()), PARAMETER * each, arguments,
    )  # fmt: skip
    if late:
        fixpoint(solver)
        solver.new(*everything)
    fixpoint(solver)
    variables = solver.first_variables(np.arange(MANY, dtype=np.int32))
    asked = {
        "results": results, "handlers": handlers, "this": variables + THIS, "parameters": variables + PARAMETER,
    }  # fmt: skip
    found = {
        name: [sorted(solver.objects_of(pointer).tolist()) for pointer in listed.tolist()]
        for name, listed in asked.items()
    }
    called, callee = (column.tolist() for column in solver.calls_made()[:2])
    return found | {"calls": sorted(map(list, zip(called, callee, strict=True)))}


def kernel() -> KernelSolver:
    return KernelSolver(OBJECT, CLASS, Capacity(1 << 16, 1 << 18, 1 << 18, 1 << 14, 64, 64, 64))


@both_orders
def test_calls_of_the_same_methods(late: bool) -> None:
    solver = kernel()
    found = run(solver, late=late)
    assert found == run(ReferenceSolver(OBJECT, CLASS), late=late)
    assert [len(each) for each in found["parameters"]] == [MANY] * MANY
    assert {len(each) for each in found["results"]} == {MANY + 1}  # all arguments, and a receiver
    edges = int(nodes(solver)["edges"].sum())
    assert edges <= 16 * MANY  # not 3 * MANY * MANY


def test_a_call_alone() -> None:
    assert run(kernel(), late=False, sites=1) == run(ReferenceSolver(OBJECT, CLASS), late=False, sites=1)
