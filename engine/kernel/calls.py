"""The call graph on the fly: which methods a call runs, and the copy edges between it and these.

Calls of one signature that run the same methods share their edges: a bundle has a node for each parameter, for what is
returned and for what is thrown, between those calls and these methods. It is made for the second of them.
"""

from __future__ import annotations

import numpy as np

from cypher.schema import STATIC
from engine.kernel.compiled import compiled
from engine.kernel.edges import PASSAGE_NODE, add_edge
from engine.kernel.graph import condition_of, next_stamp
from engine.kernel.nodes import add_set, find, new_nodes
from engine.kernel.parts import part_by_callee
from engine.kernel.sets import MANY_RUNS, forget_dispatches
from engine.kernel.state import (
    BUNDLE_CALLEES,
    BUNDLE_SLOTS,
    BUNDLES,
    CALL_SLOTS,
    CALLED,
    CALLS,
    DISPATCH_MISSES,
    DISPATCH_SLOTS,
    FULL,
    REACHED,
    RECEIVERS,
    RUNS,
    SPENT,
    Calls,
    Keys,
    State,
)
from engine.kernel.words import slot

SPECIAL_MADE = 3
# Calls that run fewer methods share no edges.
FEW_CALLEES = 2


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


@compiled
def link_call(state: State, entry: int) -> None:
    """Enters a row of calls in its table."""
    calls = state.calls
    place = slot(calls.call[entry].site, calls.call[entry].run, state.counters[CALL_SLOTS])
    calls.call[entry].next = calls.call_slot[place]
    calls.call_slot[place] = entry + 1


@compiled
def enter_call(state: State, site: int, run: int, callees: int) -> bool:
    """Calls(site, m) for the method `run`, or for the `callees` methods of the bundle -1 - `run`; returns whether it is new."""
    calls, count = state.calls, state.counters
    entry = calls.call_slot[slot(site, run, count[CALL_SLOTS])] - 1
    while entry >= 0:
        if calls.call[entry].site == site and calls.call[entry].run == run:
            return False
        entry = calls.call[entry].next - 1
    entry = count[CALLS]
    if count[FULL] or entry == calls.call.size:
        count[FULL] = 1
        return False
    count[CALLS] = entry + 1
    count[CALLED] += callees
    calls.call[entry].site = site
    calls.call[entry].run = run
    calls.call[entry].before = calls.site[site].last_call
    calls.site[site].last_call = entry + 1
    link_call(state, entry)
    if count[CALLS] > count[CALL_SLOTS] and 2 * count[CALL_SLOTS] <= calls.call_slot.size:
        for place in range(count[CALL_SLOTS]):
            calls.call_slot[place] = 0
        count[CALL_SLOTS] *= 2
        for each in range(count[CALLS]):
            link_call(state, each)
    return True


# Assign(a, x) :- Calls(s, m), ReturnsParameter(m, i), Argument(s, i, a), Result(s, x), in place of what it returns.
# Cast(y, t, x) :- Calls(s, m), ReturnsParameter(m, 0), Receiver(s, y), Result(s, x), DeclaredBy(m, t), likewise.
@compiled
def pass_back(state: State, site: int, callee: int) -> None:
    """Lets the argument that a method returns flow to the result of a call."""
    calls, count = state.calls, state.counters
    result, position = np.int64(calls.site[site].result), calls.method[callee].returns
    if result < 0:
        return
    returned, condition = np.int64(-1), 0
    if position == 0 and calls.site[site].kind != STATIC:
        returned = np.int64(calls.site[site].receiver)
        condition = condition_of(state.types, count, calls.method[callee].declaring)
        if count[FULL]:
            return
    at = calls.site[site].argument_at
    for index in range(at, at + calls.site[site].arguments):
        if calls.argument_position[index] == position:
            returned = np.int64(calls.argument_variable[index])
    if returned >= 0:
        add_edge(state, returned, result, condition)


# Assign(a, p) :- Calls(s, m), Argument(s, i, a), Parameter(m, i, p).
# Assign(r, x) :- Calls(s, m), Returns(m, r), Result(s, x).       Likewise what m throws.
@compiled
def call(state: State, site: int, callee: int) -> None:
    """Calls(site, callee), with its copy edges."""
    calls = state.calls
    reach(state, callee)
    if not enter_call(state, site, callee, 1):
        return
    first = calls.method[callee].first
    parameters = calls.method[callee].parameters
    at = calls.site[site].argument_at
    for index in range(at, at + calls.site[site].arguments):
        if calls.argument_position[index] < parameters:
            add_edge(state, calls.argument_variable[index], first + calls.argument_position[index], 0)
    if calls.method[callee].returns >= 0:
        pass_back(state, site, callee)
    elif calls.site[site].result >= 0:
        add_edge(state, first + parameters, calls.site[site].result, 0)
    if calls.site[site].thrown >= 0:
        add_edge(state, first + parameters + 1, calls.site[site].thrown, 0)


