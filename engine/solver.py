"""What a points-to solver is: the interface of the compiled kernel and of the plain reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from cypher.program import MethodRows, TypeRows
from cypher.schema import Int32, Int64

# What `solve` reports.
FIXPOINT, PAUSED, EXHAUSTED = range(3)


class Statistics(NamedTuple):
    """Sizes, for progress and reports; `bytes` is what the solver's pools hold."""

    pointers: int
    objects: int
    tracked: int
    reachable: int
    calls: int  # some pairs of site and callee may count twice
    steps: int
    bytes: int


class PointsToRows(NamedTuple):
    """Points-to sets, as bit words: pointer `p` has those of `representative[p]`.

    Words `at[r]` to `at[r + 1]` of a representative `r` are its set: bit `b` of `word[i]` stands for object
    `64 * key[i] + b`. `base[p]` and `field[p]` are the object and the field that a pointer stands for: -1
    and -1 for a variable or static field; field -1 with a base is the elements of an array.
    """

    representative: Int32
    at: Int64
    key: Int32
    word: Int64
    base: Int32
    field: Int32


def int32(values: Iterable[int]) -> Int32:
    """Returns `values` as a column."""
    return np.array(list(values), np.int32)


def rows_of(sets: Iterable[Int64], base: Sequence[int], field: Sequence[int]) -> PointsToRows:
    """Returns the rows of pointers by their sets, each ascending, and by what each stands for."""
    rows = [_words_of(objects) for objects in sets]
    at = np.concatenate(([0], np.cumsum([keys.size for keys, _ in rows], dtype=np.int64)))
    return PointsToRows(
        np.arange(len(rows), dtype=np.int32),
        at,
        np.concatenate([np.empty(0, np.int32), *(keys for keys, _ in rows)]),
        np.concatenate([np.empty(0, np.int64), *(words for _, words in rows)]),
        int32(base),
        int32(field),
    )


def _words_of(objects: Int64) -> tuple[Int32, Int64]:
    """Returns the keys and words of a set."""
    keys = objects >> 6
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    bits = np.left_shift(np.uint64(1), (objects & 63).astype(np.uint64))
    return keys[first].astype(np.int32), np.bitwise_or.reduceat(bits, first).view(np.int64)


class Solver(Protocol):
    """Andersen's analysis with the call graph on the fly, resumed whenever constraints are added.

    Pointers are numbered from 0 as they come up: the variables of a method when it is reached (in one
    block), fresh ones on request, fields of objects by themselves. Objects and sites are numbered as added. What
    is added takes effect in the next `solve`. If memory is exhausted, nothing is added any more: the ids that
    are returned are -1, `solve` returns EXHAUSTED, and what was derived so far stays. Class objects are tracked
    (see `add_tracked`).
    """

    tracked_from: int

    def add_types(self, rows: TypeRows) -> None:
        """Adds types; every supertype of a type is among those known afterwards."""

    def add_methods(self, rows: MethodRows) -> None:
        """Adds methods, not yet reachable."""

    def add_objects(self, types: Int32) -> int:
        """Adds an object of each of `types`; returns the first."""

    def add_tracked(self, types: Int32) -> int:
        """Adds a tracked object of each of `types`; returns the first, at least `tracked_from`.

        Tracked objects are told apart at watched pointers and at pointers from which these can be reached;
        elsewhere one generic object of their type stands for them all, and goes everywhere with them. It alone
        has fields.
        """

    def add_pointers(self, number: int) -> int:
        """Adds `number` fresh pointers; returns the first."""

    def add_sites(
        self, kinds: Int32, targets: Int32, receivers: Int32, results: Int32, throwns: Int32,
        arguments_at: Int64, positions: Int32, variables: Int32,
    ) -> int:  # fmt: skip
        """Adds calls; returns the first site.

        `targets` are methods, for VIRTUAL calls signatures. A STATIC call is made; a SPECIAL or VIRTUAL one
        for the objects of its receiver. Arguments are the reference ones without the receiver, with the
        position of the parameter each goes to (the receiver is parameter 0).
        """

    def new(self, pointers: Int32, objects: Int32) -> None:
        """PointsTo(pointer, object)."""

    def assign(self, sources: Int32, targets: Int32) -> None:
        """PointsTo(target, o) :- PointsTo(source, o)."""

    def cast(self, sources: Int32, types: Int32, targets: Int32) -> None:
        """PointsTo(target, o) :- PointsTo(source, o), o <: type."""

    def exclude(self, sources: Int32, types: Int32, targets: Int32) -> None:
        """PointsTo(target, o) :- PointsTo(source, o), not o <: type."""

    def assign_untracked(self, sources: Int32, targets: Int32) -> None:
        """PointsTo(target, o) :- PointsTo(source, o), o is not tracked."""

    def load(self, bases: Int32, fields: Int32, targets: Int32) -> None:
        """PointsTo(target, o) :- PointsTo(base, b), FieldPointsTo(b, field, o); field -1: array elements."""

    def store(self, sources: Int32, fields: Int32, bases: Int32) -> None:
        """FieldPointsTo(b, field, o) :- PointsTo(base, b), PointsTo(source, o); field -1: array elements."""

    def class_objects(self, types: Int32) -> Int32:
        """Returns the class object of each type, made on first use."""

    def watch(self, pointers: Int32, tags: Int32) -> None:
        """Reports each object of `pointers`, those known now and those to come, under its tag."""

    def reach(self, methods: Int32) -> None:
        """Reachable(method)."""

    def call(self, sites: Int32, callees: Int32) -> None:
        """Calls(site, callee), whatever the receiver."""

    def solve(self, budget: int) -> int:
        """Goes on to the fixpoint, or until about `budget` units of work are done or methods were reached.

        Returns FIXPOINT only if no method was reached in this call: the facts of those are still to be added.
        If anything is to be taken from `take_watched`, more may be reported after the next call.
        """

    def take_reached(self) -> tuple[Int32, Int32]:
        """Returns the methods reached since the last call, and the first variable of each."""

    def take_watched(self) -> tuple[Int32, Int32]:
        """Returns the pairs (tag, object) reported since the last call."""

    def calls_made(self, since: int = 0) -> tuple[Int32, Int32, int]:
        """Returns the pairs (site, callee), each once, and how far that goes: `since` there, another call goes on."""

    def reached(self) -> Int32:
        """Returns all reachable methods, in the order in which they came up."""

    def first_variables(self, methods: Int32) -> Int32:
        """Returns the first variable of each method, -1 if it is not reachable."""

    def types_of(self, objects: Int32) -> Int32:
        """Returns the type of each object."""

    def class_object_types(self) -> tuple[Int32, Int32]:
        """Returns all class objects with the types they stand for."""

    def select(self, type_: int, signature: int) -> int:
        """Returns the method that a virtual call of `signature` runs on an object of `type_` (JVMS 5.4.6), or -1."""

    def objects_of(self, pointer: int) -> Int32:
        """Returns the objects of a pointer, ascending."""

    def number_of(self, pointer: int) -> int:
        """Returns how many objects a pointer has."""

    def points_to(self) -> PointsToRows:
        """Returns all points-to sets."""

    def statistics(self) -> Statistics:
        """Returns the sizes."""
