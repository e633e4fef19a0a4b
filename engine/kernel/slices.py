"""The slice: pointers from which a watched pointer can be reached, where tracked objects are told apart.

Wanted(x) :- Watch(x, _).
Wanted(y) :- Wanted(x), Assign(y, x).         Likewise what else is copied, but for AssignUntracked.
Wanted(y) :- Wanted(this_m), VirtualInvoke(s, y, g), PointsTo(y, o), Generic(t, o), Select(t, g, m).
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, compiled_allocating
from engine.kernel.nodes import add_set, find
from engine.kernel.sets import UNTRACKED, set_of_one, tracked
from engine.kernel.state import NODES, RECEIVERS, ROOTS, SEEDS, Counters, Keys, State

NEWLY = 2


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
    sets, graph, count, log = state.sets, state.graph, state.counters, state.slice
    node, edge, mask = graph.node, graph.edge, state.types.mask
    for source in range(count[NODES]):
        known = tracked(sets, count, mask, np.int64(node[source].known))
        if known == 0:
            continue
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            target = find(node, edge[at].target)
            if node[target].wanted == NEWLY:
                add_set(sets, graph, count, mask, target, known, edge[at].filter)
    for index in range(count[SEEDS]):
        target = find(node, log.seed_pointer[index])
        if node[target].wanted == NEWLY:
            seed = set_of_one(sets, count, np.int64(log.seed_object[index]))
            add_set(sets, graph, count, mask, target, seed, 0)
    return newly
