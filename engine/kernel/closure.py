"""The closure: what is new at a node goes over its copy edges and to its uses, sweep by sweep, until nothing is."""

from __future__ import annotations

import numpy as np

from engine.kernel.collapse import collapse
from engine.kernel.compiled import compiled, entry
from engine.kernel.edges import add_edge, pass_over_edges
from engine.kernel.followers import adopt, extent, gather
from engine.kernel.graph import condition_of, generic_object, place_of, select
from engine.kernel.merged import flush_merged
from engine.kernel.rows import NO_KEY, ONE, ZERO, add_words, end_untracked, find, first_tracked, lowest_bit
from engine.kernel.slices import NEWLY, UNTRACKED, widen
from engine.kernel.state import (
    COLLAPSES,
    CURSOR,
    DIRTY,
    EDGES_ADDED,
    FULL,
    GROUPED,
    GROUPS,
    INBOX,
    INBOX_TAKEN,
    LIVE_EDGES,
    NEW_EDGES,
    NODES,
    PUT_CALL,
    PUT_CAST,
    PUT_EDGE,
    PUT_EXCLUDE,
    PUT_OBJECT,
    PUT_REACH,
    PUT_UNTRACKED,
    PUT_USE,
    REACHED,
    RECEIVERS,
    ROOTS,
    SEEDS,
    SLICED,
    SPENT,
    STEPS,
    SWEEPS,
    USE_LOAD,
    USE_STORE,
    USE_WATCH,
    WATCHED,
    Graph,
    Rows,
    Scratch,
    State,
)
from engine.kernel.uses import add_access, add_object, add_use, apply_uses, call, group_by_type, reach

FIXPOINT, PAUSED, EXHAUSTED = range(3)


@compiled
def take_difference(rows: Rows, graph: Graph, scratch: Scratch, which: int) -> int:
    """Moves what a node has not passed on to the scratch row; returns its length."""
    length = 0
    high = graph.node[which].high
    end = graph.node[which].row_at + graph.node[which].row_length
    start = place_of(rows.key, graph.node[which].row_at, end, graph.node[which].low)
    graph.node[which].low = NO_KEY
    graph.node[which].high = -1
    for at in range(start, end):
        if rows.key[at] > high:
            break
        word = rows.known[at] & ~rows.done[at]
        if word:
            scratch.key[length] = rows.key[at]
            scratch.word[length] = word
            length += 1
            rows.done[at] = rows.known[at]
    return length


@compiled
def pass_on(state: State, which: int, length: int) -> None:
    """Passes scratch.word[:length] on over the copy edges of a node, then to its uses."""
    graph, scratch, count = state.graph, state.scratch, state.counters
    count[SPENT] += length * (1 + graph.node[which].edges)
    pass_over_edges(state, which, scratch.key, scratch.word, length)
    apply_uses(state, graph.node[which].first_use, length)


@compiled
def process(state: State, which: int) -> None:
    """Passes on what is new at a node, and at all that follow it."""
    graph, scratch = state.graph, state.scratch
    length = take_difference(state.rows, graph, scratch, which)
    if length == 0:
        return
    untracked = end_untracked(state.types.mask, scratch.key, 0, length)
    state.counters[GROUPED] = 0
    for index in range(gather(graph, scratch, which)):
        each = np.int64(scratch.followers[index])
        if index == 0 or graph.node[each].wanted:
            pass_on(state, each, length)
        elif untracked:
            pass_on(state, each, untracked)


@compiled
def supply_receivers(state: State) -> None:
    """Gives each `this` that is new in the slice the tracked receivers that it was denied."""
    rows, graph, scratch, calls, count = state.rows, state.graph, state.scratch, state.calls, state.counters
    node, tracked = graph.node, first_tracked(state.types.mask)
    for index in range(count[RECEIVERS]):
        site, callee = state.slice.receiver_site[index], state.slice.receiver_callee[index]
        this = find(node, calls.method[callee].first)
        if node[this].wanted != NEWLY:
            continue
        base = find(node, calls.site[site].receiver)
        length = 0
        start, end = extent(state, base)
        for at in range(start, end):
            if rows.key[at] >= tracked and rows.done[at]:
                scratch.key[length] = rows.key[at]
                scratch.word[length] = rows.done[at]
                length += 1
        if length == 0:
            continue
        group_by_type(state, length)
        for group in range(count[GROUPS]):
            found = select(state.types, calls, count, scratch.group_type[group], calls.site[site].target)
            if found == callee:
                add_words(
                    rows, graph, count, state.types.mask, this,
                    scratch.group_key, scratch.group_word, scratch.group_at[group], scratch.group_length[group], 0,
                )  # fmt: skip


