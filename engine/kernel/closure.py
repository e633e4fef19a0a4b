"""The closure: what each new object does at its pointer, the call graph on the fly, and the sweep."""

from __future__ import annotations

import numpy as np

from cypher.schema import SPECIAL, STATIC, VIRTUAL
from engine.kernel.collapse import collapse
from engine.kernel.compiled import compiled, compiled_allocating, entry
from engine.kernel.edges import FILTER, LOADED, STORED, add_edge, find_passage, new_passage, open_passage
from engine.kernel.graph import (
    condition_of,
    field_node,
    generic_object,
    next_stamp,
    select,
    slot,
)
from engine.kernel.rows import NO_KEY, ONE, ZERO, add_words, find, free_row, lowest_bit, new_nodes
from engine.kernel.slices import NEWLY, UNTRACKED, widen
from engine.kernel.state import (
    CALL_SLOTS,
    CALLS,
    COLLAPSES,
    CURSOR,
    DIRTY,
    EDGES_ADDED,
    FULL,
    GROUPS,
    INBOX,
    INBOX_TAKEN,
    LIVE_EDGES,
    NEW_EDGES,
    NODES,
    PASSAGE_SLOTS,
    PASSAGES,
    PUT_CALL,
    PUT_CAST,
    PUT_EDGE,
    PUT_EXCLUDE,
    PUT_OBJECT,
    PUT_REACH,
    PUT_UNTRACKED,
    PUT_USE,
    REACHED,
    RECEIVERS,
    ROOTS,
    SEEDS,
    SLICED,
    SPENT,
    STEPS,
    SWEEPS,
    USE_CALL,
    USE_LOAD,
    USE_NONE,
    USE_STORE,
    USE_WATCH,
    USES,
    WATCHED,
    Counters,
    Graph,
    Keys,
    Rows,
    Scratch,
    State,
    Words,
)

FIXPOINT, PAUSED, EXHAUSTED = range(3)
SPECIAL_MADE = 3


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
def group_by_type(state: State, length: int) -> None:
    """Sorts scratch.word[:length] by the type of the objects: words of group g lie at group_at[g]."""
    scratch, types, count = state.scratch, state.types, state.counters
    stamp = next_stamp(state)
    groups = 0
    for index in range(length):
        word = scratch.word[index]
        base = np.int64(scratch.key[index]) << 6
        while word:
            which = types.object[base + lowest_bit(word)].type
            word &= word - ONE
            if types.type[which].group_stamp != stamp:
                types.type[which].group_stamp = stamp
                types.type[which].group = groups
                scratch.group_type[groups] = which
                scratch.group_length[groups] = 0
                groups += 1
            scratch.group_length[types.type[which].group] += 1
    at = np.int64(0)
    for group in range(groups):
        scratch.group_at[group] = at
        at += scratch.group_length[group]
        scratch.group_length[group] = 0
    for index in range(length):
        word = scratch.word[index]
        key = scratch.key[index]
        base = np.int64(key) << 6
        while word:
            lowest = word & (ZERO - word)
            group = types.type[types.object[base + lowest_bit(word)].type].group
            word ^= lowest
            last = scratch.group_at[group] + scratch.group_length[group] - 1
            if scratch.group_length[group] and scratch.group_key[last] == key:
                scratch.group_word[last] |= lowest
            else:
                scratch.group_key[last + 1] = key
                scratch.group_word[last + 1] = lowest
                scratch.group_length[group] += 1
    count[GROUPS] = groups


# Calls(s, m), PointsTo(this_m, o) :- VirtualInvoke(s, x, g), PointsTo(x, o), Type(o, t), Select(t, g, m).
@compiled
def call_virtual(state: State, site: int) -> None:
    """Dispatches on the grouped objects."""
    scratch, calls, count = state.scratch, state.calls, state.counters
    signature = calls.site[site].target
    count[SPENT] += 32 * count[GROUPS]
    for group in range(count[GROUPS]):
        callee = select(state.types, calls, count, scratch.group_type[group], signature)
        if callee < 0:
            continue
        call(state, site, callee)
        if count[FULL]:
            return
        add_words(
            state.rows, state.graph, count, state.types.mask,
            find(state.graph.node, calls.method[callee].first),
            scratch.group_key, scratch.group_word, scratch.group_at[group], scratch.group_length[group], 0,
        )  # fmt: skip
        if state.types.type[scratch.group_type[group]].generic > 0:
            note_receiver(state, site, callee, group)


