"""The columns of a run with what is asked of them to follow objects: what goes into a pointer, who calls whom."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cypher import schema
from cypher.schema import NONE, STATIC, Facts, Int32, Int64
from engine.heap import Objects
from engine.result import Result
from engine.sets import Bools, Index, Sets
from engine.sites import Sites
from engine.solver import PointsToRows

# Kinds of step.
ASSIGN, CAST, CATCH, UNCAUGHT, LOAD, ARRAY_LOAD, STATIC_LOAD, STORE, ARRAY_STORE, STATIC_STORE = (
    "assign", "cast", "catch", "uncaught", "load", "array-load", "static-load", "store", "array-store", "static-store",
)  # fmt: skip
ARGUMENT, RECEIVER, RETURN, THROWN = "argument", "receiver", "return", "thrown"
PASSED = "passed"  # an argument that the callee always returns
# Those that stay within one method and say nothing of their own.
LOCAL = frozenset({ASSIGN, CAST, CATCH, UNCAUGHT})
INTO_CALL, OUT_OF_CALL = frozenset({ARGUMENT, RECEIVER}), frozenset({RETURN, THROWN})

COPIES = {schema.Assign: ASSIGN, schema.Cast: CAST, schema.Catch: CATCH, schema.Uncaught: UNCAUGHT}

# A method has fewer parameters (JVMS 4.3.3).
_POSITION_BITS = 8

FactRelation: TypeAlias = type[tuple[Any, ...]]
# A relation, or RETURN or THROWN.
Relation: TypeAlias = Any


class Evidence(NamedTuple):
    """The columns of a run, with the ids of its program, as in `Result`.

    For each method in `reached`, `declaring` is its class and `parameters` how many it has, the receiver included.
    `superclass` has that of each type or -1, `interfaces` pairs (type, direct superinterface).
    """

    facts: Facts
    sites: Sites
    call_site: Int32
    call_callee: Int32
    reached: Int32
    first_variable: Int32
    declaring: Int32
    parameters: Int32
    superclass: Int32
    interfaces: Int32
    objects: Objects
    points_to: PointsToRows
    static_field: Int32
    static_pointer: Int32
    passing: bool = True


def evidence_of(
    result: Result, declaring: Int32, parameters: Int32, superclass: Int32, interfaces: Int32
) -> Evidence:
    """Returns the columns of a result; the others as in `Evidence`."""
    return Evidence(
        result.facts, result.sites, result.call_site, result.call_callee, result.reached, result.first_variable, declaring,
        parameters, superclass, interfaces, result.objects, result.points_to, result.static_field, result.static_pointer,
        result.passing,
    )  # fmt: skip


class Fact(NamedTuple):
    """A row of the relation of that name."""

    relation: str
    row: tuple[int, ...]


class Step(NamedTuple):
    """An object goes from pointer `source` to `target`, by the instruction at `offset` of `method`.

    `site` and `callee` are of the call that passes it on, `base` is the object whose field or element takes
    part, -1 otherwise; `facts` are what the program says for it. `mixed` says that it leaves a call that
    another one entered, which the analysis doesn't tell apart.
    """

    kind: str
    source: int
    target: int
    method: int
    offset: int
    facts: tuple[Fact, ...]
    site: int = NONE
    callee: int = NONE
    base: int = NONE
    mixed: bool = False


class Flow:
    """What goes into pointers, who calls whom; indexes are made when they are first needed."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.sets = Sets(evidence.points_to)
        self._tables = _targets(evidence)
        self._starts = np.cumsum([0, *(len(column) for _, column in self._tables)]).tolist()
        self._by_target = Index(np.concatenate([column for _, column in self._tables]))
        self._order = np.argsort(evidence.first_variable, kind="stable")
        self._firsts = evidence.first_variable[self._order]
        self._place = np.zeros(int(evidence.reached.max(initial=0)) + 1, np.int32)
        self._place[evidence.reached] = np.arange(evidence.reached.size, dtype=np.int32)
        self._callers = Index(evidence.call_callee)
        self._calls = Index(evidence.call_site)
        self.field_of_static = dict(
            zip(evidence.static_pointer.tolist(), evidence.static_field.tolist(), strict=True)
        )
        self.pointer_of_static = {field: pointer for pointer, field in self.field_of_static.items()}
        self._indices: dict[tuple[FactRelation, str], Index] = {}
        self._above: dict[int, set[int]] = {}
        self._called: dict[int, set[int]] = {}

    def rows_into(self, pointer: int) -> Iterator[tuple[Relation, int]]:
        """Yields (relation, row) of what puts something into a variable; RETURN and THROWN have sites as rows."""
        for position in self._by_target.of(pointer):
            table = bisect_right(self._starts, position) - 1
            yield self._tables[table][0], position - self._starts[table]

    def fact(self, relation: FactRelation, row: int) -> Fact:
        """Returns one row of a fact relation."""
        return Fact(relation.__name__, tuple(int(column[row]) for column in self.evidence.facts[relation]))

    # --- methods and sites
    def method_of(self, pointer: int) -> tuple[int, int] | None:
        """Returns (method, variable) if `pointer` is a parameter, the returned or the thrown value of a method."""
        place = int(self._firsts.searchsorted(np.int32(pointer), "right")) - 1
        if place < 0:
            return None
        at = int(self._order[place])
        variable = pointer - int(self._firsts[place])
        if variable > int(self.evidence.parameters[at]) + 1:
            return None
        return int(self.evidence.reached[at]), variable

    def parameters_of(self, method: int) -> int:
        """Returns the number of parameters of a reached method, the receiver included."""
        return int(self.evidence.parameters[self._place[method]])

    def variable(self, method: int, variable: int) -> int:
        """Returns the pointer of a variable of a reached method."""
        return int(self.evidence.first_variable[self._place[method]]) + variable

    def callees(self, site: int) -> Int32:
        """Returns the methods that a site may call."""
        found: Int32 = self.evidence.call_callee[self._calls.positions(site)]
        return found

    def callers(self, method: int) -> Int32:
        """Returns the sites that may call a method."""
        found: Int32 = self.evidence.call_site[self._callers.positions(method)]
        return found

    def returned_parameter(self, method: int) -> int:
        """Returns the position of the parameter that every return of a method returns, -1 if there is no such."""
        return int(self._returned[self._place[method]])

    @cached_property
    def _returned(self) -> Int32:
        return returned_parameters(self.evidence)

    def passes(self, site: int, callee: int, obj: int) -> bool:
        """Returns whether a call of a method that always returns a parameter may return `obj`, if that is passed.

        A receiver comes back if it is of the class that declares the method.
        """
        if self.returned_parameter(callee) > 0 or int(self.evidence.sites.kind[site]) == STATIC:
            return True
        return self.declaring(callee) in self.supertypes(int(self.evidence.objects.type[obj]))

    def is_overridden(self, site: int, callee: int, obj: int) -> bool:
        """Returns whether a virtual call runs another of its methods on an object, one that overrides `callee`."""
        type_, declaring = int(self.evidence.objects.type[obj]), self.declaring(callee)
        candidates = self._classes_called(site)
        above = type_
        while above >= 0:
            # A method of a superclass hides those of interfaces (JVMS 5.4.6).
            if above in candidates:
                return above != declaring
            above = int(self.evidence.superclass[above])
        others = candidates & self.supertypes(type_) - {declaring}
        return any(declaring in self.supertypes(each) for each in others)

    def _classes_called(self, site: int) -> set[int]:
        """Returns the classes that declare the methods which a call runs."""
        if site not in self._called:
            self._called[site] = {*self.evidence.declaring[self._place[self.callees(site)]].tolist()}
        return self._called[site]

    def declaring(self, method: int) -> int:
        """Returns the class that declares a reached method."""
        return int(self.evidence.declaring[self._place[method]])

    def supertypes(self, type_: int) -> set[int]:
        """Returns a type and those above it."""
        if type_ not in self._above:
            found, left = {type_}, [type_]
            while left:
                below = left.pop()
                above = self.evidence.interfaces[self._interfaces.positions(below), 1].tolist()
                above += [each for each in (int(self.evidence.superclass[below]),) if each >= 0]
                left += [each for each in above if each not in found]
                found.update(above)
            self._above[type_] = found
        return self._above[type_]

    @cached_property
    def _interfaces(self) -> Index:
        return Index(self.evidence.interfaces[:, 0])

    def values_of(self, methods: Int32, kind: str) -> Int32:
        """Returns the pointers of what reached methods return (or throw)."""
        places = self._place[methods]
        values: Int32 = (
            self.evidence.first_variable[places] + self.evidence.parameters[places] + (kind == THROWN)
        )
        return values

    def invoke(self, site: int) -> tuple[int, ...]:
        """Returns the columns of `Invoke` for a site."""
        sites = self.evidence.sites
        names = schema.columns_of(schema.Invoke)
        return tuple(site if name == "site" else int(getattr(sites, name)[site]) for name in names)

    def argument(self, site: int, position: int) -> int:
        """Returns the variable of an argument, -1 if it is none, null or primitive."""
        keys, variables = self._arguments
        wanted = site << _POSITION_BITS | position
        place = int(keys.searchsorted(np.int64(wanted)))
        return int(variables[place]) if place < keys.size and int(keys[place]) == wanted else NONE

    def argument_of(self, sites: Int32, position: int) -> Int32:
        """Returns the variable of an argument of each site, -1 where it is none, null or primitive."""
        keys, variables = self._arguments
        wanted = sites.astype(np.int64) << _POSITION_BITS | position
        if not keys.size:
            return np.full(sites.size, NONE, np.int32)
        places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        found: Int32 = np.where(keys[places] == wanted, variables[places], NONE)
        return found

    def arguments(self, site: int) -> list[int]:
        """Returns the variables of the arguments of a site, in the order of their positions."""
        keys, variables = self._arguments
        ends = np.searchsorted(keys, np.array([site, site + 1], np.int64) << _POSITION_BITS)
        found: list[int] = variables[ends[0] : ends[1]].tolist()
        return found

    @cached_property
    def _arguments(self) -> tuple[Int64, Int32]:
        """Keys of (site, position), ascending, and the variables that go with them."""
        rows = self.evidence.facts[schema.Argument]
        keys = rows.site.astype(np.int64) << _POSITION_BITS | rows.position
        order = np.argsort(keys, kind="stable")
        return keys[order], rows.variable[order]

    # --- indexes
    def rows_of(self, relation: FactRelation, column: str, value: int) -> list[int]:
        """Returns the rows of a fact relation with this value in a column."""
        found = self._indices.get((relation, column))
        if found is None:
            found = Index(getattr(self.evidence.facts[relation], column))
            self._indices[relation, column] = found
        return found.of(value)

    def node(self, base: int, field: int) -> int:
        """Returns the pointer that stands for `field` of the object `base`."""
        nodes, by_field = self._nodes
        found = nodes[by_field.of(field)]
        return int(found[np.flatnonzero(self.evidence.points_to.base[found] == base)[0]])

    def nodes_of(self, field: int) -> Int32:
        """Returns the pointers that stand for `field` of an object."""
        nodes, by_field = self._nodes
        found: Int32 = nodes[by_field.positions(field)]
        return found

    @cached_property
    def _nodes(self) -> tuple[Int32, Index]:
        """The pointers that stand for fields of objects, and their places by field."""
        pointers = np.flatnonzero(self.evidence.points_to.base >= 0).astype(np.int32)
        return pointers, Index(self.evidence.points_to.field[pointers])

    def stores_to(self, field: int, holds: Bools) -> Int64:
        """Returns the rows of Store of `field`, or of ArrayStore, whose source is a pointer that holds something."""
        if field < 0:
            stores = np.arange(len(self.evidence.facts[schema.ArrayStore]))
            sources = self.evidence.facts[schema.ArrayStore].source
        else:
            stores = np.array(self.rows_of(schema.Store, "field", field), np.int64)
            sources = self.evidence.facts[schema.Store].source[stores]
        return stores[holds[sources]]


