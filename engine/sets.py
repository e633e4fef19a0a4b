"""Questions to columns and points-to sets of a run, which may lie in memory-mapped files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Int32, Int64
from engine.solver import PointsToRows

Bools: TypeAlias = NDArray[np.bool_]


# The answers on objects that are kept.
_KEPT = 16


class Index:
    """Positions in a column by value. Looking one up takes a few microseconds."""

    def __init__(self, column: Int32) -> None:
        self._order = np.argsort(column, kind="stable")
        self._sorted = np.asarray(column)[self._order]

    def of(self, value: int) -> list[int]:
        """Returns the positions of `value`, ascending."""
        found: list[int] = self.positions(value).tolist()
        return found

    def positions(self, value: int) -> NDArray[np.intp]:
        """Returns the positions of `value`, ascending."""
        # The dtype has to be that of the column, or numpy converts the whole column.
        start, end = self._sorted.searchsorted(np.array([value, value + 1], self._sorted.dtype)).tolist()
        return self._order[start:end]


def places_by_value(column: Int32) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yields each value of a column with its positions, both ascending."""
    order = np.argsort(column, kind="stable")
    values, starts = np.unique(column[order], return_index=True)
    yield from zip(values.tolist(), np.split(order, starts[1:]), strict=False)  # (no value: one empty part)


def ranges(starts: Int64, lengths: Int64) -> Int64:
    """Returns the numbers of ranges, one range after the other."""
    found: Int64 = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    return found


class Sets:
    """Questions to points-to sets, which may lie in memory-mapped files."""

    def __init__(self, rows: PointsToRows) -> None:
        self._rows = rows
        self._holding: dict[int, Bools] = {}

    def contain(self, pointers: Int32, objects: Int32) -> Bools:
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
        place = int(keys.searchsorted(np.int32(obj >> 6)))
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

    def words_of(self, pointer: int) -> tuple[Int32, Int64]:
        """Returns the keys and words of a pointer's set."""
        of = int(self._rows.representative[pointer])
        span = slice(int(self._rows.at[of]), int(self._rows.at[of + 1]))
        return self._rows.key[span], self._rows.word[span]

    def words_of_each(self, pointers: Int32) -> tuple[Int32, Int64, Int64]:
        """Returns the keys and words of the sets of pointers, one after the other, and the place of the pointer of each."""
        of = self._rows.representative[pointers]
        low, high = self._rows.at[of].astype(np.int64), self._rows.at[of + 1].astype(np.int64)
        sizes = high - low
        places = ranges(low, sizes)
        return self._rows.key[places], self._rows.word[places], np.repeat(np.arange(len(pointers)), sizes)

    def meeting(self, pointers: Int32, objects: Int32) -> Bools:
        """Returns which of `pointers` may refer to one of `objects`."""
        if objects.size == 0:
            return np.zeros(pointers.size, np.bool_)
        masks = self.dense(objects, int(objects.max()) + 1)
        keys, words, of = self.words_of_each(pointers)
        inside = np.flatnonzero(keys < masks.size)
        common = inside[(words[inside] & masks[keys[inside]]) != 0]
        found = np.zeros(pointers.size, np.bool_)
        found[of[common]] = True
        return found

    def holders(self, obj: int) -> Bools:
        """Returns which pointers may refer to `obj`, by pointer."""
        found: Bools = self._sets_holding(obj)[self._rows.representative]
        return found

    def hold(self, pointers: Int32, obj: int) -> Bools:
        """Returns which of `pointers` may refer to `obj`: for many of them quicker than `contain`."""
        found: Bools = self._sets_holding(obj)[self._rows.representative[pointers]]
        return found

    def _sets_holding(self, obj: int) -> Bools:
        """Returns which pointers that represent others may refer to `obj`, by pointer."""
        known = self._holding.get(obj)
        if known is None:
            rows = self._rows
            places = np.flatnonzero(rows.key == obj >> 6)
            places = places[(rows.word[places] >> (obj & 63)) & 1 != 0]
            known = np.zeros(rows.at.size - 1, np.bool_)
            known[np.searchsorted(rows.at, places.astype(rows.at.dtype), "right") - 1] = True
            if len(self._holding) == _KEPT:
                self._holding.clear()
            self._holding[obj] = known
        return known

    def holding(self, wanted: Bools) -> Bools:
        """Returns which pointers may refer to one of the objects that are `wanted`, by pointer."""
        rows = self._rows
        masks = self.dense(np.flatnonzero(wanted).astype(np.int32), len(wanted))
        before = np.concatenate(([0], np.cumsum((rows.word & masks[rows.key]) != 0)))
        found: Bools = (before[rows.at[1:]] > before[rows.at[:-1]])[rows.representative]
        return found

    def dense(self, objects: Int32, number: int) -> Int64:
        """Returns a set of objects as words, the word of key `k` at `k`; `number` is that of all objects."""
        bits = np.zeros((number + 63) >> 6 << 6, np.uint8)
        bits[objects] = 1
        words: Int64 = np.packbits(bits, bitorder="little").view(np.int64)
        return words
