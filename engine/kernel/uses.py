"""What each new object does at its pointer: loads, stores, calls, and reports to who watches it."""

from __future__ import annotations

import numpy as np

from cypher.schema import SPECIAL, VIRTUAL
from engine.kernel.calls import call_special, call_virtual
from engine.kernel.compiled import compiled
from engine.kernel.edges import PASSAGE_NODE, add_edge, find_passage, new_passage, open_passage
from engine.kernel.graph import condition_of, field_node, next_stamp
from engine.kernel.nodes import add_set, find, new_nodes
from engine.kernel.sets import set_of_one
from engine.kernel.state import (
    FULL,
    GROUP_MISSES,
    GROUP_SLOTS,
    SPENT,
    USE_CALL,
    USE_LOAD,
    USE_NONE,
    USE_STORE,
    USE_WATCH,
    USES,
    WATCHED,
    State,
)
from engine.kernel.words import ONE, bits, lowest_bit, slot

# Accesses of fewer fields at once share no edges.
FEW_FIELDS = 4


@compiled
def access_each(state: State, field: int, other: int, storing: bool, objects: int) -> None:
    """Adds the edges between `other` and `field` of each object of a set, once a node."""
    sets, types, graph, count = state.sets, state.types, state.graph, state.counters
    node, tracked = graph.node, types.mask.shape[1] >> 1
    stamp = next_stamp(state)
    start = sets.set[objects].at
    for at in range(start, start + sets.set[objects].length):
        word = sets.word[at]
        if sets.key[at] >= tracked:
            return
        base = np.int64(sets.key[at]) << 6
        count[SPENT] += 16
        while word:
            obj = base + lowest_bit(word)
            word &= word - ONE
            which = field_node(graph, count, obj, field)
            if which < 0:
                return
            condition = 0
            if storing and field == 0:
                element = types.type[types.object[obj].type].element
                condition = condition_of(types, count, element)
                if count[FULL]:
                    return
            if node[which].parent != which:
                which = find(node, which)
                if condition == 0:
                    if node[which].mark == stamp:
                        continue
                    node[which].mark = stamp
            if storing:
                add_edge(state, other, which, condition)
            else:
                add_edge(state, which, other, 0)


@compiled
def group_of(state: State, field: int, storing: bool, objects: int) -> int:
    """Returns the node through which accesses of `field` of a set of objects go; -1 if this is the first of them."""
    sets, graph, count = state.sets, state.graph, state.counters
    start = sets.set[objects].at
    if sets.set[objects].length == 1 and bits(sets.word[start]) < FEW_FIELDS:
        return -1
    if count[GROUP_MISSES] > count[GROUP_SLOTS] and 2 * count[GROUP_SLOTS] <= graph.group.size:
        count[GROUP_SLOTS] *= 2
        count[GROUP_MISSES] = 0
    label = 2 * field + storing
    row = graph.group[slot(objects, label, count[GROUP_SLOTS])]
    if row.set != objects or row.label != label:
        count[GROUP_MISSES] += 1
        row.set = objects
        row.label = label
        row.node = 0
        return -1
    if row.node == 0:
        which = new_nodes(graph, count, 1)
        if which < 0:
            return -1
        graph.node[which].base = PASSAGE_NODE
        row.node = which + 1
        access_each(state, field, which, storing, objects)
    return int(row.node) - 1


# Assign(o.f, x) :- Load(y, f, x), PointsTo(y, o).
# Assign(x, o.f) :- Store(x, f, y), PointsTo(y, o).   Into an array: only what its element type admits.
# Tracked objects have no fields: the generic object that goes with them has.
@compiled
def access_field(state: State, field: int, other: int, storing: bool, objects: int) -> None:
    """Lets values flow between `other` and `field` of a set of objects: accesses of the same share their edges."""
    through = group_of(state, field, storing, objects)
    if through < 0:
        access_each(state, field, other, storing, objects)
    elif storing:
        add_edge(state, other, through, 0)
    else:
        add_edge(state, through, other, 0)


