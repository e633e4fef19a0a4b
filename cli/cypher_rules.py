"""`--solver cypher`: rules of reflection on a Neo4j server (see `cypher.closure`); here is what tells it of the program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias, get_type_hints

import numpy as np

from cli.graph.frames import visible
from cypher.closure import Closure, reflection_rules
from cypher.program import JDK, Program
from cypher.schema import ENTITIES
from engine.reflection import relations as rel
from engine.reflection.actions import default_constructor, instantiable
from engine.reflection.names import Members, class_named, class_of_descriptor, parameter_descriptors
from engine.rules import Relation, Rule

Rows: TypeAlias = Iterator[tuple[str, tuple[Any, ...]]]
_NONE = 0xFFFFFFFF
_hints = cache(get_type_hints)


class CypherRules:
    """`Applier` of the rules that are files in Cypher."""

    def __init__(self, closure: Closure, program: Program, rules: Sequence[Rule]) -> None:
        self._closure = closure
        self._rules = {each for each in rules if each.name in reflection_rules()}
        self._kept = {relation for each in self._rules for relation in (*each.body, each.head)}
        self._mentioned = Mentioned(program)
        self._waiting: dict[str, list[Sequence[Any]]] = defaultdict(list)  # rows, by relation

    def applies(self, each: Rule) -> bool:
        return each in self._rules

    def add(self, relation: Relation, rows: Iterable[tuple[Any, ...]]) -> None:
        if relation in self._kept:
            for row in rows:
                for name, known in self._mentioned.of(row):
                    self._waiting[name].append(known)
                self._waiting[relation.__name__].append(self._mentioned.numbered(row))

    def apply(self, each: Rule) -> Iterable[tuple[Any, ...]]:
        waiting, self._waiting = self._waiting, defaultdict(list)
        for relation, rows in waiting.items():
            self._closure.add(relation, rows)
        head: Any = each.head
        found = np.array(self._closure.derive(each.name), np.uint32).astype(np.int32).reshape(-1, 2)
        return [head(*row) for row in found.tolist()]


class Mentioned:
    """What the program has of the names, classes and members that rows mention, each told once."""

    def __init__(self, program: Program) -> None:
        self._program, self._members = program, Members(program)
        self._texts: dict[str, int] = {}
        self._told: set[tuple[Any, ...]] = set()
        # By pointer to the class; in the order in which they came, which is the same in each run.
        self._lookups: defaultdict[int, dict[tuple[str, int], None]] = defaultdict(dict)
        self._classes: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self._makers: set[int] = set()  # sites
        self._casts: defaultdict[int, dict[int, None]] = defaultdict(dict)  # types, by site

    def numbered(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns a row with keys in place of ids and texts."""
        hints = _hints(type(row))
        return tuple(
            self._texts[value] if name == "text" else value & _NONE if hints[name] in ENTITIES else value
            for name, value in zip(hints, row, strict=True)
        )

    def of(self, row: tuple[Any, ...]) -> Rows:
        """Yields what the program has of what `row` mentions for the first time, as (relation, row)."""
        match row:
            case rel.StringAt(text=text):
                yield from self._text(text)
            case rel.ClassAt(pointer, type_) if type_ >= 0:
                self._classes[pointer][type_] = None
                yield from self._constructor(type_)
                for sort, declared in self._lookups[pointer]:
                    yield from self._found(type_, sort, declared)
            case rel.GetMember(sort=sort, declared=declared, receiver=receiver):
                self._lookups[receiver][sort, declared] = None
                for each in self._classes[receiver]:
                    yield from self._found(each, sort, declared)
            case rel.MethodAt(method=method) | rel.Candidate(method=method):
                yield from self._method(method)
            case rel.FieldAt(field=field):
                yield from self._field(field)
            case rel.NewInstanceCall(site=site) | rel.ConstructorCall(site=site):
                self._makers.add(site)
                for each in self._casts[site]:
                    yield from self._subtypes(each)
            case rel.ResultCast(site=site, type=type_):
                self._casts[site][type_] = None
                if site in self._makers:
                    yield from self._subtypes(type_)

    def _is_new(self, *what: object) -> bool:
        """Notes that something is told; returns whether that wasn't before."""
        new = what not in self._told
        self._told.add(what)
        return new

    def _text(self, text: str) -> Rows:
        if text not in self._texts:
            number = self._texts[text] = len(self._texts)
            yield "Text", (number, visible(text))
            type_ = class_named(self._program, text)
            if type_ >= 0:
                yield "StringToClass", (number, type_)

    def _constructor(self, type_: int) -> Rows:
        if self._is_new("constructor", type_):
            constructor = default_constructor(self._program, type_)
            if constructor >= 0:
                yield from self._method(constructor)
                yield "DefaultConstructor", (type_, constructor)

    def _subtypes(self, type_: int) -> Rows:
        if self._is_new("subtypes", type_):
            for below in self._program.concrete_subtypes_of(type_):
                yield "ConcreteSubtype", (below, type_)
                yield "Jdk", (below, bool(self._program.flags_of_type(below) & JDK))
                yield "Encapsulated", (below, self._program.is_encapsulated(below))
                yield from self._constructor(below)
                for declared in (0, 1):
                    yield from self._found(below, "constructor", declared)

    def _found(self, type_: int, sort: str, declared: int) -> Rows:
        """Yields the members that a lookup of this sort may find in a class."""
        if not self._is_new("members", type_, sort, declared):
            return
        if sort == "field":
            for fields in self._members.fields_by_name(type_, bool(declared)).values():
                yield from self._field(fields[0])
                yield "FindsField", (type_, declared, fields[0])
            return
        relation, methods = "FindsConstructor", list(self._members.constructors(type_, bool(declared)))
        if sort == "method":
            named = self._members.methods_by_name(type_, bool(declared))
            relation, methods = "FindsMethod", [method for each in named.values() for method in each]
        for method in methods:
            yield from self._method(method)
            yield relation, (type_, declared, method)

    def _method(self, method: int) -> Rows:
        if self._is_new("method", method):
            declaring, name, descriptor = self._program.name_of_method(method)
            parameters = parameter_descriptors(descriptor)
            creates = name == "<init>" and instantiable(self._program, declaring)
            closed = not self._members.may_use_method(method)
            yield "NamedMethod", (method, visible(name), len(parameters), creates, closed)
            for place, each in enumerate(parameters):
                yield "ParameterType", (method, place, class_of_descriptor(self._program, each) & _NONE)

    def _field(self, field: int) -> Rows:
        if self._is_new("field", field):
            closed = not self._members.may_use_field(field)
            yield "NamedField", (field, visible(self._program.name_of_field(field)[1]), closed)