@compiled
def note_receiver(state: State, site: int, callee: int, group: int) -> None:
    """Notes that tracked objects of a group's type come this way, if the one that stands for them does."""
    scratch, count, log = state.scratch, state.counters, state.slice
    obj = state.types.type[scratch.group_type[group]].generic - 1
    start = scratch.group_at[group]
    for at in range(start, start + scratch.group_length[group]):
        if scratch.group_key[at] == obj >> 6 and scratch.group_word[at] >> np.uint64(obj & 63) & ONE:
            place = count[RECEIVERS]
            if place == log.receiver_site.size:
                count[FULL] = 1
                return
            log.receiver_site[place] = site
            log.receiver_callee[place] = callee
            count[RECEIVERS] = place + 1


# Calls(s, m), Assign(x, this_m) :- SpecialInvoke(s, x, m), PointsTo(x, _).
@compiled
def call_special(state: State, site: int) -> None:
    """Makes the call once: its copy edges take care of further objects."""
    callee = state.calls.site[site].target
    call(state, site, callee)
    if not state.counters[FULL]:
        state.calls.site[site].kind = SPECIAL_MADE
        add_edge(state, state.calls.site[site].receiver, state.calls.method[callee].first, 0)


# Assign(o.f, x) :- Load(y, f, x), PointsTo(y, o).
# Assign(x, o.f) :- Store(x, f, y), PointsTo(y, o).   Into an array: only what its element type admits.
# Tracked objects have no fields: the generic object that goes with them has.
@compiled
def access_field(state: State, field: int, other: int, storing: bool, length: int) -> None:
    """Adds the edges between `other` and `field` of each object of scratch.word[:length], once a node."""
    scratch, types, graph, count = state.scratch, state.types, state.graph, state.counters
    node, tracked = graph.node, types.mask.shape[1] >> 1
    stamp = next_stamp(state)
    for index in range(length):
        word = scratch.word[index]
        if scratch.key[index] >= tracked:
            return
        base = np.int64(scratch.key[index]) << 6
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
def add_object(state: State, which: int, obj: int) -> None:
    """PointsTo(which, obj)."""
    if obj < 0:
        return
    key, word = state.scratch.one_key, state.scratch.one_word
    key[0] = obj >> 6
    word[0] = ONE << np.uint64(obj & 63)
    add_words(
        state.rows, state.graph, state.counters, state.types.mask, find(state.graph.node, which),
        key, word, 0, 1, 0,
    )  # fmt: skip


@compiled
def report(scratch: Scratch, count: Counters, tag: int, length: int) -> None:
    for index in range(length):
        word = scratch.word[index]
        while word:
            at = count[WATCHED]
            if at == scratch.watched_tag.size:
                count[FULL] = 1
                return
            scratch.watched_tag[at] = tag
            scratch.watched_object[at] = (np.int64(scratch.key[index]) << 6) + lowest_bit(word)
            count[WATCHED] = at + 1
            word &= word - ONE


@compiled
def apply_uses(state: State, use: int, length: int) -> None:
    """Applies the chain of uses that starts at `use` (plus one) to the objects of scratch.word[:length]."""
    uses, count = state.graph.use, state.counters
    grouped = False
    while use > 0:
        kind = uses[use - 1].kind
        count[SPENT] += 16 * length
        if kind in (USE_LOAD, USE_STORE):
            access_field(state, uses[use - 1].detail, uses[use - 1].other, kind == USE_STORE, length)
        elif kind == USE_WATCH:
            report(state.scratch, count, uses[use - 1].detail, length)
        elif kind == USE_CALL:
            if not grouped:
                group_by_type(state, length)
                grouped = True
            if state.calls.site[uses[use - 1].detail].kind == VIRTUAL:
                call_virtual(state, uses[use - 1].detail)
            elif state.calls.site[uses[use - 1].detail].kind == SPECIAL:
                call_special(state, uses[use - 1].detail)
        use = uses[use - 1].next


