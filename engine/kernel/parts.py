"""Sets parted by the type of their objects, which decides what a call runs on them."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled
from engine.kernel.graph import next_stamp
from engine.kernel.sets import has_room, known_set, mixed
from engine.kernel.state import FULL, PARTS, SPENT, WORDS, Sets, State, Types
from engine.kernel.words import ONE, ZERO, lowest_bit


@compiled
def is_of_one_type(sets: Sets, types: Types, which: int) -> bool:
    """Returns whether all objects of a set have the same type."""
    start, length = sets.set[which].at, sets.set[which].length
    type_ = np.int64(-1)
    for at in range(start, start + length):
        word = sets.word[at]
        base = np.int64(sets.key[at]) << 6
        while word:
            found = np.int64(types.object[base + lowest_bit(word)].type)
            word &= word - ONE
            if type_ >= 0 and found != type_:
                return False
            type_ = found
    return True


@compiled
def group_by_type(state: State, which: int) -> int:
    """Sorts the words of a set by the type of the objects: those of group g lie at group_at[g]; returns how many groups."""
    sets, scratch, types = state.sets, state.scratch, state.types
    stamp = next_stamp(state)
    start = sets.set[which].at
    end = start + sets.set[which].length
    groups = 0
    for at in range(start, end):
        word = sets.word[at]
        base = np.int64(sets.key[at]) << 6
        while word:
            type_ = types.object[base + lowest_bit(word)].type
            word &= word - ONE
            if types.type[type_].group_stamp != stamp:
                types.type[type_].group_stamp = stamp
                types.type[type_].group = groups
                scratch.group_type[groups] = type_
                scratch.group_length[groups] = 0
                groups += 1
            scratch.group_length[types.type[type_].group] += 1
    place = np.int64(0)
    for group in range(groups):
        scratch.group_at[group] = place
        place += scratch.group_length[group]
        scratch.group_length[group] = 0
    for at in range(start, end):
        word = sets.word[at]
        key = sets.key[at]
        base = np.int64(key) << 6
        while word:
            lowest = word & (ZERO - word)
            group = types.type[types.object[base + lowest_bit(word)].type].group
            word ^= lowest
            last = scratch.group_at[group] + scratch.group_length[group] - 1
            if scratch.group_length[group] and scratch.group_key[last] == key:
                scratch.group_word[last] |= lowest
            else:
                scratch.group_key[last + 1] = key
                scratch.group_word[last + 1] = lowest
                scratch.group_length[group] += 1
    return groups


@compiled
def set_of_group(state: State, group: int) -> int:
    """Returns the set of the objects of a group."""
    sets, scratch, count = state.sets, state.scratch, state.counters
    length = np.int64(scratch.group_length[group])
    if not has_room(sets, count, length):
        return 0
    digest = ZERO
    for index in range(length):
        place = scratch.group_at[group] + index
        sets.key[count[WORDS] + index] = scratch.group_key[place]
        sets.word[count[WORDS] + index] = scratch.group_word[place]
        digest += mixed(scratch.group_key[place], scratch.group_word[place])
    return known_set(sets, count, length, digest)


@compiled
def part_by_type(state: State, which: int) -> None:
    """Has the parts of a set, one a type, be known."""
    sets, count = state.sets, state.counters
    if which == 0 or sets.set[which].parts > 0:
        return
    first = count[PARTS]
    count[SPENT] += 8 * np.int64(sets.set[which].length)
    groups = 1 if is_of_one_type(sets, state.types, which) else group_by_type(state, which)
    if first + groups > sets.part.size:
        count[FULL] = 1
        return
    count[PARTS] = first + groups
    if groups == 1:
        lowest = (np.int64(sets.key[sets.set[which].at]) << 6) + lowest_bit(sets.word[sets.set[which].at])
        sets.part[first].type = state.types.object[lowest].type
        sets.part[first].set = which
    else:
        for group in range(groups):
            sets.part[first + group].type = state.scratch.group_type[group]
            sets.part[first + group].set = set_of_group(state, group)
    sets.set[which].part_at = first
    sets.set[which].parts = groups
