"""The abstract objects of an analysis, and what is known of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cypher.schema import NONE, Int32

# Kinds of object.
(
    ALLOCATED,  # by the instruction at `offset` of `method`
    MERGED,  # all those of one type (string builders, throwables)
    STRING,  # a string constant; `payload` is its text
    OTHER_STRINGS,  # all string constants that cannot matter to reflection
    CLASS_OBJECT,  # `payload` is the type; `-ord` of the descriptor for a primitive type
    METHOD_OBJECT,  # a method or constructor object; `payload` is the method
    FIELD_OBJECT,  # `payload` is the field
    UNKNOWN,  # a metaobject of which nothing is known; `payload` is the site that returned it, or -1
    NATIVE,  # what the native `method` returns
    ENTRY,  # what the JVM or an unknown caller passes in; `payload` is the parameter's position
    REFLECTIVE,  # made by a reflective call at `offset` of `method`
) = range(11)


class Objects(NamedTuple):
    """One entry an object, by its id."""

    kind: Int32
    type: Int32
    method: Int32
    offset: Int32
    payload: Int32


class Heap:
    """The objects with an entry of their own; the solver makes class objects by itself, which have none."""

    def __init__(self) -> None:
        self._columns = np.full((5, 1 << 12), NONE, np.int32)

    def add(
        self, first: int, number: int, kind: int, types: Int32 | int, methods: Int32 | int = NONE,
        offsets: Int32 | int = NONE, payloads: Int32 | int = NONE,
    ) -> None:  # fmt: skip
        """Enters the objects `first` to `first + number`."""
        while first + number > self._columns.shape[1]:
            self._columns = np.concatenate((self._columns, np.full_like(self._columns, NONE)), axis=1)
        for row, values in enumerate((kind, types, methods, offsets, payloads)):
            self._columns[row, first : first + number] = values

    def kinds(self, objects: Int32) -> Int32:
        """Returns the kind of each object."""
        self._cover(objects)
        kinds: Int32 = self._columns[0, objects]
        return np.where(kinds == NONE, CLASS_OBJECT, kinds).astype(np.int32)

    def entry(self, obj: int) -> tuple[int, int, int, int, int]:
        """Returns (kind, type, method, offset, payload); -1 throughout for an object made by the solver."""
        if obj >= self._columns.shape[1]:
            return (NONE,) * 5
        kind, type_, method, offset, payload = self._columns[:, obj].tolist()
        return kind, type_, method, offset, payload

    def _cover(self, objects: Int32) -> None:
        if objects.size and int(objects.max()) >= self._columns.shape[1]:
            self.add(int(objects.max()), 1, NONE, NONE)

    def finish(self, number: int, class_objects: Int32, class_types: Int32, class_type: int) -> Objects:
        """Returns all `number` objects, those that the solver made included."""
        if number:
            self._cover(np.array([number - 1], np.int32))
        table = self._columns[:, :number].copy()
        made = class_objects[table[0, class_objects] == NONE]
        table[0, made], table[1, made] = CLASS_OBJECT, class_type
        table[4, class_objects] = class_types
        return Objects(*table)
