"""Compiled search of direct flow (see `engine.direct`): where the value of an operand comes from, call by call."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, entry
from engine.kernel.index import COPY, FIELD, OTHER, OUTSIDE, RESULT, Index, Seen
from engine.kernel.state import Counters, Keys
from engine.kernel.words import slot

# A parameter to which more calls pass something, and a call of more methods, are not followed any further.
MOST_CALLS, MOST_CALLEES = 300, 50


@compiled
def add(seen: Seen, first: int, second: int, third: int, fourth: int) -> None:
    """Adds a row, if it is new and there is room."""
    slots = seen.slot.size
    at = np.int64(slot(first * 31 + fourth, third * 31 + second, slots))
    while seen.slot[at] > 0:
        row = seen.slot[at] - 1
        if (
            seen.first[row] == first
            and seen.second[row] == second
            and seen.third[row] == third
            and seen.fourth[row] == fourth
        ):
            return
        at = (at + 1) & (slots - 1)
    row = seen.fill[0]
    seen.fill[0] = row + 1
    if row < seen.first.size:
        seen.first[row] = first
        seen.second[row] = second
        seen.third[row] = third
        seen.fourth[row] = fourth
        seen.place[row] = at
        seen.slot[at] = row + 1


@compiled
def clear(seen: Seen) -> None:
    """Removes all rows, which are far fewer than there are slots."""
    for row in range(min(seen.fill[0], seen.first.size)):
        seen.slot[seen.place[row]] = 0
    seen.fill[0] = 0


@compiled
def note(found: Seen, kind: int, value: int) -> None:
    """Adds a finding."""
    add(found, kind, value, -1, -1)


@compiled
def take_definitions(index: Index, states: Seen, found: Seen, row: int) -> int:
    """Goes from a state to what defines its variable; returns in how many ways."""
    variable = states.first[row]
    first, second, third = states.second[row], states.third[row], states.fourth[row]
    steps = 0
    for at in range(index.definition_at[variable], index.definition_at[variable + 1]):
        kind, value = index.kind[at], index.definition[at]
        if kind == COPY:
            add(states, value, first, second, third)
            steps += 1
        elif kind == FIELD:
            for store in range(index.store_at[value], index.store_at[value + 1]):
                add(states, index.stored[store], -1, -1, -1)
                steps += 1
        elif kind == RESULT and not index.cut[value]:
            start, end = index.callee_at[value], index.callee_at[value + 1]
            if end - start > MOST_CALLEES:
                note(found, OTHER, -1)
                steps += 1
                continue
            for call in range(start, end):
                add(states, index.returned[index.callee[call]], second, third, value)
                steps += 1
        else:
            note(found, kind, value)
            steps += 1
    return steps


@compiled
def take_arguments(index: Index, states: Seen, row: int, site: int, position: int) -> int:
    """Goes from a parameter to what a call passes for it, back out of the last call; returns in how many ways."""
    steps = 0
    for at in range(index.argument_at[site], index.argument_at[site + 1]):
        if index.position[at] == position:
            add(states, index.argument[at], -1, states.second[row], states.third[row])
            steps += 1
    return steps


@entry
def order_by(column: Keys, starts: Counters) -> Keys:
    """Returns the rows of a column ordered by its numbers; those of number `n` lie at starts[n] to starts[n + 1] then."""
    for row in range(column.size):
        starts[column[row] + 1] += 1
    for number in range(1, starts.size):
        starts[number] += starts[number - 1]
    order = np.empty(column.size, np.int32)
    for row in range(column.size):
        order[starts[column[row]]] = row
        starts[column[row]] += 1
    for number in range(starts.size - 1, 0, -1):
        starts[number] = starts[number - 1]
    if starts.size:
        starts[0] = 0
    return order


@entry
def own(first: Keys, variables: Keys, out: Keys, owner: Keys, outside: Keys) -> None:
    """Notes of each variable the row of its method, and whether that is `out` and so ends searches."""
    for row in range(first.size):
        for variable in range(first[row], first[row] + variables[row]):
            owner[variable] = row
            outside[variable] = out[row]


@compiled
def has_grown(old: Counters, new: Counters, number: int) -> bool:
    """Returns whether there are more rows of a number than before."""
    before = np.int64(0)
    if number + 1 < old.size:
        before = old[number + 1] - old[number]
    return bool(new[number + 1] - new[number] > before)


@compiled
def is_changed(old: Index, new: Index, variable: int) -> bool:
    """Returns whether a search goes on from a variable in more ways than before."""
    if has_grown(old.definition_at, new.definition_at, variable):
        return True
    for at in range(new.definition_at[variable], new.definition_at[variable + 1]):
        value = new.definition[at]
        if new.kind[at] == FIELD and has_grown(old.store_at, new.store_at, value):
            return True
        if new.kind[at] == RESULT:
            was_cut = value < old.cut.size and old.cut[value]
            if new.cut[value] != was_cut or has_grown(old.callee_at, new.callee_at, value):
                return True
    row = new.owner[variable]
    return bool(
        row >= 0
        and variable - new.first[row] < new.parameters[row]
        and has_grown(old.caller_at, new.caller_at, new.method[row])
    )


@entry
def changed(old: Index, new: Index) -> Keys:
    """Returns of each pointer 1 if a search goes on from it in more ways than before, else 0."""
    found = np.zeros(new.definition_at.size - 1, np.int32)
    for variable in range(found.size):
        found[variable] = is_changed(old, new, variable)
    return found


@entry
def search(index: Index, states: Seen, found: Seen, operand: int, everywhere: bool) -> tuple[int, bool]:
    """Finds where what comes to `operand` begins; returns how many rows (kind, value) are `found`, and whether that is all.

    A state is a variable, and the calls by which it was come to, the last last; -1 stands for none. Unless it goes
    everywhere, the search ends at what is `outside`. Where there is no room for all, it finds what is as many steps away
    as it could go in every direction, whatever the order of the rows.
    """
    for seen in (states, found):
        clear(seen)
    add(states, operand, -1, -1, -1)
    row = 0
    last, complete = (
        np.int64(1),
        np.int64(0),
    )  # the end of the states so many steps away; what was found before these
    while row < states.fill[0]:
        if row == last:
            last, complete = states.fill[0], found.fill[0]
        variable = states.first[row]
        if not everywhere and index.outside[variable]:
            note(found, OUTSIDE, variable)
            row += 1
            continue
        steps = take_definitions(index, states, found, row)
        place = index.owner[variable]
        if place >= 0 and variable - index.first[place] < index.parameters[place]:
            position = variable - index.first[place]
            method = index.method[place]
            start, end = index.caller_at[method], index.caller_at[method + 1]
            if states.fourth[row] >= 0:
                steps += take_arguments(index, states, row, states.fourth[row], position)
            elif end - start > MOST_CALLS:
                note(found, OTHER, -1)
                steps += 1
            else:
                for at in range(start, end):
                    steps += take_arguments(index, states, row, index.caller[at], position)
        if steps == 0:
            note(found, OTHER, -1)
        row += 1
        if states.fill[0] > states.first.size or found.fill[0] > found.first.size:
            return int(complete), False
    return int(found.fill[0]), True
