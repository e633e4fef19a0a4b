"""The slice: pointers from which a watched pointer can be reached, where tracked objects are told apart.

Wanted(x) :- Watch(x, _).
Wanted(y) :- Wanted(x), Assign(y, x).         Likewise casts and what else is copied.
Wanted(y) :- Wanted(this_m), Calls(s, m), VirtualInvoke(s, y, _).
"""

from __future__ import annotations

import numpy as np

from cypher.schema import VIRTUAL
from engine.kernel.compiled import compiled_allocating
from engine.kernel.rows import ONE, add_words, find
from engine.kernel.state import CALLS, NODES, ROOTS, SEEDS, State

NEWLY = 2


@compiled_allocating
def widen(state: State) -> int:
    """Extends the slice along the copy edges and receivers that there are; returns how many nodes are new in it.

    Those are marked NEWLY and get the tracked objects that come over edges, and their own.
    """
    rows, graph, count, wider, calls = state.rows, state.graph, state.counters, state.slice, state.calls
    node, edge, number = graph.node, graph.edge, count[NODES]
    tracked = state.types.mask.shape[1] >> 1
    first = np.zeros(number + 1, np.int64)
    for source in range(number):
        for at in range(node[source].edge_at, node[source].edge_at + node[source].edges):
            first[find(node, edge[at].target) + 1] += 1
    for index in range(count[CALLS]):
        site = calls.call[index].site
        if calls.site[site].kind == VIRTUAL and calls.site[site].receiver >= 0:
            first[find(node, calls.method[calls.call[index].callee].first) + 1] += 1
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
    for index in range(count[CALLS]):
        site = calls.call[index].site
        if calls.site[site].kind == VIRTUAL and calls.site[site].receiver >= 0:
            target = find(node, calls.method[calls.call[index].callee].first)
            origin[filled[target]] = find(node, calls.site[site].receiver)
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
            if not seen[source]:
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
