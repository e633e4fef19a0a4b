"""Nodes of the constraint graph and their points-to sets: what they have, and have still to pass on."""

from __future__ import annotations

import numpy as np

from engine.kernel.compiled import compiled
from engine.kernel.sets import join, passing, untracked
from engine.kernel.state import DIRTY, FULL, NODES, Counters, Graph, Masks, Nodes, Sets, Words
from engine.kernel.words import ONE, ZERO


@compiled
def find(node: Nodes, which: int) -> int:
    """Returns the node that stands for `which`."""
    while node[which].parent != which:
        node[which].parent = node[node[which].parent].parent
        which = node[which].parent
    return which


@compiled
def mark_dirty(node: Nodes, dirty: Words, count: Counters, which: int) -> None:
    rank = node[which].rank
    bit = ONE << np.uint64(rank & 63)
    if dirty[rank >> 6] & bit == ZERO:
        dirty[rank >> 6] |= bit
        count[DIRTY] += 1


@compiled
def grow(sets: Sets, graph: Graph, count: Counters, which: int, together: int, lacking: int) -> None:
    """Has a node know the set `together`, of which it lacked some objects until now."""
    row = graph.node[which]
    row.known = together
    if row.edges == 0 and row.first_use == 0:
        row.passed = together  # there is nothing to pass them on to
        return
    if row.fresh == 0:
        row.fresh = lacking
    else:
        fresh, _ = join(sets, count, row.fresh, lacking)
        row.fresh = fresh
    mark_dirty(graph.node, graph.dirty, count, which)


@compiled
def add_set(
    sets: Sets, graph: Graph, count: Counters, mask: Masks, which: int, added: int, condition: int
) -> None:
    """PointsTo(which, o) for the objects o of a set that pass `condition`."""
    known = np.int64(graph.node[which].known)
    if added == known:
        return
    if not graph.node[which].wanted:
        added = untracked(sets, count, mask, added)
    added = passing(sets, count, mask, added, condition)
    together, lacking = join(sets, count, known, added)
    if lacking:
        grow(sets, graph, count, which, together, lacking)


@compiled
def new_nodes(graph: Graph, count: Counters, number: int) -> int:
    """Returns the first of `number` fresh nodes."""
    first = count[NODES]
    if count[FULL] or first + number > graph.node.size:
        count[FULL] = 1
        return -1
    for which in range(first, first + number):
        graph.node[which].parent = which
        graph.node[which].rank = which
        graph.at[which] = which
    count[NODES] = first + number
    return first
