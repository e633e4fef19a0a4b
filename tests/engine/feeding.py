"""Feeds a constraint program to a solver, piece by piece, and reads the result under names of its own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import numpy as np

from cypher.program import MethodRows, TypeRows
from cypher.schema import NONE, Int32
from engine.solver import EXHAUSTED, FIXPOINT, PAUSED, PointsToRows, Solver
from tests.engine.naive import Obj, Pointer, Result, Site, pointer_name
from tests.engine.programs import AT_ONCE, OBJECT, ROOT, Program, Row, Script


def column(values: Iterable[int]) -> Int32:
    return np.array(list(values), np.int32)


def offsets(lengths: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum(list(lengths), dtype=np.int64)))


def type_rows(program: Program, first: int, last: int) -> TypeRows:
    types = program.types[first:last]
    declared = [sorted(each.declared.items()) for each in types]
    return TypeRows(
        first,
        column(each.superclass for each in types),
        column(each.element for each in types),
        column(each.flags for each in types),
        offsets(len(each.supertypes) for each in types),
        column(supertype for each in types for supertype in each.supertypes),
        offsets(map(len, declared)),
        column(signature for each in declared for signature, _ in each),
        column(method for each in declared for _, method in each),
    )


def method_rows(program: Program, first: int, last: int) -> MethodRows:
    methods = program.methods[first:last]
    return MethodRows(
        first,
        *(
            column(getattr(each, name) for each in methods)
            for name in ("declaring", "signature", "parameters", "variables", "flags", "returns")
        ),
    )


def expanded(rows: PointsToRows) -> list[list[int]]:
    """Returns the objects of each pointer."""
    found: list[list[int]] = []
    for which in rows.representative.tolist():
        words = range(rows.at[which], rows.at[which + 1])
        found.append(
            [
                64 * int(rows.key[at]) + bit
                for at in words
                for bit in range(64)
                if int(rows.word[at]) >> bit & 1
            ]
        )
    return found


class Feeder:
    """A solver with a program that it has got a part of so far."""

    def __init__(self, solver: Solver, program: Program, script: Script = AT_ONCE) -> None:
        self.solver, self.program, self.script = solver, program, script
        self.random = random.Random(script.seed)
        self.known_types = self.known_methods = 0
        self.add_types(program.early_types, program.early_methods)
        self.globals = solver.add_pointers(program.global_pointers)
        self.first: dict[int, int] = {ROOT: NONE}
        self.object_name: dict[int, Obj] = {}
        self.site: dict[Site, int] = {}
        self.site_name: dict[int, Site] = {}
        self.watched: Counter[tuple[tuple[int, int], Obj]] = Counter()
        self.waiting = [(ROOT, index) for index in range(len(program.bodies[ROOT]))]
        self.called: list[tuple[int, int]] = []
        self._calls = 0  # how far what was called was asked

    def add_types(self, types: int, methods: int) -> None:
        """Adds types and methods up to these."""
        self.solver.add_types(type_rows(self.program, self.known_types, types))
        self.solver.add_methods(method_rows(self.program, self.known_methods, methods))
        self.known_types, self.known_methods = types, methods

    def pointer(self, method: int, pointer: int) -> int:
        if pointer == NONE:
            return NONE
        return self.first[method] + pointer if pointer >= 0 else self.globals - 2 - pointer

    def is_ready(self, method: int, row: Row) -> bool:
        """Returns whether what the row mentions is known to the solver."""
        match row.kind, row.columns:
            case (("new" | "tracked" | "class_objects"), (_, type_)) | (("cast" | "exclude"), (_, type_, _)):
                return type_ < self.known_types
            case "reach", (callee,):
                return callee < self.known_methods
            case "call", (at, callee):
                return callee < self.known_methods and (method, at) in self.site
            case "site", (kind, target, *_):
                return kind == 2 or target < self.known_methods
        return True

    def feed(self) -> None:
        """Feeds some of the rows that wait; if all wait for types, adds the rest of those."""
        ready = [
            each for each in self.waiting if self.is_ready(each[0], self.program.bodies[each[0]][each[1]])
        ]
        if self.waiting and (not ready or self.random.random() > self.script.share):
            self.add_types(len(self.program.types), len(self.program.methods))
        chosen = [each for each in ready if self.random.random() < self.script.share]
        self.random.shuffle(chosen)
        taken = set(chosen)
        self.waiting = [each for each in self.waiting if each not in taken]
        by_kind: dict[str, list[Site]] = {}
        for method, index in chosen:
            by_kind.setdefault(self.program.bodies[method][index].kind, []).append((method, index))
        for kind, names in by_kind.items():
            self.feed_kind(kind, names)

    def feed_kind(self, kind: str, names: list[Site]) -> None:
        """Feeds rows of one kind."""
        rows = [self.program.bodies[method][index] for method, index in names]
        if kind == "site":
            self.feed_sites(names, rows)
            return
        columns = [list(each) for each in zip(*(row.columns for row in rows), strict=True)]
        if kind == "call":
            columns[0] = [self.site[method, at] for (method, _), at in zip(names, columns[0], strict=True)]
        for place in {"reach": (), "call": (), "cast": (0, 2), "exclude": (0, 2), "load": (0, 2),
                      "store": (0, 2), "assign": (0, 1), "assign_untracked": (0, 1)}.get(kind, (0,)):  # fmt: skip
            columns[place] = [
                self.pointer(method, pointer)
                for (method, _), pointer in zip(names, columns[place], strict=True)
            ]
        if kind in {"new", "tracked"}:
            columns[1] = [
                self.new_object(name, type_, kind) for name, type_ in zip(names, columns[1], strict=True)
            ]
            kind = "new"
        elif kind == "class_objects":
            columns[1] = self.solver.class_objects(column(columns[1])).tolist()
            kind = "new"
        elif kind == "watch":
            columns[1] = [
                tag * 1_000_000 + (method + 1) * 1000 + index
                for (method, index), tag in zip(names, columns[1], strict=True)
            ]
        getattr(self.solver, kind)(*map(column, columns))

    def new_object(self, name: Site, type_: int, kind: str) -> int:
        add = self.solver.add_objects if kind == "new" else self.solver.add_tracked
        if self.script.spread:
            add(column(self.random.choices((OBJECT, type_), k=self.script.spread)))
        obj = add(column([type_]))
        if obj != NONE:
            assert (obj >= self.solver.tracked_from) == (kind == "tracked")
            self.object_name[obj] = ("row", *name)
        return obj

    def feed_sites(self, names: list[Site], rows: list[Row]) -> None:
        kinds, targets, *others = (list(each) for each in zip(*(row.columns for row in rows), strict=True))
        methods = [method for method, _ in names]
        receivers, results, throwns = (column(map(self.pointer, methods, each)) for each in others)
        arguments = [
            (position, self.pointer(method, variable))
            for method, row in zip(methods, rows, strict=True)
            for position, variable in row.arguments
        ]
        first = self.solver.add_sites(
            column(kinds), column(targets), receivers, results, throwns,
            offsets(len(row.arguments) for row in rows),
            column(position for position, _ in arguments), column(variable for _, variable in arguments),
        )  # fmt: skip
        for at, name in enumerate(names if first != NONE else []):
            self.site[name] = first + at
            self.site_name[first + at] = name

    def take_calls(self, always: bool = False) -> None:
        """Always or now and then, takes the calls made since it last did."""
        if always or self.random.random() < 0.5:
            sites, callees, self._calls = self.solver.calls_made(self._calls)
            self.called += zip(sites.tolist(), callees.tolist(), strict=True)

    def run(self) -> bool:
        """Feeds and solves till all is fed and the fixpoint reached; returns whether the pools sufficed."""
        while True:
            self.feed()
            status = self.solver.solve(self.script.budget)
            methods, first = self.solver.take_reached()
            for method, variable in zip(methods.tolist(), first.tolist(), strict=True):
                assert method not in self.first
                self.first[method] = variable
                self.waiting += [(method, index) for index in range(len(self.program.bodies[method]))]
            if status == EXHAUSTED:
                return False
            self.take_calls()
            assert status == PAUSED or not methods.size
            watched = self.take_watched()
            if status == FIXPOINT and not (watched or self.waiting):
                return True

    def take_watched(self) -> bool:
        """Takes what was reported; returns whether there was any."""
        tags, objects = self.solver.take_watched()
        for tag, name in zip(tags.tolist(), self.names_of(objects), strict=True):
            where = (tag // 1_000_000, (tag % 1_000_000 // 1000 - 1) * 1000 + tag % 1000)
            self.watched[where, name] += 1
        return tags.size > 0

    def names_of(self, objects: Int32) -> list[Obj]:
        """Returns the names of objects; one that has no other stands for the tracked objects of its type."""
        class_objects, types = self.solver.class_object_types()
        named: dict[int, Obj] = {
            obj: ("class", type_) for obj, type_ in zip(class_objects.tolist(), types.tolist(), strict=True)
        }
        named |= self.object_name
        listed = zip(objects.tolist(), self.solver.types_of(objects).tolist(), strict=True)
        return [named.get(obj, ("generic", type_)) for obj, type_ in listed]

    def result(self) -> Result:
        """Returns what was computed, by names; checks that the ways to ask for it agree."""
        rows = self.solver.points_to()
        objects = expanded(rows)
        pointers: dict[int, Pointer] = {
            self.globals + at: ("global", at) for at in range(self.program.global_pointers)
        }
        for method, first in self.first.items():
            if method != ROOT and first != NONE:
                number = self.program.methods[method].variables
                pointers |= {first + at: pointer_name(method, at) for at in range(number)}
        fields = np.flatnonzero(rows.base != NONE)
        for at, base in zip(fields.tolist(), self.names_of(rows.base[fields]), strict=True):
            pointers[at] = ("field", base, int(rows.field[at]))
        owners = [at for at, listed in enumerate(objects) for _ in listed]
        names = self.names_of(column(obj for listed in objects for obj in listed))
        pairs = {(pointers[at], name) for at, name in zip(owners, names, strict=True)}
        assert len(pairs) == len(owners)
        for at in self.random.sample(range(len(objects)), min(5, len(objects))):
            assert self.solver.objects_of(at).tolist() == objects[at]
            assert self.solver.number_of(at) == len(objects[at])
        self.take_calls(always=True)
        sites, callees = (each.tolist() for each in self.solver.calls_made()[:2])
        assert sorted(self.called) == sorted(zip(sites, callees, strict=True))
        calls = {(self.site_name[site], callee) for site, callee in self.called}
        assert len(calls) == len(sites)
        reached = self.solver.reached()
        assert self.solver.first_variables(reached).tolist() == [
            self.first[each] for each in reached.tolist()
        ]
        assert all(times == 1 for times in self.watched.values())
        return Result(
            frozenset(reached.tolist()), frozenset(calls), frozenset(pairs), frozenset(self.watched)
        )


def solved(solver: Solver, program: Program, script: Script = AT_ONCE) -> Result:
    feeder = Feeder(solver, program, script)
    assert feeder.run()
    return feeder.result()
