"""All flows of values between pointers that a result implies, at once, as columns.

`engine.flow` answers for one pointer what comes into it; here every such step is a row. A load from `base.field`
goes through one pointer that stands for the field of all objects of the set to which `base` refers, and so does a
store: bases with the same set share it, which keeps the number of rows far below that of pairs of base and object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.schema import NONE, STATIC, Int32, Int64
from engine import flow
from engine.flow import COPIES, Evidence
from engine.sets import Bools, ranges

MEMBER = "member"
KINDS = (
    flow.ASSIGN, flow.CAST, flow.CATCH, flow.UNCAUGHT, flow.STATIC_LOAD, flow.STATIC_STORE, flow.LOAD, flow.STORE,
    flow.ARRAY_LOAD, flow.ARRAY_STORE, flow.ARGUMENT, flow.RECEIVER, flow.RETURN, flow.THROWN, flow.PASSED, MEMBER,
)  # fmt: skip
_FIELD_BITS = 32
# About so many words of sets are looked at at once.
WORDS = 1 << 20

_Ids: TypeAlias = NDArray[np.integer[Any]]


class _Rows(NamedTuple):
    """Flows of one kind."""

    kind: str
    source: _Ids
    target: _Ids
    method: _Ids
    offset: _Ids
    site: _Ids


class Flows(NamedTuple):
    """`source` may pass what it refers to on to `target`.

    `kind` is a place in KINDS; `method` and `offset` are of the instruction, `site` of the call, -1 if there is none.
    MEMBER goes from the field of an object to the field of a set that has it for a load, and the other way for a
    store. Pointers from `first_set` on are fields of sets: that of number `i` is field `set_field[i]` (-1: elements)
    of the objects of the representative `set_of[i]`.
    """

    kind: Int32
    source: Int32
    target: Int32
    method: Int32
    offset: Int32
    site: Int32
    first_set: int
    set_of: Int32
    set_field: Int32


def flows_of(evidence: Evidence, passing: Bools | None = None) -> Flows:
    """Returns all flows of a result; of those by calls, where given, only what goes between pointers that are `passing`."""
    sets = _SetFields(evidence)
    returned = flow.returned_parameters(evidence)
    results = [_results(evidence, kind, returned, passing) for kind in (flow.RETURN, flow.THROWN)]
    calls = [*_arguments(evidence, returned, passing), *results]
    parts = [*_copies(evidence), *_statics(evidence), *calls, *sets.accesses(), *sets.members()]
    kinds = np.repeat([KINDS.index(part.kind) for part in parts], [len(part.source) for part in parts])
    source, target, method, offset, site = (
        np.concatenate(columns).astype(np.int32)
        for columns in zip(*(part[1:] for part in parts), strict=True)
    )
    return Flows(
        kinds.astype(np.int32), source, target, method, offset, site, sets.first, sets.of, sets.field
    )  # fmt: skip


def _rows(
    kind: str, source: _Ids, target: _Ids, method: _Ids | None = None, offset: _Ids | None = None
) -> _Rows:
    """Returns flows by instructions, or by none."""
    none = np.full(len(source), NONE, np.int32)
    return _Rows(
        kind, source, target, none if method is None else method, none if offset is None else offset, none
    )


def _copies(evidence: Evidence) -> Iterator[_Rows]:
    for relation, kind in COPIES.items():
        rows = evidence.facts[relation]
        yield _rows(kind, rows.source, rows.target, rows.method, rows.offset)


def _statics(evidence: Evidence) -> Iterator[_Rows]:
    """Yields the reads and writes of static fields that hold references."""
    size = int(max(evidence.static_field.max(initial=0), *_fields(evidence))) + 1
    pointer_of = np.full(size, NONE, np.int32)
    pointer_of[evidence.static_field] = evidence.static_pointer
    loads, stores = evidence.facts[schema.StaticLoad], evidence.facts[schema.StaticStore]
    read, written = pointer_of[loads.field], pointer_of[stores.field]
    kept = (read >= 0) & (loads.target >= 0)
    yield _rows(flow.STATIC_LOAD, read[kept], loads.target[kept], loads.method[kept], loads.offset[kept])
    kept = (written >= 0) & (stores.source >= 0)
    yield _rows(
        flow.STATIC_STORE, stores.source[kept], written[kept], stores.method[kept], stores.offset[kept]
    )


def _fields(evidence: Evidence) -> Iterator[int]:
    for relation in (schema.StaticLoad, schema.StaticStore):
        yield int(evidence.facts[relation].field.max(initial=0))


def _arguments(evidence: Evidence, returned: Int32, passing: Bools | None) -> Iterator[_Rows]:
    """Yields what calls pass in, and the arguments that they return: which, `returned` says of each reached method."""
    site, callee = evidence.call_site, _places(evidence)[evidence.call_callee]
    sites, first, parameters = evidence.sites, evidence.first_variable, evidence.parameters
    arguments = evidence.facts[schema.Argument]
    if passing is not None:
        arguments = arguments.take(passing[arguments.variable])
    order = np.argsort(arguments.site, kind="stable")
    position, variable = arguments.position[order], arguments.variable[order]
    starts = np.searchsorted(arguments.site[order], np.arange(len(sites.method) + 1))
    counts = (starts[1:] - starts[:-1])[site]
    call = np.repeat(np.arange(len(site)), counts)
    row = ranges(starts[site], counts)
    kept = position[row] < parameters[callee[call]]
    call, row = call[kept], row[kept]
    at = site[call]
    receives = (position[row] == 0) & (sites.kind[at] != STATIC)
    target = first[callee[call]] + position[row]
    for kind, chosen in ((flow.RECEIVER, receives), (flow.ARGUMENT, ~receives)):
        yield _from_calls(evidence, kind, variable[row][chosen], target[chosen], at[chosen])
    passed = returned[callee[call]] == position[row]
    passed &= (sites.result[at] >= 0) & (sites.cut[at] == 0)
    yield _from_calls(evidence, flow.PASSED, variable[row][passed], sites.result[at[passed]], at[passed])


def _results(evidence: Evidence, kind: str, returned: Int32, passing: Bools | None) -> _Rows:
    """Returns what calls pass out, by `kind` what is returned, but for arguments, or what is thrown."""
    sites = evidence.sites
    into = sites.result if kind == flow.RETURN else sites.thrown
    takes = into >= 0
    if passing is not None:
        takes &= passing[into]
    if kind == flow.RETURN:
        takes &= sites.cut == 0
    calls = np.flatnonzero(takes[evidence.call_site])
    site, callee = evidence.call_site[calls], _places(evidence)[evidence.call_callee[calls]]
    if kind == flow.RETURN:
        own = returned[callee] < 0
        site, callee = site[own], callee[own]
    value = evidence.first_variable[callee] + evidence.parameters[callee] + (kind == flow.THROWN)
    return _from_calls(evidence, kind, value, into[site], site)


def copies_of(evidence: Evidence) -> tuple[Int32, Int32]:
    """Returns the sources and targets of assignments, and of what calls return."""
    assign = evidence.facts[schema.Assign]
    results = _results(evidence, flow.RETURN, flow.returned_parameters(evidence), None)
    return (
        np.concatenate((assign.source, results.source)).astype(np.int32),
        np.concatenate((assign.target, results.target)).astype(np.int32),
    )


def _places(evidence: Evidence) -> Int32:
    """Returns the place of each reached method in `reached`, by method."""
    size = max(int(each.max(initial=0)) for each in (evidence.reached, evidence.call_callee)) + 1
    place = np.full(size, NONE, np.int32)
    place[evidence.reached] = np.arange(len(evidence.reached), dtype=np.int32)
    return place


def _from_calls(evidence: Evidence, kind: str, source: _Ids, target: _Ids, site: _Ids) -> _Rows:
    return _Rows(kind, source, target, evidence.sites.method[site], evidence.sites.offset[site], site)


class _SetFields:
    """The fields of sets of objects that loads read and stores write."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.first = len(evidence.points_to.representative)
        facts = evidence.facts
        loads, stores = facts[schema.Load], facts[schema.Store]
        array_loads, array_stores = facts[schema.ArrayLoad], facts[schema.ArrayStore]
        elements = [np.full(len(each), NONE, np.int32) for each in (array_loads, array_stores)]
        self._loads = self._keys(loads.base, loads.field), self._keys(array_loads.base, elements[0])
        self._stores = self._keys(stores.base, stores.field), self._keys(array_stores.base, elements[1])
        self._read = np.unique(np.concatenate(self._loads))
        self._written = np.unique(np.concatenate(self._stores))
        keys = np.concatenate((self._read, self._written))
        self.of = (keys >> _FIELD_BITS).astype(np.int32)
        self.field = (keys & ((1 << _FIELD_BITS) - 1)).astype(np.uint32).view(np.int32)
        self._is_load = np.arange(len(keys)) < len(self._read)

    def _keys(self, bases: Int32, fields: Int32) -> Int64:
        sets = self._evidence.points_to.representative[bases].astype(np.int64)
        found: Int64 = sets << _FIELD_BITS | fields.view(np.uint32)
        return found

    def accesses(self) -> Iterator[_Rows]:
        """Yields the flows from fields of sets to what loads them, and to fields of sets from what is stored."""
        facts = self._evidence.facts
        for relation, kind, keys in zip(
            (schema.Load, schema.ArrayLoad), (flow.LOAD, flow.ARRAY_LOAD), self._loads, strict=True
        ):
            rows = facts[relation]
            pointer = self.first + np.searchsorted(self._read, keys)
            yield _rows(kind, pointer, rows.target, rows.method, rows.offset)
        for relation, kind, keys in zip(
            (schema.Store, schema.ArrayStore), (flow.STORE, flow.ARRAY_STORE), self._stores, strict=True
        ):
            rows = facts[relation]
            pointer = self.first + len(self._read) + np.searchsorted(self._written, keys)
            yield _rows(kind, rows.source, pointer, rows.method, rows.offset)

    def members(self) -> Iterator[_Rows]:
        """Yields the flows between fields of objects and fields of the sets that have them."""
        parts = list(_nodes_of_sets(self._evidence, self.of, self.field))
        numbers = np.concatenate([np.empty(0, np.int64), *(part[0] for part in parts)])
        node = np.concatenate([np.empty(0, np.int32), *(part[1] for part in parts)])
        pointer = (self.first + numbers).astype(np.int32)
        loading = self._is_load[numbers]
        yield _rows(MEMBER, node[loading], pointer[loading])
        yield _rows(MEMBER, pointer[~loading], node[~loading])


