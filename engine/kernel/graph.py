"""Fields of objects, types with their objects, and selection of methods."""

from __future__ import annotations

import numpy as np

from cypher.program import ABSTRACT, INTERFACE
from engine.kernel.compiled import compiled
from engine.kernel.nodes import new_nodes
from engine.kernel.sets import TRACKED_MASK
from engine.kernel.state import (
    CHOICE_SLOTS,
    CHOICES,
    CLASS_TYPE,
    FIELD_NODES,
    FIELD_SLOTS,
    FULL,
    LINKS,
    MASKS,
    METHODS,
    NODES,
    OBJECT_TYPE,
    OBJECTS,
    STAMP,
    TRACKED,
    TYPES,
    Calls,
    Counters,
    Graph,
    Methods,
    State,
    Types,
)
from engine.kernel.words import ONE, place_of, slot

LAST_STAMP = 2**31 - 1


@compiled
def next_stamp(state: State) -> int:
    """Returns a number that marks nothing yet. Marks have 32 bits: all are cleared before it passes that."""
    count = state.counters
    if count[STAMP] >= LAST_STAMP:
        for which in range(count[TYPES]):
            state.types.type[which].part_stamp = 0
        for which in range(count[NODES]):
            state.graph.node[which].mark = 0
        for which in range(count[METHODS]):
            state.calls.method[which].mark = 0
        count[STAMP] = 0
    count[STAMP] += 1
    return int(count[STAMP])


@compiled
def is_subtype(types: Types, which: int, supertype: int) -> bool:
    start = types.type[which].supertypes_at
    end = start + types.type[which].supertypes
    at = place_of(types.supertype, start, end, supertype)
    return at < end and types.supertype[at] == supertype


@compiled
def mask_of(types: Types, count: Counters, supertype: int) -> int:
    """Returns the row of `mask`, plus one, of the objects that are subtypes of `supertype`."""
    known = types.type[supertype].mask
    if known > 0:
        return known
    row = max(count[MASKS], TRACKED_MASK + 1)
    if row >= types.mask.shape[0]:
        count[FULL] = 1
        return 0
    count[MASKS] = row + 1
    types.type[supertype].mask = row + 1
    entry = types.type[supertype].first_subtype
    while entry > 0:
        which = types.link[entry - 1].item
        obj = types.type[which].first_object
        while obj > 0:
            types.mask[row, (obj - 1) >> 6] |= ONE << np.uint64((obj - 1) & 63)
            obj = types.object[obj - 1].next
        entry = types.link[entry - 1].next
    return row + 1


@compiled
def condition_of(types: Types, count: Counters, supertype: int) -> int:
    """Returns the condition of an edge that lets subtypes of `supertype` pass; none for Object."""
    if supertype < 0 or supertype == count[OBJECT_TYPE]:
        return 0
    return mask_of(types, count, supertype)


@compiled
def enter_object(types: Types, obj: int, which: int) -> None:
    """Notes the type of an object, also in the masks of its supertypes."""
    types.object[obj].type = which
    types.object[obj].next = types.type[which].first_object
    types.type[which].first_object = obj + 1
    start = types.type[which].supertypes_at
    for at in range(start, start + types.type[which].supertypes):
        row = types.type[types.supertype[at]].mask
        if row > 0:
            types.mask[row - 1, obj >> 6] |= ONE << np.uint64(obj & 63)


@compiled
def new_object(types: Types, count: Counters, which: int) -> int:
    """Returns a fresh object of type `which`."""
    obj = count[OBJECTS]
    if count[FULL] or obj == types.object.size >> 1:
        count[FULL] = 1
        return -1
    count[OBJECTS] = obj + 1
    enter_object(types, obj, which)
    return int(obj)


@compiled
def new_tracked(types: Types, count: Counters, which: int) -> int:
    """Returns a fresh tracked object of type `which`."""
    half = types.object.size >> 1
    if count[FULL] or count[TRACKED] == half:
        count[FULL] = 1
        return -1
    obj = half + count[TRACKED]
    count[TRACKED] += 1
    types.mask[TRACKED_MASK, obj >> 6] |= ONE << np.uint64(obj & 63)
    enter_object(types, obj, which)
    return int(obj)


@compiled
def generic_object(types: Types, count: Counters, which: int) -> int:
    """Returns the object that stands for the tracked objects of type `which` wherever nobody asks."""
    obj = types.type[which].generic - 1
    if obj < 0:
        obj = new_object(types, count, which)
        types.type[which].generic = obj + 1
    return int(obj)


@compiled
def class_object(types: Types, count: Counters, which: int) -> int:
    """Returns the class object of a type, -1 if there is no room."""
    if count[FULL]:
        return -1
    obj = types.type[which].class_object - 1
    if obj < 0:
        obj = new_tracked(types, count, count[CLASS_TYPE])
        types.type[which].class_object = obj + 1
    return int(obj)