@compiled
def settle(state: State) -> None:
    """Has the nodes that were new in the slice be as the others, now that they have what they were denied."""
    node = state.graph.node
    for which in range(state.counters[NODES]):
        if node[which].wanted == NEWLY:
            node[which].wanted = 1


@compiled
def take_row(state: State, kind: int, first: int, second: int, third: int, fourth: int) -> None:
    """Adds one row of the inbox."""
    types, count = state.types, state.counters
    if kind == PUT_OBJECT:
        if second >= types.object.size >> 1:
            at = count[SEEDS]
            if at == state.slice.seed_pointer.size:
                count[FULL] = 1
                return
            state.slice.seed_pointer[at] = first
            state.slice.seed_object[at] = second
            count[SEEDS] = at + 1
            add_object(state, first, generic_object(types, count, types.object[second].type))
        add_object(state, first, second)
    elif kind == PUT_EDGE:
        add_edge(state, first, second, 0)
    elif kind == PUT_CAST:
        condition = condition_of(types, count, third)
        if not count[FULL]:
            add_edge(state, first, second, condition)
    elif kind == PUT_EXCLUDE:
        condition = condition_of(types, count, third)
        if condition > 0:
            add_edge(state, first, second, -condition)
    elif kind == PUT_UNTRACKED:
        add_edge(state, first, second, UNTRACKED)
    elif kind == PUT_USE:
        if second == USE_WATCH:
            if count[ROOTS] == state.slice.root.size:
                count[FULL] = 1
                return
            state.slice.root[count[ROOTS]] = first
            count[ROOTS] += 1
        if second in (USE_LOAD, USE_STORE):
            add_access(state, first, second, third, fourth)
        else:
            add_use(state, first, second, third, fourth)
    elif kind == PUT_REACH:
        reach(state, first)
    elif kind == PUT_CALL:
        call(state, first, second)


@compiled
def take_inbox(state: State, budget: int) -> None:
    """Adds the rows of the inbox, or some of them if that is more than `budget` units of work."""
    inbox, count = state.scratch.inbox, state.counters
    while count[INBOX_TAKEN] < count[INBOX]:
        if count[FULL] or count[SPENT] > budget:
            return
        row = inbox[count[INBOX_TAKEN]]
        count[INBOX_TAKEN] += 1
        take_row(state, row.kind, row.first, row.second, row.third, row.fourth)
    count[INBOX] = count[INBOX_TAKEN] = 0


@entry
def solve(state: State, budget: int, waiting: int, ratio: float, least: int) -> int:
    """Takes the inbox, if need be in several goes, then sweeps dirty nodes in rank order.

    Returns FIXPOINT, PAUSED (over `budget` words of work, or reached methods lack their facts: more than
    `waiting`, or any at the end of a sweep) or EXHAUSTED (a pool is full). Cycles are collapsed when new edges
    exceed `ratio` of all, and `least`.
    """
    graph, count = state.graph, state.counters
    reached = count[REACHED]
    count[SPENT] = 0
    take_inbox(state, budget)
    while True:
        if count[FULL]:
            return EXHAUSTED
        if count[INBOX] > 0:
            return PAUSED
        if count[DIRTY] == 0:
            if count[REACHED] > reached:
                return PAUSED
            if count[WATCHED] > 0:
                return FIXPOINT  # rules may add edges: the slice can wait for them
            version = count[EDGES_ADDED] + count[ROOTS] + count[RECEIVERS] + count[COLLAPSES]
            if version == count[SLICED]:
                return FIXPOINT
            count[SLICED] = version
            if widen(state) > 0:
                supply_receivers(state)
                settle(state)
            continue
        if count[SPENT] > budget or count[REACHED] - reached > waiting:
            return PAUSED
        if count[NEW_EDGES] > least + ratio * count[LIVE_EDGES]:
            flush_merged(state, collapse(state))
            adopt(state)
            count[CURSOR] = 0
        word = count[CURSOR]
        last = (count[NODES] + 63) >> 6
        while word < last and graph.dirty[word] == ZERO:
            word += 1
        count[CURSOR] = word
        if word >= last:
            count[CURSOR] = 0
            count[SWEEPS] += 1
            if count[REACHED] > reached:
                return PAUSED
            continue
        bit = lowest_bit(graph.dirty[word])
        graph.dirty[word] &= graph.dirty[word] - ONE
        count[DIRTY] -= 1
        count[STEPS] += 1
        process(state, graph.at[(word << 6) + bit])
