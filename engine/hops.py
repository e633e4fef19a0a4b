"""The hops of one object: from a pointer back to those from which it gets the object.

A hop is an instruction or a call edge. Loading what was stored is one hop, from the stored variable over the field
of an object that both may refer to: there may be thousands of such objects, of which one serves as well as another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cypher import schema
from cypher.schema import NONE, STATIC, VIRTUAL, Int32, Int64
from engine.flow import (
    ARGUMENT,
    ARRAY_LOAD,
    ARRAY_STORE,
    COPIES,
    LOAD,
    PASSED,
    RECEIVER,
    RETURN,
    STATIC_LOAD,
    STATIC_STORE,
    STORE,
    THROWN,
    Fact,
    FactRelation,
    Flow,
    Relation,
    Step,
)  # fmt: skip
from engine.sets import Bools


class Hop(NamedTuple):
    """The object goes from pointer `source` to `target`, by `row` of a fact relation or by the call `row` of `callee`.

    For a load, `stored` is the row by which the object got into the field of `base`.
    """

    kind: str
    source: int
    target: int
    row: int
    callee: int = NONE
    base: int = NONE
    stored: int = NONE


class _Stores(NamedTuple):
    """Rows of stores, and the words of the sets of their bases: `words[i]` with `keys[i]` is of `rows[of[i]]`."""

    rows: Int64
    keys: Int32
    words: Int64
    of: Int64

    def without(self, found: Int64) -> _Stores:
        """Returns the other stores."""
        left = np.ones(self.rows.size, np.bool_)
        left[found] = False
        kept = left[self.of]
        return self._replace(keys=self.keys[kept], words=self.words[kept], of=self.of[kept])


_RELATIONS: dict[str, FactRelation] = {
    **{kind: relation for relation, kind in COPIES.items()},
    LOAD: schema.Load, ARRAY_LOAD: schema.ArrayLoad, STATIC_LOAD: schema.StaticLoad, STORE: schema.Store,
    ARRAY_STORE: schema.ArrayStore, STATIC_STORE: schema.StaticStore,
}  # fmt: skip


class Hops:
    """The hops of `obj` in one search, which goes back from a pointer, the nearest first.

    A store is a hop only of the first load that may see it, and a field of a set of objects is looked at once:
    further ones would lead to where the search has been. So would a method's result, unless the search is `exact`
    and tells the calls of a method apart.
    """

    def __init__(self, flow: Flow, obj: int, *, exact: bool) -> None:
        self._flow, self._obj, self._sets, self._exact = flow, obj, flow.sets, exact
        self._into: dict[int, list[Hop]] = {}
        self._passed: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._told: set[tuple[str, int]] = set()
        self._readable: dict[tuple[int, int], bool] = {}
        self._stores: dict[int, _Stores] = {}
        self._bases: dict[int, Int64] = {}

    @cached_property
    def _holds(self) -> Bools:
        """Which pointers may refer to the object."""
        return self._flow.sets.holders(self._obj)

    def into(self, pointer: int, entered: int) -> Iterator[Hop]:
        """Yields the hops into `pointer`; of the calls of a parameter's method only `entered`, unless it is -1."""
        known = self._into.get(pointer)
        if known is None:
            known = self._into[pointer] = list(self._plain(pointer))
            for relation, row in self._load_rows(pointer):
                yield from self._loads(relation, row)
        yield from known
        yield from self._arguments(pointer, entered)

    def is_end(self, pointer: int) -> bool:
        """Returns whether the object comes to a pointer that the search has seen by no hop at all."""
        if self._into[pointer] or next(self._arguments(pointer, NONE), None) is not None:
            return False
        for relation, row in self._flow.rows_into(pointer):
            if relation in (RETURN, THROWN) and self._returns(str(relation), row):
                return False
        return not any(self._readable[self._shape(*each)] for each in self._load_rows(pointer))

    def _returns(self, kind: str, site: int) -> bool:
        cut = kind == RETURN and int(self._flow.evidence.sites.cut[site])
        passed = kind == RETURN and next(self._passed_on(site, NONE), None) is not None
        return not cut and (passed or bool(self.handing(kind, site)))

    def _load_rows(self, pointer: int) -> Iterator[tuple[Relation, int]]:
        for relation, row in self._flow.rows_into(pointer):
            if relation is schema.Load or relation is schema.ArrayLoad:
                yield relation, row

    def _plain(self, pointer: int) -> Iterator[Hop]:
        """Yields the hops into a pointer by copies, results and static fields; for a field of an object, by stores."""
        facts = self._flow.evidence.facts
        if int(self._flow.evidence.points_to.base[pointer]) >= 0:
            yield from self._stores_into(pointer)
            return
        for relation, row in self._flow.rows_into(pointer):
            if relation in COPIES:
                source = int(facts[relation].source[row])
                if self._holds[source]:
                    yield Hop(COPIES[relation], source, pointer, row)
            elif relation is schema.StaticLoad:
                source = self._flow.pointer_of_static.get(int(facts[relation].field[row]), NONE)
                if source >= 0 and self._holds[source]:
                    yield Hop(STATIC_LOAD, source, pointer, row)
            elif relation in (RETURN, THROWN):
                yield from self._results(str(relation), row, pointer)
        field = self._flow.field_of_static.get(pointer)
        if field is not None:
            for row in self._flow.rows_of(schema.StaticStore, "field", field):
                source = int(facts[schema.StaticStore].source[row])
                if source >= 0 and self._holds[source]:
                    yield Hop(STATIC_STORE, source, pointer, row)

    def _results(self, kind: str, site: int, pointer: int) -> Iterator[Hop]:
        if kind == RETURN and int(self._flow.evidence.sites.cut[site]):
            return
        if kind == RETURN:
            yield from self._passed_on(site, pointer)
        for callee in self.handing(kind, site):
            if kind == RETURN and self._flow.returned_parameter(callee) >= 0:
                continue
            if not self._exact:
                if (kind, callee) in self._told:
                    continue
                self._told.add((kind, callee))
            source = self._flow.variable(callee, self._flow.parameters_of(callee) + (kind == THROWN))
            yield Hop(kind, source, pointer, site, callee)

    def _passed_on(self, site: int, pointer: int) -> Iterator[Hop]:
        """Yields the hop of an argument that a callee always returns."""
        for callee in self._flow.callees(site).tolist():
            source = self._argument_returned(site, callee)
            if source >= 0:
                yield Hop(PASSED, source, pointer, site, callee)

    def _argument_returned(self, site: int, callee: int) -> int:
        """Returns the argument that `callee` returns, if it always returns this one and it may be the object; or -1."""
        position = self._flow.returned_parameter(callee)
        source = self._flow.argument(site, position) if position >= 0 else NONE
        passed = source >= 0 and self._holds[source] and self._flow.passes(site, callee, self._obj)
        return source if passed else NONE

    def handing(self, kind: str, site: int) -> list[int]:
        """Returns the callees of a site that may return (or throw) the object."""
        callees = self._flow.callees(site)
        values = self._flow.values_of(callees, kind)
        found: list[int] = callees[self._sets.hold(values, self._obj)].tolist()
        return found

    # --- calls
    def _arguments(self, pointer: int, entered: int) -> Iterator[Hop]:
        owner = self._flow.method_of(pointer)
        if owner is None or owner[1] >= self._flow.parameters_of(owner[0]):
            return
        method, position = owner
        sites = self._flow.evidence.sites
        for site, source in self._passing(method, position, entered):
            receives = position == 0 and int(sites.kind[site]) != STATIC
            virtual = receives and int(sites.kind[site]) == VIRTUAL
            if not (virtual and self._flow.is_overridden(site, method, self._obj)):
                yield Hop(RECEIVER if receives else ARGUMENT, source, pointer, site, method)

    def _passing(self, method: int, position: int, entered: int) -> list[tuple[int, int]]:
        """Returns the (site, variable) that may pass the object as an argument."""
        # (a model may have led out of the call that was entered)
        if entered >= 0 and method in self._flow.callees(entered).tolist():
            variable = self._flow.argument(entered, position)
            return [(entered, variable)] if variable >= 0 and self._holds[variable] else []
        known = self._passed.get((method, position))
        if known is None:
            sites = self._flow.callers(method)
            variables = self._flow.argument_of(sites, position)
            sites, variables = sites[variables >= 0], variables[variables >= 0]
            holding = self._holds[variables]
            known = list(zip(sites[holding].tolist(), variables[holding].tolist(), strict=True))
            self._passed[method, position] = known
        return known

    # --- fields and arrays
    def _shape(self, relation: Relation, row: int) -> tuple[int, int]:
        """Returns what a load reads: a field, and which set of objects."""
        rows = self._flow.evidence.facts[relation]
        field = int(rows.field[row]) if relation is schema.Load else NONE
        return field, int(self._flow.evidence.points_to.representative[int(rows.base[row])])

    def _loads(self, relation: Relation, row: int) -> Iterator[Hop]:
        """Yields a hop for each store into a field of an object from which the load may read."""
        shape = self._shape(relation, row)
        if shape in self._readable:
            return
        field = shape[0]
        read = self._read(field, int(self._flow.evidence.facts[relation].base[row]))
        self._readable[shape] = bool(read.any())
        if not self._readable[shape]:
            return
        stores = self._stores[field]
        common = read[stores.keys] & stores.words
        hit = np.flatnonzero(common)
        found, first = np.unique(stores.of[hit], return_index=True)
        self._stores[field] = stores.without(found)
        rows = self._flow.evidence.facts[schema.Store if field >= 0 else schema.ArrayStore]
        target = int(self._flow.evidence.facts[relation].target[row])
        kind = LOAD if field >= 0 else ARRAY_LOAD
        for store, place in zip(stores.rows[found].tolist(), hit[first].tolist(), strict=True):
            word = int(common[place])
            obj = 64 * int(stores.keys[place]) + (word & -word).bit_length() - 1
            yield Hop(kind, int(rows.source[store]), target, row, base=obj, stored=store)

    def _read(self, field: int, base: int) -> Int64:
        """Returns the objects of `base` whose `field` may be the object, as dense words."""
        known = self._bases.get(field)
        if known is None:
            nodes = self._flow.nodes_of(field)
            number = self._flow.evidence.objects.kind.size
            objects: Int32 = self._flow.evidence.points_to.base[nodes[self._holds[nodes]]]
            known = self._bases[field] = self._sets.dense(objects, number)
            stores = self._flow.stores_to(field, self._holds)
            bases = self._flow.evidence.facts[schema.Store if field >= 0 else schema.ArrayStore].base[stores]
            self._stores[field] = _Stores(stores, *self._sets.words_of_each(bases))
        keys, words = self._sets.words_of(base)
        read = np.zeros_like(known)
        read[keys] = words & known[keys]
        return read

    def _stores_into(self, node: int) -> Iterator[Hop]:
        points_to = self._flow.evidence.points_to
        base, field = int(points_to.base[node]), int(points_to.field[node])
        rows = self._flow.evidence.facts[schema.Store if field >= 0 else schema.ArrayStore]
        stores = self._flow.stores_to(field, self._holds)
        inside = self._sets.contain(rows.base[stores], np.array([base], np.int32))
        for row in stores[inside].tolist():
            yield Hop(STORE if field >= 0 else ARRAY_STORE, int(rows.source[row]), node, row, base=base)


