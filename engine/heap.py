"""The abstract objects of an analysis, and what is known of each."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from cypher.schema import NONE, Int32

_Payload = TypeVar("_Payload", int, Int32)

# Kinds of object.
(
    ALLOCATED,  # by the instruction at `offset` of `method`
    MERGED,  # all those of one type (string builders, throwables)
    STRING,  # a string constant; `payload` is its text
    GENERIC,  # stands for tracked objects of its type wherever nobody asks which they are
    CLASS_OBJECT,  # `payload` is the type; `-ord` of the descriptor for a primitive type
    METHOD_OBJECT,  # a method or constructor object; `payload` is the method
    FIELD_OBJECT,  # `payload` is the field
    UNKNOWN,  # a metaobject or string of which nothing is known; `payload` is the site that returned it, or -1
    NATIVE,  # what the native `method` returns
    ENTRY,  # what the JVM or an unknown caller passes in; `payload` is the parameter's position
    REFLECTIVE,  # made by reflective calls
    CLASS_OF,  # the class objects that the call of getClass at `offset` of `method` returns; `payload` is its site
    HANDLE,  # a direct method handle; `payload` is 16 times its member and its reference kind (JVMS 4.4.8)
    MADE_HANDLE,  # a method handle made of others by the site `payload`
    METHOD_TYPE,  # a method type that the site `payload` returns
    TYPE_OBJECT,  # a generic type (`java.lang.reflect.Type`); `payload` is the text of its signature
) = range(16)
TRACKED = frozenset(
    {STRING, CLASS_OBJECT, METHOD_OBJECT, FIELD_OBJECT, UNKNOWN, CLASS_OF, HANDLE, MADE_HANDLE, METHOD_TYPE, TYPE_OBJECT}
)  # fmt: skip


def payload_of_handle(member: int, kind: int) -> int:
    """Returns the payload of the direct handle of a member; `kind` is its reference kind."""
    return member << 4 | kind


def member_of_handle(payload: _Payload) -> _Payload:
    """Returns the member of a direct handle."""
    return payload >> 4


def kind_of_handle(payload: _Payload) -> _Payload:
    """Returns the reference kind of a direct handle."""
    return payload & 15


class Objects(NamedTuple):
    """One entry an object, by its id."""

    kind: Int32
    type: Int32
    method: Int32
    offset: Int32
    payload: Int32


KIND, PAYLOAD = 0, 4  # columns of an entry


class Heap:
    """The objects with an entry of their own; the solver makes class objects and generic ones by itself.

    Ids from `tracked_from` are those of tracked objects.
    """

    def __init__(self, tracked_from: int) -> None:
        self.tracked_from = tracked_from
        self._ordinary = np.full((5, 1 << 12), NONE, np.int32)
        self._tracked = np.full((5, 1 << 12), NONE, np.int32)

    def add(
        self, first: int, number: int, kind: int, types: Int32 | int, methods: Int32 | int = NONE,
        offsets: Int32 | int = NONE, payloads: Int32 | int = NONE,
    ) -> None:  # fmt: skip
        """Enters the objects `first` to `first + number`."""
        if first >= self.tracked_from:
            first -= self.tracked_from
            table = self._tracked = _covering(self._tracked, first + number)
        else:
            table = self._ordinary = _covering(self._ordinary, first + number)
        for row, values in enumerate((kind, types, methods, offsets, payloads)):
            table[row, first : first + number] = values

    def entry(self, obj: int) -> tuple[int, int, int, int, int]:
        """Returns (kind, type, method, offset, payload); -1 throughout for an object made by the solver."""
        table = self._ordinary
        if obj >= self.tracked_from:
            table, obj = self._tracked, obj - self.tracked_from
        if obj >= table.shape[1]:
            return (NONE,) * 5
        kind, type_, method, offset, payload = table[:, obj].tolist()
        return kind, type_, method, offset, payload

    def kinds_and_payloads(self, objects: Int32) -> tuple[Int32, Int32]:
        """Returns these columns of the entries of objects, -1 for objects made by the solver."""
        found = np.full((2, objects.size), NONE, np.int32)
        tracked = objects >= self.tracked_from
        for table, first, mine in (
            (self._ordinary, 0, ~tracked),
            (self._tracked, self.tracked_from, tracked),
        ):
            listed = np.flatnonzero(mine & (objects - first < table.shape[1]))
            found[:, listed] = table[:: PAYLOAD - KIND, objects[listed] - first]
        return found[0], found[1]

    def finish(self, types: Int32, tracked_types: Int32, class_objects: Int32, class_types: Int32) -> Objects:
        """Returns all objects, those that the solver made included; see `dense`.

        `types` and `tracked_types` are the types of all ordinary and all tracked objects.
        """
        gap = padded(types.size)
        table = np.full((5, gap + tracked_types.size), NONE, np.int32)
        table[:, : types.size] = _covering(self._ordinary, types.size)[:, : types.size]
        table[:, gap:] = _covering(self._tracked, tracked_types.size)[:, : tracked_types.size]
        made = table[0] == NONE
        table[0, made] = GENERIC
        table[1, : types.size], table[1, gap:] = types, tracked_types
        classes = class_objects - self.tracked_from + gap
        table[0, classes], table[4, classes] = CLASS_OBJECT, class_types
        return Objects(*table)


def padded(number: int) -> int:
    """Returns `number`, rounded up to whole words of 64 objects."""
    return (number + 63) >> 6 << 6


def dense(obj: int, ordinary: int, tracked_from: int) -> int:
    """Returns the id of an object in results: tracked objects follow the `ordinary` ones, from a new word on."""
    return obj - tracked_from + padded(ordinary) if obj >= tracked_from else obj


def _covering(table: Int32, number: int) -> Int32:
    """Returns `table` with at least `number` columns."""
    while table.shape[1] < number:
        table = np.concatenate((table, np.full_like(table, NONE)), axis=1)
    return table
