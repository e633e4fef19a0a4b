"""How objects flow: from a pointer back to the pointers from which it gets an object, over the columns of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cypher import schema
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Facts, Int32, Int64, Rows
from engine.heap import Objects
from engine.result import Result
from engine.sites import Sites
from engine.solver import PointsToRows

# Kinds of step.
ASSIGN, CAST, CATCH, UNCAUGHT, LOAD, ARRAY_LOAD, STATIC_LOAD, STORE, ARRAY_STORE, STATIC_STORE = (
    "assign", "cast", "catch", "uncaught", "load", "array-load", "static-load", "store", "array-store", "static-store",
)  # fmt: skip
ARGUMENT, RECEIVER, RETURN, THROWN = "argument", "receiver", "return", "thrown"
# Those that stay within one method and say nothing of their own.
LOCAL = frozenset({ASSIGN, CAST, CATCH, UNCAUGHT})
INTO_CALL, OUT_OF_CALL = frozenset({ARGUMENT, RECEIVER}), frozenset({RETURN, THROWN})

_COPIES = {schema.Assign: ASSIGN, schema.Cast: CAST, schema.Catch: CATCH, schema.Uncaught: UNCAUGHT}

FactRelation: TypeAlias = type[tuple[Any, ...]]
# A relation, or RETURN or THROWN.
Relation: TypeAlias = Any


class Evidence(NamedTuple):
    """The columns of a run, with the ids of its program, as in `Result`.

    `parameters` is the number of parameters of each method in `reached`, the receiver included.
    """

    facts: Facts
    sites: Sites
    call_site: Int32
    call_callee: Int32
    reached: Int32
    first_variable: Int32
    parameters: Int32
    objects: Objects
    points_to: PointsToRows
    static_field: Int32
    static_pointer: Int32


def evidence_of(result: Result, parameters: Int32) -> Evidence:
    """Returns the columns of a result; `parameters` as in `Evidence`."""
    facts = {
        relation: Rows(relation, [np.asarray(each) for each in rows])
        for relation, rows in result.facts.items()
    }
    # Plain arrays: looking at single entries of memory-mapped ones is slow.
    call_site, call_callee, reached, first, field, pointer = (
        np.asarray(each)
        for each in (
            result.call_site, result.call_callee, result.reached, result.first_variable, result.static_field,
            result.static_pointer,
        )
    )  # fmt: skip
    return Evidence(
        facts, Sites(*map(np.asarray, result.sites)), call_site, call_callee, reached, first, parameters,
        Objects(*map(np.asarray, result.objects)), PointsToRows(*map(np.asarray, result.points_to)), field, pointer,
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


class Index:
    """Positions in a column by value. Looking one up takes a few microseconds."""

    def __init__(self, column: Int32) -> None:
        self._order = np.argsort(column, kind="stable")
        self._sorted = np.asarray(column)[self._order]

    def of(self, value: int) -> list[int]:
        """Returns the positions of `value`, ascending."""
        # The dtype has to be that of the column, or numpy converts the whole column.
        ends = np.searchsorted(self._sorted, np.array([value, value + 1], self._sorted.dtype))
        found: list[int] = self._order[ends[0] : ends[1]].tolist()
        return found


class Sets:
    """Questions to points-to sets, which may lie in memory-mapped files."""

    def __init__(self, rows: PointsToRows) -> None:
        self._rows = rows

    def contain(self, pointers: Int32, objects: Int32) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Returns whether each of `pointers` may refer to the object at its place; either may be of length 1."""
        pointers, objects = np.broadcast_arrays(pointers, objects)
        if pointers.size == 0:
            return np.empty(0, np.bool_)
        of = self._rows.representative[pointers]
        low, high = self._rows.at[of].copy(), self._rows.at[of + 1]
        end, keys = high.copy(), objects >> 6
        while True:
            open_ = np.flatnonzero(low < high)
            if open_.size == 0:
                break
            middle = (low[open_] + high[open_]) >> 1
            below = self._rows.key[middle] < keys[open_]
            low[open_] = np.where(below, middle + 1, low[open_])
            high[open_] = np.where(below, high[open_], middle)
        found = np.zeros(pointers.size, np.bool_)
        inside = np.flatnonzero(low < end)
        inside = inside[self._rows.key[low[inside]] == keys[inside]]
        words = self._rows.word[low[inside]]
        found[inside] = (words >> (objects[inside] & 63).astype(np.int64)) & 1 != 0
        return found

    def contains(self, pointer: int, obj: int) -> bool:
        """Returns whether `pointer` may refer to `obj`."""
        of = int(self._rows.representative[pointer])
        start = int(self._rows.at[of])
        keys = self._rows.key[start : int(self._rows.at[of + 1])]
        place = int(np.searchsorted(keys, np.int32(obj >> 6)))
        if place == keys.size or int(keys[place]) != obj >> 6:
            return False
        return bool((int(self._rows.word[start + place]) >> (obj & 63)) & 1)

    def is_empty(self, pointer: int) -> bool:
        """Returns whether `pointer` refers to nothing."""
        of = int(self._rows.representative[pointer])
        return bool(self._rows.at[of] == self._rows.at[of + 1])

    def objects_of(self, pointer: int) -> Int32:
        """Returns the objects of a pointer, ascending."""
        of = int(self._rows.representative[pointer])
        span = slice(int(self._rows.at[of]), int(self._rows.at[of + 1]))
        words = np.ascontiguousarray(self._rows.word[span]).view(np.uint8).reshape(-1, 8)
        word, bit = np.nonzero(np.unpackbits(words, axis=1, bitorder="little"))
        return (self._rows.key[span][word] * np.int32(64) + bit).astype(np.int32)


