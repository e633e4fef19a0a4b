"""Nodes that follow another, their leader: what leads to them is one edge without a condition, so both have the same objects.

A follower has no row: it has that of the first in its chain of leaders. What is new there is passed on by all of
its followers in the same step. Whoever gets something in another way stands alone from then on.

Tracked objects are the exception: a follower that is not wanted has none of them (see `engine.kernel.slices`).
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, compiled_allocating
from engine.kernel.rows import class_of, end_untracked, find, first_tracked, free_row, mark_dirty, take_slot
from engine.kernel.state import NODES, OTHERWISE, WORDS, Graph, Nodes, Scratch, State


@compiled
def leading(node: Nodes, which: int) -> int:
    """Returns the node whose row a node has: the first in its chain of leaders, or itself."""
    while node[which].leader > 0:
        which = node[which].leader - 1
    return which


@compiled
def extent(state: State, which: int) -> tuple[int, int]:
    """Returns where the row of a node begins and ends.

    A follower has its tail of tracked objects only if wanted; one that is newly so is still to get it.
    """
    node = state.graph.node
    lead = leading(node, which)
    start = node[lead].row_at
    end = start + node[lead].row_length
    if lead != which and node[which].wanted != 1:
        end = end_untracked(state.types.mask, state.rows.key, start, end)
    return start, end


@compiled
def has_row_of_leader(state: State, which: int) -> bool:
    """Returns whether a node has all of its leader's row, or its own: a follower may lack tracked objects."""
    start, end = extent(state, which)
    return end - start == state.graph.node[leading(state.graph.node, which)].row_length


@compiled
def stand_alone(state: State, which: int) -> None:
    """Gives a follower a row of its own, with what it has and has passed on."""
    rows, graph, count = state.rows, state.graph, state.counters
    node = graph.node
    lead = leading(node, which)
    start, end = extent(state, which)
    node[which].leader = 0
    if start == end:
        return
    size_class = class_of(end - start)
    to = take_slot(rows.free, rows.known, count, WORDS, size_class)
    if to < 0:
        return
    for index in range(end - start):
        rows.key[to + index] = rows.key[start + index]
        rows.known[to + index] = rows.known[start + index]
        rows.done[to + index] = rows.done[start + index]
    node[which].row_at = to
    node[which].row_length = end - start
    node[which].row_class = size_class + 1
    node[which].low = node[lead].low
    node[which].high = node[lead].high
    if node[which].high >= 0:
        mark_dirty(node, graph.dirty, count, which)


@compiled
def feed(state: State, which: int, way: int) -> None:
    """Notes in which way objects come to a node; one that follows another stands alone from then on."""
    state.graph.node[which].fed |= way
    if state.graph.node[which].leader > 0:
        stand_alone(state, which)


@compiled
def link_follower(graph: Graph, lead: int, which: int) -> None:
    node = graph.node
    node[which].leader = lead + 1
    node[which].next_follower = node[lead].first_follower
    node[lead].first_follower = which + 1


@compiled
def may_follow(graph: Graph, lead: int, which: int) -> bool:
    """Returns whether a node to which only `lead` leads may follow it: no chain is a cycle, nor ends where less is wanted."""
    node = graph.node
    return leading(node, lead) != which and (node[lead].wanted > 0 or not node[which].wanted)


@compiled
def gather(graph: Graph, scratch: Scratch, which: int) -> int:
    """Lists a node and all who follow it in scratch.followers, each after its leader; returns how many."""
    node, listed = graph.node, scratch.followers
    listed[0] = which
    number = 1
    index = 0
    while index < number:
        lead = np.int64(listed[index])
        each = node[lead].first_follower - 1
        while each >= 0:
            if node[each].leader == lead + 1:  # else it stands alone now
                listed[number] = each
                number += 1
            each = node[each].next_follower - 1
        index += 1
    return number


@compiled
def has_passed_on_the_same(state: State, lead: int, which: int) -> bool:
    """Returns whether a node has passed on what its row has, which is what the row of `lead` would have it pass on."""
    rows, node = state.rows, state.graph.node
    if node[which].high >= 0:
        return False
    own = node[which].row_at
    last = own + node[which].row_length
    start, end = extent(state, leading(node, lead))
    tracked = first_tracked(state.types.mask)
    for at in range(start, end):
        if not rows.done[at] or (rows.key[at] >= tracked and not node[which].wanted):
            continue
        if own == last or rows.key[own] != rows.key[at] or rows.done[own] != rows.done[at]:
            return False
        own += 1
    return own == last


@compiled_allocating
def adopt(state: State) -> None:
    """Has every node follow the only one that leads to it, where they have passed on the same."""
    rows, graph, number = state.rows, state.graph, state.counters[NODES]
    node, edge = graph.node, graph.edge
    source = np.full(number, -1, np.int32)  # the one that leads to a node; -1 before, -2 if there are more
    for which in range(number):
        node[which].first_follower = 0
        for at in range(node[which].edge_at, node[which].edge_at + node[which].edges):
            target = find(node, edge[at].target)
            if target != which:
                first = source[target] == -1 and edge[at].filter == 0
                source[target] = which if first or source[target] == which else -2
    for which in range(number):
        lead = np.int64(source[which])
        if node[which].leader > 0:
            link_follower(graph, np.int64(node[which].leader - 1), which)
        elif (
            lead >= 0
            and not node[which].fed & OTHERWISE
            and may_follow(graph, lead, which)
            and has_passed_on_the_same(state, lead, which)
        ):
            free_row(rows, node, which)
            link_follower(graph, lead, which)