@compiled
def is_bundle_of(state: State, entry: int, signature: int, runs: int, stamp: int) -> bool:
    """Returns whether a bundle is of calls of a signature that run just the methods that are marked."""
    calls, bundle = state.calls, state.calls.bundle[entry]
    if bundle.signature != signature or bundle.callees != runs:
        return False
    for at in range(bundle.callee_at, bundle.callee_at + runs):
        if calls.method[calls.bundle_callee[at]].mark != stamp:
            return False
    return True


@compiled
def link_bundle(state: State, entry: int) -> None:
    """Enters a bundle in its table."""
    calls = state.calls
    bundle = calls.bundle[entry]
    place = slot(bundle.signature, bundle.digest, state.counters[BUNDLE_SLOTS])
    bundle.next = calls.bundle_slot[place]
    calls.bundle_slot[place] = entry + 1


@compiled
def new_bundle(state: State, signature: int, digest: int, start: int, runs: int) -> int:
    """Returns a fresh bundle of calls that run the methods of `runs` rows; -1 if there is no room."""
    calls, count = state.calls, state.counters
    parameters = 0
    for at in range(start, start + runs):
        parameters = max(parameters, calls.method[calls.run[at].callee].parameters)
    entry, callee_at = count[BUNDLES], count[BUNDLE_CALLEES]
    first = new_nodes(state.graph, count, parameters + 2)
    if first < 0 or entry == calls.bundle.size or callee_at + runs > calls.bundle_callee.size:
        count[FULL] = 1
        return -1
    for which in range(first, first + parameters + 2):
        state.graph.node[which].base = PASSAGE_NODE
    count[BUNDLES] = entry + 1
    count[BUNDLE_CALLEES] = callee_at + runs
    bundle = calls.bundle[entry]
    bundle.signature = signature
    bundle.digest = digest
    bundle.callee_at = callee_at
    bundle.callees = runs
    bundle.first = first
    bundle.parameters = parameters
    for at in range(runs):
        callee = calls.run[start + at].callee
        calls.bundle_callee[callee_at + at] = callee
        if calls.method[callee].returns >= 0:
            bundle.passing_back += 1
    link_bundle(state, entry)
    if count[BUNDLES] > count[BUNDLE_SLOTS] and 2 * count[BUNDLE_SLOTS] <= calls.bundle_slot.size:
        for place in range(count[BUNDLE_SLOTS]):
            calls.bundle_slot[place] = 0
        count[BUNDLE_SLOTS] *= 2
        for each in range(count[BUNDLES]):
            link_bundle(state, each)
    return int(entry)


@compiled
def bundle_of(state: State, signature: int, start: int, runs: int, again: bool) -> int:
    """Returns the bundle of the calls of a signature that run the methods of `runs` rows.

    If there is none, that is a fresh one where such a set is dispatched on `again`; else -1, also without room.
    """
    calls, stamp = state.calls, next_stamp(state)
    digest = np.int64(0)
    for at in range(start, start + runs):
        callee = np.int64(calls.run[at].callee)
        calls.method[callee].mark = stamp
        digest += slot(callee, signature, 1 << 30)
    digest &= (1 << 30) - 1
    entry = calls.bundle_slot[slot(signature, digest, state.counters[BUNDLE_SLOTS])] - 1
    while entry >= 0:
        if is_bundle_of(state, entry, signature, runs, stamp):
            return int(entry)
        entry = calls.bundle[entry].next - 1
    return int(new_bundle(state, signature, digest, start, runs)) if again else -1


@compiled
def open_parameter(state: State, entry: int, position: int) -> None:
    """Lets what calls of a bundle pass at a position flow to its methods."""
    calls, bundle = state.calls, state.calls.bundle[entry]
    for at in range(bundle.callee_at, bundle.callee_at + bundle.callees):
        method = calls.method[calls.bundle_callee[at]]
        if position < method.parameters:
            add_edge(state, bundle.first + position, method.first + position, 0)


@compiled
def open_returns(state: State, entry: int) -> None:
    """Lets what the methods of a bundle return flow to its calls."""
    calls, bundle = state.calls, state.calls.bundle[entry]
    bundle.returned = 1
    for at in range(bundle.callee_at, bundle.callee_at + bundle.callees):
        method = calls.method[calls.bundle_callee[at]]
        if method.returns < 0:
            add_edge(state, method.first + method.parameters, bundle.first + bundle.parameters, 0)


