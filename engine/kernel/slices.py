"""The slice: pointers from which a watched pointer can be reached, where tracked objects are told apart.

Wanted(x) :- Watch(x, _).
Wanted(y) :- Wanted(x), Assign(y, x).         Likewise what else is copied, but for AssignUntracked.
Wanted(y) :- Wanted(this_m), VirtualInvoke(s, y, g), PointsTo(y, o), Generic(t, o), Select(t, g, m).

It grows against the copy edges: those to nodes outside it are noted by their target, and those that lead into it from
outside by their source.
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled
from engine.kernel.nodes import add_set, find
from engine.kernel.sets import UNTRACKED, set_of_one, tracked
from engine.kernel.state import (
    CROSSINGS,
    FULL,
    NEWCOMERS,
    NODES,
    PREDECESSORS,
    RECEIVERS,
    ROOTS,
    SEEDS,
    State,
)

NEWLY = 2


@compiled
def note_edge(state: State, source: int, target: int, condition: int) -> None:
    """Notes a copy edge against which the slice may grow."""
    graph, log, count = state.graph, state.slice, state.counters
    node = graph.node
    if condition == UNTRACKED:
        return
    if not node[target].wanted:
        entry = count[PREDECESSORS]
        if entry == graph.predecessor.size:
            count[FULL] = 1
            return
        count[PREDECESSORS] = entry + 1
        row = graph.predecessor[entry]
        row.source = source
        row.filter = condition
        row.next = node[target].first_predecessor
        node[target].first_predecessor = entry + 1
    elif not node[source].wanted:
        if count[CROSSINGS] == log.crossing.size:
            count[FULL] = 1
            return
        log.crossing[count[CROSSINGS]] = source
        count[CROSSINGS] += 1


@compiled
def note_edges(state: State) -> None:
    """Notes all copy edges anew."""
    node, edge, count = state.graph.node, state.graph.edge, state.counters
    count[PREDECESSORS] = count[CROSSINGS] = 0
    for which in range(count[NODES]):
        node[which].first_predecessor = 0
    for source in range(count[NODES]):
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            note_edge(state, source, np.int64(edge[at].target), np.int64(edge[at].filter))


@compiled
def want(state: State, which: int) -> None:
    """Wanted(which), a newcomer unless that was known."""
    node, count = state.graph.node, state.counters
    if not node[which].wanted:
        node[which].wanted = NEWLY
        state.slice.newcomer[count[NEWCOMERS]] = which
        count[NEWCOMERS] += 1


@compiled
def spread(state: State) -> None:
    """Extends the slice against the copy edges and receivers that there are."""
    calls, graph, log, count = state.calls, state.graph, state.slice, state.counters
    node = graph.node
    for index in range(count[ROOTS]):
        want(state, find(node, log.root[index]))
    for index in range(count[CROSSINGS]):
        want(state, np.int64(log.crossing[index]))
    count[CROSSINGS] = 0
    taken = 0
    while True:
        before = count[NEWCOMERS]
        for index in range(count[RECEIVERS]):
            if node[find(node, calls.method[log.receiver_callee[index]].first)].wanted:
                want(state, find(node, calls.site[log.receiver_site[index]].receiver))
        if count[NEWCOMERS] == before == taken:
            return
        while taken < count[NEWCOMERS]:
            entry = node[log.newcomer[taken]].first_predecessor
            taken += 1
            while entry > 0:
                want(state, np.int64(graph.predecessor[entry - 1].source))
                entry = graph.predecessor[entry - 1].next


@compiled
def widen(state: State) -> int:
    """Extends the slice; returns how many nodes are new in it.

    Those are marked NEWLY and get the tracked objects that come over edges, and their own.
    """
    spread(state)
    sets, graph, count, log = state.sets, state.graph, state.counters, state.slice
    node, mask = graph.node, state.types.mask
    newly = count[NEWCOMERS]
    if newly == 0:
        return 0
    for index in range(newly):
        target = np.int64(log.newcomer[index])
        entry = node[target].first_predecessor
        while entry > 0:
            edge = graph.predecessor[entry - 1]
            known = tracked(sets, count, mask, np.int64(node[edge.source].known))
            if known:
                add_set(sets, graph, count, mask, target, known, np.int64(edge.filter))
            entry = edge.next
    for index in range(count[SEEDS]):
        target = find(node, log.seed_pointer[index])
        if node[target].wanted == NEWLY:
            seed = set_of_one(sets, count, np.int64(log.seed_object[index]))
            add_set(sets, graph, count, mask, target, seed, 0)
    return int(newly)
