"""Sets of objects, each kept once: a set is a number, and equal sets have the same.

Most pointers of a program have the set of many others, and get to it by the same steps. So what two sets have together
is computed once and remembered, and what a pointer costs is its number. A set never changes; those that no pointer
has any more are dropped from time to time.

A set lies in the pool as words of 64 objects, by ascending key. The objects that are tracked are the tail.
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, compiled_allocating
from engine.kernel.state import (
    DISPATCH_SLOTS,
    FULL,
    GROUP_SLOTS,
    LIVE_WORDS,
    MEMO_MISSES,
    MEMO_SLOTS,
    NODES,
    RUNS,
    SET_SLOTS,
    SETS,
    SPENT,
    WORDS,
    Calls,
    Counters,
    Graph,
    Keys,
    Masks,
    Sets,
    Word,
    Words,
)
from engine.kernel.words import ONE, ZERO, bits, next_place, place_of, slot

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# The row of `mask` that holds all tracked objects; the conditions that let these pass, and what is not tracked.
TRACKED_MASK = 0
TRACKED = TRACKED_MASK + 1
UNTRACKED = -TRACKED_MASK - 1
# Where conditions begin among the second sets of what is remembered.
CONDITIONS = 1 << 20
# Sets are dropped when there are so many words, and more than three times as many as when this was done last.
MANY_WORDS = 1 << 22
# What calls run is forgotten when there are more rows of it.
MANY_RUNS = 1 << 23


@compiled
def mixed(key: int, word: Word) -> Word:
    """Returns what a word adds to the digest of its set."""
    value = (np.uint64(key) + ONE) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ word ^ (value >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return value ^ (value >> np.uint64(29))


@compiled
def has_room(sets: Sets, count: Counters, words: int) -> bool:
    """Returns whether another set of so many words fits in the pools."""
    if count[FULL] or count[WORDS] + words > sets.word.size or count[SETS] + 3 > sets.set.size:
        count[FULL] = 1
        return False
    return True


@compiled
def is_equal(key: Keys, word: Words, first: int, second: int, length: int) -> bool:
    """Returns whether two runs of words are the same."""
    for index in range(length):
        if word[first + index] != word[second + index] or key[first + index] != key[second + index]:
            return False
    return True


@compiled
def link_set(sets: Sets, count: Counters, which: int) -> None:
    """Enters a set in the table of sets."""
    row = sets.set[which]
    place = np.int64(row.digest & np.uint64(count[SET_SLOTS] - 1))
    row.next = sets.slot[place]
    sets.slot[place] = which


@compiled
def link_sets(sets: Sets, count: Counters) -> None:
    """Enters all sets anew."""
    for place in range(count[SET_SLOTS]):
        sets.slot[place] = 0
    for which in range(1, count[SETS] + 1):
        link_set(sets, count, which)


@compiled
def known_set(sets: Sets, count: Counters, length: int, digest: Word) -> int:
    """Returns the set of the `length` words behind the last in the pool, which become a part of it if they are new."""
    if length == 0:
        return 0
    at = count[WORDS]
    which = np.int64(sets.slot[np.int64(digest & np.uint64(count[SET_SLOTS] - 1))])
    while which > 0:
        row = sets.set[which]
        if (
            row.digest == digest
            and row.length == length
            and is_equal(sets.key, sets.word, row.at, at, length)
        ):
            return int(which)
        which = np.int64(row.next)
    which = count[SETS] + 1
    count[SETS] = which
    count[WORDS] = at + length
    row = sets.set[which]
    row.at = at
    row.length = length
    row.digest = digest
    row.untracked = 0
    link_set(sets, count, which)
    if count[SETS] > count[SET_SLOTS] and 2 * count[SET_SLOTS] <= sets.slot.size:
        count[SET_SLOTS] *= 2
        link_sets(sets, count)
    return int(which)


@compiled
def set_of_one(sets: Sets, count: Counters, obj: int) -> int:
    """Returns the set of one object."""
    if not has_room(sets, count, 1):
        return 0
    at = count[WORDS]
    sets.key[at] = obj >> 6
    sets.word[at] = ONE << np.uint64(obj & 63)
    return known_set(sets, count, 1, mixed(obj >> 6, sets.word[at]))


@compiled
def contains(sets: Sets, which: int, obj: int) -> bool:
    """Returns whether an object is in a set."""
    start = sets.set[which].at
    end = start + sets.set[which].length
    at = place_of(sets.key, start, end, obj >> 6)
    return at < end and sets.key[at] == obj >> 6 and sets.word[at] >> np.uint64(obj & 63) & ONE != ZERO


@compiled
def lacking(sets: Sets, count: Counters, first: int, second: int) -> int:
    """Returns the set of what `second` has and `first` lacks."""
    key, word = sets.key, sets.word
    at, source = sets.set[first].at, sets.set[second].at
    end, last = at + sets.set[first].length, source + sets.set[second].length
    to = count[WORDS]
    digest = ZERO
    while source < last:
        wanted = key[source]
        at = next_place(key, at, end, wanted)
        rest = word[source]
        if at < end and key[at] == wanted:
            rest &= ~word[at]
        if rest:
            key[to] = wanted
            word[to] = rest
            digest += mixed(wanted, rest)
            to += 1
        source += 1
    return known_set(sets, count, to - count[WORDS], digest)


@compiled
def copy_words(key: Keys, word: Words, start: int, to: int, length: int) -> None:
    for index in range(length):
        key[to + index] = key[start + index]
    for index in range(length):
        word[to + index] = word[start + index]


@compiled
def united(sets: Sets, count: Counters, first: int, second: int) -> int:
    """Returns the set of what two sets that share no object have together."""
    key, word = sets.key, sets.word
    at, source = sets.set[first].at, sets.set[second].at
    end, last = at + sets.set[first].length, source + sets.set[second].length
    to = count[WORDS]
    digest = sets.set[first].digest
    while source < last:
        wanted = key[source]
        start = at
        at = next_place(key, at, end, wanted)
        copy_words(key, word, start, to, at - start)
        to += at - start
        key[to] = wanted
        word[to] = word[source]
        if at < end and key[at] == wanted:
            word[to] |= word[at]
            digest -= mixed(wanted, word[at])
            at += 1
        digest += mixed(wanted, word[to])
        to += 1
        source += 1
    copy_words(key, word, at, to, end - at)
    return known_set(sets, count, to + end - at - count[WORDS], digest)


@compiled
def memo_of(sets: Sets, count: Counters, first: int, second: int) -> int:
    """Returns the place where what is known of a pair is remembered."""
    return slot(first, second, count[MEMO_SLOTS])


@compiled
def remember(sets: Sets, count: Counters, first: int, second: int, together: int, missing: int) -> None:
    """Remembers what is known of a pair, in place of what was remembered there."""
    count[MEMO_MISSES] += 1
    if count[MEMO_MISSES] > count[MEMO_SLOTS] and 2 * count[MEMO_SLOTS] <= sets.memo.size:
        count[MEMO_SLOTS] *= 2
        count[MEMO_MISSES] = 0
    row = sets.memo[memo_of(sets, count, first, second)]
    row.first = first
    row.second = second
    row.together = together
    row.lacking = missing


@compiled
def join(sets: Sets, count: Counters, first: int, second: int) -> tuple[int, int]:
    """Returns the set of what two sets have together, and that of what the second has and the first lacks."""
    if second in (0, first):
        return first, 0
    if first == 0:
        return second, second
    row = sets.memo[memo_of(sets, count, first, second)]
    if row.first == first and row.second == second:
        return int(row.together), int(row.lacking)
    size = np.int64(sets.set[first].length) + np.int64(sets.set[second].length)
    if not has_room(sets, count, size + sets.set[second].length):
        return first, 0
    count[SPENT] += 8 + (size >> 1)
    missing = lacking(sets, count, first, second)
    together = first
    if missing:
        together = united(sets, count, first, missing)
    remember(sets, count, first, second, together, missing)
    return together, missing


@compiled
def allowed(mask: Masks, condition: int, key: int) -> Word:
    """Returns the objects of word `key` that pass an edge: all (0), those of mask c - 1, or those of no mask -c - 1."""
    if condition == 0:
        return ALL
    if condition > 0:
        return mask[condition - 1, key]
    return ~mask[-condition - 1, key]


@compiled
def passing(sets: Sets, count: Counters, mask: Masks, which: int, condition: int) -> int:
    """Returns the set of those objects that pass a condition (which ones do never changes)."""
    if which == 0 or condition == 0:
        return which
    row = sets.memo[memo_of(sets, count, which, condition - CONDITIONS)]
    if row.first == which and row.second == condition - CONDITIONS:
        return int(row.together)
    start, length = sets.set[which].at, np.int64(sets.set[which].length)
    if not has_room(sets, count, length):
        return 0
    count[SPENT] += 8 + length
    to = count[WORDS]
    digest = ZERO
    for at in range(start, start + length):
        word = sets.word[at] & allowed(mask, condition, sets.key[at])
        if word:
            sets.key[to] = sets.key[at]
            sets.word[to] = word
            digest += mixed(sets.key[at], word)
            to += 1
    found = known_set(sets, count, to - count[WORDS], digest)
    remember(sets, count, which, condition - CONDITIONS, found, 0)
    return found


@compiled
def has_tracked(sets: Sets, mask: Masks, which: int) -> bool:
    """Returns whether there is a tracked object in a set."""
    row = sets.set[which]
    return bool(which > 0 and sets.key[row.at + row.length - 1] >= mask.shape[1] >> 1)


@compiled
def tracked(sets: Sets, count: Counters, mask: Masks, which: int) -> int:
    """Returns the set of those objects that are tracked."""
    return passing(sets, count, mask, which, TRACKED) if has_tracked(sets, mask, which) else 0


@compiled
def untracked(sets: Sets, count: Counters, mask: Masks, which: int) -> int:
    """Returns the set of those objects that are not tracked."""
    row = sets.set[which]
    if row.untracked == 0:
        found = which
        if has_tracked(sets, mask, which):
            found = passing(sets, count, mask, which, UNTRACKED)
        row.untracked = found + 1
    return int(row.untracked) - 1


@compiled
def size_of(sets: Sets, which: int) -> int:
    """Returns how many objects a set has."""
    total = 0
    for at in range(sets.set[which].at, sets.set[which].at + sets.set[which].length):
        total += bits(sets.word[at])
    return total


@compiled
def forget_dispatches(calls: Calls, count: Counters) -> None:
    """Forgets what calls run on which sets."""
    count[RUNS] = 0
    for place in range(count[DISPATCH_SLOTS]):
        calls.dispatch[place].set = 0


@compiled_allocating
def drop_sets(sets: Sets, graph: Graph, calls: Calls, count: Counters) -> None:
    """Drops the sets that no node has, and all that is remembered; the others are numbered anew."""
    number = np.zeros(count[SETS] + 1, np.int32)
    for which in range(count[NODES]):
        number[graph.node[which].known] = 1
        number[graph.node[which].passed] = 1
        number[graph.node[which].fresh] = 1
    number[0] = 0
    kept, to = 0, np.int64(0)
    for which in range(1, count[SETS] + 1):
        if number[which] == 0:
            continue
        kept += 1
        number[which] = kept
        row = sets.set[which]
        at, length = row.at, np.int64(row.length)
        for index in range(length):
            sets.key[to + index] = sets.key[at + index]
            sets.word[to + index] = sets.word[at + index]
        sets.set[kept].at = to
        sets.set[kept].length = length
        sets.set[kept].digest = row.digest
        sets.set[kept].untracked = 0
        to += length
    for which in range(count[NODES]):
        graph.node[which].known = number[graph.node[which].known]
        graph.node[which].passed = number[graph.node[which].passed]
        graph.node[which].fresh = number[graph.node[which].fresh]
    count[SETS] = kept
    count[WORDS] = to
    count[LIVE_WORDS] = to
    link_sets(sets, count)
    for place in range(count[MEMO_SLOTS]):
        sets.memo[place].first = 0
    forget_dispatches(calls, count)
    for place in range(count[GROUP_SLOTS]):
        graph.group[place].set = 0


@compiled
def has_many_words(count: Counters) -> bool:
    """Returns whether so many words may lie in sets that no node has that these should be dropped."""
    return bool(count[WORDS] > MANY_WORDS + 3 * count[LIVE_WORDS])
