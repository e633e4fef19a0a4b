"""The closure: what is new at a node goes over its copy edges and to its uses, sweep by sweep, until nothing is."""

from __future__ import annotations

import numpy as np

from engine.kernel.calls import call, reach
from engine.kernel.collapse import collapse
from engine.kernel.compiled import compiled, entry, state_at
from engine.kernel.edges import add_edge, pass_over_edges
from engine.kernel.graph import condition_of, generic_object
from engine.kernel.merged import flush_merged
from engine.kernel.nodes import add_set, find
from engine.kernel.parts import part_by_callee
from engine.kernel.sets import UNTRACKED, drop_sets, has_many_words, tracked
from engine.kernel.slices import NEWLY, widen
from engine.kernel.state import (
    CURSOR,
    DIRTY,
    FULL,
    INBOX,
    INBOX_TAKEN,
    LATE,
    LIVE_EDGES,
    NEW_EDGES,
    NEWCOMERS,
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
    SPENT,
    STEPS,
    SWEEPS,
    TAKES_LATE,
    USE_LOAD,
    USE_STORE,
    USE_WATCH,
    WATCHED,
    State,
)
from engine.kernel.table import Table
from engine.kernel.uses import add_access, add_object, add_use, apply_uses
from engine.kernel.words import ONE, ZERO, bits, lowest_bit

FIXPOINT, PAUSED, EXHAUSTED = range(3)
# A node is late if more edges lead from it.
MANY_EDGES = 32
# So many methods that are reached wait for their facts until nothing else is left to do: asking takes its time, too.
FEW_METHODS = 50


@compiled
def process(state: State, which: int) -> None:
    """Passes on what is new at a node: over its copy edges, then to its uses."""
    node = state.graph.node
    before, after, fresh = (
        np.int64(node[which].passed),
        np.int64(node[which].known),
        np.int64(node[which].fresh),
    )
    if fresh == 0:
        return
    node[which].passed = after
    node[which].fresh = 0
    state.counters[SPENT] += 16
    pass_over_edges(state, which, before, after, fresh)
    apply_uses(state, np.int64(node[which].first_use), fresh)


@compiled
def supply_receivers(state: State) -> None:
    """Gives each `this` that is new in the slice the tracked receivers that it was denied."""
    sets, graph, types, calls, count = state.sets, state.graph, state.types, state.calls, state.counters
    node, scratch = graph.node, state.scratch
    for index in range(count[RECEIVERS]):
        site, callee = state.slice.receiver_site[index], state.slice.receiver_callee[index]
        this = find(node, calls.method[callee].first)
        if node[this].wanted != NEWLY:
            continue
        passed = np.int64(node[find(node, calls.site[site].receiver)].passed)
        denied = tracked(sets, count, types.mask, passed)
        for part in range(part_by_callee(state, denied, calls.site[site].target)):
            if scratch.part_callee[part] == callee:
                add_set(sets, graph, count, types.mask, this, np.int64(scratch.part_set[part]), 0)


@compiled
def settle(state: State) -> None:
    """Has the nodes that were new in the slice be as the others, now that they have what they were denied."""
    for index in range(state.counters[NEWCOMERS]):
        state.graph.node[state.slice.newcomer[index]].wanted = 1
    state.counters[NEWCOMERS] = 0


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


@compiled
def take_late(state: State) -> None:
    """Has the nodes that wait be dirty again."""
    graph, count = state.graph, state.counters
    if count[LATE] == 0:
        return
    count[LATE] = 0
    for word in range((count[NODES] + 63) >> 6):
        if graph.late[word]:
            count[DIRTY] += bits(graph.late[word] & ~graph.dirty[word])
            graph.dirty[word] |= graph.late[word]
            graph.late[word] = ZERO


@entry
def solve(table: Table, budget: int, waiting: int, ratio: float, least: int) -> int:
    """Takes the inbox, if need be in several goes, then sweeps dirty nodes in rank order.

    Nodes from which many edges lead are late: they wait until nothing else is left to do, so that what they pass on
    goes over their edges in few steps.

    Returns FIXPOINT, PAUSED (over `budget` words of work, or reached methods lack their facts: more than `waiting`, more
    than FEW_METHODS at the end of a sweep, or any when nothing but what is late is left to do) or EXHAUSTED (a pool is
    full). Cycles are collapsed when new edges exceed `ratio` of all, and `least`.
    """
    state = state_at(table)
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
                return FIXPOINT  # rules may add edges: what is late, and the slice, can wait for them
            if count[LATE] > 0:
                take_late(state)
                count[TAKES_LATE] = 1
                count[CURSOR] = 0
                continue
            if widen(state) == 0:
                return FIXPOINT
            supply_receivers(state)
            settle(state)
            continue
        if has_many_words(count):
            drop_sets(state.sets, graph, state.calls, count)
        if count[SPENT] > budget or count[REACHED] - reached > waiting:
            return PAUSED
        if count[NEW_EDGES] > least + ratio * count[LIVE_EDGES]:
            take_late(state)
            flush_merged(state, collapse(state))
            count[CURSOR] = 0
        word = count[CURSOR]
        last = (count[NODES] + 63) >> 6
        while word < last and graph.dirty[word] == ZERO:
            word += 1
        count[CURSOR] = word
        if word >= last:
            count[CURSOR] = 0
            count[TAKES_LATE] = 0
            count[SWEEPS] += 1
            if count[REACHED] - reached > FEW_METHODS:
                return PAUSED
            continue
        bit = lowest_bit(graph.dirty[word])
        graph.dirty[word] &= graph.dirty[word] - ONE
        count[DIRTY] -= 1
        which = np.int64(graph.at[(word << 6) + bit])
        if graph.node[which].edges > MANY_EDGES and not count[TAKES_LATE]:
            graph.late[word] |= ONE << np.uint64(bit)
            count[LATE] += 1
            continue
        count[STEPS] += 1
        process(state, which)