@compiled
def add_access(state: State, base: int, kind: int, field: int, other: int) -> None:
    """Adds a load or store of `field` of `base`; the second opens a passage, through which all go."""
    graph, count = state.graph, state.counters
    base = find(graph.node, base)
    passage = LOADED if kind == USE_LOAD else STORED
    place = find_passage(graph, count, passage, base, field)
    if place < 0:
        place = new_passage(graph, count, passage, base, field)
        if place >= 0:
            graph.passage[place].use = add_use(state, base, kind, field, other) + 1
        return
    through = graph.passage[place].node - 1
    if through < 0:
        through = open_passage(graph, count, place)
        if through < 0:
            return
        first = graph.passage[place].use - 1
        graph.use[first].kind = USE_NONE
        join(state, kind, through, graph.use[first].other)
        graph.passage[place].use = add_use(state, base, kind, field, through) + 1
    join(state, kind, through, other)


@compiled
def join(state: State, kind: int, through: int, other: int) -> None:
    """Lets values flow between the node of an access and what is loaded, or stored."""
    if kind == USE_LOAD:
        add_edge(state, through, other, 0)
    else:
        add_edge(state, other, through, 0)


@compiled
def add_use(state: State, base: int, kind: int, detail: int, other: int) -> int:
    """Adds a use of `base`, applies it to the objects that were already passed on, and returns it; -1 without room."""
    graph, rows, scratch, count = state.graph, state.rows, state.scratch, state.counters
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
    length = 0
    for at in range(node[which].row_at, node[which].row_at + node[which].row_length):
        if rows.done[at]:
            scratch.key[length] = rows.key[at]
            scratch.word[length] = rows.done[at]
            length += 1
    if length:
        apply_uses(state, entry + 1, length)
    return int(entry)


@compiled
def place_of(key: Keys, start: int, end: int, wanted: int) -> int:
    """Returns where in the row [start, end) the first key is that is `wanted` or above."""
    while start < end:
        middle = (start + end) >> 1
        if key[middle] < wanted:
            start = middle + 1
        else:
            end = middle
    return start


@compiled
def take_difference(rows: Rows, graph: Graph, scratch: Scratch, which: int) -> int:
    """Moves what a node has not passed on to the scratch row; returns its length."""
    length = 0
    high = graph.node[which].high
    end = graph.node[which].row_at + graph.node[which].row_length
    start = place_of(rows.key, graph.node[which].row_at, end, graph.node[which].low)
    graph.node[which].low = NO_KEY
    graph.node[which].high = -1
    for at in range(start, end):
        if rows.key[at] > high:
            break
        word = rows.known[at] & ~rows.done[at]
        if word:
            scratch.key[length] = rows.key[at]
            scratch.word[length] = word
            length += 1
            rows.done[at] = rows.known[at]
    return length


@compiled
def process(state: State, which: int) -> None:
    """Passes on what is new at a node: over its copy edges, then to its uses."""
    rows, graph, scratch, count = state.rows, state.graph, state.scratch, state.counters
    length = take_difference(rows, graph, scratch, which)
    if length == 0:
        return
    count[SPENT] += length * (1 + graph.node[which].edges)
    start = graph.node[which].edge_at
    for at in range(start, start + graph.node[which].edges):
        target = find(graph.node, graph.edge[at].target)
        if target != which:
            add_words(
                rows, graph, count, state.types.mask, target,
                scratch.key, scratch.word, 0, length, graph.edge[at].filter,
            )  # fmt: skip
    apply_uses(state, graph.node[which].first_use, length)


@compiled
def flush_node(state: State, which: int, keys: Keys, words: Words) -> None:
    """Applies the uses of a collapsed node to those of `words` that it had not passed on itself."""
    rows, graph, scratch = state.rows, state.graph, state.scratch
    if graph.node[which].first_use == 0:
        return
    at = graph.node[which].row_at
    end = at + graph.node[which].row_length
    length = 0
    for index in range(keys.size):
        word = words[index]
        while at < end and rows.key[at] < keys[index]:
            at += 1
        if at < end and rows.key[at] == keys[index]:
            word &= ~rows.done[at]
        if word:
            scratch.key[length] = keys[index]
            scratch.word[length] = word
            length += 1
    if length:
        apply_uses(state, graph.node[which].first_use, length)