@compiled
def add_subtype(types: Types, count: Counters, which: int) -> None:
    """Enters `which` among the subtypes of each of its supertypes."""
    start = types.type[which].supertypes_at
    for at in range(start, start + types.type[which].supertypes):
        entry = count[LINKS]
        count[LINKS] = entry + 1
        supertype = types.supertype[at]
        types.link[entry].item = which
        types.link[entry].next = types.type[supertype].first_subtype
        types.type[supertype].first_subtype = entry + 1


@compiled
def field_node(graph: Graph, count: Counters, base: int, field: int) -> int:
    """Returns the node of `field` (plus one; 0 for array elements) of the object `base`."""
    node, slots = graph.node, graph.field_slot
    place = slot(base, field, count[FIELD_SLOTS])
    which = slots[place] - 1
    while which >= 0:
        if node[which].base == base + 1 and node[which].field == field:
            return which
        which = node[which].next_field - 1
    which = new_nodes(graph, count, 1)
    if which < 0:
        return -1
    node[which].base = base + 1
    node[which].field = field
    node[which].next_field = slots[place]
    slots[place] = which + 1
    count[FIELD_NODES] += 1
    if count[FIELD_NODES] > count[FIELD_SLOTS] and 2 * count[FIELD_SLOTS] <= slots.size:
        rehash_fields(graph, count)
    return which


@compiled
def rehash_fields(graph: Graph, count: Counters) -> None:
    """Doubles the (object, field) table in place."""
    node, slots = graph.node, graph.field_slot
    for place in range(count[FIELD_SLOTS]):
        slots[place] = 0
    count[FIELD_SLOTS] *= 2
    for which in range(count[NODES]):
        if node[which].base > 0:
            place = slot(node[which].base - 1, node[which].field, count[FIELD_SLOTS])
            node[which].next_field = slots[place]
            slots[place] = which + 1


@compiled
def declared_in(types: Types, which: int, signature: int) -> int:
    """Returns the method that a type declares for `signature`, or -1."""
    start = types.type[which].declared_at
    end = start + types.type[which].declared
    at = place_of(types.declared_signature, start, end, signature)
    if at < end and types.declared_signature[at] == signature:
        return int(types.declared_method[at])
    return -1


# Selection, JVMS 5.4.6: the class and its superclasses first (2), then the maximally-specific
# superinterface methods, if exactly one of them is not abstract (3).
@compiled
def look_up(types: Types, method: Methods, which: int, signature: int) -> int:
    current = which
    while current >= 0:
        found = declared_in(types, current, signature)
        if found >= 0:
            return -1 if method[found].flags & ABSTRACT else found
        current = int(types.type[current].superclass)
    chosen = -1
    start = types.type[which].supertypes_at
    end = start + types.type[which].supertypes
    for at in range(start, end):
        interface = types.supertype[at]
        if not types.type[interface].flags & INTERFACE:
            continue
        found = declared_in(types, interface, signature)
        if found < 0:
            continue
        specific = True
        for other in range(start, end):
            subinterface = types.supertype[other]
            if (
                subinterface != interface
                and types.type[subinterface].flags & INTERFACE
                and is_subtype(types, subinterface, interface)
                and declared_in(types, subinterface, signature) >= 0
            ):
                specific = False
                break
        if specific and not method[found].flags & ABSTRACT:
            if chosen >= 0:
                return -1
            chosen = found
    return chosen


@compiled
def select(types: Types, calls: Calls, count: Counters, which: int, signature: int) -> int:
    """Returns the method that a virtual call of `signature` runs on an object of type `which`, or -1."""
    choice, slots = calls.choice, calls.choice_slot
    place = slot(which, signature, count[CHOICE_SLOTS])
    entry = slots[place] - 1
    while entry >= 0:
        if choice[entry].type == which and choice[entry].signature == signature:
            return int(choice[entry].method)
        entry = choice[entry].next - 1
    found = look_up(types, calls.method, which, signature)
    entry = count[CHOICES]
    if entry == choice.size:
        return found
    count[CHOICES] = entry + 1
    choice[entry].type = which
    choice[entry].signature = signature
    choice[entry].method = found
    choice[entry].next = slots[place]
    slots[place] = entry + 1
    if count[CHOICES] > count[CHOICE_SLOTS] and 2 * count[CHOICE_SLOTS] <= slots.size:
        for index in range(count[CHOICE_SLOTS]):
            slots[index] = 0
        count[CHOICE_SLOTS] *= 2
        for entry in range(count[CHOICES]):
            place = slot(choice[entry].type, choice[entry].signature, count[CHOICE_SLOTS])
            choice[entry].next = slots[place]
            slots[place] = entry + 1
    return found
