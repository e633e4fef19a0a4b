"""Copy edges, and what many of them go through: one node in place of a product of edges.

Where several edges leave one node on the same condition, the first lets what passes into a node of its own, from
which it flows on without one. Where several loads, or stores, name the same field of the same base, one access goes
through a node of its own from which, or to which, the values flow. Such a node stands for no pointer.
"""

from __future__ import annotations

from engine.kernel.compiled import compiled
from engine.kernel.nodes import add_set, find, grow, new_nodes
from engine.kernel.sets import untracked
from engine.kernel.slices import note_edge
from engine.kernel.state import (
    EDGES,
    FULL,
    LIVE_EDGES,
    NEW_EDGES,
    PASSAGE_SLOTS,
    PASSAGES,
    SPENT,
    Counters,
    Graph,
    State,
)
from engine.kernel.words import slot

# The kind of passage from a node on a condition; those of loads and stores are the kinds of use.
FILTER = -1
# The `base` of a node that is a passage.
PASSAGE_NODE = -1


@compiled
def find_passage(graph: Graph, count: Counters, kind: int, start: int, label: int) -> int:
    """Returns the passage of a kind from `start`, which stands for itself, with `label`; -1 if there is none."""
    table = graph.passage
    entry = graph.passage_slot[slot(start, 4 * label + kind, count[PASSAGE_SLOTS])] - 1
    while entry >= 0:
        if table[entry].start == start and table[entry].label == label and table[entry].kind == kind:
            return int(entry)
        entry = table[entry].next - 1
    return -1


@compiled
def link_passage(graph: Graph, count: Counters, entry: int) -> None:
    """Enters a passage in its table."""
    row = graph.passage[entry]
    place = slot(row.start, 4 * row.label + row.kind, count[PASSAGE_SLOTS])
    row.next = graph.passage_slot[place]
    graph.passage_slot[place] = entry + 1


@compiled
def link_passages(graph: Graph, count: Counters) -> None:
    """Enters all passages anew."""
    for place in range(count[PASSAGE_SLOTS]):
        graph.passage_slot[place] = 0
    for entry in range(count[PASSAGES]):
        link_passage(graph, count, entry)


@compiled
def new_passage(graph: Graph, count: Counters, kind: int, start: int, label: int) -> int:
    """Returns a fresh passage, which has no node yet; -1 if there is no room."""
    entry = count[PASSAGES]
    if entry == graph.passage.size:
        count[FULL] = 1
        return -1
    count[PASSAGES] = entry + 1
    row = graph.passage[entry]
    row.kind = kind
    row.start = start
    row.label = label
    row.node = 0
    row.use = 0
    link_passage(graph, count, entry)
    if count[PASSAGES] > count[PASSAGE_SLOTS] and 2 * count[PASSAGE_SLOTS] <= graph.passage_slot.size:
        count[PASSAGE_SLOTS] *= 2
        link_passages(graph, count)
    return int(entry)


@compiled
def open_passage(graph: Graph, count: Counters, entry: int) -> int:
    """Gives a passage its node, and returns it; -1 if there is no room."""
    which = new_nodes(graph, count, 1)
    if which >= 0:
        graph.node[which].base = PASSAGE_NODE
        graph.passage[entry].node = which + 1
    return which


@compiled
def push_edge(graph: Graph, count: Counters, source: int, target: int, condition: int) -> None:
    node, edge, free = graph.node, graph.edge, graph.free
    length = node[source].edges
    size_class = node[source].edge_class
    if size_class == 0 or length == 1 << (size_class - 1):
        at = free[size_class] - 1
        if at >= 0:
            free[size_class] = edge[at].target
        else:
            at = count[EDGES]
            if at + (1 << size_class) > edge.size:
                count[FULL] = 1
                return
            count[EDGES] = at + (1 << size_class)
        had = node[source].edge_at
        for index in range(length):
            edge[at + index].target = edge[had + index].target
            edge[at + index].filter = edge[had + index].filter
        if size_class > 0:
            edge[had].target = free[size_class - 1]
            free[size_class - 1] = had + 1
        node[source].edge_at = at
        node[source].edge_class = size_class + 1
    at = node[source].edge_at + length
    edge[at].target = target
    edge[at].filter = condition
    node[source].edges = length + 1


@compiled
def is_repeated(graph: Graph, source: int, target: int, condition: int) -> bool:
    """Returns whether one of the last few edges is the same: calls of a callee from one region repeat that of its exceptions."""
    end = graph.node[source].edge_at + graph.node[source].edges
    for at in range(max(graph.node[source].edge_at, end - 4), end):
        if graph.edge[at].target == target and graph.edge[at].filter == condition:
            return True
    return False


@compiled
def add_direct(state: State, source: int, target: int, condition: int) -> None:
    """Adds a copy edge between nodes that stand for themselves, and lets what is known flow over it."""
    graph, count = state.graph, state.counters
    if source == target or is_repeated(graph, source, target, condition):
        return
    push_edge(graph, count, source, target, condition)
    note_edge(state, source, target, condition)
    count[LIVE_EDGES] += 1
    count[NEW_EDGES] += 1
    add_set(state.sets, graph, count, state.types.mask, target, graph.node[source].known, condition)


@compiled
def pass_over_edges(state: State, which: int, before: int, after: int, added: int) -> None:
    """Lets a set flow over the copy edges of a node, which makes `after` of what went before over them."""
    sets, graph, count, mask = state.sets, state.graph, state.counters, state.types.mask
    node = graph.node
    start, edges = node[which].edge_at, node[which].edges
    count[SPENT] += 8 * edges
    denying = untracked(sets, count, mask, after) != after
    for at in range(start, start + edges):
        target = find(node, graph.edge[at].target)
        condition, known = graph.edge[at].filter, node[target].known
        if target == which or (condition == 0 and known == after):
            continue  # it lacks nothing
        if condition == 0 and known == before and (node[target].wanted or not denying):
            grow(sets, graph, count, target, after, added)  # as most do: they have the same objects
        else:
            add_set(sets, graph, count, mask, target, added, condition)


# PointsTo(x, o) :- Assign(y, x), PointsTo(y, o).            condition 0
# PointsTo(x, o) :- Cast(y, t, x), PointsTo(y, o), o <: t.   condition > 0
@compiled
def add_edge(state: State, source: int, target: int, condition: int) -> None:
    """Adds a copy edge; the second on a condition opens a passage, through which those after it go."""
    graph, count = state.graph, state.counters
    source = find(graph.node, source)
    target = find(graph.node, target)
    if source == target:
        return
    if condition > 0:
        place = find_passage(graph, count, FILTER, source, condition)
        if place < 0:
            place = new_passage(graph, count, FILTER, source, condition)
        else:
            through = graph.passage[place].node - 1
            if through < 0:
                if is_repeated(graph, source, target, condition):
                    return
                through = open_passage(graph, count, place)
                if through < 0:
                    return
                add_direct(state, source, through, condition)
            source, condition = find(graph.node, through), 0
    add_direct(state, source, target, condition)
