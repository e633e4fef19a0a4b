"""The slice: pointers from which a watched pointer can be reached, where tracked objects are told apart.

Wanted(x) :- Watch(x, _).
Wanted(y) :- Wanted(x), Assign(y, x).         Likewise what else is copied, but for AssignUntracked.
Wanted(y) :- Wanted(this_m), VirtualInvoke(s, y, g), PointsTo(y, o), Generic(t, o), Select(t, g, m).
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, compiled_allocating
from engine.kernel.followers import extent, has_row_of_leader, stand_alone
from engine.kernel.graph import TRACKED_MASK
from engine.kernel.rows import ONE, add_words, end_untracked, find
from engine.kernel.state import NODES, RECEIVERS, ROOTS, SEEDS, Counters, Keys, State

NEWLY = 2
# The condition of an edge over which no tracked object goes.
UNTRACKED = -TRACKED_MASK - 1


@compiled
def want(state: State, found: Keys, number: int, which: int) -> int:
    """Wanted(which), noted in `found` after its first `number` nodes; returns how many these are then."""
    node = state.graph.node
    if node[which].wanted:
        return number
    node[which].wanted = NEWLY
    found[number] = which
    return number + 1


@compiled
def count_edges(state: State, found: Keys, at: Counters) -> int:
    """Has at[y] be how many edges lead from nodes outside the slice to such a y.

    Finds those from which an edge leads into it; returns how many these are.
    """
    node, edge = state.graph.node, state.graph.edge
    newly = 0
    for source in range(state.counters[NODES]):
        if node[source].wanted:
            continue
        for place in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            if edge[place].filter != UNTRACKED:
                target = find(node, edge[place].target)
                at[target] += 1
                if node[target].wanted == 1:
                    newly = want(state, found, newly, source)
    return newly


@compiled
def index_edges(state: State, at: Counters, sources: Keys) -> None:
    """Has `sources` from at[y] on list the nodes outside the slice from which edges lead to y; at[y] is the end before."""
    node, edge = state.graph.node, state.graph.edge
    for source in range(state.counters[NODES]):
        if node[source].wanted == 1:
            continue
        for place in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            if edge[place].filter != UNTRACKED:
                target = find(node, edge[place].target)
                at[target] -= 1
                sources[at[target]] = source


@compiled_allocating
def spread(state: State) -> int:
    """Extends the slice against the copy edges and receivers that there are; returns how many nodes are new in it."""
    calls, log, number = state.calls, state.slice, state.counters[NODES]
    node = state.graph.node
    found = np.empty(number, np.int32)
    at = np.zeros(number + 1, np.int64)
    newly = count_edges(state, found, at)
    sources = np.empty(0, np.int32)
    for index in range(state.counters[ROOTS]):
        newly = want(state, found, newly, find(node, log.root[index]))
    taken = 0
    while True:
        before = newly
        for index in range(state.counters[RECEIVERS]):
            if node[find(node, calls.method[log.receiver_callee[index]].first)].wanted:
                newly = want(state, found, newly, find(node, calls.site[log.receiver_site[index]].receiver))
        if newly == before and taken == newly:
            return newly
        if taken == 0:
            at[:] = np.cumsum(at)
            sources = np.empty(at[number], np.int32)
            index_edges(state, at, sources)
        while taken < newly:
            target = found[taken]
            taken += 1
            for place in range(at[target], at[target + 1]):
                newly = want(state, found, newly, np.int64(sources[place]))


@compiled_allocating
def widen(state: State) -> int:
    """Extends the slice; returns how many nodes are new in it.

    Those are marked NEWLY and get the tracked objects that come over edges, and their own.
    """
    newly = spread(state)
    if newly == 0:
        return 0
    rows, graph, count, log = state.rows, state.graph, state.counters, state.slice
    node, edge = graph.node, graph.edge
    for which in range(count[NODES]):
        if node[which].wanted == NEWLY and not has_row_of_leader(state, which):
            stand_alone(state, which)
    for source in range(count[NODES]):
        first, end = extent(state, source)
        start = end_untracked(state.types.mask, rows.key, first, end)
        if start == end:
            continue
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            target = find(node, edge[at].target)
            if node[target].wanted == NEWLY and node[target].leader != source + 1:
                add_words(
                    rows, graph, count, state.types.mask, target,
                    rows.key, rows.known, start, end - start, edge[at].filter,
                )  # fmt: skip
    key, word = state.scratch.one_key, state.scratch.one_word
    for index in range(count[SEEDS]):
        target = find(node, log.seed_pointer[index])
        if node[target].wanted == NEWLY:
            key[0] = log.seed_object[index] >> 6
            word[0] = ONE << np.uint64(log.seed_object[index] & 63)
            add_words(rows, graph, count, state.types.mask, target, key, word, 0, 1, 0)
    return newly
