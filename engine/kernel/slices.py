"""The slice: pointers from which a watched pointer can be reached, where tracked objects are told apart.

Wanted(x) :- Watch(x, _).
Wanted(y) :- Wanted(x), Assign(y, x).         Likewise what else is copied, but for AssignUntracked.
Wanted(y) :- Wanted(this_m), VirtualInvoke(s, y, g), PointsTo(y, o), Generic(t, o), Select(t, g, m).
"""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled, compiled_allocating
from engine.kernel.graph import TRACKED_MASK
from engine.kernel.rows import ONE, add_words, find
from engine.kernel.state import NODES, RECEIVERS, ROOTS, SEEDS, State

NEWLY = 2
# The condition of an edge over which no tracked object goes.
UNTRACKED = -TRACKED_MASK - 1


@compiled
def is_closed(state: State) -> bool:
    """Returns whether no node outside the slice is a root or has an edge into it."""
    node, edge, calls, log = state.graph.node, state.graph.edge, state.calls, state.slice
    for index in range(state.counters[ROOTS]):
        if not node[find(node, log.root[index])].wanted:
            return False
    for index in range(state.counters[RECEIVERS]):
        this = calls.method[log.receiver_callee[index]].first
        receiver = calls.site[log.receiver_site[index]].receiver
        if node[find(node, this)].wanted and not node[find(node, receiver)].wanted:
            return False
    for source in range(state.counters[NODES]):
        if not node[source].wanted:
            for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
                if node[find(node, edge[at].target)].wanted and edge[at].filter != UNTRACKED:
                    return False
    return True


@compiled_allocating
def widen(state: State) -> int:
    """Extends the slice along the copy edges and receivers that there are; returns how many nodes are new in it.

    Those are marked NEWLY and get the tracked objects that come over edges, and their own.
    """
    if is_closed(state):
        return 0
    rows, graph, count, wider, calls = state.rows, state.graph, state.counters, state.slice, state.calls
    node, edge, number = graph.node, graph.edge, count[NODES]
    tracked = state.types.mask.shape[1] >> 1
    first = np.zeros(number + 1, np.int64)
    for source in range(number):
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            first[find(node, edge[at].target) + 1] += 1
    for index in range(count[RECEIVERS]):
        first[find(node, calls.method[wider.receiver_callee[index]].first) + 1] += 1
    for target in range(number):
        first[target + 1] += first[target]
    filled = first[:-1].copy()
    origin = np.empty(first[number], np.int32)
    through = np.empty(first[number], np.int64)
    for source in range(number):
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            target = find(node, edge[at].target)
            origin[filled[target]] = source
            through[filled[target]] = at
            filled[target] += 1
    for index in range(count[RECEIVERS]):
        target = find(node, calls.method[wider.receiver_callee[index]].first)
        origin[filled[target]] = find(node, calls.site[wider.receiver_site[index]].receiver)
        through[filled[target]] = -1
        filled[target] += 1
    seen = np.zeros(number, np.uint8)
    stack = np.empty(number, np.int32)
    depth = 0
    for index in range(count[ROOTS]):
        root = find(node, wider.root[index])
        if not seen[root]:
            seen[root] = 1
            stack[depth] = root
            depth += 1
    newly = 0
    while depth:
        depth -= 1
        target = stack[depth]
        if not node[target].wanted:
            node[target].wanted = NEWLY
            newly += 1
        for index in range(first[target], first[target + 1]):
            source = origin[index]
            if not seen[source] and (through[index] < 0 or edge[through[index]].filter != UNTRACKED):
                seen[source] = 1
                stack[depth] = source
                depth += 1
    if newly == 0:
        return 0
    for target in range(number):
        if node[target].wanted != NEWLY or node[target].parent != target:
            continue
        for index in range(first[target], first[target + 1]):
            if through[index] < 0:
                continue  # no edge: dispatch says which receivers come
            source = origin[index]
            end = node[source].row_at + node[source].row_length
            start = end
            while start > node[source].row_at and rows.key[start - 1] >= tracked:
                start -= 1
            if start < end:
                add_words(
                    rows, graph, count, state.types.mask, target,
                    rows.key, rows.known, start, end - start, edge[through[index]].filter,
                )  # fmt: skip
    key, word = state.scratch.one_key, state.scratch.one_word
    for index in range(count[SEEDS]):
        target = find(node, wider.seed_pointer[index])
        if node[target].wanted == NEWLY:
            key[0] = wider.seed_object[index] >> 6
            word[0] = ONE << np.uint64(wider.seed_object[index] & 63)
            add_words(rows, graph, count, state.types.mask, target, key, word, 0, 1, 0)
    return newly
