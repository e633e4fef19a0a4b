"""The slice: pointers from which a watched pointer can be reached, where tracked objects are told apart.

Wanted(x) :- Watch(x, _).
Wanted(y) :- Wanted(x), Assign(y, x).         Likewise what else is copied, but for AssignUntracked.
Wanted(y) :- Wanted(this_m), VirtualInvoke(s, y, g), PointsTo(y, o), Generic(t, o), Select(t, g, m).
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled
from engine.kernel.graph import TRACKED_MASK
from engine.kernel.rows import ONE, add_words, find
from engine.kernel.state import NODES, RECEIVERS, ROOTS, SEEDS, State

NEWLY = 2
# The condition of an edge over which no tracked object goes.
UNTRACKED = -TRACKED_MASK - 1


@compiled
def want(state: State, which: int) -> int:
    """Wanted(which); returns how many nodes are new in the slice by it."""
    node = state.graph.node
    if node[which].wanted:
        return 0
    node[which].wanted = NEWLY
    return 1


@compiled
def is_wanted_beyond(state: State, source: int) -> bool:
    """Returns whether an edge leads from `source` into the slice."""
    node, edge = state.graph.node, state.graph.edge
    for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
        if node[find(node, edge[at].target)].wanted and edge[at].filter != UNTRACKED:
            return True
    return False


@compiled
def spread(state: State) -> int:
    """Extends the slice against the copy edges and receivers that there are; returns how many nodes are new in it.

    Edges lead from lower to higher ranks, but for cycles and for what came since ranks were given. So a pass
    from above finds nearly everything, and passes in turn from above and from below find the rest.
    """
    graph, calls, log, number = state.graph, state.calls, state.slice, state.counters[NODES]
    node = graph.node
    total = 0
    for index in range(state.counters[ROOTS]):
        total += want(state, find(node, log.root[index]))
    place, step = number - 1, -1
    while True:
        newly = 0
        for index in range(state.counters[RECEIVERS]):
            if node[find(node, calls.method[log.receiver_callee[index]].first)].wanted:
                newly += want(state, find(node, calls.site[log.receiver_site[index]].receiver))
        while 0 <= place < number:
            source = graph.at[place]
            if not node[source].wanted and is_wanted_beyond(state, source):
                newly += want(state, source)
            place += step
        if newly == 0:
            return total
        total += newly
        place, step = (number - 1, -1) if step > 0 else (0, 1)


@compiled
def widen(state: State) -> int:
    """Extends the slice; returns how many nodes are new in it.

    Those are marked NEWLY and get the tracked objects that come over edges, and their own.
    """
    newly = spread(state)
    if newly == 0:
        return 0
    rows, graph, count, log = state.rows, state.graph, state.counters, state.slice
    node, edge = graph.node, graph.edge
    tracked = state.types.mask.shape[1] >> 1
    for source in range(count[NODES]):
        end = node[source].row_at + node[source].row_length
        start = end
        while start > node[source].row_at and rows.key[start - 1] >= tracked:
            start -= 1
        if start == end:
            continue
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            target = find(node, edge[at].target)
            if node[target].wanted == NEWLY:
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
