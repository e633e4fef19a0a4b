"""Sets parted by what a call runs on their objects."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled
from engine.kernel.graph import next_stamp, select
from engine.kernel.sets import has_room, known_set, mixed
from engine.kernel.state import SPENT, WORDS, State
from engine.kernel.words import ONE, ZERO, lowest_bit


@compiled
def part_of_type(state: State, which: int, signature: int, stamp: int, parts: int) -> int:
    """Returns the part of the objects of a type, `parts` if that is a new one; -1 if a call runs nothing on them."""
    callee = select(state.types, state.calls, state.counters, which, signature)
    if callee < 0:
        return -1
    method, scratch = state.calls.method, state.scratch
    if method[callee].mark != stamp:
        method[callee].mark = stamp
        method[callee].place = parts
        scratch.part_callee[parts] = callee
        scratch.part_length[parts] = 0
        scratch.part_generic[parts] = 0
    return int(method[callee].place)


@compiled
def find_parts(state: State, objects: int, signature: int) -> tuple[int, bool]:
    """Finds what a call of a signature runs on which types, and on how many objects of a set.

    Returns how many methods, and whether some method is run on each object.
    """
    sets, scratch, types = state.sets, state.scratch, state.types
    stamp = next_stamp(state)
    parts, whole = 0, True
    start = sets.set[objects].at
    for at in range(start, start + sets.set[objects].length):
        word = sets.word[at]
        base = np.int64(sets.key[at]) << 6
        while word:
            obj = base + lowest_bit(word)
            word &= word - ONE
            which = np.int64(types.object[obj].type)
            if types.type[which].part_stamp != stamp:
                types.type[which].part_stamp = stamp
                types.type[which].part = part_of_type(state, which, signature, stamp, parts)
                if types.type[which].part == parts:
                    parts += 1
            part = types.type[which].part
            if part < 0:
                whole = False
                continue
            scratch.part_length[part] += 1
            if obj == types.type[which].generic - 1:
                scratch.part_generic[part] = 1
    return parts, whole


@compiled
def sort_words(state: State, objects: int, parts: int) -> None:
    """Sorts the words of a set by the part of the objects: those of part p lie at part_at[p]."""
    sets, scratch, types = state.sets, state.scratch, state.types
    place = np.int64(0)
    for part in range(parts):
        scratch.part_at[part] = place
        place += scratch.part_length[part]
        scratch.part_length[part] = 0
    start = sets.set[objects].at
    for at in range(start, start + sets.set[objects].length):
        word = sets.word[at]
        key = sets.key[at]
        base = np.int64(key) << 6
        while word:
            lowest = word & (ZERO - word)
            part = types.type[types.object[base + lowest_bit(word)].type].part
            word ^= lowest
            if part < 0:
                continue
            last = scratch.part_at[part] + scratch.part_length[part] - 1
            if scratch.part_length[part] and scratch.part_key[last] == key:
                scratch.part_word[last] |= lowest
            else:
                scratch.part_key[last + 1] = key
                scratch.part_word[last + 1] = lowest
                scratch.part_length[part] += 1


@compiled
def set_of_part(state: State, part: int) -> int:
    """Returns the set of the objects of a part."""
    sets, scratch, count = state.sets, state.scratch, state.counters
    length = np.int64(scratch.part_length[part])
    if not has_room(sets, count, length):
        return 0
    digest = ZERO
    for index in range(length):
        place = scratch.part_at[part] + index
        sets.key[count[WORDS] + index] = scratch.part_key[place]
        sets.word[count[WORDS] + index] = scratch.part_word[place]
        digest += mixed(scratch.part_key[place], scratch.part_word[place])
    return known_set(sets, count, length, digest)


@compiled
def part_by_callee(state: State, objects: int, signature: int) -> int:
    """Parts a set by what a call of a signature runs on its objects, those left out on which it runs nothing.

    Returns how many parts there are: `part_set`, `part_callee`, and `part_generic`, whether it has an object that stands
    for tracked ones.
    """
    if objects == 0:
        return 0
    scratch, count = state.scratch, state.counters
    parts, whole = find_parts(state, objects, signature)
    count[SPENT] += 16 * np.int64(state.sets.set[objects].length) + 32 * parts
    if parts == 1 and whole:
        scratch.part_set[0] = objects
        return parts
    sort_words(state, objects, parts)
    for part in range(parts):
        scratch.part_set[part] = set_of_part(state, part)
    return parts
