"""Compiled search of direct flow (see `engine.direct`): where the value of an operand comes from, call by call."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, entry
from engine.kernel.graph import slot
from engine.kernel.state import Index, Walk

# What defines a variable, and what comes of it: a variable, a text, a type, a call, the stores of a field, or
# what nobody knows. OUTSIDE is a variable of a method where the search ends.
COPY, TEXT, TYPE, RESULT, FIELD, OTHER, OUTSIDE = range(7)
# A parameter to which more calls pass something, and a call of more methods, are not followed any further.
MOST_CALLS, MOST_CALLEES = 300, 50
# Counters of a walk.
VISITED, FOUND = 0, 1


@compiled
def visit(walk: Walk, variable: int, first: int, second: int, third: int) -> None:
    """Adds a state, if it is new and there is room: a variable, and the calls by which it was come to, the last last."""
    slots = walk.state_slot.size
    at = np.int64(slot(variable * 31 + third, second * 31 + first, slots))
    while walk.state_slot[at] > 0:
        row = walk.state_slot[at] - 1
        if (
            walk.variable[row] == variable
            and walk.first[row] == first
            and walk.second[row] == second
            and walk.third[row] == third
        ):
            return
        at = (at + 1) & (slots - 1)
    row = walk.fill[VISITED]
    walk.fill[VISITED] = row + 1
    if row < walk.variable.size:
        walk.variable[row] = variable
        walk.first[row] = first
        walk.second[row] = second
        walk.third[row] = third
        walk.state_slot[at] = row + 1


@compiled
def note(walk: Walk, kind: int, value: int) -> None:
    """Adds a finding, if it is new and there is room."""
    slots = walk.found_slot.size
    at = np.int64(slot(kind, value, slots))
    while walk.found_slot[at] > 0:
        row = walk.found_slot[at] - 1
        if walk.kind[row] == kind and walk.value[row] == value:
            return
        at = (at + 1) & (slots - 1)
    row = walk.fill[FOUND]
    walk.fill[FOUND] = row + 1
    if row < walk.kind.size:
        walk.kind[row] = kind
        walk.value[row] = value
        walk.found_slot[at] = row + 1


@compiled
def take_definitions(index: Index, walk: Walk, row: int) -> int:
    """Goes from a state to what defines its variable; returns in how many ways."""
    variable = walk.variable[row]
    first, second, third = walk.first[row], walk.second[row], walk.third[row]
    steps = 0
    for at in range(index.definition_at[variable], index.definition_at[variable + 1]):
        kind, value = index.kind[at], index.definition[at]
        if kind == COPY:
            visit(walk, value, first, second, third)
            steps += 1
        elif kind == FIELD:
            for store in range(index.store_at[value], index.store_at[value + 1]):
                visit(walk, index.stored[store], -1, -1, -1)
                steps += 1
        elif kind == RESULT and not index.cut[value]:
            start, end = index.callee_at[value], index.callee_at[value + 1]
            if end - start > MOST_CALLEES:
                note(walk, OTHER, -1)
                steps += 1
                continue
            for call in range(start, end):
                visit(walk, index.returned[index.callee[call]], second, third, value)
                steps += 1
        else:
            note(walk, kind, value)
            steps += 1
    return steps


@compiled
def take_arguments(index: Index, walk: Walk, row: int, site: int, position: int) -> int:
    """Goes from a parameter to what a call passes for it, back out of the last call; returns in how many ways."""
    steps = 0
    for at in range(index.argument_at[site], index.argument_at[site + 1]):
        if index.position[at] == position:
            visit(walk, index.argument[at], -1, walk.first[row], walk.second[row])
            steps += 1
    return steps


@compiled
def method_of(index: Index, variable: int) -> int:
    """Returns the place in `index.first` of the method that a variable is of, -1 if there is none."""
    low, high = np.int64(0), np.int64(index.first.size)
    while low < high:
        middle = (low + high) >> 1
        if index.first[middle] <= variable:
            low = middle + 1
        else:
            high = middle
    return int(low - 1)


@entry
def search(index: Index, walk: Walk, operand: int, everywhere: bool) -> int:
    """Finds where what comes to `operand` begins; returns how many findings there are, in `walk.kind` and `.value`.

    Unless it goes everywhere, the search ends at variables of methods outside. What it has no room for, it takes
    for OTHER.
    """
    walk.state_slot[:] = 0
    walk.found_slot[:] = 0
    walk.fill[:] = 0
    visit(walk, operand, -1, -1, -1)
    row = 0
    while row < walk.fill[VISITED]:
        if walk.fill[VISITED] > walk.variable.size or walk.fill[FOUND] >= walk.kind.size:
            walk.fill[FOUND] = min(walk.fill[FOUND], walk.kind.size - 1)
            note(walk, OTHER, -1)
            break
        variable = walk.variable[row]
        place = method_of(index, variable)
        if not everywhere and place >= 0 and index.outside[place]:
            note(walk, OUTSIDE, variable)
            row += 1
            continue
        steps = take_definitions(index, walk, row)
        if place >= 0 and variable - index.first[place] < index.parameters[place]:
            position = variable - index.first[place]
            method = index.method[place]
            start, end = index.caller_at[method], index.caller_at[method + 1]
            if walk.third[row] >= 0:
                steps += take_arguments(index, walk, row, walk.third[row], position)
            elif end - start > MOST_CALLS:
                note(walk, OTHER, -1)
                steps += 1
            else:
                for at in range(start, end):
                    steps += take_arguments(index, walk, row, index.caller[at], position)
        if steps == 0:
            note(walk, OTHER, -1)
        row += 1
    return int(min(walk.fill[FOUND], walk.kind.size))