@compiled
def merge_passages(state: State) -> None:
    """Lets each field of a base be accessed once, now that several bases are one, and values pass a condition once."""
    graph, count = state.graph, state.counters
    table, number = graph.passage, count[PASSAGES]
    for place in range(count[PASSAGE_SLOTS]):
        graph.passage_slot[place] = 0
    count[PASSAGES] = 0
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
def merge_access(state: State, kept: int, through: int, use: int) -> None:
    """Has what another passage loads, or stores, go through the node of the one that is kept."""
    table, uses = state.graph.passage, state.graph.use
    access = USE_LOAD if table[kept].kind == LOADED else USE_STORE
    if table[kept].node == 0:
        first = table[kept].use - 1
        if through > 0:
            table[kept].node, table[kept].use = through, use
            use = first + 1
        else:
            if open_passage(state.graph, state.counters, kept) < 0:
                return
            table[kept].use = 0  # until what is known of the merged nodes was passed on: see apply_opened
            join(state, access, table[kept].node - 1, uses[first].other)
            uses[first].kind = USE_NONE
    join(state, access, table[kept].node - 1, uses[use - 1].other)
    uses[use - 1].kind = USE_NONE


@compiled
def apply_opened(state: State) -> None:
    """Adds the accesses of passages that were opened as bases became one."""
    graph = state.graph
    for place in range(state.counters[PASSAGES]):
        row = graph.passage[place]
        if row.kind != FILTER and row.use == 0 and row.node > 0:
            access = USE_LOAD if row.kind == LOADED else USE_STORE
            row.use = add_use(state, row.start, access, row.label, row.node - 1) + 1


@compiled_allocating
def flush_merged(state: State, chain: Keys) -> None:
    """Lets the uses of every node of a collapsed cycle see what the others knew, then joins their uses."""
    rows, graph, count = state.rows, state.graph, state.counters
    node = graph.node
    merge_passages(state)
    for into in range(chain.size):
        if chain[into] < 0 or node[into].parent != into:
            continue
        start = node[into].row_at
        keys = rows.key[start : start + node[into].row_length].copy()
        words = rows.known[start : start + node[into].row_length].copy()
        flush_node(state, into, keys, words)
        which = np.int64(chain[into])
        while which >= 0:
            flush_node(state, which, keys, words)
            free_row(rows, node, which)
            if node[which].first_use > 0:
                if node[into].first_use == 0:
                    node[into].first_use = node[which].first_use
                else:
                    graph.use[node[into].last_use - 1].next = node[which].first_use
                node[into].last_use = node[which].last_use
                node[which].first_use = 0
            which = np.int64(chain[which])
        at = node[into].row_at
        for index in range(keys.size):
            while rows.key[at] < keys[index]:
                at += 1
            rows.done[at] = words[index]
        for at in range(node[into].edge_at, node[into].edge_at + node[into].edges):
            add_words(
                rows, graph, count, state.types.mask, find(node, graph.edge[at].target),
                keys, words, 0, keys.size, graph.edge[at].filter,
            )  # fmt: skip
    apply_opened(state)


@compiled
def supply_receivers(state: State) -> None:
    """Gives each `this` that is new in the slice the tracked receivers that it was denied."""
    rows, graph, scratch, calls, count = state.rows, state.graph, state.scratch, state.calls, state.counters
    node, tracked = graph.node, state.types.mask.shape[1] >> 1
    for index in range(count[RECEIVERS]):
        site, callee = state.slice.receiver_site[index], state.slice.receiver_callee[index]
        this = find(node, calls.method[callee].first)
        if node[this].wanted != NEWLY:
            continue
        base = find(node, calls.site[site].receiver)
        length = 0
        for at in range(node[base].row_at, node[base].row_at + node[base].row_length):
            if rows.key[at] >= tracked and rows.done[at]:
                scratch.key[length] = rows.key[at]
                scratch.word[length] = rows.done[at]
                length += 1
        if length == 0:
            continue
        group_by_type(state, length)
        for group in range(count[GROUPS]):
            found = select(state.types, calls, count, scratch.group_type[group], calls.site[site].target)
            if found == callee:
                add_words(
                    rows, graph, count, state.types.mask, this,
                    scratch.group_key, scratch.group_word, scratch.group_at[group], scratch.group_length[group], 0,
                )  # fmt: skip


@compiled
def settle(state: State) -> None:
    """Has the nodes that were new in the slice be as the others, now that they have what they were denied."""
    node = state.graph.node
    for which in range(state.counters[NODES]):
        if node[which].wanted == NEWLY:
            node[which].wanted = 1


