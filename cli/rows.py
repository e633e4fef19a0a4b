"""Points-to rows for keeping: sets that are equal are kept once."""

from __future__ import annotations

import numpy as np

from cypher.schema import Int32, Int64
from engine.solver import PointsToRows

# Words that are looked at in one go.
_CHUNK = 1 << 21
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)


def shared(points_to: PointsToRows) -> PointsToRows:
    """Returns the same sets, each once: pointers whose sets are equal have one representative.

    Sets are told apart by a 64-bit hash, whose input no archive chooses: for a million sets the odds that two
    different ones are taken for equal are below one in ten million.
    """
    sizes = np.diff(points_to.at)
    hashes = _hashes(points_to, sizes)
    _, first, kind = np.unique(hashes, return_index=True, return_inverse=True)
    kept = sizes[first]
    at = np.zeros(len(first) + 1, np.int64)
    np.cumsum(kept, out=at[1:])
    words = np.arange(at[-1], dtype=np.int64) + np.repeat(points_to.at[first] - at[:-1], kept)
    return points_to._replace(
        representative=kind[points_to.representative].astype(np.int32),
        at=at,
        key=points_to.key[words],
        word=points_to.word[words],
    )


def _hashes(points_to: PointsToRows, sizes: Int64) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Returns a hash of each row: the sum of its mixed words, which doesn't depend on where they lie."""
    hashes = np.zeros(len(sizes), np.uint64)
    rows = np.flatnonzero(sizes)
    ends = points_to.at[rows + 1]
    start = 0
    while start < len(rows):
        low = int(points_to.at[rows[start]])
        stop = max(int(np.searchsorted(ends, low + _CHUNK, "right")), start + 1)
        high = int(ends[stop - 1])
        mixed = _mixed(points_to.key[low:high], points_to.word[low:high])
        hashes[rows[start:stop]] = np.add.reduceat(mixed, points_to.at[rows[start:stop]] - low)
        start = stop
    return hashes


def _mixed(keys: Int32, words: Int64) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Returns a hash of each word and its key."""
    found = keys.astype(np.uint64)
    found += np.uint64(1)
    found *= np.uint64(_MIX[0])
    found ^= words.view(np.uint64)
    for shift in (np.uint64(29), np.uint64(32)):
        found ^= found >> shift
        found *= np.uint64(_MIX[1])
    found ^= found >> np.uint64(31)
    return found
