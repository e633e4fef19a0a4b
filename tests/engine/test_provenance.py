"""Chains on random programs, each step checked against the facts; and explanations of a small program made by hand."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from hypothesis import given, settings

from cypher import schema
from cypher.schema import NONE, SPECIAL, STATIC
from engine import chains, heap
from engine.chains import Chain, Chains, Marks
from engine.flow import Evidence, Flow
from engine.heap import Objects
from engine.reference import ReferenceSolver
from engine.sites import Sites
from tests.engine.feeding import Feeder
from tests.engine.programs import CLASS, OBJECT, ROOT, Program, programs, random_program
from tests.provenance_checks import Columns, check_chain

NO_MARKS = Marks(lambda *_: False, lambda _: False, lambda _: False)


def fed(program: Program) -> Feeder:
    feeder = Feeder(ReferenceSolver(OBJECT, CLASS), program)
    assert feeder.run()
    return feeder


def evidence(feeder: Feeder) -> Evidence:
    """Returns what the solver made of a program, its rows as facts. A class object is a constant wherever it is put."""
    program, solver = feeder.program, feeder.solver
    rows: defaultdict[type[tuple[Any, ...]], list[tuple[int, ...]]] = defaultdict(list)
    sites: dict[int, tuple[int, ...]] = {}
    made: dict[int, tuple[int, int, int]] = {}
    names = {name: obj for obj, name in feeder.object_name.items()}
    for method in feeder.first:
        if method != ROOT and feeder.first[method] == NONE:
            continue
        for offset, row in enumerate(program.bodies[method]):
            columns = [feeder.pointer(method, each) for each in row.columns]
            match row.kind:
                case "new":
                    made[names["row", method, offset]] = (method, offset, row.columns[1])
                    rows[schema.New].append((method, offset, row.columns[1], columns[0]))
                case "class_objects":
                    rows[schema.ClassConstant].append((method, offset, row.columns[1], columns[0]))
                case "assign":
                    rows[schema.Assign].append((method, offset, *columns))
                case "cast" | "exclude":
                    relation = schema.Cast if row.kind == "cast" else schema.Uncaught
                    rows[relation].append((method, offset, columns[0], row.columns[1], columns[2]))
                case "load" if row.columns[1] == NONE:
                    rows[schema.ArrayLoad].append((method, offset, columns[0], columns[2]))
                case "load":
                    rows[schema.Load].append((method, offset, columns[0], row.columns[1], columns[2]))
                case "store" if row.columns[1] == NONE:
                    rows[schema.ArrayStore].append((method, offset, columns[0], NONE, columns[2]))
                case "store":
                    rows[schema.Store].append((method, offset, columns[0], row.columns[1], columns[2]))
                case "site":
                    kind, target = row.columns[:2]
                    receiver, result, thrown = columns[2:]
                    site = feeder.site[method, offset]
                    sites[site] = (method, offset, kind, NONE, target, target, result, thrown, 0, NONE, 0)
                    if receiver != NONE and kind != STATIC:
                        rows[schema.Argument].append((site, 0, receiver))
                    for position, variable in row.arguments:
                        rows[schema.Argument].append((site, position, feeder.pointer(method, variable)))
    facts = {relation: schema.rows(relation, rows[relation]) for relation in schema.FACTS}
    call_site, call_callee = solver.calls_made()
    reached = solver.reached()
    parameters = [program.methods[each].parameters for each in reached.tolist()]
    none = np.empty(0, np.int32)
    table = [sites.get(each, (NONE,) * len(Sites._fields)) for each in range(max(sites, default=-1) + 1)]
    return Evidence(
        facts, Sites(*np.array(table, np.int32).reshape(-1, len(Sites._fields)).T), call_site, call_callee,
        reached, solver.first_variables(reached), np.array(parameters, np.int32), objects_of(feeder, made),
        solver.points_to(), none, none,
    )  # fmt: skip


def objects_of(feeder: Feeder, made: dict[int, tuple[int, int, int]]) -> Objects:
    number = feeder.solver.statistics().objects
    table = np.full((number, len(Objects._fields)), NONE, np.int32)
    for obj, (method, offset, type_) in made.items():
        table[obj] = heap.ALLOCATED, type_, method, offset, NONE
    for obj, type_ in zip(*feeder.solver.class_object_types(), strict=True):
        table[obj] = heap.CLASS_OBJECT, CLASS, NONE, NONE, type_
    return Objects(*table.T)


def without(program: Program, *kinds: str) -> Program:
    """Returns the program with rows of these kinds turned into casts that never pass anything on, in place."""
    bodies = {
        method: tuple(row._replace(kind="watch", columns=(-1, 0), arguments=()) if row.kind in kinds else row for row in body)
        for method, body in program.bodies.items()
    }
    return program._replace(bodies=bodies)


def all_chains(program: Program) -> tuple[Evidence, list[tuple[int, Chain]]]:
    # A call made whatever the receiver has none, and what getClass returns has no fact.
    found = evidence(fed(without(program, "call", "get_class")))
    flow = Flow(found)
    search = Chains(flow, NO_MARKS)
    pointers = range(found.points_to.representative.size)
    return found, [(each, search.to(each, obj)) for each in pointers for obj in flow.sets.objects_of(each).tolist()]


def check_all(program: Program) -> None:
    found, listed = all_chains(program)
    columns = Columns(found, ())
    for pointer, chain in listed:
        check_chain(columns, pointer, chain)
        assert chain.origin.kind in (chains.NEW, chains.CLASS_LITERAL)


@settings(max_examples=150, deadline=None)
@given(programs())
def test_every_object_of_every_pointer_has_a_chain_of_facts(program: Program) -> None:
    check_all(program)


def test_chains_of_larger_programs() -> None:
    for seed in range(6):
        check_all(random_program(seed))
