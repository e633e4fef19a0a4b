"""How rows enter and leave the compiled state; none of it propagates: `closure.solve` does, when it takes the inbox.

What doesn't fit its pool is left out as a whole; then nothing enters any more, and `solve` says EXHAUSTED.
"""

from __future__ import annotations

import numpy as np

from engine.kernel.calls import list_callees
from engine.kernel.compiled import compiled, entry, state_at
from engine.kernel.edges import PASSAGE_NODE
from engine.kernel.graph import add_subtype, class_object, new_object, new_tracked, next_stamp, select
from engine.kernel.nodes import find, new_nodes
from engine.kernel.sets import drop_sets, size_of
from engine.kernel.state import (
    ARGUMENTS,
    CALLS,
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
)
from engine.kernel.table import Table
from engine.kernel.words import ONE, lowest_bit


@entry
def enter_types(
    table: Table, superclass: Keys, element: Keys, flags: Keys, supertypes_at: Counters, supertypes: Keys,
    declared_at: Counters, declared_signature: Keys, declared_method: Keys,
) -> None:  # fmt: skip
    state = state_at(table)
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
    table: Table, declaring: Keys, parameters: Keys, variables: Keys, flags: Keys, returns: Keys
) -> None:
    state = state_at(table)
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
def enter_pointers(table: Table, number: int) -> int:
    state = state_at(table)
    return int(new_nodes(state.graph, state.counters, number))


@entry
def enter_objects(table: Table, kinds: Keys) -> int:
    state = state_at(table)
    types, count = state.types, state.counters
    first = count[OBJECTS]
    if first + kinds.size > types.object.size >> 1:
        count[FULL] = 1
    if count[FULL]:
        return -1
    for index in range(kinds.size):
        new_object(types, count, kinds[index])
    return first


@entry
def enter_tracked(table: Table, kinds: Keys) -> int:
    state = state_at(table)
    types, count = state.types, state.counters
    half = types.object.size >> 1
    first = half + count[TRACKED]
    if count[TRACKED] + kinds.size > half:
        count[FULL] = 1
    if count[FULL]:
        return -1
    for index in range(kinds.size):
        new_tracked(types, count, kinds[index])
    return first


@entry
def enter_sites(
    table: Table, kinds: Keys, targets: Keys, receivers: Keys, results: Keys, throwns: Keys,
    arguments_at: Counters, positions: Keys, variables: Keys,
) -> int:  # fmt: skip
    state = state_at(table)
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
def enter_class_objects(table: Table, kinds: Keys) -> Keys:
    state = state_at(table)
    types, count = state.types, state.counters
    found = np.empty(kinds.size, np.int32)
    for index in range(kinds.size):
        found[index] = class_object(types, count, kinds[index])
    return found


@compiled
def known_at(state: State, which: int) -> int:
    """Returns the set of a pointer; the empty one of what stands for no pointer."""
    node = state.graph.node
    return 0 if node[which].base == PASSAGE_NODE else int(node[find(node, which)].known)


@entry
def sets_of(table: Table) -> Keys:
    """Returns the set of each pointer; of what stands for no pointer, a passage, that is the empty one.

    Sets that no pointer has are dropped.
    """
    state = state_at(table)
    drop_sets(state.sets, state.graph, state.calls, state.counters)
    found = np.empty(state.counters[NODES], np.int32)
    for which in range(found.size):
        found[which] = known_at(state, which)
    return found


@entry
def number_of(table: Table, which: int) -> int:
    state = state_at(table)
    return size_of(state.sets, known_at(state, which))


@entry
def row_objects(table: Table, which: int) -> Keys:
    """Returns the objects of a pointer, ascending; none of what stands for no pointer."""
    state = state_at(table)
    sets, known = state.sets, known_at(state, which)
    found = np.empty(size_of(sets, known), np.int32)
    total = 0
    start = sets.set[known].at
    for at in range(start, start + sets.set[known].length):
        word = sets.word[at]
        while word:
            found[total] = (np.int64(sets.key[at]) << 6) + lowest_bit(word)
            total += 1
            word &= word - ONE
    return found


@entry
def selected(table: Table, which: int, signature: int) -> int:
    state = state_at(table)
    if which >= state.counters[TYPES]:
        return -1
    return select(state.types, state.calls, state.counters, which, signature)


@entry
def list_calls(table: Table, since: int, sites: Keys, callees: Keys) -> int:
    """Lists the pairs (site, callee) of the rows of calls from `since` on that no row before is of; returns how many.

    A site is listed as a whole at the first of these rows that is its own. The columns have room for CALLED pairs.
    """
    state = state_at(table)
    calls = state.calls
    number = 0
    for row in range(since, state.counters[CALLS]):
        before = np.int64(calls.call[row].before)
        if before > since:
            continue
        site, stamp = np.int64(calls.call[row].site), next_stamp(state)
        while (
            before > 0
        ):  # these are marked so that they aren't listed again: what follows takes their places
            list_callees(calls, np.int64(calls.call[before - 1].run), stamp, callees, number)
            before = np.int64(calls.call[before - 1].before)
        first, each = number, np.int64(calls.site[site].last_call)
        while each > since:
            number = list_callees(calls, np.int64(calls.call[each - 1].run), stamp, callees, number)
            each = np.int64(calls.call[each - 1].before)
        sites[first:number] = site
    return number
