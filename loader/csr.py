"""Columns whose rows are grouped by an owner, and tables of text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Int32, Int64

# What a lookup array holds for a reference that nobody has asked for.
UNSEEN = -2

# Below this number of texts a loop is faster than a gather.
_FEW = 12

# No byte of UTF-8 has this value, so it can separate texts.
_SEPARATOR = 0xFF


def spans(starts: Int64, counts: Int64) -> Int64:
    """Returns the positions in all the spans `[starts[i], starts[i] + counts[i])`, one span after the other.

    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - ends + counts, counts)


def look_up(known: Int32, refs: Int32, find: Callable[[Int32], Iterable[int] | Int32]) -> Int32:
    """Returns `known[refs]`, after `find` was asked for those that are still UNSEEN, each once, ascending."""
    got = known[refs]
    missing = got == UNSEEN
    if missing.any():
        fresh = np.unique(refs[missing])
        found = find(fresh)
        known[fresh] = found if isinstance(found, np.ndarray) else np.fromiter(found, np.int32, len(fresh))
        got = known[refs]
    return got


def unseen(size: int) -> Int32:
    """Returns a lookup array for references 0 … size - 1; reference -1 finds -1."""
    known = np.full(size + 1, UNSEEN, np.int32)
    known[-1] = -1
    return known


class TextTable:
    """Texts by number, in UTF-8 with surrogates, end to end."""

    __slots__ = ("_at", "_bytes", "_view")

    def __init__(self, at: Int64, data: NDArray[np.uint8]) -> None:
        self._at = at
        self._bytes = data
        self._view = memoryview(data.data)

    def __len__(self) -> int:
        return len(self._at) - 1

    def one(self, number: int) -> str:
        """Returns text `number`."""
        return str(self._view[self._at[number] : self._at[number + 1]], "utf-8", "surrogatepass")

    def having(self, first: str, second: str) -> NDArray[np.bool_]:
        """Returns which texts have these two ASCII characters one after the other, and perhaps a few more."""
        places = np.flatnonzero((self._bytes[:-1] == ord(first)) & (self._bytes[1:] == ord(second)))
        mask = np.zeros(len(self), bool)
        mask[np.searchsorted(self._at, places, side="right") - 1] = True
        return mask

    def many(self, numbers: Int32) -> list[str]:
        """Returns the texts with these numbers."""
        if len(numbers) < _FEW or not len(self._bytes):
            return [self.one(number) for number in numbers.tolist()]
        starts = self._at[numbers]
        lengths = self._at[numbers + 1] - starts + 1
        joined = self._bytes.take(spans(starts, lengths), mode="clip")
        joined[np.cumsum(lengths) - 1] = _SEPARATOR
        pieces = joined.tobytes().split(bytes([_SEPARATOR]))
        pieces.pop()
        return [str(piece, "utf-8", "surrogatepass") for piece in pieces]
