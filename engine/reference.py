"""The plain solver: every rule as it is read, over compressed bit maps (difference propagation, Pearce et al. 2003).

It says what the kernel computes. Pointers and objects may get other numbers than there, in the order in which
they come up.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from pyroaring import BitMap

from cypher.program import MethodRows, TypeRows
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Int32, Int64
from engine.hierarchy import Hierarchy
from engine.solver import FIXPOINT, PAUSED, PointsToRows, Statistics, int32, rows_of

# What is done with each new object of a pointer.
Use: TypeAlias = Callable[[BitMap], None]

TRACKED_FROM = 1 << 30


def _with_fields(objects: BitMap) -> Iterator[int]:
    """Yields the objects that have fields: not the tracked ones, since the generic object that goes with them has."""
    return itertools.takewhile(lambda obj: obj < TRACKED_FROM, objects)


# Stands for a type whose instances are the tracked objects.
TRACKED = -2


class Edge(NamedTuple):
    """A copy to `target`: of everything, or of what is (`keeps`), or is not, a subtype of `type`."""

    target: int
    type: int = NONE
    keeps: bool = True


class Site(NamedTuple):
    """A call; `arguments` are pairs of a parameter's position and a variable."""

    kind: int
    target: int
    receiver: int
    result: int
    thrown: int
    arguments: tuple[tuple[int, int], ...]


