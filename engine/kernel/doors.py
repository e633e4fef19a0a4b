"""How rows enter and leave the compiled state; none of it propagates: `closure.solve` does, when it takes the inbox.

What doesn't fit its pool is left out as a whole; then nothing enters any more, and `solve` says EXHAUSTED.
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import entry
from engine.kernel.edges import PASSAGE_NODE
from engine.kernel.followers import extent, has_row_of_leader, leading
from engine.kernel.graph import add_subtype, class_object, new_object, new_tracked, select
from engine.kernel.rows import ONE, bits, find, lowest_bit, new_nodes
from engine.kernel.state import (
    ARGUMENTS,
    DECLARED,
    FULL,
    LINKS,
    METHODS,
    NODES,
    OBJECTS,
    SITES,
    SUPERTYPES,
    TRACKED,
    TYPES,
    Counters,
    Keys,
    State,
    Words,
)


@entry
def enter_types(
    state: State, superclass: Keys, element: Keys, flags: Keys, supertypes_at: Counters, supertypes: Keys,
    declared_at: Counters, declared_signature: Keys, declared_method: Keys,
) -> None:  # fmt: skip
    types, count = state.types, state.counters
    first = count[TYPES]
    if (
        count[FULL]
        or first + superclass.size > types.type.size
        or count[SUPERTYPES] + supertypes.size > types.supertype.size
        or count[LINKS] + supertypes.size > types.link.size
        or count[DECLARED] + declared_method.size > types.declared_method.size
    ):
        count[FULL] = 1
        return
    types.supertype[count[SUPERTYPES] : count[SUPERTYPES] + supertypes.size] = supertypes
    start = count[DECLARED]
    types.declared_signature[start : start + declared_signature.size] = declared_signature
    types.declared_method[start : start + declared_method.size] = declared_method
    for index in range(superclass.size):
        row = types.type[first + index]
        row.superclass = superclass[index]
        row.element = element[index]
        row.flags = flags[index]
        row.supertypes_at = count[SUPERTYPES] + supertypes_at[index]
        row.supertypes = supertypes_at[index + 1] - supertypes_at[index]
        row.declared_at = start + declared_at[index]
        row.declared = declared_at[index + 1] - declared_at[index]
    count[TYPES] = first + superclass.size
    count[SUPERTYPES] += supertypes.size
    count[DECLARED] += declared_signature.size
    for index in range(superclass.size):
        add_subtype(types, count, first + index)


@entry
def enter_methods(
    state: State, declaring: Keys, parameters: Keys, variables: Keys, flags: Keys, returns: Keys
) -> None:
    count = state.counters
    if count[FULL] or count[METHODS] + parameters.size > state.calls.method.size:
        count[FULL] = 1
        return
    for index in range(parameters.size):
        row = state.calls.method[count[METHODS] + index]
        row.parameters = parameters[index]
        row.variables = variables[index]
        row.flags = flags[index]
        row.returns = returns[index]
        row.declaring = declaring[index]
    count[METHODS] += parameters.size


@entry
def enter_pointers(state: State, number: int) -> int:
    return int(new_nodes(state.graph, state.counters, number))


@entry
def enter_objects(state: State, kinds: Keys) -> int:
    first = state.counters[OBJECTS]
    if first + kinds.size > state.types.object.size >> 1:
        state.counters[FULL] = 1
    if state.counters[FULL]:
        return -1
    for index in range(kinds.size):
        new_object(state.types, state.counters, kinds[index])
    return first


@entry
def enter_tracked(state: State, kinds: Keys) -> int:
    half = state.types.object.size >> 1
    first = half + state.counters[TRACKED]
    if state.counters[TRACKED] + kinds.size > half:
        state.counters[FULL] = 1
    if state.counters[FULL]:
        return -1
    for index in range(kinds.size):
        new_tracked(state.types, state.counters, kinds[index])
    return first


@entry
def enter_sites(
    state: State, kinds: Keys, targets: Keys, receivers: Keys, results: Keys, throwns: Keys,
    arguments_at: Counters, positions: Keys, variables: Keys,
) -> int:  # fmt: skip
    calls, count = state.calls, state.counters
    first = count[SITES]
    start = count[ARGUMENTS]
    if (
        count[FULL]
        or first + kinds.size > calls.site.size
        or start + positions.size > calls.argument_position.size
    ):
        count[FULL] = 1
        return -1
    calls.argument_position[start : start + positions.size] = positions
    calls.argument_variable[start : start + variables.size] = variables
    count[ARGUMENTS] += positions.size
    count[SITES] += kinds.size
    for index in range(kinds.size):
        row = calls.site[first + index]
        row.kind = kinds[index]
        row.target = targets[index]
        row.receiver = receivers[index]
        row.result = results[index]
        row.thrown = throwns[index]
        row.argument_at = start + arguments_at[index]
        row.arguments = arguments_at[index + 1] - arguments_at[index]
    return first


@entry
def enter_class_objects(state: State, kinds: Keys) -> Keys:
    found = np.empty(kinds.size, np.int32)
    for index in range(kinds.size):
        found[index] = class_object(state.types, state.counters, kinds[index])
    return found


@entry
def representatives(state: State) -> Keys:
    """Returns of each pointer the one that stands for it and others with the same objects: itself, if it alone does.

    What stands for no pointer, a passage, is by itself.
    """
    node, number = state.graph.node, state.counters[NODES]
    found = np.empty(number, np.int32)
    first = np.full(number, -1, np.int32)
    for which in range(number):
        into = which
        if node[which].base != PASSAGE_NODE:
            into = find(node, which)
            if has_row_of_leader(state, into):
                into = leading(node, into)
            if node[into].base == PASSAGE_NODE:
                if first[into] < 0:
                    first[into] = which
                into = int(first[into])
        found[which] = into
    return found


@entry
def row_sizes(state: State, representative: Keys) -> Counters:
    """Returns the number of words of each pointer that stands for itself, 0 for the others."""
    node = state.graph.node
    sizes = np.zeros(state.counters[NODES], np.int64)
    for which in range(state.counters[NODES]):
        if representative[which] == which and node[which].base != PASSAGE_NODE:
            start, end = extent(state, find(node, which))
            sizes[which] = end - start
    return sizes


@entry
def copy_rows(state: State, at: Counters, key: Keys, word: Words) -> None:
    """Copies the row of each pointer to where `at` says, if there is room for it."""
    node, rows = state.graph.node, state.rows
    for which in range(state.counters[NODES]):
        start, _ = extent(state, find(node, which))
        for index in range(at[which + 1] - at[which]):
            key[at[which] + index] = rows.key[start + index]
            word[at[which] + index] = rows.known[start + index]


@entry
def row_objects(state: State, which: int) -> Keys:
    """Returns the objects of a pointer, ascending; none of what stands for no pointer."""
    rows = state.rows
    if state.graph.node[which].base == PASSAGE_NODE:
        return np.empty(0, np.int32)
    which = find(state.graph.node, which)
    start, end = extent(state, which)
    total = 0
    for at in range(start, end):
        total += bits(rows.known[at])
    found = np.empty(total, np.int32)
    total = 0
    for at in range(start, end):
        word = rows.known[at]
        while word:
            found[total] = (np.int64(rows.key[at]) << 6) + lowest_bit(word)
            total += 1
            word &= word - ONE
    return found


@entry
def selected(state: State, which: int, signature: int) -> int:
    if which >= state.counters[TYPES]:
        return -1
    return select(state.types, state.calls, state.counters, which, signature)
