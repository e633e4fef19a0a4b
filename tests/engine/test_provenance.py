"""Chains on random programs, each step checked against the facts; and explanations of a small program made by hand."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from hypothesis import given, settings

from cypher import schema
from cypher.program import INTERFACE
from cypher.schema import NONE, STATIC
from engine import chains, heap
from engine.chains import Chains, Marks
from engine.flow import Evidence, Flow
from engine.heap import Objects
from engine.sites import Sites
from engine.solver import PointsToRows
from tests.engine.naive import Obj, Pointer, Result, Site, naive, pointer_name
from tests.engine.programs import (
    CLASS,
    OBJECT,
    ROOT,
    MethodSpec,
    Program,
    Row,
    Size,
    TypeSpec,
    programs,
    random_program,
)
from tests.provenance_checks import Columns, check_chain, check_flows

NO_MARKS = Marks(lambda *_: False, lambda _: (), lambda _: False)
Rows = dict[type[tuple[Any, ...]], list[tuple[int, ...]]]


class Numbers:
    """Numbers for what a program and its solution name: pointers, objects and sites."""

    def __init__(self, program: Program, solution: Result) -> None:
        self.program = program
        self.reached = sorted(solution.reached)
        self.pointers: dict[Pointer, int] = {}
        for at in range(program.global_pointers):
            self.pointers["global", at] = len(self.pointers)
        for method in self.reached:
            for at in range(program.methods[method].variables):
                self.pointers["local", method, at] = len(self.pointers)
        self.objects: dict[Obj, int] = {}
        for pointer, obj in sorted(solution.points_to, key=str):
            self.pointers.setdefault(pointer, len(self.pointers))
            self.objects.setdefault(obj, len(self.objects))
        self.bodies = [(method, program.bodies[method]) for method in (ROOT, *self.reached)]
        sites = [
            (method, at) for method, body in self.bodies for at, row in enumerate(body) if row.kind == "site"
        ]
        self.sites: dict[Site, int] = {site: number for number, site in enumerate(sites)}

    def pointer(self, method: int, pointer: int) -> int:
        return NONE if pointer == NONE else self.pointers[pointer_name(method, pointer)]


def rows_of(pairs: list[tuple[int, int]], numbers: Numbers) -> PointsToRows:
    """Returns points-to pairs as words, each pointer with a row of its own."""
    sets: list[set[int]] = [set() for _ in numbers.pointers]
    for pointer, obj in pairs:
        sets[pointer].add(obj)
    words = [sorted({each >> 6 for each in listed}) for listed in sets]
    at = np.cumsum([0, *map(len, words)])
    key = np.array([each for listed in words for each in listed], np.int32)
    values = [
        sum(1 << (obj & 63) for obj in listed if obj >> 6 == each)
        for listed, own in zip(sets, words, strict=True)
        for each in own
    ]
    nodes = {number: name for name, number in numbers.pointers.items() if name[0] == "field"}
    base = [numbers.objects[nodes[each][1]] if each in nodes else NONE for each in range(len(sets))]  # type: ignore[index]
    field = [nodes[each][2] if each in nodes else NONE for each in range(len(sets))]  # type: ignore[misc]
    return PointsToRows(
        np.arange(len(sets), dtype=np.int32), at, key, np.array(values, np.uint64).view(np.int64),
        np.array(base, np.int32), np.array(field, np.int32),
    )  # fmt: skip


def fact_rows(numbers: Numbers) -> Rows:
    """Returns the rows of the program as facts. A class object is a literal wherever it is put."""
    rows: Rows = defaultdict(list)
    for method, body in numbers.bodies:
        for offset, row in enumerate(body):
            at = (method, offset)
            columns = row.columns

            def pointer(place: int, method: int = method, columns: tuple[int, ...] = columns) -> int:
                return numbers.pointer(method, columns[place])

            array = row.kind in ("load", "store") and columns[1] == NONE
            match row.kind:
                case "new" | "tracked":
                    rows[schema.New].append((*at, columns[1], pointer(0)))
                case "class_objects":
                    rows[schema.ClassConstant].append((*at, columns[1], pointer(0)))
                case "assign":
                    rows[schema.Assign].append((*at, pointer(0), pointer(1)))
                case "cast" | "exclude":
                    relation = schema.Cast if row.kind == "cast" else schema.Uncaught
                    rows[relation].append((*at, pointer(0), columns[1], pointer(2)))
                case "load" if array:
                    rows[schema.ArrayLoad].append((*at, pointer(0), pointer(2)))
                case "load":
                    rows[schema.Load].append((*at, pointer(0), columns[1], pointer(2)))
                case "store" if array:
                    rows[schema.ArrayStore].append((*at, pointer(0), NONE, pointer(2)))
                case "store":
                    rows[schema.Store].append((*at, pointer(0), columns[1], pointer(2)))
                case "site":
                    site, receiver = numbers.sites[at], pointer(2)
                    if receiver != NONE and columns[0] != STATIC:
                        rows[schema.Argument].append((site, 0, receiver))
                    for position, variable in row.arguments:
                        rows[schema.Argument].append((site, position, numbers.pointer(method, variable)))
    return rows


def evidence(program: Program) -> Evidence:
    """Returns a program and its solution as the columns of a run."""
    solution = naive(program)
    numbers = Numbers(program, solution)
    rows = fact_rows(numbers)
    sites = np.full((len(Sites._fields), len(numbers.sites)), NONE, np.int32)
    for (method, offset), site in numbers.sites.items():
        kind, target, _, result, thrown = program.bodies[method][offset].columns
        result, thrown = numbers.pointer(method, result), numbers.pointer(method, thrown)
        sites[:, site] = method, offset, kind, NONE, target, target, result, thrown, 0, NONE, 0
    objects = np.full((len(Objects._fields), len(numbers.objects)), NONE, np.int32)
    for name, obj in numbers.objects.items():
        if name[0] == "class":
            objects[:, obj] = heap.CLASS_OBJECT, CLASS, NONE, NONE, name[1]
        elif name[0] == "generic":
            objects[:, obj] = heap.GENERIC, name[1], NONE, NONE, NONE
        else:
            _, method, offset = name  # type: ignore[misc]
            objects[:, obj] = heap.ALLOCATED, program.bodies[method][offset].columns[1], method, offset, NONE
    interfaces = [
        (type_, above)
        for type_, spec in enumerate(program.types)
        for above in spec.supertypes
        if above == OBJECT or program.types[above].flags & INTERFACE
    ]
    calls = sorted((numbers.sites[site], callee) for site, callee in solution.calls)
    pairs = [(numbers.pointers[pointer], numbers.objects[obj]) for pointer, obj in solution.points_to]
    none = np.empty(0, np.int32)
    return Evidence(
        {relation: schema.rows(relation, rows[relation]) for relation in schema.FACTS}, Sites(*sites),
        np.array([site for site, _ in calls], np.int32), np.array([callee for _, callee in calls], np.int32),
        np.array(numbers.reached, np.int32),
        np.array([numbers.pointers["local", each, 0] for each in numbers.reached], np.int32),
        np.array([program.methods[each].declaring for each in numbers.reached], np.int32),
        np.array([program.methods[each].parameters for each in numbers.reached], np.int32),
        np.array([spec.superclass for spec in program.types], np.int32),
        np.array(interfaces, np.int32).reshape(-1, 2),
        Objects(*objects), rows_of(pairs, numbers), none, none,
    )  # fmt: skip


def without(program: Program, *kinds: str) -> Program:
    """Returns the program with rows of these kinds turned into casts that never pass anything on, in place."""
    bodies = {
        method: tuple(
            row._replace(kind="watch", columns=(-1, 0), arguments=()) if row.kind in kinds else row
            for row in body
        )
        for method, body in program.bodies.items()
    }
    return program._replace(bodies=bodies)


def check_all(program: Program) -> int:
    """Checks a chain for each object of each pointer; returns how many there are."""
    # A call made whatever the receiver has none; what is screened has no fact.
    found = evidence(without(program, "call", "assign_untracked"))
    flow = Flow(found)
    search, columns = Chains(flow, NO_MARKS), Columns(found, ())
    number = 0
    for pointer in range(found.points_to.representative.size):
        for obj in flow.sets.objects_of(pointer).tolist():
            if found.objects.kind[obj] == heap.GENERIC:
                continue
            chain = search.to(pointer, obj)
            check_chain(columns, pointer, chain)
            assert chain.origin.kind in (chains.NEW, chains.CLASS_LITERAL)
            number += 1
    return number


@settings(max_examples=150, deadline=None)
@given(programs())
def test_every_object_of_every_pointer_has_a_chain_of_facts(program: Program) -> None:
    check_all(program)


@settings(max_examples=150, deadline=None)
@given(programs())
def test_whatever_flows_arrives(program: Program) -> None:
    # (a call made whatever the receiver is may pass a receiver that its callee never gets)
    check_flows(Columns(evidence(without(program, "call", "assign_untracked", "tracked", "watch")), ()))


def test_null_that_is_passed_on_brings_nothing() -> None:
    """A method that returns its parameter is called with an object and, for another result, with null."""
    type_ = TypeSpec(superclass=NONE, element=NONE, flags=0, supertypes=(0,), declared={})
    returning, calling = MethodSpec(0, NONE, 1, 3, 0, 0), MethodSpec(0, NONE, 0, 3, 0, NONE)
    body = (
        Row("new", (0, 0)),
        Row("site", (STATIC, 0, NONE, 1, NONE), ((0, 0),)),
        Row("site", (STATIC, 0, NONE, 2, NONE), ()),
    )
    bodies = {ROOT: (Row("reach", (1,)),), 0: (Row("assign", (0, 1)),), 1: body}
    columns = Columns(evidence(Program((type_,), (returning, calling), 1, 2, 0, bodies)), ())
    check_flows(columns)
    assert sum(kind == "passed" for kind, _, _ in columns.all_flows) == 1


def test_chains_of_larger_programs() -> None:
    assert sum(check_all(random_program(seed, Size(5, 8, 4, 10, 14, 8, 6))) for seed in range(28)) > 500
