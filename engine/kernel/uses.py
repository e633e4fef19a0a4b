"""What each new object does at its pointer: loads, stores, and the call graph on the fly."""

from __future__ import annotations

import numpy as np

from cypher.schema import SPECIAL, STATIC, VIRTUAL
from engine.kernel.compiled import compiled
from engine.kernel.edges import PASSAGE_NODE, add_edge, find_passage, new_passage, open_passage
from engine.kernel.graph import condition_of, field_node, next_stamp, select
from engine.kernel.nodes import add_set, find, new_nodes
from engine.kernel.parts import part_by_type
from engine.kernel.sets import MANY_RUNS, contains, forget_dispatches, set_of_one
from engine.kernel.state import (
    CALL_SLOTS,
    CALLS,
    DISPATCH_MISSES,
    DISPATCH_SLOTS,
    FULL,
    GROUP_MISSES,
    GROUP_SLOTS,
    REACHED,
    RECEIVERS,
    RUNS,
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

SPECIAL_MADE = 3
# Accesses of fewer fields at once share no edges.
FEW_FIELDS = 4


@compiled
def reach(state: State, which: int) -> None:
    """Reachable(which); its variables become nodes."""
    method, count = state.calls.method, state.counters
    if method[which].reached:
        return
    first = new_nodes(state.graph, count, method[which].variables)
    if first < 0:
        return
    method[which].reached = 1
    method[which].first = first
    state.calls.reached[count[REACHED]] = which
    count[REACHED] += 1


# Assign(a, p) :- Calls(s, m), Argument(s, i, a), Parameter(m, i, p).
# Assign(r, x) :- Calls(s, m), Returns(m, r), Result(s, x).       Likewise what m throws.
# Assign(a, x) :- Calls(s, m), ReturnsParameter(m, i), Argument(s, i, a), Result(s, x), in place of that.
# Cast(y, t, x) :- Calls(s, m), ReturnsParameter(m, 0), Receiver(s, y), Result(s, x), DeclaredBy(m, t), likewise.
@compiled
def call(state: State, site: int, callee: int) -> None:
    """Calls(site, callee), with its copy edges."""
    calls, count = state.calls, state.counters
    edge, slots = calls.call, calls.call_slot
    place = slot(site, callee, count[CALL_SLOTS])
    entry = slots[place] - 1
    while entry >= 0:
        if edge[entry].site == site and edge[entry].callee == callee:
            return
        entry = edge[entry].next - 1
    reach(state, callee)
    entry = count[CALLS]
    if count[FULL] or entry == edge.size:
        count[FULL] = 1
        return
    count[CALLS] = entry + 1
    edge[entry].site = site
    edge[entry].callee = callee
    edge[entry].next = slots[place]
    slots[place] = entry + 1
    if count[CALLS] > count[CALL_SLOTS] and 2 * count[CALL_SLOTS] <= slots.size:
        for index in range(count[CALL_SLOTS]):
            slots[index] = 0
        count[CALL_SLOTS] *= 2
        for entry in range(count[CALLS]):
            place = slot(edge[entry].site, edge[entry].callee, count[CALL_SLOTS])
            edge[entry].next = slots[place]
            slots[place] = entry + 1
    first = calls.method[callee].first
    parameters = calls.method[callee].parameters
    returns = calls.method[callee].returns
    returned, condition = np.int64(-1), 0
    if returns < 0:
        returned = np.int64(first + parameters)
    elif returns == 0 and calls.site[site].kind != STATIC:
        returned = np.int64(calls.site[site].receiver)
        condition = condition_of(state.types, count, calls.method[callee].declaring)
        if count[FULL]:
            return
    at = calls.site[site].argument_at
    for index in range(at, at + calls.site[site].arguments):
        if calls.argument_position[index] < parameters:
            add_edge(state, calls.argument_variable[index], first + calls.argument_position[index], 0)
        if calls.argument_position[index] == returns:
            returned = np.int64(calls.argument_variable[index])
    if calls.site[site].result >= 0 and returned >= 0:
        add_edge(state, returned, calls.site[site].result, condition)
    if calls.site[site].thrown >= 0:
        add_edge(state, first + parameters + 1, calls.site[site].thrown, 0)


@compiled
def note_receiver(state: State, site: int, callee: int) -> None:
    """Notes that tracked objects may come this way, since what stands for them does."""
    count, log = state.counters, state.slice
    place = count[RECEIVERS]
    if place == log.receiver_site.size:
        count[FULL] = 1
        return
    log.receiver_site[place] = site
    log.receiver_callee[place] = callee
    count[RECEIVERS] = place + 1


@compiled
def run_on_parts(state: State, objects: int, signature: int) -> int:
    """Lists what a call of a signature runs on a set of objects, each of which it is passed; returns how many methods."""
    sets, types, calls, count = state.sets, state.types, state.calls, state.counters
    part_by_type(state, objects)
    first, stamp = count[RUNS], next_stamp(state)
    start, parts = sets.set[objects].part_at, sets.set[objects].parts
    count[SPENT] += 32 * parts
    for at in range(start, start + parts):
        type_, passed = np.int64(sets.part[at].type), np.int64(sets.part[at].set)
        callee = select(types, calls, count, type_, signature)
        if callee < 0:
            continue
        reach(state, callee)
        if count[FULL] or count[RUNS] == calls.run.size:
            count[FULL] = 1
            return 0
        add_set(
            sets,
            state.graph,
            count,
            types.mask,
            find(state.graph.node, calls.method[callee].first),
            passed,
            0,
        )
        if calls.method[callee].mark != stamp:
            calls.method[callee].mark = stamp
            calls.method[callee].place = count[RUNS]
            calls.run[count[RUNS]].callee = callee
            calls.run[count[RUNS]].generic = 0
            count[RUNS] += 1
        generic = types.type[type_].generic - 1
        if generic >= 0 and contains(sets, passed, generic):
            calls.run[calls.method[callee].place].generic = 1
    return int(count[RUNS] - first)


# Calls(s, m), PointsTo(this_m, o) :- VirtualInvoke(s, x, g), PointsTo(x, o), Type(o, t), Select(t, g, m).
@compiled
def call_virtual(state: State, site: int, objects: int) -> None:
    """Dispatches on a set of objects: calls of one signature share what they run on equal sets."""
    calls, count = state.calls, state.counters
    signature = calls.site[site].target
    if count[DISPATCH_MISSES] > count[DISPATCH_SLOTS] and 2 * count[DISPATCH_SLOTS] <= calls.dispatch.size:
        count[DISPATCH_SLOTS] *= 2
        count[DISPATCH_MISSES] = 0
    row = calls.dispatch[slot(objects, signature, count[DISPATCH_SLOTS])]
    if row.set != objects or row.signature != signature:
        if count[RUNS] > calls.run.size >> 1 or count[RUNS] > MANY_RUNS:
            forget_dispatches(calls, count)
        row.set = 0
        count[DISPATCH_MISSES] += 1
        first = count[RUNS]
        runs = run_on_parts(state, objects, signature)
        if count[FULL]:
            return
        row.set = objects
        row.signature = signature
        row.run_at = first
        row.runs = runs
    count[SPENT] += 16 * np.int64(row.runs)
    for at in range(row.run_at, row.run_at + row.runs):
        call(state, site, np.int64(calls.run[at].callee))
        if count[FULL]:
            return
        if calls.run[at].generic:
            note_receiver(state, site, np.int64(calls.run[at].callee))


# Calls(s, m), Assign(x, this_m) :- SpecialInvoke(s, x, m), PointsTo(x, _).
@compiled
def call_special(state: State, site: int) -> None:
    """Makes the call once: its copy edges take care of further objects."""
    callee = state.calls.site[site].target
    call(state, site, callee)
    if not state.counters[FULL]:
        state.calls.site[site].kind = SPECIAL_MADE
        add_edge(state, state.calls.site[site].receiver, state.calls.method[callee].first, 0)


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
