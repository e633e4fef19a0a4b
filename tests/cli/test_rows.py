"""Points-to sets that are kept once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cli import rows
from cli.rows import shared
from cli.summary import points_to_pairs
from engine.solver import PointsToRows

SETS = st.lists(
    st.sets(st.sampled_from([0, 1, 63, 64, 65, 127, 128, 700]), max_size=5), min_size=1, max_size=12
)


def packed(sets: list[set[int]], representatives: list[int]) -> PointsToRows:
    """Returns sets of objects as bit words."""
    at, keys, words = [0], [], []
    for each in sets:
        for key in sorted({obj >> 6 for obj in each}):
            keys.append(key)
            words.append(sum(1 << (obj & 63) for obj in each if obj >> 6 == key))
        at.append(len(keys))
    none = np.full(len(representatives), -1, np.int32)
    word = np.array(words, np.uint64).view(np.int64)
    return PointsToRows(
        np.array(representatives, np.int32),
        np.array(at, np.int64),
        np.array(keys, np.int32),
        word,
        none,
        none,
    )


def unpacked(points_to: PointsToRows) -> list[set[int]]:
    """Returns the set of each pointer."""
    found = []
    for of in points_to.representative.tolist():
        span = range(int(points_to.at[of]), int(points_to.at[of + 1]))
        words = points_to.word.view(np.uint64)
        found.append(
            {64 * int(points_to.key[i]) + bit for i in span for bit in range(64) if int(words[i]) >> bit & 1}
        )
    return found


@given(SETS, st.data(), st.sampled_from([1, 3, 1 << 21]))
def test_every_pointer_keeps_its_set(sets: list[set[int]], data: st.DataObject, chunk: int) -> None:
    places = st.lists(st.integers(0, len(sets) - 1), min_size=len(sets), max_size=len(sets))
    whole = packed(sets, data.draw(places))
    before, rows._CHUNK = rows._CHUNK, chunk
    try:
        found = shared(whole)
    finally:
        rows._CHUNK = before
    assert unpacked(found) == unpacked(whole) == [sets[each] for each in whole.representative.tolist()]
    assert points_to_pairs(found) == points_to_pairs(whole) == sum(map(len, unpacked(whole)))


def test_equal_sets_are_kept_once() -> None:
    found = shared(packed([{1, 70}, set(), {70, 1}, {2}], [0, 1, 2, 3]))
    assert len(found.word) == 3
    assert found.representative[0] == found.representative[2] != found.representative[3]
