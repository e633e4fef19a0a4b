"""Compiled search of direct flow (see `engine.direct`): where the value of an operand comes from, call by call."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import added_at, compiled, entry, index_at, seen_at
from engine.kernel.index import (
    ARGUMENTS,
    CALLEES,
    CALLERS,
    COPY,
    DEFINITIONS,
    FIELD,
    OTHER,
    OUTSIDE,
    RESULT,
    ROUND,
    SEARCHES,
    STORES,
    Added,
    Index,
    Seen,
)
from engine.kernel.table import Table
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
def touch(index: Index, variable: int) -> None:
    """Notes that searches go on from a variable in other ways."""
    index.touched[variable] = index.fill[ROUND]


@compiled
def touch_asking(index: Index, row: int) -> None:
    """Notes that of the variables of a chain of definitions (plus one)."""
    while row > 0:
        touch(index, index.defined[row - 1])
        row = index.next_asking[row - 1]


@compiled
def add_methods(index: Index, added: Added) -> None:
    """Notes whose variables those of reached methods are, and whether searches end there."""
    for row in range(added.method.size):
        method, first = added.method[row], added.first[row]
        index.variable[method] = first
        for variable in range(first, first + added.variables[row]):
            index.owner[variable] = method + 1
            index.outside[variable] = added.out[row]


@compiled
def add_definitions(index: Index, added: Added) -> None:
    """Adds definitions. A pointer that is no method's is outside if something comes to it there."""
    for row in range(added.target.size):
        target, kind, value = added.target[row], added.kind[row], added.definition[row]
        at = index.fill[DEFINITIONS]
        index.fill[DEFINITIONS] = at + 1
        index.defined[at] = target
        index.kind[at] = kind
        index.definition[at] = value
        index.next_definition[at] = index.first_definition[target]
        index.first_definition[target] = at + 1
        if kind == RESULT:
            index.next_asking[at] = index.first_asking[value]
            index.first_asking[value] = at + 1
        elif kind == FIELD:
            index.next_asking[at] = index.first_loading[value]
            index.first_loading[value] = at + 1
        if added.is_outside[row] and index.owner[target] == 0:
            index.outside[target] = 1
        touch(index, target)


@compiled
def add_stores(index: Index, added: Added) -> None:
    """Adds what is stored to fields."""
    for row in range(added.field.size):
        field, at = added.field[row], index.fill[STORES]
        index.fill[STORES] = at + 1
        index.stored[at] = added.stored[row]
        index.next_store[at] = index.first_store[field]
        index.first_store[field] = at + 1
        touch_asking(index, index.first_loading[field])


@compiled
def add_arguments(index: Index, added: Added) -> None:
    """Adds the arguments of sites, which come all at once."""
    for row in range(added.site.size):
        site, at = added.site[row], index.fill[ARGUMENTS]
        index.fill[ARGUMENTS] = at + 1
        index.position[at] = added.position[row]
        index.argument[at] = added.argument[row]
        index.next_argument[at] = index.first_argument[site]
        index.first_argument[site] = at + 1


@compiled
def add_calls(index: Index, added: Added) -> None:
    """Adds calls, as far as they are followed."""
    for row in range(added.called.size):
        site, callee = added.called[row], added.callee[row]
        index.callees[site] += 1
        if index.callees[site] <= MOST_CALLEES:
            at = index.fill[CALLEES]
            index.fill[CALLEES] = at + 1
            index.callee[at] = callee
            index.next_callee[at] = index.first_callee[site]
            index.first_callee[site] = at + 1
        if index.callees[site] <= MOST_CALLEES + 1:
            touch_asking(index, index.first_asking[site])
        index.callers[callee] += 1
        if index.callers[callee] <= MOST_CALLS:
            at = index.fill[CALLERS]
            index.fill[CALLERS] = at + 1
            index.caller[at] = site
            index.next_caller[at] = index.first_caller[callee]
            index.first_caller[callee] = at + 1
        if index.callers[callee] <= MOST_CALLS + 1:
            first = index.variable[callee]
            for variable in range(first, first + index.parameters[callee]):
                touch(index, variable)