@compiled
def open_throws(state: State, entry: int) -> None:
    """Lets what the methods of a bundle throw flow to its calls."""
    calls, bundle = state.calls, state.calls.bundle[entry]
    bundle.thrown = 1
    for at in range(bundle.callee_at, bundle.callee_at + bundle.callees):
        method = calls.method[calls.bundle_callee[at]]
        add_edge(state, method.first + method.parameters + 1, bundle.first + bundle.parameters + 1, 0)


@compiled
def join_bundle(state: State, site: int, entry: int) -> None:
    """Calls(site, m) for each method m of a bundle, with the copy edges."""
    calls = state.calls
    bundle, row = calls.bundle[entry], calls.site[site]
    if not enter_call(state, site, -1 - entry, np.int64(bundle.callees)):
        return
    if bundle.passing_back:
        for at in range(bundle.callee_at, bundle.callee_at + bundle.callees):
            callee = np.int64(calls.bundle_callee[at])
            if calls.method[callee].returns >= 0:
                pass_back(state, site, callee)
    for index in range(row.argument_at, row.argument_at + row.arguments):
        position = calls.argument_position[index]
        if position < bundle.parameters:
            through = bundle.first + position
            if state.graph.node[through].edges == 0 and state.graph.node[through].parent == through:
                open_parameter(state, entry, position)
            add_edge(state, calls.argument_variable[index], through, 0)
    if row.result >= 0:
        if not bundle.returned:
            open_returns(state, entry)
        add_edge(state, bundle.first + bundle.parameters, row.result, 0)
    if row.thrown >= 0:
        if not bundle.thrown:
            open_throws(state, entry)
        add_edge(state, bundle.first + bundle.parameters + 1, row.thrown, 0)


@compiled
def list_callee(calls: Calls, callee: int, stamp: int, callees: Keys, number: int) -> int:
    """Lists a method behind the first `number` unless it is marked, and marks it; returns how many there are then."""
    if calls.method[callee].mark != stamp:
        calls.method[callee].mark = stamp
        callees[number] = callee
        number += 1
    return number


@compiled
def list_callees(calls: Calls, run: int, stamp: int, callees: Keys, number: int) -> int:
    """Likewise with all that a row of calls runs."""
    if run >= 0:
        return int(list_callee(calls, run, stamp, callees, number))
    bundle = calls.bundle[-1 - run]
    for at in range(bundle.callee_at, bundle.callee_at + bundle.callees):
        number = list_callee(calls, np.int64(calls.bundle_callee[at]), stamp, callees, number)
    return number


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
    calls, count, scratch = state.calls, state.counters, state.scratch
    parts = part_by_callee(state, objects, signature)
    if count[FULL] or count[RUNS] + parts > calls.run.size:
        count[FULL] = 1
        return 0
    for part in range(parts):
        callee = np.int64(scratch.part_callee[part])
        calls.run[count[RUNS]].callee = callee
        calls.run[count[RUNS]].generic = scratch.part_generic[part]
        count[RUNS] += 1
        reach(state, callee)
        if count[FULL]:
            return 0
        this = find(state.graph.node, calls.method[callee].first)
        add_set(state.sets, state.graph, count, state.types.mask, this, np.int64(scratch.part_set[part]), 0)
    return parts


# Calls(s, m), PointsTo(this_m, o) :- VirtualInvoke(s, x, g), PointsTo(x, o), Type(o, t), Select(t, g, m).
@compiled
def call_virtual(state: State, site: int, objects: int) -> None:
    """Dispatches on a set of objects: calls of one signature share what they run on equal sets, and its edges."""
    calls, count = state.calls, state.counters
    signature = calls.site[site].target
    if count[DISPATCH_MISSES] > count[DISPATCH_SLOTS] and 2 * count[DISPATCH_SLOTS] <= calls.dispatch.size:
        count[DISPATCH_SLOTS] *= 2
        count[DISPATCH_MISSES] = 0
    row = calls.dispatch[slot(objects, signature, count[DISPATCH_SLOTS])]
    again = row.set == objects and row.signature == signature
    if not again:
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
        row.bundle = 0
    if row.bundle == 0 and row.runs >= FEW_CALLEES:
        row.bundle = bundle_of(state, signature, np.int64(row.run_at), np.int64(row.runs), again) + 1
    if row.bundle > 0:
        join_bundle(state, site, np.int64(row.bundle) - 1)
    count[SPENT] += 16 * np.int64(row.runs)
    for at in range(row.run_at, row.run_at + row.runs):
        if row.bundle == 0:
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
