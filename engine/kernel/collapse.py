"""Cycles of copy edges: their nodes have equal points-to sets, so one node stands for each."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled_allocating
from engine.kernel.edges import push_edge
from engine.kernel.nodes import add_set, find
from engine.kernel.slices import note_edges
from engine.kernel.state import (
    COLLAPSED,
    COLLAPSES,
    DIRTY,
    LIVE_EDGES,
    NEW_EDGES,
    NODES,
    Counters,
    Graph,
    Keys,
    State,
)
from engine.kernel.words import ONE


@compiled_allocating
def components(graph: Graph, number: int, component: Keys, order: Keys) -> int:
    """Finds the strongly connected components of the unconditional copy edges (Tarjan).

    `component[v]` becomes the representative of v's component, `order` lists the representatives in reverse
    topological order. Returns how many there are.
    """
    node, edge = graph.node, graph.edge
    index = np.zeros(number, np.int32)
    low = np.zeros(number, np.int32)
    stack = np.empty(number, np.int32)
    path = np.empty(number, np.int32)
    position = np.zeros(number, np.int32)
    stacked = 0
    counter = 0
    found = 0
    for root in range(number):
        if node[root].parent != root or index[root]:
            continue
        counter += 1
        index[root] = counter
        low[root] = counter
        component[root] = -1
        stack[stacked] = root
        stacked += 1
        path[0] = root
        depth = 1
        while depth:
            which = path[depth - 1]
            if position[which] < node[which].edges:
                at = node[which].edge_at + position[which]
                position[which] += 1
                if edge[at].filter != 0:
                    continue
                target = find(node, edge[at].target)
                if index[target] == 0:
                    counter += 1
                    index[target] = counter
                    low[target] = counter
                    component[target] = -1
                    stack[stacked] = target
                    stacked += 1
                    path[depth] = target
                    depth += 1
                elif component[target] < 0 and index[target] < low[which]:
                    low[which] = index[target]
                continue
            depth -= 1
            if depth and low[which] < low[path[depth - 1]]:
                low[path[depth - 1]] = low[which]
            if low[which] == index[which]:
                while True:
                    stacked -= 1
                    component[stack[stacked]] = which
                    if stack[stacked] == which:
                        break
                order[found] = which
                found += 1
    return found


@compiled_allocating
def rank_nodes(graph: Graph, count: Counters, component: Keys, order: Keys, found: int) -> None:
    """Ranks representatives topologically, before the others; dirty nodes stay dirty."""
    node, number = graph.node, count[NODES]
    dirty = np.zeros((number >> 6) + 1, np.uint64)
    waiting = 0
    fresh = np.empty(number, np.int32)
    for place in range(found):
        fresh[order[place]] = found - 1 - place
    last = found
    for which in range(number):
        if node[which].parent != which or component[which] != which:
            fresh[which] = last
            last += 1
        else:
            rank = node[which].rank
            if graph.dirty[rank >> 6] >> np.uint64(rank & 63) & ONE:
                dirty[fresh[which] >> 6] |= ONE << np.uint64(fresh[which] & 63)
                waiting += 1
    for which in range(number):
        node[which].rank = fresh[which]
        graph.at[fresh[which]] = which
    graph.dirty[: dirty.size] = dirty
    count[DIRTY] = waiting


@compiled_allocating
def compact_edges(graph: Graph, count: Counters) -> None:
    """Maps targets to representatives; drops edges to the node itself and most repeated ones.

    What is kept of repeated ones are those to one target whose conditions alternate.
    """
    node, edge = graph.node, graph.edge
    seen = np.full(count[NODES], -1, np.int32)
    seen_on = np.zeros(count[NODES], np.int32)
    total = 0
    for which in range(count[NODES]):
        if node[which].edges == 0:
            continue
        start = node[which].edge_at
        kept = start
        for at in range(start, start + node[which].edges):
            target = find(node, edge[at].target)
            condition = edge[at].filter
            if target == which:
                continue
            if seen[target] == which and seen_on[target] == condition:
                continue
            seen[target] = which
            seen_on[target] = condition
            edge[kept].target = target
            edge[kept].filter = condition
            kept += 1
        node[which].edges = kept - start
        total += kept - start
    count[LIVE_EDGES] = total
    count[NEW_EDGES] = 0


@compiled_allocating
def collapse(state: State) -> Keys:
    """Lets one node stand for each cycle: sets united, edges joined.

    Returns `chain`: from a representative over `chain[v]` to every node that it now stands for, -1 at the
    end. Those keep their sets and uses: the caller has still to apply the uses to what the others knew.
    """
    sets, graph, count = state.sets, state.graph, state.counters
    node, number = graph.node, count[NODES]
    count[COLLAPSES] += 1
    component = np.full(number, -1, np.int32)
    order = np.empty(number, np.int32)
    found = components(graph, number, component, order)
    rank_nodes(graph, count, component, order, found)
    chain = np.full(number, -1, np.int32)
    denied = np.zeros(number, np.uint8)
    for which in range(number):
        into = component[which]
        if node[which].parent != which:
            continue
        if not node[which].wanted:
            denied[into] = 1
        if into == which:
            continue
        chain[which] = chain[into]
        chain[into] = which
    for which in range(number):
        into = component[which]
        if node[which].parent != which or into == which:
            continue
        node[which].parent = into
        node[into].wanted = 1  # so that it takes the tracked objects of this node
        count[COLLAPSED] += 1
        add_set(sets, graph, count, state.types.mask, into, np.int64(node[which].known), 0)
        for at in range(node[which].edge_at, node[which].edge_at + node[which].edges):
            push_edge(graph, count, into, graph.edge[at].target, graph.edge[at].filter)
        if node[which].edge_class > 0:
            size_class = node[which].edge_class - 1
            graph.edge[node[which].edge_at].target = graph.free[size_class]
            graph.free[size_class] = node[which].edge_at + 1
        node[which].edges = 0
        node[which].edge_class = 0
    for which in range(number):
        if denied[which]:
            node[which].wanted = 0  # until the next slice: it lacks what some node was denied
    compact_edges(graph, count)
    note_edges(state)
    return chain