@entry
def extend(to: Table, rows: Table) -> None:
    """Adds rows to an index that has room for them."""
    index, added = index_at(to), added_at(rows)
    index.fill[ROUND] += 1
    add_methods(index, added)
    add_definitions(index, added)
    add_stores(index, added)
    add_arguments(index, added)
    add_calls(index, added)
    for row in range(added.recut.size):
        touch_asking(index, index.first_asking[added.recut[row]])


@compiled
def take_definitions(index: Index, states: Seen, found: Seen, row: int) -> int:
    """Goes from a state to what defines its variable; returns in how many ways."""
    first, second, third = states.second[row], states.third[row], states.fourth[row]
    at = index.first_definition[states.first[row]]
    steps = 0
    while at > 0:
        kind, value = index.kind[at - 1], index.definition[at - 1]
        at = index.next_definition[at - 1]
        steps += 1
        if kind == COPY:
            add(states, value, first, second, third)
        elif kind == FIELD:
            store = index.first_store[value]
            if store == 0:
                steps -= 1
            if index.passed[value] == index.fill[SEARCHES]:
                continue
            index.passed[value] = index.fill[SEARCHES]
            while store > 0:
                add(states, index.stored[store - 1], -1, -1, -1)
                store = index.next_store[store - 1]
        elif kind == RESULT and not index.cut[value]:
            if index.callees[value] > MOST_CALLEES:
                note(found, OTHER, -1)
                continue
            steps -= 1
            call = index.first_callee[value]
            while call > 0:
                callee = index.callee[call - 1]
                add(states, index.variable[callee] + index.parameters[callee], second, third, value)
                call = index.next_callee[call - 1]
                steps += 1
        else:
            note(found, kind, value)
    return steps


@compiled
def take_arguments(index: Index, states: Seen, row: int, site: int, position: int) -> int:
    """Goes from a parameter to what a call passes for it, back out of the last call; returns in how many ways."""
    steps = 0
    at = index.first_argument[site]
    while at > 0:
        if index.position[at - 1] == position:
            add(states, index.argument[at - 1], -1, states.second[row], states.third[row])
            steps += 1
        at = index.next_argument[at - 1]
    return steps


@compiled
def take_callers(index: Index, states: Seen, found: Seen, row: int) -> int:
    """Goes from a parameter to what its callers pass; returns in how many ways."""
    variable = states.first[row]
    method = index.owner[variable] - 1
    if method < 0 or variable - index.variable[method] >= index.parameters[method]:
        return 0
    position = variable - index.variable[method]
    if states.fourth[row] >= 0:
        return int(take_arguments(index, states, row, np.int64(states.fourth[row]), position))
    if index.callers[method] > MOST_CALLS:
        note(found, OTHER, -1)
        return 1
    steps = 0
    call = index.first_caller[method]
    while call > 0:
        steps += take_arguments(index, states, row, np.int64(index.caller[call - 1]), position)
        call = index.next_caller[call - 1]
    return steps


@entry
def search(by: Table, passed: Table, into: Table, operand: int, everywhere: bool) -> tuple[int, bool]:
    """Finds where what comes to `operand` begins; returns how many rows (kind, value) are found, and whether that is all.

    `by` is the index, `passed` takes the states, `into` what is found.

    A state is a variable, and the calls by which it was come to, the last last; -1 stands for none. Unless it goes
    everywhere, the search ends at what is `outside`. Where there is no room for all, it finds what is as many steps away
    as it could go in every direction, whatever the order of the rows.
    """
    index, states, found = index_at(by), seen_at(passed), seen_at(into)
    for seen in (states, found):
        clear(seen)
    index.fill[SEARCHES] += 1
    add(states, operand, -1, -1, -1)
    row = 0
    last = np.int64(1)  # where the states end that are so many steps away
    complete = np.int64(0)  # what was found before these
    while row < states.fill[0]:
        if row == last:
            last, complete = states.fill[0], found.fill[0]
        variable = states.first[row]
        if not everywhere and index.outside[variable]:
            note(found, OUTSIDE, variable)
        else:
            steps = take_definitions(index, states, found, row)
            if steps + take_callers(index, states, found, row) == 0:
                note(found, OTHER, -1)
        row += 1
        if states.fill[0] > states.first.size or found.fill[0] > found.first.size:
            return int(complete), False
    return int(found.fill[0]), True
