"""What a constraint program means: every rule applied to plain sets till nothing changes."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple, TypeAlias

from cypher.program import ABSTRACT, INTERFACE
from cypher.schema import NONE, SPECIAL, STATIC
from tests.engine.programs import CLASS, OBJECT, ROOT, Program, Row

# ("row", method, index) of an explicit object, ("class", type) of a class object, ("generic", type) of what
# stands for tracked objects.
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
        # Copies, and what comes to `this` with a generic object; pointers that a watched one gets objects from.
        self.flows: set[tuple[Pointer, Pointer]] = set()
        self.wanted: set[Pointer] = set()

    def result(self) -> Result:
        size = -1
        while size != self.size():
            size = self.size()
            for method in (ROOT, *sorted(self.reached)):
                for index, row in enumerate(self.program.bodies[method]):
                    self.apply(method, index, row)
            for site, callee in sorted(self.calls):
                self.pass_arguments(site, callee)
            self.wanted |= {source for source, target in self.flows if target in self.wanted}
        pairs = ((pointer, obj) for pointer, objects in self.points_to.items() for obj in objects)
        return Result(
            frozenset(self.reached), frozenset(self.calls), frozenset(pairs), frozenset(self.watched)
        )

    def size(self) -> int:
        pairs = sum(map(len, self.points_to.values()))
        graph = len(self.reached) + len(self.calls) + len(self.flows)
        return pairs + graph + len(self.wanted) + len(self.watched)

    def type_of(self, obj: Obj) -> int:
        if obj[0] == "generic":
            return obj[1]
        return CLASS if obj[0] == "class" else self.program.bodies[obj[1]][obj[-1]].columns[1]

    def is_tracked(self, obj: Obj) -> bool:
        return obj[0] == "class" or (
            obj[0] == "row" and self.program.bodies[obj[1]][obj[-1]].kind == "tracked"
        )

    def has_fields(self, obj: Obj) -> bool:
        return not self.is_tracked(obj)

    def put(self, pointer: Pointer, obj: Obj) -> None:
        """Adds a new object; for a tracked one also what stands for it where nobody asks."""
        self.add(pointer, {obj, ("generic", self.type_of(obj))} if self.is_tracked(obj) else {obj})

    def add(self, pointer: Pointer, objects: set[Obj]) -> None:
        wanted = pointer in self.wanted
        self.points_to[pointer].update(obj for obj in objects if wanted or not self.is_tracked(obj))

    def copy(self, source: Pointer, target: Pointer, objects: set[Obj] | None = None) -> None:
        """Adds `objects` of `source`, all if not given, to `target`."""
        self.flows.add((source, target))
        self.add(target, set(self.points_to[source]) if objects is None else objects)

    def apply(self, method: int, index: int, row: Row) -> None:
        def name(pointer: int) -> Pointer:
            return pointer_name(method, pointer)

        def objects(pointer: int) -> set[Obj]:
            return set(self.points_to[name(pointer)])

        match row.kind, row.columns:
            case (("new" | "tracked"), (target, _)):
                self.put(name(target), ("row", method, index))
            case "class_objects", (target, type_):
                self.put(name(target), ("class", type_))
            case "assign", (source, target):
                self.copy(name(source), name(target))
            case "assign_untracked", (source, target):
                self.add(name(target), {obj for obj in objects(source) if not self.is_tracked(obj)})
            case "cast", (source, type_, target):
                passed = {obj for obj in objects(source) if is_below(self.program, self.type_of(obj), type_)}
                self.copy(name(source), name(target), passed)
            case "exclude", (source, type_, target) if type_ != OBJECT:
                passed = {
                    obj for obj in objects(source) if not is_below(self.program, self.type_of(obj), type_)
                }
                self.copy(name(source), name(target), passed)
            case "exclude", _:
                pass
            case "load", (base, field, target):
                for obj in filter(self.has_fields, objects(base)):
                    self.copy(("field", obj, field), name(target))
            case "store", (source, field, base):
                for obj in filter(self.has_fields, objects(base)):
                    self.store(name(source), obj, field)
            case "watch", (pointer, tag):
                self.wanted.add(name(pointer))
                self.watched |= {((tag, method * 1000 + index), obj) for obj in objects(pointer)}
            case "reach", (callee,):
                self.reached.add(callee)
            case "call", (at, callee):
                self.calls.add(((method, at), callee))
            case "site", (kind, target, receiver, _, _):
                self.dispatch((method, index), kind, target, receiver)
            case _:
                raise ValueError(row)

    def store(self, source: Pointer, base: Obj, field: int) -> None:
        """Stores into a field, or into an array what its element type admits."""
        element = self.program.types[self.type_of(base)].element if field == NONE else NONE
        admitted = {
            obj
            for obj in self.points_to[source]
            if element in {NONE, OBJECT} or is_below(self.program, self.type_of(obj), element)
        }
        self.copy(source, ("field", base, field), admitted)

    def dispatch(self, site: Site, kind: int, target: int, receiver: int) -> None:
        if kind == STATIC:
            self.calls.add((site, target))
        elif receiver != NONE:
            pointer = pointer_name(site[0], receiver)
            for obj in set(self.points_to[pointer]):
                callee = target if kind == SPECIAL else selection(self.program, self.type_of(obj), target)
                if callee == NONE:
                    continue
                self.calls.add((site, callee))
                if kind == SPECIAL:
                    self.copy(pointer, ("local", callee, 0))
                elif obj[0] == "generic":
                    self.copy(pointer, ("local", callee, 0), {obj})
                else:
                    self.add(("local", callee, 0), {obj})

    def pass_arguments(self, site: Site, callee: int) -> None:
        """Reachable(callee), with what it takes, returns and throws."""
        method, index = site
        row, parameters = self.program.bodies[method][index], self.program.methods[callee].parameters
        _, _, _, result, thrown = row.columns
        self.reached.add(callee)
        for position, variable in row.arguments:
            if position < parameters:
                self.copy(pointer_name(method, variable), ("local", callee, position))
        returned = self.returned(site, callee)
        if result != NONE and returned is not None:
            self.copy(returned, pointer_name(method, result), self.admitted(site, callee, returned))
        if thrown != NONE:
            self.copy(("local", callee, parameters + 1), pointer_name(method, thrown))

    def admitted(self, site: Site, callee: int, returned: Pointer) -> set[Obj] | None:
        """Returns what a call lets through of what it returns, None for all: of its receivers those of the method's class."""
        row, spec = self.program.bodies[site[0]][site[1]], self.program.methods[callee]
        if spec.returns != 0 or row.columns[0] == STATIC:
            return None
        return {
            obj
            for obj in self.points_to[returned]
            if is_below(self.program, self.type_of(obj), spec.declaring)
        }

    def returned(self, site: Site, callee: int) -> Pointer | None:
        """Returns what a call returns: an argument, if the callee always returns that."""
        method, index = site
        row, spec = self.program.bodies[method][index], self.program.methods[callee]
        if spec.returns == NONE:
            return ("local", callee, spec.parameters)
        kind, _, receiver, _, _ = row.columns
        arguments = dict(row.arguments)
        if spec.returns == 0 and kind != STATIC:
            arguments = {0: receiver} if receiver != NONE else {}
        return pointer_name(method, arguments[spec.returns]) if spec.returns in arguments else None


def naive(program: Program) -> Result:
    return Naive(program).result()