def _targets(evidence: Evidence) -> list[tuple[Relation, Int32]]:
    """Returns every column that names a pointer into which something is put, with its relation."""
    facts, sites = evidence.facts, evidence.sites
    relations = (
        schema.New, schema.StringConstant, schema.ClassConstant, *COPIES, schema.Load, schema.ArrayLoad,
        schema.StaticLoad,
    )  # fmt: skip
    tables: list[tuple[Relation, Int32]] = [(each, facts[each].target) for each in relations]
    return [*tables, (RETURN, sites.result), (THROWN, sites.thrown)]


def returned_parameters(evidence: Evidence) -> Int32:
    """Returns the position of the parameter that every return of each reached method returns, -1 if there is none.

    If calls were not told apart by arguments (`Result.passing`), there is none.
    """
    if not evidence.passing:
        return np.full(len(evidence.reached), NONE, np.int32)
    size = len(evidence.points_to.representative)
    into = np.zeros(size, np.int64)
    for _, column in _targets(evidence):
        into += np.bincount(column[column >= 0], minlength=size)
    assigns = evidence.facts[schema.Assign]
    lowest, highest = np.full(size, np.iinfo(np.int32).max), np.full(size, NONE)
    np.minimum.at(lowest, assigns.target, assigns.source)
    np.maximum.at(highest, assigns.target, assigns.source)
    assigned = np.bincount(assigns.target, minlength=size)
    first, parameters = evidence.first_variable.astype(np.int64), evidence.parameters.astype(np.int64)
    value = first + parameters
    position = lowest[value] - first
    same = (lowest[value] == highest[value]) & (into[value] == assigned[value])
    same &= (position >= 0) & (position < parameters)
    before = np.concatenate(([0], np.cumsum(into != 0)))
    same &= before[value] == before[first]
    return np.where(same, position, NONE).astype(np.int32)
