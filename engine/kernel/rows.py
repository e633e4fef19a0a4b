"""Points-to rows: sorted words of 64 objects, with what is known and what was already passed on.

A row is `row_length` words, by ascending key, in a slot of a power-of-two capacity. What a node has still to
pass on is `known & ~done`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

from engine.kernel.compiled import compiled
from engine.kernel.state import (
    DIRTY,
    FULL,
    NODES,
    WORDS,
    Counters,
    Graph,
    Keys,
    Masks,
    Nodes,
    Rows,
    Word,
    Words,
)

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# More than any key.
NO_KEY = np.int64(2**31 - 1)


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """Returns the index of the lowest set bit of a non-zero word."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


@intrinsic
def bits(typingctx: Any, word: Any) -> Any:
    """Returns the number of set bits."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), build


@compiled
def find(node: Nodes, which: int) -> int:
    """Returns the node that stands for `which`."""
    while node[which].parent != which:
        node[which].parent = node[node[which].parent].parent
        which = node[which].parent
    return which


@compiled
def mark_dirty(node: Nodes, dirty: Words, count: Counters, which: int) -> None:
    rank = node[which].rank
    bit = ONE << np.uint64(rank & 63)
    if dirty[rank >> 6] & bit == ZERO:
        dirty[rank >> 6] |= bit
        count[DIRTY] += 1


@compiled
def class_of(length: int) -> int:
    """Returns the smallest class of slots that have room for so many cells."""
    size_class = 0
    while (1 << size_class) < length:
        size_class += 1
    return size_class


@compiled
def take_slot(free: Counters, nexts: Words, count: Counters, pool: int, size_class: int) -> int:
    """Returns a slot of `2 ** size_class` cells: a returned one, chained through `nexts`, or a new one."""
    at = free[size_class] - 1
    if at >= 0:
        free[size_class] = nexts[at]
        return at
    at = count[pool]
    if at + (1 << size_class) > nexts.size:
        count[FULL] = 1
        return -1
    count[pool] = at + (1 << size_class)
    return at


@compiled
def allowed(mask: Masks, condition: int, key: int) -> Word:
    """Returns the objects of word `key` that pass an edge: all (0), those of mask c - 1, or those of no mask -c - 1."""
    if condition == 0:
        return ALL
    if condition > 0:
        return mask[condition - 1, key]
    return ~mask[-condition - 1, key]


@compiled
def or_present(
    key: Keys, known: Words, at: int, end: int, keys: Keys, words: Words, start: int, stop: int,
    mask: Masks, condition: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Adds words to those that the row [at, end) has: (the first key that is new or changed, the last, how many words it lacks)."""
    low = NO_KEY
    high = np.int64(-1)
    missing = 0
    for source in range(start, stop):
        word = words[source]
        wanted = keys[source]
        if condition != 0:
            word &= allowed(mask, condition, wanted)
            if word == ZERO:
                continue
        if at < end and key[at] < wanted:
            at += 1
            if at < end and key[at] < wanted:
                step = 1
                while at + step < end and key[at + step] <= wanted:
                    at += step
                    step <<= 1
                while step:
                    if at + step < end and key[at + step] <= wanted:
                        at += step
                    step >>= 1
        if at < end and key[at] < wanted:
            at += 1
        if at < end and key[at] == wanted:
            if word & ~known[at] == ZERO:
                continue
            known[at] |= word
        else:
            missing += 1
        if high < 0:
            low = np.int64(wanted)
        high = np.int64(wanted)
    return int(low), int(high), missing


@compiled
def insert_missing(
    key: Keys, known: Words, done: Words, at: int, length: int, to: int, total: int,
    keys: Keys, words: Words, start: int, stop: int, mask: Masks, condition: int,
) -> None:  # fmt: skip
    """Merges words into the row at `at`, from the back, so that the result may overlap it; it lies at `to`."""
    place = to + total - 1
    old = at + length - 1
    for source in range(stop - 1, start - 1, -1):
        word = words[source]
        wanted = keys[source]
        if condition != 0:
            word &= allowed(mask, condition, wanted)
        if word == ZERO:
            continue
        while old >= at and key[old] > wanted:
            key[place] = key[old]
            known[place] = known[old]
            done[place] = done[old]
            place -= 1
            old -= 1
        if old >= at and key[old] == wanted:
            key[place] = wanted
            known[place] = known[old] | word
            done[place] = done[old]
            old -= 1
        else:
            key[place] = wanted
            known[place] = word
            done[place] = ZERO
        place -= 1
    if place != old:
        while old >= at:
            key[place] = key[old]
            known[place] = known[old]
            done[place] = done[old]
            place -= 1
            old -= 1


@compiled
def free_row(rows: Rows, node: Nodes, which: int) -> None:
    """Gives the slot of a row back."""
    if node[which].row_class > 0:
        size_class = node[which].row_class - 1
        at = node[which].row_at
        # The chain lives in `known`: it holds what the free list had, which is an index plus one.
        rows.known[at] = np.uint64(rows.free[size_class])
        rows.free[size_class] = at + 1
    node[which].row_length = 0
    node[which].row_class = 0


@compiled
def first_tracked(mask: Masks) -> int:
    """Returns the first key of tracked objects."""
    return mask.shape[1] >> 1


@compiled
def end_untracked(mask: Masks, key: Keys, start: int, end: int) -> int:
    """Returns where the tracked objects in the row key[start:end] begin, which are its tail."""
    tracked = first_tracked(mask)
    while end > start and key[end - 1] >= tracked:
        end -= 1
    return end


@compiled
def add_words(
    rows: Rows, graph: Graph, count: Counters, mask: Masks, which: int,
    keys: Keys, words: Words, start: int, length: int, condition: int,
) -> None:  # fmt: skip
    """PointsTo(which, o) for the objects o of words[start:start + length] that pass `condition`."""
    node = graph.node
    if not node[which].wanted:
        length = end_untracked(mask, keys, start, start + length) - start
        if length == 0:
            return
    at = node[which].row_at
    had = node[which].row_length
    low, high, missing = or_present(
        rows.key, rows.known, at, at + had, keys, words, start, start + length, mask, condition
    )
    if high < 0:
        return
    node[which].low = min(node[which].low, low)
    node[which].high = max(node[which].high, high)
    if missing == 0:
        mark_dirty(node, graph.dirty, count, which)
        return
    total = had + missing
    to = at
    size_class = node[which].row_class
    grown = 0
    if size_class == 0 or total > (1 << (size_class - 1)):
        grown = class_of(total)
        to = take_slot(rows.free, rows.known, count, WORDS, grown)
        if to < 0:
            return
    insert_missing(
        rows.key, rows.known, rows.done, at, had, to, total,
        keys, words, start, start + length, mask, condition,
    )  # fmt: skip
    if to != at or size_class == 0:
        free_row(rows, node, which)
        node[which].row_at = to
        node[which].row_class = grown + 1
    node[which].row_length = total
    mark_dirty(node, graph.dirty, count, which)


@compiled
def new_nodes(graph: Graph, count: Counters, number: int) -> int:
    """Returns the first of `number` fresh nodes."""
    first = count[NODES]
    if count[FULL] or first + number > graph.node.size:
        count[FULL] = 1
        return -1
    for which in range(first, first + number):
        graph.node[which].parent = which
        graph.node[which].rank = which
        graph.node[which].low = NO_KEY
        graph.node[which].high = -1
        graph.at[which] = which
    count[NODES] = first + number
    return first