class Flow:
    """The steps by which a pointer gets an object; indexes are made when they are first needed."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.sets = Sets(evidence.points_to)
        self._tables = self._targets()
        self._starts = np.cumsum([0, *(len(column) for _, column in self._tables)]).tolist()
        self._by_target = Index(np.concatenate([column for _, column in self._tables]))
        self._order = np.argsort(evidence.first_variable, kind="stable")
        self._firsts = evidence.first_variable[self._order]
        self._place = {method: place for place, method in enumerate(evidence.reached.tolist())}
        self._callers = Index(evidence.call_callee)
        self._calls = Index(evidence.call_site)
        self._fields_of_static = dict(
            zip(evidence.static_pointer.tolist(), evidence.static_field.tolist(), strict=True)
        )
        self._pointers_of_static = {field: pointer for pointer, field in self._fields_of_static.items()}
        self._indices: dict[tuple[FactRelation, str], Index] = {}
        self._nodes: tuple[Int32, Index] | None = None
        self._nodes_with: dict[tuple[int, int], Int32] = {}
        self._stores_with: dict[tuple[int, int], Int64] = {}

    def _targets(self) -> list[tuple[Relation, Int32]]:
        """Returns every column that names a pointer into which something is put, with its relation."""
        facts, sites = self.evidence.facts, self.evidence.sites
        relations = (
            schema.New, schema.StringConstant, schema.ClassConstant, *_COPIES, schema.Load, schema.ArrayLoad,
            schema.StaticLoad,
        )  # fmt: skip
        tables: list[tuple[Relation, Int32]] = [(each, facts[each].target) for each in relations]
        return [*tables, (RETURN, sites.result), (THROWN, sites.thrown)]

    def rows_into(self, pointer: int) -> Iterator[tuple[Relation, int]]:
        """Yields (relation, row) of what puts something into a variable; RETURN and THROWN have sites as rows."""
        for position in self._by_target.of(pointer):
            table = int(np.searchsorted(self._starts, position, side="right")) - 1
            yield self._tables[table][0], position - self._starts[table]

    def fact(self, relation: FactRelation, row: int) -> Fact:
        """Returns one row of a fact relation."""
        return Fact(relation.__name__, tuple(int(column[row]) for column in self.evidence.facts[relation]))

    # --- methods and sites
    def method_of(self, pointer: int) -> tuple[int, int] | None:
        """Returns (method, variable) if `pointer` is a parameter, the returned or the thrown value of a method."""
        place = int(np.searchsorted(self._firsts, np.int32(pointer), side="right")) - 1
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

    def callees(self, site: int) -> list[int]:
        """Returns the methods that a site may call."""
        return [int(self.evidence.call_callee[call]) for call in self._calls.of(site)]

    def callers(self, method: int) -> list[int]:
        """Returns the sites that may call a method."""
        return [int(self.evidence.call_site[call]) for call in self._callers.of(method)]

    def argument(self, site: int, position: int) -> int:
        """Returns the variable of an argument, -1 if it is none, null or primitive."""
        rows = self.evidence.facts[schema.Argument]
        for row in self.rows_of(schema.Argument, "site", site):
            if int(rows.position[row]) == position:
                return int(rows.variable[row])
        return NONE

    def arguments(self, site: int) -> list[int]:
        """Returns the variables of the arguments of a site, in the order of their positions."""
        variables = self.evidence.facts[schema.Argument].variable
        return [int(variables[row]) for row in self.rows_of(schema.Argument, "site", site)]

    # --- steps
    def steps_into(self, pointer: int, obj: int) -> list[Step]:
        """Returns the last steps of `obj` on its ways to `pointer`."""
        if int(self.evidence.points_to.base[pointer]) >= 0:
            return self._into_node(pointer, obj)
        found = [
            step for relation, row in self.rows_into(pointer) for step in self._by_row(relation, row, obj)
        ]
        if pointer in self._fields_of_static:
            found += self._into_static(pointer, obj)
        else:
            owner = self.method_of(pointer)
            if owner is not None and owner[1] < self.parameters_of(owner[0]):
                found += self._into_parameter(pointer, *owner, obj)
        return found

    def _by_row(self, relation: Relation, row: int, obj: int) -> Iterator[Step]:
        if relation in _COPIES:
            yield from self._copy(relation, row, obj)
        elif relation is schema.Load or relation is schema.ArrayLoad:
            yield from self._load(relation, row, obj)
        elif relation is schema.StaticLoad:
            rows = self.evidence.facts[schema.StaticLoad]
            source = self._pointers_of_static.get(int(rows.field[row]), NONE)
            if source >= 0 and self.sets.contains(source, obj):
                yield self._step(STATIC_LOAD, schema.StaticLoad, row, source, int(rows.target[row]))
        elif relation in (RETURN, THROWN):
            yield from self._out_of_call(str(relation), row, obj)

    def _step(
        self, kind: str, relation: FactRelation, row: int, source: int, target: int, base: int = NONE
    ) -> Step:
        rows = self.evidence.facts[relation]
        fact = self.fact(relation, row)
        return Step(kind, source, target, int(rows.method[row]), int(rows.offset[row]), (fact,), base=base)

    def _copy(self, relation: FactRelation, row: int, obj: int) -> Iterator[Step]:
        rows = self.evidence.facts[relation]
        source = int(rows.source[row])
        if self.sets.contains(source, obj):
            yield self._step(_COPIES[relation], relation, row, source, int(rows.target[row]))

    def _load(self, relation: FactRelation, row: int, obj: int) -> Iterator[Step]:
        rows = self.evidence.facts[relation]
        field = int(rows.field[row]) if relation is schema.Load else NONE
        nodes = self._nodes_holding(field, obj)
        bases = self.evidence.points_to.base[nodes]
        kind = LOAD if relation is schema.Load else ARRAY_LOAD
        inside = self.sets.contain(np.array([rows.base[row]], np.int32), bases)
        for node, base in zip(nodes[inside].tolist(), bases[inside].tolist(), strict=True):
            yield self._step(kind, relation, row, node, int(rows.target[row]), base)

    def _into_node(self, node: int, obj: int) -> list[Step]:
        """Returns the stores by which a field of an object, or an array's elements, get `obj`."""
        base, field = int(self.evidence.points_to.base[node]), int(self.evidence.points_to.field[node])
        relation, kind = (schema.Store, STORE) if field >= 0 else (schema.ArrayStore, ARRAY_STORE)
        rows = self.evidence.facts[relation]
        stores = self._stores_holding(field, obj)
        inside = self.sets.contain(rows.base[stores], np.array([base], np.int32))
        return [
            self._step(kind, relation, row, int(rows.source[row]), node, base)
            for row in stores[inside].tolist()
        ]

    def _into_static(self, pointer: int, obj: int) -> list[Step]:
        rows = self.evidence.facts[schema.StaticStore]
        stores = self.rows_of(schema.StaticStore, "field", self._fields_of_static[pointer])
        return [
            self._step(STATIC_STORE, schema.StaticStore, row, int(rows.source[row]), pointer)
            for row in stores
            if int(rows.source[row]) >= 0 and self.sets.contains(int(rows.source[row]), obj)
        ]

    def _into_parameter(self, pointer: int, method: int, position: int, obj: int) -> list[Step]:
        sites = self.evidence.sites
        found = []
        for site in self.callers(method):
            kind = int(sites.kind[site])
            receives = position == 0 and kind != STATIC
            if receives and kind == VIRTUAL and self._selects_another(site, method, obj):
                continue
            source = self.argument(site, position)
            if source >= 0 and self.sets.contains(source, obj):
                facts = (Fact("Argument", (site, position, source)), Fact("Calls", (site, method)))
                found.append(
                    Step(
                        RECEIVER if receives else ARGUMENT, source, pointer, int(sites.method[site]),
                        int(sites.offset[site]), facts, site, method,
                    )
                )  # fmt: skip
        return found

    def _selects_another(self, site: int, method: int, obj: int) -> bool:
        """Returns whether a virtual call on `obj` runs another method, which overrides `method`.

        Then `obj` is the receiver of `method` by way of a `super` call only.
        """
        others = [other for other in self.callees(site) if other != method]
        if not any(self.sets.contains(self.variable(other, 0), obj) for other in others):
            return False
        return self._is_special_receiver(method, obj)

    def _is_special_receiver(self, method: int, obj: int) -> bool:
        for site in self.callers(method):
            if int(self.evidence.sites.kind[site]) == SPECIAL:
                receiver = self.argument(site, 0)
                if receiver >= 0 and self.sets.contains(receiver, obj):
                    return True
        return False

    def _out_of_call(self, kind: str, site: int, obj: int) -> Iterator[Step]:
        sites = self.evidence.sites
        if kind == RETURN and int(sites.cut[site]):
            return
        target = int(sites.result[site] if kind == RETURN else sites.thrown[site])
        for callee in self.callees(site):
            source = self.variable(callee, self.parameters_of(callee) + (kind == THROWN))
            if self.sets.contains(source, obj):
                yield Step(
                    kind, source, target, int(sites.method[site]), int(sites.offset[site]),
                    (Fact("Invoke", self._invoke(site)), Fact("Calls", (site, callee))), site, callee,
                )  # fmt: skip

    def _invoke(self, site: int) -> tuple[int, ...]:
        sites = self.evidence.sites
        names = schema.columns_of(schema.Invoke)
        return tuple(site if name == "site" else int(getattr(sites, name)[site]) for name in names)

    # --- indexes
    def rows_of(self, relation: FactRelation, column: str, value: int) -> list[int]:
        """Returns the rows of a fact relation with this value in a column."""
        found = self._indices.get((relation, column))
        if found is None:
            found = Index(getattr(self.evidence.facts[relation], column))
            self._indices[relation, column] = found
        return found.of(value)

    def _nodes_holding(self, field: int, obj: int) -> Int32:
        """Returns the pointers that stand for `field` of an object and may refer to `obj`."""
        found = self._nodes_with.get((field, obj))
        if found is None:
            if self._nodes is None:
                pointers = np.flatnonzero(self.evidence.points_to.base >= 0).astype(np.int32)
                self._nodes = pointers, Index(self.evidence.points_to.field[pointers])
            nodes = self._nodes[0][self._nodes[1].of(field)]
            found = nodes[self.sets.contain(nodes, np.array([obj], np.int32))]
            self._nodes_with[field, obj] = found
        return found

    def _stores_holding(self, field: int, obj: int) -> Int64:
        """Returns the rows of Store of `field`, or of ArrayStore, whose source may be `obj`."""
        found = self._stores_with.get((field, obj))
        if found is None:
            if field < 0:
                stores = np.arange(len(self.evidence.facts[schema.ArrayStore]))
                sources = self.evidence.facts[schema.ArrayStore].source
            else:
                stores = np.array(self.rows_of(schema.Store, "field", field), np.int64)
                sources = self.evidence.facts[schema.Store].source[stores]
            found = stores[self.sets.contain(sources, np.array([obj], np.int32))]
            self._stores_with[field, obj] = found
        return found