def steps_of(flow: Flow, hop: Hop) -> list[Step]:
    """Returns what a hop consists of: one step, or a store and a load."""
    if hop.kind in _RELATIONS:
        if hop.stored == NONE:
            return [_by_fact(flow, hop.kind, hop.row, hop.source, hop.target, hop.base)]
        kind = STORE if hop.kind == LOAD else ARRAY_STORE
        field = int(flow.evidence.facts[schema.Load].field[hop.row]) if hop.kind == LOAD else NONE
        node = flow.node(hop.base, field)
        return [
            _by_fact(flow, kind, hop.stored, hop.source, node, hop.base),
            _by_fact(flow, hop.kind, hop.row, node, hop.target, hop.base),
        ]
    sites = flow.evidence.sites
    if hop.kind in (RETURN, THROWN):
        fact = Fact("Invoke", flow.invoke(hop.row))
    elif hop.kind == PASSED:
        fact = Fact("Argument", (hop.row, flow.returned_parameter(hop.callee), hop.source))
    else:
        owner = flow.method_of(hop.target)
        assert owner is not None
        fact = Fact("Argument", (hop.row, owner[1], hop.source))
    return [
        Step(
            hop.kind, hop.source, hop.target, int(sites.method[hop.row]), int(sites.offset[hop.row]),
            (fact, Fact("Calls", (hop.row, hop.callee))), hop.row, hop.callee,
        )
    ]  # fmt: skip


def _by_fact(flow: Flow, kind: str, row: int, source: int, target: int, base: int) -> Step:
    relation = _RELATIONS[kind]
    rows = flow.evidence.facts[relation]
    return Step(
        kind,
        source,
        target,
        int(rows.method[row]),
        int(rows.offset[row]),
        (flow.fact(relation, row),),
        base=base,
    )
