"""Chains in bulk: the ways of all objects of a pointer, taken from one search back from it over all flows.

A chain of `engine.chains` is looked for object by object, and leaves calls where it entered them if it can. Here
one breadth-first search serves all objects of a pointer, and calls are not told apart; whether an object is at each
pointer of a way is checked afterwards. Objects of which that fails get a chain of the other kind.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.schema import NONE, Int32
from engine import heap
from engine.chains import Chain, Chains, Origin, marked
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
    Flow,
    Step,
)  # fmt: skip
from engine.flows import KINDS, Flows, flows_of
from engine.hops import Hop, Hops, steps_of
from engine.sets import Bools, ranges

_KNOWN = frozenset({heap.STRING, heap.CLASS_OBJECT, heap.METHOD_OBJECT, heap.FIELD_OBJECT})
# Objects that the program makes: nobody else gives them.
_MADE = frozenset({heap.ALLOCATED, heap.REFLECTIVE})
# The beginnings of ways that are looked at for one object.
_BEGINNINGS = 50
# The ways of other objects that an object is tried on.
_TAKEN = 50
# The searches that are kept.
_TREES = 64


class _Tree(NamedTuple):
    """What a search came to: pointers, ascending, the flow by which each goes on towards the start, and its rank.

    Ranks are lower nearer to the start. `begins` are the pointers into which nothing flows, the nearest first.
    """

    pointers: Int32
    flows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    begins: Int32

    def flow_of(self, pointer: int) -> int:
        """Returns the flow by which a pointer goes on."""
        return int(self.flows[self.pointers.searchsorted(np.int32(pointer))])

    def among(self, pointers: Int32) -> Int32:
        """Returns those that the search came to, the nearest first."""
        places = np.unique(self.places(pointers))
        places = places[places >= 0]
        found: Int32 = self.pointers[places[np.argsort(self.ranks[places])]]
        return found

    def places(self, pointers: Int32) -> NDArray[np.int64]:
        """Returns the place of each pointer in `pointers`, -1 where the search didn't come to it."""
        places = np.minimum(self.pointers.searchsorted(pointers.astype(np.int32)), self.pointers.size - 1)
        return np.where(self.pointers[places] == pointers, places, NONE)