@compiled
def report(state: State, tag: int, objects: int) -> None:
    """Logs what is new at a watched pointer."""
    sets, scratch, count = state.sets, state.scratch, state.counters
    start = sets.set[objects].at
    for place in range(start, start + sets.set[objects].length):
        word = sets.word[place]
        while word:
            at = count[WATCHED]
            if at == scratch.watched_tag.size:
                count[FULL] = 1
                return
            scratch.watched_tag[at] = tag
            scratch.watched_object[at] = (np.int64(sets.key[place]) << 6) + lowest_bit(word)
            word &= word - ONE
            count[WATCHED] = at + 1


@compiled
def apply_uses(state: State, use: int, objects: int) -> None:
    """Applies the chain of uses that starts at `use` (plus one) to a set of objects."""
    uses, count = state.graph.use, state.counters
    if objects == 0:
        return
    while use > 0:
        kind = uses[use - 1].kind
        count[SPENT] += 16
        if kind in (USE_LOAD, USE_STORE):
            access_field(state, uses[use - 1].detail, uses[use - 1].other, kind == USE_STORE, objects)
        elif kind == USE_WATCH:
            report(state, uses[use - 1].detail, objects)
        elif kind == USE_CALL:
            if state.calls.site[uses[use - 1].detail].kind == VIRTUAL:
                call_virtual(state, uses[use - 1].detail, objects)
            elif state.calls.site[uses[use - 1].detail].kind == SPECIAL:
                call_special(state, uses[use - 1].detail)
        use = uses[use - 1].next


@compiled
def add_object(state: State, which: int, obj: int) -> None:
    """PointsTo(which, obj)."""
    if obj < 0:
        return
    which = find(state.graph.node, which)
    added = set_of_one(state.sets, state.counters, obj)
    add_set(state.sets, state.graph, state.counters, state.types.mask, which, added, 0)


@compiled
def let_flow(state: State, kind: int, through: int, other: int) -> None:
    """Lets values flow between the node of an access and what is loaded, or stored."""
    if kind == USE_LOAD:
        add_edge(state, through, other, 0)
    else:
        add_edge(state, other, through, 0)


@compiled
def withdraw(state: State, use: int, through: int) -> None:
    """Ends a use (plus one), a load or store, whose values flow through another access from now on."""
    uses = state.graph.use
    let_flow(state, uses[use - 1].kind, through, uses[use - 1].other)
    uses[use - 1].kind = USE_NONE


@compiled
def add_use(state: State, base: int, kind: int, detail: int, other: int) -> int:
    """Adds a use of `base`, applies it to the objects that were already passed on, and returns it; -1 without room."""
    graph, count = state.graph, state.counters
    node = graph.node
    entry = count[USES]
    if entry == graph.use.size:
        count[FULL] = 1
        return -1
    count[USES] = entry + 1
    graph.use[entry].kind = kind
    graph.use[entry].detail = detail
    graph.use[entry].other = other
    graph.use[entry].next = 0
    which = find(node, base)
    if node[which].first_use == 0:
        node[which].first_use = entry + 1
    else:
        graph.use[node[which].last_use - 1].next = entry + 1
    node[which].last_use = entry + 1
    apply_uses(state, entry + 1, np.int64(node[which].passed))
    return int(entry)


@compiled
def apply_opened(state: State, place: int) -> None:
    """Adds the access of a passage that was opened."""
    passage = state.graph.passage[place]
    passage.use = add_use(state, passage.start, passage.kind, passage.label, passage.node - 1) + 1


@compiled
def open_access(state: State, place: int) -> bool:
    """Has the one access of a passage go through a node from now on: see apply_opened; returns whether there is room."""
    passage = state.graph.passage[place]
    first = passage.use
    if open_passage(state.graph, state.counters, place) < 0:
        return False
    passage.use = 0
    withdraw(state, first, passage.node - 1)
    return True


@compiled
def add_access(state: State, base: int, kind: int, field: int, other: int) -> None:
    """Adds a load or store of `field` of `base`; the second opens a passage, through which all go."""
    graph, count = state.graph, state.counters
    base = find(graph.node, base)
    place = find_passage(graph, count, kind, base, field)
    if place < 0:
        place = new_passage(graph, count, kind, base, field)
        if place >= 0:
            graph.passage[place].use = add_use(state, base, kind, field, other) + 1
        return
    if graph.passage[place].node == 0:
        if not open_access(state, place):
            return
        apply_opened(state, place)
    let_flow(state, kind, graph.passage[place].node - 1, other)