def _nodes_of_sets(evidence: Evidence, of: Int32, fields: Int32) -> Iterator[tuple[Int64, Int32]]:
    """Yields by parts the pointers that stand for a field of the objects in a set; which set and field is a number.

    `of` and `fields` are the set and the field of each number.
    """
    points_to = evidence.points_to
    nodes = np.flatnonzero(points_to.base >= 0).astype(np.int32)
    codes = points_to.field[nodes].astype(np.int64) << 32 | points_to.base[nodes]
    order = np.argsort(codes, kind="stable")
    nodes, codes = nodes[order], codes[order]
    first, words = points_to.at[of], points_to.at[of + 1] - points_to.at[of]
    part = np.cumsum(words) // WORDS
    for numbers in np.split(np.arange(of.size), np.flatnonzero(np.diff(part)) + 1):
        at = ranges(first[numbers], words[numbers])
        owner = np.repeat(numbers, words[numbers])
        base = fields[owner].astype(np.int64) << 32 | points_to.key[at].astype(np.int64) << 6
        start, end = np.searchsorted(codes, base), np.searchsorted(codes, base + 64)
        row = ranges(start, end - start)
        bit = codes[row] & 63
        inside = (np.repeat(points_to.word[at], end - start) >> bit) & 1 != 0
        yield np.repeat(owner, end - start)[inside].astype(np.int64), nodes[row[inside]]
