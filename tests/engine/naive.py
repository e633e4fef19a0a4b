"""What a constraint program means: every rule applied to plain sets till nothing changes."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple, TypeAlias

from cypher.program import ABSTRACT, INTERFACE
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL
from tests.engine.programs import CLASS, OBJECT, ROOT, Program, Row

# ("row", method, index) of an explicit object, ("class", type) of a class object.
Obj: TypeAlias = tuple[str, int, int] | tuple[str, int]
# ("local", method, number), ("global", number) or ("field", object, field).
Pointer: TypeAlias = tuple[str, int, int] | tuple[str, int] | tuple[str, Obj, int]
Site: TypeAlias = tuple[int, int]


class Result(NamedTuple):
    """What solvers must agree on, whatever numbers they give to objects, pointers and sites."""

    reached: frozenset[int]
    calls: frozenset[tuple[Site, int]]
    points_to: frozenset[tuple[Pointer, Obj]]
    watched: frozenset[tuple[tuple[int, int], Obj]]

    def within(self, other: Result) -> bool:
        return all(mine <= theirs for mine, theirs in zip(self, other, strict=True))


def pointer_name(method: int, pointer: int) -> Pointer:
    return ("local", method, pointer) if pointer >= 0 else ("global", -2 - pointer)


def is_below(program: Program, type_: int, supertype: int) -> bool:
    return supertype in program.types[type_].supertypes


def selection(program: Program, type_: int, signature: int) -> int:
    """Returns what JVMS 5.4.6 selects, -1 for nothing or an abstract method."""
    above = type_
    while above != NONE:
        if signature in program.types[above].declared:
            found = program.types[above].declared[signature]
            return NONE if program.methods[found].flags & ABSTRACT else found
        above = program.types[above].superclass
    matching = {
        interface: program.types[interface].declared[signature]
        for interface in program.types[type_].supertypes
        if program.types[interface].flags & INTERFACE and signature in program.types[interface].declared
    }
    for interface in list(matching):
        if any(other != interface and is_below(program, other, interface) for other in matching):
            # Not maximally specific. Marked, not removed: it still hides what it extends.
            matching[interface] = NONE
    found_defaults = [
        found for found in matching.values() if found != NONE and not program.methods[found].flags & ABSTRACT
    ]
    return found_defaults[0] if len(found_defaults) == 1 else NONE


class Naive:
    """The relations, as sets that only grow."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.reached: set[int] = set()
        self.calls: set[tuple[Site, int]] = set()
        self.watched: set[tuple[tuple[int, int], Obj]] = set()
        self.points_to: defaultdict[Pointer, set[Obj]] = defaultdict(set)

    def result(self) -> Result:
        size = -1
        while size != self.size():
            size = self.size()
            for method in (ROOT, *sorted(self.reached)):
                for index, row in enumerate(self.program.bodies[method]):
                    self.apply(method, index, row)
            for site, callee in sorted(self.calls):
                self.pass_arguments(site, callee)
        pairs = ((pointer, obj) for pointer, objects in self.points_to.items() for obj in objects)
        return Result(
            frozenset(self.reached), frozenset(self.calls), frozenset(pairs), frozenset(self.watched)
        )

    def size(self) -> int:
        pairs = sum(map(len, self.points_to.values()))
        return pairs + len(self.reached) + len(self.calls) + len(self.watched)

    def type_of(self, obj: Obj) -> int:
        return CLASS if obj[0] == "class" else self.program.bodies[obj[1]][obj[-1]].columns[1]

    def apply(self, method: int, index: int, row: Row) -> None:
        def objects(pointer: int) -> set[Obj]:
            return self.points_to[pointer_name(method, pointer)]

        # A copy of the base's objects: a field of an object may be read into the base itself.
        match row.kind, row.columns:
            case "new", (target, _):
                objects(target).add(("row", method, index))
            case "class_objects", (target, type_):
                objects(target).add(("class", type_))
            case "assign", (source, target):
                objects(target).update(objects(source))
            case "cast", (source, type_, target):
                passed = {obj for obj in objects(source) if is_below(self.program, self.type_of(obj), type_)}
                objects(target).update(passed)
            case "exclude", (source, type_, target):
                passed = {
                    obj for obj in objects(source) if not is_below(self.program, self.type_of(obj), type_)
                }
                objects(target).update(passed)
            case "load", (base, field, target):
                for obj in set(objects(base)):
                    objects(target).update(self.points_to["field", obj, field])
            case "store", (source, field, base):
                for obj in set(objects(base)):
                    self.store(obj, field, objects(source))
            case "get_class", (source, target):
                classes: set[Obj] = {("class", self.type_of(obj)) for obj in objects(source)}
                objects(target).update(classes)
            case "watch", (pointer, tag):
                self.watched |= {((tag, method * 1000 + index), obj) for obj in objects(pointer)}
            case "reach", (callee,):
                self.reached.add(callee)
            case "call", (at, callee):
                self.calls.add(((method, at), callee))
            case "site", (kind, target, receiver, _, _):
                self.dispatch((method, index), kind, target, receiver)
            case _:
                raise ValueError(row)

    def store(self, base: Obj, field: int, objects: set[Obj]) -> None:
        """Stores into a field, or into an array what its element type admits."""
        element = self.program.types[self.type_of(base)].element if field == NONE else NONE
        admitted = {
            obj
            for obj in objects
            if element in {NONE, OBJECT} or is_below(self.program, self.type_of(obj), element)
        }
        self.points_to["field", base, field].update(admitted)

    def dispatch(self, site: Site, kind: int, target: int, receiver: int) -> None:
        if kind == STATIC:
            self.calls.add((site, target))
        elif receiver != NONE:
            for obj in set(self.points_to[pointer_name(site[0], receiver)]):
                callee = target if kind == SPECIAL else selection(self.program, self.type_of(obj), target)
                if callee != NONE:
                    self.calls.add((site, callee))
                    self.points_to["local", callee, 0].add(obj)

    def pass_arguments(self, site: Site, callee: int) -> None:
        """Reachable(callee), with what it takes, returns and throws."""
        method, index = site
        row, parameters = self.program.bodies[method][index], self.program.methods[callee].parameters
        _, _, _, result, thrown = row.columns
        self.reached.add(callee)
        for position, variable in row.arguments:
            if position < parameters:
                self.points_to["local", callee, position] |= self.points_to[pointer_name(method, variable)]
        for number, variable in ((parameters, result), (parameters + 1, thrown)):
            if variable != NONE:
                self.points_to[pointer_name(method, variable)] |= self.points_to["local", callee, number]


def naive(program: Program) -> Result:
    return Naive(program).result()


__all__ = ["VIRTUAL", "Naive", "Obj", "Pointer", "Result", "Site", "naive", "pointer_name", "selection"]