class ReferenceSolver:
    """`Solver` by a work list of pointers with new objects.

    `waiting`: how many newly reached methods `solve` lets pile up before it asks for their facts. A unit of
    the budget is an object that passes an edge.
    """

    tracked_from = TRACKED_FROM

    def __init__(self, object_type: int, class_type: int, waiting: int = 2000) -> None:
        self._object_type, self._class_type, self._waiting = object_type, class_type, waiting
        self._hierarchy = Hierarchy()
        self._inbox: list[tuple[Callable[..., None], tuple[int, ...]]] = []
        # One entry a type: all objects of it and of its subtypes, those of exactly this type.
        self._instances: list[BitMap] = []
        self._exactly: list[BitMap] = []
        self._type_of: dict[int, int] = {}  # of each object
        self._class_objects: dict[int, int] = {}  # by the type that each stands for
        self._generic: dict[int, int] = {}  # the object that stands for all tracked ones of a type
        self._ordinary, self._tracked = 0, TRACKED_FROM  # the numbers of the next objects
        # One entry a pointer; `_sources` are those whose objects come to it, `_denied` the tracked objects that
        # it doesn't hold since nobody asks, `_pending` those of its objects that were not yet passed on.
        self._points_to: list[BitMap] = []
        self._edges: list[dict[Edge, None]] = []
        self._uses: list[list[Use]] = []
        self._sources: list[set[int]] = []
        self._wanted: set[int] = set()
        self._denied: dict[int, BitMap] = {}
        self._base: list[int] = []
        self._field: list[int] = []
        self._pending: dict[int, BitMap] = {}
        self._work: deque[int] = deque()
        self._field_pointer: dict[tuple[int, int], int] = {}
        self._sites: list[Site] = []
        self._calls: dict[tuple[int, int], None] = {}
        self._first: dict[int, int] = {}  # first variable of each reachable method, in order
        self._taken = 0
        self._watched: list[tuple[int, int]] = []
        self._steps = self._pairs = 0

    # --- rows in
    def add_types(self, rows: TypeRows) -> None:
        self._hierarchy.add_types(rows)
        for _ in range(rows.superclass.size):
            self._instances.append(BitMap())
            self._exactly.append(BitMap())

    def add_methods(self, rows: MethodRows) -> None:
        self._hierarchy.add_methods(rows)

    def add_objects(self, types: Int32) -> int:
        first = self._ordinary
        for type_ in types.tolist():
            self._new_object(type_)
        return first

    def add_tracked(self, types: Int32) -> int:
        first = self._tracked
        for type_ in types.tolist():
            self._new_tracked(type_)
        return first

    def add_pointers(self, number: int) -> int:
        first = len(self._points_to)
        for _ in range(number):
            self._new_pointer(NONE, NONE)
        return first

    def add_sites(
        self, kinds: Int32, targets: Int32, receivers: Int32, results: Int32, throwns: Int32,
        arguments_at: Int64, positions: Int32, variables: Int32,
    ) -> int:  # fmt: skip
        first = len(self._sites)
        columns = (each.tolist() for each in (kinds, targets, receivers, results, throwns))
        for index, (kind, target, receiver, result, thrown) in enumerate(zip(*columns, strict=True)):
            passed = slice(arguments_at[index], arguments_at[index + 1])
            arguments = tuple(zip(positions[passed].tolist(), variables[passed].tolist(), strict=True))
            site = len(self._sites)
            self._sites.append(Site(kind, target, receiver, result, thrown, arguments))
            if kind == STATIC and target != NONE:
                self._inbox.append((self._call, (site, target)))
            elif kind != STATIC and NONE not in {target, receiver}:
                self._inbox.append((self._dispatch, (receiver, site)))
        return first

    def new(self, pointers: Int32, objects: Int32) -> None:
        self._put(self._new, pointers, objects)

    def assign(self, sources: Int32, targets: Int32) -> None:
        self._put(self._copy, sources, targets)

    def cast(self, sources: Int32, types: Int32, targets: Int32) -> None:
        self._put(self._filter, sources, types, targets)

    def exclude(self, sources: Int32, types: Int32, targets: Int32) -> None:
        self._put(self._filter_out, sources, types, targets)

    def assign_untracked(self, sources: Int32, targets: Int32) -> None:
        self._put(self._copy_untracked, sources, targets)

    def load(self, bases: Int32, fields: Int32, targets: Int32) -> None:
        self._put(lambda base, *row: self._use(base, partial(self._load, *row)), bases, fields, targets)

    def store(self, sources: Int32, fields: Int32, bases: Int32) -> None:
        self._put(lambda base, *row: self._use(base, partial(self._store, *row)), bases, fields, sources)

    def class_objects(self, types: Int32) -> Int32:
        return int32([self._class_object(type_) for type_ in types.tolist()])

    def watch(self, pointers: Int32, tags: Int32) -> None:
        self._put(self._start_watching, pointers, tags)

    def reach(self, methods: Int32) -> None:
        self._put(self._reach, methods)

    def call(self, sites: Int32, callees: Int32) -> None:
        self._put(self._call, sites, callees)

    def _put(self, rule: Callable[..., None], *columns: Int32) -> None:
        """Keeps rows for the next `solve`."""
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self._inbox.extend((rule, row) for row in rows)

    # --- the closure
    def solve(self, budget: int) -> int:
        reached = len(self._first)
        inbox, self._inbox = self._inbox, []
        for rule, row in inbox:
            rule(*row)
        spent = 0
        while self._work:
            if spent > budget or len(self._first) - reached > self._waiting:
                return PAUSED
            spent += self._pass_on(self._work.popleft())
        return PAUSED if len(self._first) > reached else FIXPOINT

    def _pass_on(self, pointer: int) -> int:
        """Passes what is new at a pointer over its edges and to its uses; returns the work done."""
        objects = self._pending.pop(pointer)
        for target, type_, keeps in self._edges[pointer]:
            self._add(target, self._admitted(objects, type_, keeps))
        for use in self._uses[pointer]:
            use(objects)
        self._steps += 1
        return len(objects) * (1 + len(self._edges[pointer]))

    def _add(self, pointer: int, objects: BitMap) -> None:
        """PointsTo(pointer, o) for each of `objects`, tracked ones only if Wanted(pointer)."""
        fresh = objects - self._points_to[pointer]
        if fresh and fresh.max() >= TRACKED_FROM and pointer not in self._wanted:
            tracked = BitMap(fresh)
            tracked.remove_range(0, TRACKED_FROM)
            self._denied.setdefault(pointer, BitMap()).update(tracked)
            fresh -= tracked
        if not fresh:
            return
        self._points_to[pointer] |= fresh
        self._pairs += len(fresh)
        if pointer in self._pending:
            self._pending[pointer] |= fresh
        else:
            self._pending[pointer] = fresh
            self._work.append(pointer)

    def _use(self, pointer: int, use: Use) -> None:
        """Has `use` see each object of `pointer` once: now if it was already passed on, else when it is."""
        self._uses[pointer].append(use)
        seen = self._points_to[pointer] - self._pending.get(pointer, BitMap())
        if seen:
            use(seen)

    # Wanted(x) :- Watch(x, _).
    # Wanted(y) :- Wanted(x), Assign(y, x).         Likewise casts and what else is copied.
    # Wanted(y) :- Wanted(this_m), VirtualInvoke(s, y, g), PointsTo(y, o), Generic(t, o), Select(t, g, m).
    def _want(self, pointer: int) -> None:
        """Has a pointer, and those whose objects come to it, hold tracked objects."""
        work = [pointer]
        while work:
            pointer = work.pop()
            if pointer not in self._wanted:
                self._wanted.add(pointer)
                work.extend(self._sources[pointer])
                self._add(pointer, self._denied.pop(pointer, BitMap()))

    def _flows(self, source: int, target: int) -> None:
        """Notes that objects of `source` come to `target`."""
        self._sources[target].add(source)
        if target in self._wanted:
            self._want(source)

    def _admitted(self, objects: BitMap, type_: int, keeps: bool) -> BitMap:
        """Returns those of `objects` that an edge lets pass; every object is a subtype of Object."""
        if type_ in {NONE, self._object_type}:
            return objects
        if type_ == TRACKED:
            return objects - BitMap(range(TRACKED_FROM, self._tracked))
        return objects & self._instances[type_] if keeps else objects - self._instances[type_]

    def _connect(self, source: int, edge: Edge) -> None:
        """Adds a copy edge and lets what is known flow over it."""
        if edge.target == source or edge in self._edges[source]:
            return
        self._edges[source][edge] = None
        if edge.type != TRACKED:
            self._flows(source, edge.target)
        self._add(edge.target, self._admitted(self._points_to[source], edge.type, edge.keeps))

    # PointsTo(x, o), PointsTo(x, g) :- New(x, o), Type(o, t), Generic(t, g).    g: for tracked objects.
    def _new(self, pointer: int, obj: int) -> None:
        self._add(pointer, BitMap((obj,)))
        if obj >= TRACKED_FROM:
            self._add(pointer, BitMap((self._generic_object(self._type_of[obj]),)))

    # PointsTo(x, o) :- Assign(y, x), PointsTo(y, o).
    def _copy(self, source: int, target: int) -> None:
        self._connect(source, Edge(target))

    # PointsTo(x, o) :- AssignUntracked(y, x), PointsTo(y, o), not Tracked(o).
    def _copy_untracked(self, source: int, target: int) -> None:
        self._connect(source, Edge(target, TRACKED, keeps=False))

    # PointsTo(x, o) :- Cast(y, t, x), PointsTo(y, o), o <: t.
    def _filter(self, source: int, type_: int, target: int) -> None:
        self._connect(source, Edge(target, type_))

    # PointsTo(x, o) :- Exclude(y, t, x), PointsTo(y, o), not o <: t.
    def _filter_out(self, source: int, type_: int, target: int) -> None:
        if type_ not in {NONE, self._object_type}:
            self._connect(source, Edge(target, type_, keeps=False))

    # Assign(b.f, x) :- Load(y, f, x), PointsTo(y, b).
    def _load(self, field: int, target: int, bases: BitMap) -> None:
        for base in _with_fields(bases):
            self._copy(self._pointer_of(base, field), target)

    # Assign(x, b.f) :- Store(x, f, y), PointsTo(y, b).
    # Cast(x, t, b.[]) :- ArrayStore(x, y), PointsTo(y, b), Type(b, a), Element(a, t).
    def _store(self, field: int, source: int, bases: BitMap) -> None:
        for base in _with_fields(bases):
            element = self._hierarchy.types[self._type_of[base]].element if field == NONE else NONE
            self._filter(source, element, self._pointer_of(base, field))

    def _start_watching(self, pointer: int, tag: int) -> None:
        self._want(pointer)
        self._use(pointer, partial(self._watch, tag))

    # Watched(n, o) :- Watch(y, n), PointsTo(y, o).
    def _watch(self, tag: int, objects: BitMap) -> None:
        self._watched.extend((tag, obj) for obj in objects)

    def _dispatch(self, receiver: int, site: int) -> None:
        """Has a VIRTUAL or SPECIAL call see the objects of its receiver."""
        rule = self._call_virtual if self._sites[site].kind == VIRTUAL else self._call_special
        self._use(receiver, partial(rule, site))

    # Calls(s, m), PointsTo(this_m, o) :- VirtualInvoke(s, x, g), PointsTo(x, o), Type(o, t), Select(t, g, m).
    def _call_virtual(self, site: int, receivers: BitMap) -> None:
        for type_, objects in self._by_type(receivers):
            callee = self._hierarchy.select(type_, self._sites[site].target)
            if callee != NONE:
                self._call(site, callee)
                self._add(self._first[callee], objects)
                if type_ in self._generic and self._generic[type_] in objects:
                    self._flows(self._sites[site].receiver, self._first[callee])

    # Calls(s, m), Assign(x, this_m) :- SpecialInvoke(s, x, m), PointsTo(x, _).
    def _call_special(self, site: int, _receivers: BitMap) -> None:
        assert self._sites[site].kind == SPECIAL
        callee = self._sites[site].target
        self._call(site, callee)
        self._copy(self._sites[site].receiver, self._first[callee])

    # Reachable(m) :- Calls(_, m).
    # Assign(a, p) :- Calls(s, m), Argument(s, i, a), Parameter(m, i, p).
    # Assign(r, x) :- Calls(s, m), Returns(m, r), Result(s, x).       Likewise what m throws.
    def _call(self, site: int, callee: int) -> None:
        if (site, callee) in self._calls:
            return
        self._calls[site, callee] = None
        self._reach(callee)
        first, parameters = self._first[callee], self._hierarchy.methods[callee].parameters
        _, _, _, result, thrown, arguments = self._sites[site]
        for position, variable in arguments:
            if position < parameters:
                self._copy(variable, first + position)
        returned, type_ = self._returned(site, callee)
        if NONE not in {result, returned}:
            self._filter(returned, type_, result)
        if thrown != NONE:
            self._copy(first + parameters + 1, thrown)

    # Assign(a, x) :- Calls(s, m), ReturnsParameter(m, i), Argument(s, i, a), Result(s, x), in place of the above.
    # Cast(y, t, x) :- Calls(s, m), ReturnsParameter(m, 0), Receiver(s, y), Result(s, x), DeclaredBy(m, t), likewise.
    def _returned(self, site: int, callee: int) -> tuple[int, int]:
        """Returns the pointer to what a call returns, that of an argument if it is always this one, and of which type."""
        returns, parameters = (
            self._hierarchy.methods[callee].returns,
            self._hierarchy.methods[callee].parameters,
        )
        if returns == NONE:
            return self._first[callee] + parameters, NONE
        kind, _, receiver, _, _, arguments = self._sites[site]
        if returns == 0 and kind != STATIC:
            return receiver, self._hierarchy.methods[callee].declaring
        return dict(arguments).get(returns, NONE), NONE

    def _reach(self, method: int) -> None:
        """Reachable(method); its variables become pointers."""
        if method not in self._first:
            self._first[method] = self.add_pointers(self._hierarchy.methods[method].variables)

    # --- pointers and objects
    def _new_pointer(self, base: int, field: int) -> int:
        self._points_to.append(BitMap())
        self._edges.append({})
        self._uses.append([])
        self._sources.append(set())
        self._base.append(base)
        self._field.append(field)
        return len(self._base) - 1

    def _pointer_of(self, base: int, field: int) -> int:
        """Returns the pointer that is `field` of the object `base`."""
        if (base, field) not in self._field_pointer:
            self._field_pointer[base, field] = self._new_pointer(base, field)
        return self._field_pointer[base, field]

    def _new_object(self, type_: int) -> int:
        obj, self._ordinary = self._ordinary, self._ordinary + 1
        self._enter_object(obj, type_)
        return obj

    def _new_tracked(self, type_: int) -> int:
        obj, self._tracked = self._tracked, self._tracked + 1
        self._enter_object(obj, type_)
        return obj

    def _enter_object(self, obj: int, type_: int) -> None:
        self._type_of[obj] = type_
        self._exactly[type_].add(obj)
        for supertype in self._hierarchy.types[type_].supertypes:
            self._instances[supertype].add(obj)

    def _generic_object(self, type_: int) -> int:
        if type_ not in self._generic:
            self._generic[type_] = self._new_object(type_)
        return self._generic[type_]

    def _class_object(self, type_: int) -> int:
        if type_ not in self._class_objects:
            self._class_objects[type_] = self._new_tracked(self._class_type)
        return self._class_objects[type_]

    def _by_type(self, objects: BitMap) -> Iterator[tuple[int, BitMap]]:
        """Yields each type of `objects` with those that are of it."""
        rest = objects.copy()
        while rest:
            type_ = self._type_of[rest.min()]
            same = rest & self._exactly[type_]
            rest -= same
            yield type_, same

    # --- rows out
    def take_reached(self) -> tuple[Int32, Int32]:
        methods = self.reached()[self._taken :]
        self._taken += methods.size
        return methods, self.first_variables(methods)

    def take_watched(self) -> tuple[Int32, Int32]:
        watched, self._watched = self._watched, []
        return int32([tag for tag, _ in watched]), int32([obj for _, obj in watched])

    def calls_made(self, since: int = 0) -> tuple[Int32, Int32, int]:
        calls = list(self._calls)[since:]
        return int32([site for site, _ in calls]), int32([callee for _, callee in calls]), len(self._calls)

    def reached(self) -> Int32:
        return int32(list(self._first))

    def first_variables(self, methods: Int32) -> Int32:
        return int32([self._first.get(method, NONE) for method in methods.tolist()])

    def types_of(self, objects: Int32) -> Int32:
        return int32([self._type_of[obj] for obj in objects.tolist()])

    def class_object_types(self) -> tuple[Int32, Int32]:
        return int32(list(self._class_objects.values())), int32(list(self._class_objects))

    def select(self, type_: int, signature: int) -> int:
        return self._hierarchy.select(type_, signature)

    def objects_of(self, pointer: int) -> Int32:
        return int32(list(self._points_to[pointer]))

    def number_of(self, pointer: int) -> int:
        return len(self._points_to[pointer])

    def points_to(self) -> PointsToRows:
        sets = (np.array(objects.to_array(), np.int64) for objects in self._points_to)
        return rows_of(sets, self._base, self._field)

    def statistics(self) -> Statistics:
        # Close enough: about two bytes a pair, kept twice at most, and what an empty pointer takes.
        size = 4 * self._pairs + 500 * len(self._points_to)
        return Statistics(
            len(self._points_to), self._ordinary, self._tracked - TRACKED_FROM, len(self._first),
            len(self._calls), self._steps, size,
        )  # fmt: skip