@compiled
def take_row(state: State, kind: int, first: int, second: int, third: int, fourth: int) -> None:
    """Adds one row of the inbox."""
    types, count = state.types, state.counters
    if kind == PUT_OBJECT:
        if second >= types.object.size >> 1:
            at = count[SEEDS]
            if at == state.slice.seed_pointer.size:
                count[FULL] = 1
                return
            state.slice.seed_pointer[at] = first
            state.slice.seed_object[at] = second
            count[SEEDS] = at + 1
            add_object(state, first, generic_object(types, count, types.object[second].type))
        add_object(state, first, second)
    elif kind == PUT_EDGE:
        add_edge(state, first, second, 0)
    elif kind == PUT_CAST:
        condition = condition_of(types, count, third)
        if not count[FULL]:
            add_edge(state, first, second, condition)
    elif kind == PUT_EXCLUDE:
        condition = condition_of(types, count, third)
        if condition > 0:
            add_edge(state, first, second, -condition)
    elif kind == PUT_UNTRACKED:
        add_edge(state, first, second, UNTRACKED)
    elif kind == PUT_USE:
        if second == USE_WATCH:
            if count[ROOTS] == state.slice.root.size:
                count[FULL] = 1
                return
            state.slice.root[count[ROOTS]] = first
            count[ROOTS] += 1
        if second in (USE_LOAD, USE_STORE):
            add_access(state, first, second, third, fourth)
        else:
            add_use(state, first, second, third, fourth)
    elif kind == PUT_REACH:
        reach(state, first)
    elif kind == PUT_CALL:
        call(state, first, second)


@compiled
def take_inbox(state: State, budget: int) -> None:
    """Adds the rows of the inbox, or some of them if that is more than `budget` units of work."""
    inbox, count = state.scratch.inbox, state.counters
    while count[INBOX_TAKEN] < count[INBOX]:
        if count[FULL] or count[SPENT] > budget:
            return
        row = inbox[count[INBOX_TAKEN]]
        count[INBOX_TAKEN] += 1
        take_row(state, row.kind, row.first, row.second, row.third, row.fourth)
    count[INBOX] = count[INBOX_TAKEN] = 0


@entry
def solve(state: State, budget: int, waiting: int, ratio: float, least: int) -> int:
    """Takes the inbox, if need be in several goes, then sweeps dirty nodes in rank order.

    Returns FIXPOINT, PAUSED (over `budget` words of work, or reached methods lack their facts: more than
    `waiting`, or any at the end of a sweep) or EXHAUSTED (a pool is full). Cycles are collapsed when new edges
    exceed `ratio` of all, and `least`.
    """
    graph, count = state.graph, state.counters
    reached = count[REACHED]
    count[SPENT] = 0
    take_inbox(state, budget)
    while True:
        if count[FULL]:
            return EXHAUSTED
        if count[INBOX] > 0:
            return PAUSED
        if count[DIRTY] == 0:
            if count[REACHED] > reached:
                return PAUSED
            if count[WATCHED] > 0:
                return FIXPOINT  # rules may add edges: the slice can wait for them
            version = count[EDGES_ADDED] + count[ROOTS] + count[RECEIVERS] + count[COLLAPSES]
            if version == count[SLICED]:
                return FIXPOINT
            count[SLICED] = version
            if widen(state) > 0:
                supply_receivers(state)
                settle(state)
            continue
        if count[SPENT] > budget or count[REACHED] - reached > waiting:
            return PAUSED
        if count[NEW_EDGES] > least + ratio * count[LIVE_EDGES]:
            flush_merged(state, collapse(state))
            count[CURSOR] = 0
        word = count[CURSOR]
        last = (count[NODES] + 63) >> 6
        while word < last and graph.dirty[word] == ZERO:
            word += 1
        count[CURSOR] = word
        if word >= last:
            count[CURSOR] = 0
            count[SWEEPS] += 1
            if count[REACHED] > reached:
                return PAUSED
            continue
        bit = lowest_bit(graph.dirty[word])
        graph.dirty[word] &= graph.dirty[word] - ONE
        count[DIRTY] -= 1
        count[STEPS] += 1
        process(state, graph.at[(word << 6) + bit])
