"""What follows when bases become one: their uses see what the others knew, and are one where they are the same."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled
from engine.kernel.edges import FILTER, add_edge, find_passage, link_passages, new_passage, pass_over_edges
from engine.kernel.nodes import find
from engine.kernel.sets import join
from engine.kernel.state import FULL, PASSAGES, Keys, State
from engine.kernel.uses import apply_opened, apply_uses, open_access, withdraw


@compiled
def flush_node(state: State, which: int, known: int) -> None:
    """Applies the uses of a collapsed node to those of a set that it had not passed on itself."""
    node = state.graph.node
    if node[which].first_use > 0:
        _, rest = join(state.sets, state.counters, np.int64(node[which].passed), known)
        apply_uses(state, np.int64(node[which].first_use), rest)


@compiled
def merge_access(state: State, kept: int, through: int, use: int) -> None:
    """Has what another passage loads, or stores, go through the node of the one that is kept."""
    passage = state.graph.passage[kept]
    if passage.node == 0 and through > 0:
        direct = passage.use
        passage.node, passage.use = through, use
        use = direct
    elif passage.node == 0 and not open_access(state, kept):
        return
    withdraw(state, use, passage.node - 1)


@compiled
def merge_passages(state: State) -> None:
    """Lets each field of a base be accessed once, now that several bases are one, and values pass a condition once."""
    graph, count = state.graph, state.counters
    table, number = graph.passage, count[PASSAGES]
    count[PASSAGES] = 0
    link_passages(graph, count)
    for index in range(number):
        kind, label, through, use = table[index].kind, table[index].label, table[index].node, table[index].use
        start = find(graph.node, table[index].start)
        kept = find_passage(graph, count, kind, start, label)
        if kept < 0:
            kept = new_passage(graph, count, kind, start, label)
            table[kept].node = through
            table[kept].use = use
        elif kind != FILTER:
            merge_access(state, kept, through, use)
        elif table[kept].node == 0:
            table[kept].node = through
        elif through > 0:  # both have the same objects: they become one when cycles are collapsed next
            add_edge(state, table[kept].node - 1, through - 1, 0)
            add_edge(state, through - 1, table[kept].node - 1, 0)
        if count[FULL]:
            return


@compiled
def flush_merged(state: State, chain: Keys) -> None:
    """Lets the uses of every node of a collapsed cycle see what the others knew, then joins their uses."""
    graph, count = state.graph, state.counters
    node = graph.node
    merge_passages(state)
    for into in range(chain.size):
        if chain[into] < 0 or node[into].parent != into:
            continue
        known = np.int64(node[into].known)
        flush_node(state, into, known)
        which = np.int64(chain[into])
        while which >= 0:
            flush_node(state, which, known)
            node[which].known = 0
            node[which].passed = 0
            node[which].fresh = 0
            if node[which].first_use > 0:
                if node[into].first_use == 0:
                    node[into].first_use = node[which].first_use
                else:
                    graph.use[node[into].last_use - 1].next = node[which].first_use
                node[into].last_use = node[which].last_use
                node[which].first_use = 0
            which = np.int64(chain[which])
        # What came to it meanwhile is still to be passed on.
        _, fresh = join(state.sets, count, known, np.int64(node[into].known))
        node[into].passed = known
        node[into].fresh = fresh
        pass_over_edges(state, into, 0, known, known)
    # What was opened as bases became one: only now was all that is known of these passed on.
    for place in range(count[PASSAGES]):
        passage = state.graph.passage[place]
        if passage.kind != FILTER and passage.use == 0 and passage.node > 0:
            apply_opened(state, place)