class Ways:
    """Finds chains like `Chains`, which serves where a way that is found is none of the object."""

    def __init__(self, flow: Flow, chains: Chains, inputs: Int32) -> None:
        self._flow, self._chains, self._inputs = flow, chains, inputs
        self._trees: dict[tuple[int, bool, int], _Tree] = {}
        self._known: dict[tuple[int, ...], list[Chain]] = {}
        self._origins: dict[tuple[int, int], Origin | None] = {}  # by pointer and object
        # By pointer and `stopping`, the ways that objects took last which have searches of their own: others may take them.
        self._taken: dict[tuple[int, bool], deque[_Tree]] = defaultdict(lambda: deque(maxlen=_TAKEN))

    def to(self, pointer: int, obj: int, wanted: int = NONE) -> Chain:
        """Returns a short chain of `obj` to `pointer`, which holds it; `wanted` as for `Chains`."""
        if wanted != NONE:
            found = self._wanted_way(pointer, obj, wanted)
        else:
            ways = itertools.chain(self._ways(pointer, obj, set()), self._own_ways(pointer, obj, set()))
            found = next(ways, None)
        return found or self._chains.to(pointer, obj, wanted, exact=False)

    def every(self, pointer: int, objects: Sequence[int]) -> list[Chain]:
        """Returns a short chain from each place where one of the objects begins."""
        key = (pointer, *objects)
        if key not in self._known:
            told: set[int] = set()
            found = [chain for obj in objects for chain in self._ways(pointer, obj, told)]
            self._known[key] = found or [self.to(pointer, each) for each in objects[:1]]
        return self._known[key]

    def nearest(self, pointer: int, texts: Sequence[int], limit: int) -> list[int]:
        """Returns up to `limit` of the string constants at a pointer, those first that begin nearest to it."""
        tree = self._tree(pointer, stopping=False)
        constants = self._flow.evidence.facts[schema.StringConstant]
        places = tree.places(constants.target)
        rank = np.where(places >= 0, tree.ranks[places], len(tree.ranks))
        found = np.array(texts, np.int64)
        payloads = self._flow.evidence.objects.payload[found]
        of_text = np.full(max(payloads.max(initial=0), constants.text.max(initial=0)) + 1, len(tree.ranks))
        np.minimum.at(of_text, constants.text, rank)
        return found[np.argsort(of_text[payloads], kind="stable")][:limit].tolist()

    def _ways(self, pointer: int, obj: int, told: set[int]) -> Iterator[Chain]:
        """Yields chains from where an object begins, but for those `told`, to which it adds them."""
        yield from self._along(self._tree(pointer, self._stops(obj)), pointer, obj, told)

    def _own_ways(self, pointer: int, obj: int, told: set[int]) -> Iterator[Chain]:
        """Yields chains like `_ways`, of a search that goes nowhere but where the object is."""
        stopping = self._stops(obj)
        taken = self._taken[pointer, stopping]
        for way in list(taken):
            yield from self._along(way, pointer, obj, told)
        tree = self._tree(pointer, stopping, obj)
        for chain in self._along(tree, pointer, obj, told):
            taken.append(self._way(tree, chain.origin.pointer, pointer))
            yield chain
        if int(self._flow.evidence.objects.kind[obj]) in _MADE:
            return
        starts = self._into[0]
        for begin in itertools.islice(self._beginnings(tree, obj), _BEGINNINGS):
            steps = self._steps(begin, pointer, obj, tree) if starts[begin] == starts[begin + 1] else None
            if steps is not None:  # nothing that the program says brings it there
                yield Chain(obj, self._chains.given(begin, obj), tuple(marked(steps)))

    def _way(self, tree: _Tree, begin: int, end: int) -> _Tree:
        """Returns of what a search came to the way from one beginning."""
        pointers = [begin]
        while pointers[-1] != end:
            pointers.append(int(self._flows.target[tree.flow_of(pointers[-1])]))
        ascending = np.unique(np.array(pointers, np.int32))
        places = tree.places(ascending)
        return _Tree(ascending, tree.flows[places], tree.ranks[places], np.array([begin], np.int32))

    def _wanted_way(self, pointer: int, obj: int, wanted: int) -> Chain | None:
        """Returns a chain of a generic object from where it is what is wanted; None if that has other steps than were searched."""
        tree, facts = self._tree(pointer, stopping=False, obj=obj), self._flow.evidence.facts
        texts = self._flow.rows_of(schema.StringConstant, "text", wanted)
        types = self._flow.rows_of(schema.ClassConstant, "type", wanted)
        constants = facts[schema.StringConstant].target[texts], facts[schema.ClassConstant].target[types]
        begins = tree.among(np.concatenate((*constants, self._supplied(wanted))))
        holding = begins[self._flow.sets.contain(begins, np.array([obj], np.int32))].tolist()
        hops = Hops(self._flow, obj, exact=False)
        ways = ((begin, self._chains.origin(begin, obj, hops, wanted)) for begin in holding)
        found = next(((begin, origin) for begin, origin in ways if origin is not None), None)
        if found is None:
            return Chain(obj, self._chains.given(pointer, obj), ())
        steps = self._steps(found[0], pointer, obj, tree)
        return Chain(obj, found[1], tuple(marked(steps))) if steps is not None else None

    def _stops(self, obj: int) -> bool:
        """Returns whether input sources end the way of an object: constants come through their bodies, too."""
        return int(self._flow.evidence.objects.kind[obj]) not in _KNOWN

    def _along(self, tree: _Tree, pointer: int, obj: int, told: set[int]) -> Iterator[Chain]:
        for begin in itertools.islice(self._beginnings(tree, obj), _BEGINNINGS):
            if begin in told:
                continue
            origin = self._origin(begin, obj)
            if origin is None and begin not in self._entered:
                continue
            steps = self._steps(begin, pointer, obj, tree)
            if steps is not None:
                told.add(begin)
                yield Chain(obj, origin or self._chains.given(begin, obj), tuple(marked(steps)))

    def _origin(self, begin: int, obj: int) -> Origin | None:
        """Returns how an object is put into a pointer, if it is."""
        if (begin, obj) not in self._origins:
            self._origins[begin, obj] = self._chains.origin(begin, obj, Hops(self._flow, obj, exact=False))
        return self._origins[begin, obj]

    def _beginnings(self, tree: _Tree, obj: int) -> Iterator[int]:
        """Yields the pointers at which a search ended and which hold an object, the nearest first.

        Before those, for a text: constants of it, and results that rules may say to be it.
        """
        objects, constants = self._flow.evidence.objects, self._flow.evidence.facts[schema.StringConstant]
        sets = self._flow.sets
        if int(objects.kind[obj]) == heap.STRING:
            text = int(objects.payload[obj])
            rows = self._flow.rows_of(schema.StringConstant, "text", text)
            for given in (constants.target[rows], self._supplied(text)):
                begins = tree.among(given)
                yield from begins[sets.contain(begins, np.array([obj], np.int32))].tolist()
        near, far = np.split(tree.begins, [_BEGINNINGS])
        yield from near[sets.contain(near, np.array([obj], np.int32))].tolist()
        if far.size:
            yield from far[sets.hold(far, obj)].tolist()

    @cached_property
    def _entered(self) -> frozenset[int]:
        """Pointers to what the JVM or an unknown caller passes in."""
        given = self._flow.evidence.objects.kind == heap.ENTRY
        return frozenset(np.flatnonzero(self._flow.sets.holding(given)).tolist())

    # --- the search
    def _tree(self, pointer: int, stopping: bool, obj: int = NONE) -> _Tree:
        """Returns what a search came to (see `_search`)."""
        key = pointer, stopping, obj
        found = self._trees.get(key)
        if found is None:
            if len(self._trees) == _TREES:
                self._trees.clear()
            found = self._trees[key] = self._search(pointer, stopping, obj)
        return found

    def _search(self, pointer: int, stopping: bool, obj: int) -> _Tree:
        """Goes back from a pointer, breadth first; past inputs unless it is `stopping`; where `obj` is, if given."""
        starts, order, sources = self._into
        seen, stops = np.zeros(len(starts) - 1, np.bool_), self._is_input if stopping else None
        seen[pointer] = True
        level = np.array([pointer], np.int32)
        begins, met, by = [], [level], [np.array([NONE])]  # (from the start, no flow goes on)
        while level.size:
            first, count = starts[level], starts[level + 1] - starts[level]
            if stops is not None:
                count = np.where(stops[level], 0, count)
            begins.append(level[(count == 0) & (level < self._flows.first_set)])
            places = ranges(first, count)
            before = sources[places]
            fresh = ~seen[before]
            if obj != NONE:
                fresh &= self._holds(before, obj)
            places, before = places[fresh], before[fresh]
            self._place[before[::-1]] = places[::-1]  # the first counts
            level = np.sort(before[self._place[before] == places])
            seen[level] = True
            met.append(level)
            by.append(order[self._place[level]])
        pointers = np.concatenate(met).astype(np.int32)
        ascending = np.argsort(pointers)
        return _Tree(
            pointers[ascending],
            np.concatenate(by)[ascending],
            ascending,
            np.concatenate(begins).astype(np.int32),
        )

    def _holds(self, pointers: Int32, obj: int) -> Bools:
        """Returns which of some pointers may refer to an object; sets of objects, to which flows store, count as such."""
        sets, first_set = self._flow.sets, self._flows.first_set
        found: Bools = sets.hold(np.minimum(pointers, first_set - 1), obj) | (pointers >= first_set)
        return found

    @cached_property
    def _flows(self) -> Flows:
        return flows_of(self._flow.evidence, self._holding)

    @cached_property
    def _into(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Int32]:
        """By pointer the span of the flows into it, then those flows and the pointers from which they come."""
        flows = self._flows
        size = max(flows.first_set + len(flows.set_of), len(self._flow.evidence.points_to.representative))
        holds = np.ones(size, np.bool_)
        holds[: flows.first_set] = self._holding[: flows.first_set]
        rows = np.flatnonzero(holds[flows.source] & holds[flows.target])
        order = rows[np.argsort(flows.target[rows], kind="stable")]
        starts = np.searchsorted(flows.target[order], np.arange(size + 1))
        return starts, order, flows.source[order]

    @cached_property
    def _holding(self) -> Bools:
        """Which pointers may refer to objects that matter: all of the types that operands of reflective calls have."""
        objects = self._flow.evidence.objects
        found = np.isin(objects.kind, (*_KNOWN, heap.UNKNOWN, heap.GENERIC, heap.CLASS_OF))
        types = np.unique(objects.type[found])
        return self._flow.sets.holding(found | np.isin(objects.type, types))

    def _supplied(self, payload: int) -> Int32:
        """Returns the results of the calls of which rules say that they return a text, type or member."""
        sites = np.array(self._chains.marks.deriving(payload), np.int32)
        results = self._flow.evidence.sites.result[sites]
        supplied: Int32 = results[results >= 0]
        return supplied

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        """By pointer, the place of the flow by which a search comes to it: room for one level at a time."""
        return np.empty(len(self._into[0]) - 1, np.int64)

    @cached_property
    def _is_input(self) -> Bools:
        found = np.zeros(len(self._into[0]) - 1, np.bool_)
        found[self._inputs[self._inputs >= 0]] = True
        return found

    # --- steps
    def _steps(self, begin: int, end: int, obj: int, tree: _Tree) -> list[Step] | None:
        """Returns the steps of the way from `begin` to `end`, None if the object isn't at each pointer of it."""
        flows, found = self._flows, list[Step]()
        at, stored, node = begin, NONE, NONE
        while at != end:
            row = tree.flow_of(at)
            target, kind = int(flows.target[row]), KINDS[int(flows.kind[row])]
            if kind in (STORE, ARRAY_STORE):
                stored = at
            elif target < flows.first_set:
                if not self._flow.sets.contains(target, obj):
                    return None
                if kind in (LOAD, ARRAY_LOAD):
                    found += self._loaded(node, target)
                elif at >= flows.first_set:
                    found += self._put(stored, target)
                else:
                    found += self._step(kind, at, target, row, obj)
                if not found or found[-1].target != target:
                    return None
            else:
                node = at
            at = target
        return found

    def _step(self, kind: str, source: int, target: int, row: int, obj: int) -> list[Step]:
        """Returns the step of a flow between two pointers; none if the object doesn't go this way."""
        flow, site = self._flow, int(self._flows.site[row])
        if site >= 0:
            callee = self._callee(kind, source, target, site, obj)
            return steps_of(flow, Hop(kind, source, target, site, callee)) if callee >= 0 else []
        for relation, into in flow.rows_into(target):
            if relation in COPIES and COPIES[relation] == kind:
                if int(flow.evidence.facts[relation].source[into]) == source:
                    return steps_of(flow, Hop(kind, source, target, into))
            elif relation is schema.StaticLoad and kind == STATIC_LOAD:
                field = int(flow.evidence.facts[relation].field[into])
                if flow.pointer_of_static.get(field) == source:
                    return steps_of(flow, Hop(kind, source, target, into))
        for into in flow.rows_of(schema.StaticStore, "source", source) if kind == STATIC_STORE else ():
            if int(flow.evidence.facts[schema.StaticStore].field[into]) == flow.field_of_static.get(target):
                return steps_of(flow, Hop(kind, source, target, into))
        return []

    def _callee(self, kind: str, source: int, target: int, site: int, obj: int) -> int:
        """Returns the method that a call passes an object to, or gets it from, -1 if there is none."""
        flow = self._flow
        for callee in flow.callees(site).tolist():
            parameters = flow.parameters_of(callee)
            if kind in (ARGUMENT, RECEIVER):
                position = target - flow.variable(callee, 0)
                fits = 0 <= position < parameters and flow.argument(site, position) == source
            elif kind in (RETURN, THROWN):
                fits = flow.variable(callee, parameters + (kind == THROWN)) == source
            else:
                assert kind == PASSED
                position = flow.returned_parameter(callee)
                given = position >= 0 and flow.argument(site, position) == source
                fits = given and flow.passes(site, callee, obj)
            if fits:
                return int(callee)
        return NONE

    def _put(self, source: int, node: int) -> list[Step]:
        """Returns the step of a store into the field of an object."""
        points_to, facts = self._flow.evidence.points_to, self._flow.evidence.facts
        base, field = int(points_to.base[node]), int(points_to.field[node])
        relation = schema.Store if field >= 0 else schema.ArrayStore
        for store in self._flow.rows_of(relation, "source", source):
            rows = facts[relation]
            fits = field < 0 or int(rows.field[store]) == field
            if fits and self._flow.sets.contains(int(rows.base[store]), base):
                kind = STORE if field >= 0 else ARRAY_STORE
                return steps_of(self._flow, Hop(kind, source, node, store, base=base))
        return []

    def _loaded(self, node: int, target: int) -> list[Step]:
        """Returns the step of a load from the field of an object."""
        points_to = self._flow.evidence.points_to
        base, field = int(points_to.base[node]), int(points_to.field[node])
        for relation, row in self._flow.rows_into(target):
            if relation is not (schema.Load if field >= 0 else schema.ArrayLoad):
                continue
            rows = self._flow.evidence.facts[relation]
            fits = field < 0 or int(rows.field[row]) == field
            if fits and self._flow.sets.contains(int(rows.base[row]), base):
                kind = LOAD if field >= 0 else ARRAY_LOAD
                return steps_of(self._flow, Hop(kind, node, target, row, base=base))
        return []
