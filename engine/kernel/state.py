"""The state of the compiled closure: a few named arrays, reserved once and touched as they fill.

Memory is reserved without being committed, so that pools grow in place: nothing is copied when they do, and
the peak is what is used. A record's zero value means "none" wherever a field refers to another record:
such fields hold the index plus one.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
# The kinds of array that functions take: the compiler tells them apart by these names.
Counters = NDArray[np.int64]
Keys = NDArray[np.int32]
Words = NDArray[np.uint64]
Masks = NDArray[np.uint64]
Nodes = NDArray[Any]
Methods = NDArray[Any]
Word = np.uint64

# A node of the constraint graph: a pointer (a variable, a static field, a field of an object, the elements of
# an array). It fills one line of a processor's cache.
NODE = np.dtype(
    [
        ("parent", "i4"),  # union-find: itself unless its cycle was collapsed into another
        ("rank", "i4"),  # place in the sweep
        ("known", "i4"),  # the set of its objects
        ("passed", "i4"),  # the set of those that it has passed on
        ("fresh", "i4"),  # the set of the others
        ("edges", "i4"),
        ("edge_at", "i8"),
        ("edge_class", "i2"),  # log2 of the capacity at edge_at, plus one; 0 without edges
        ("wanted", "i2"),  # 1 if something may ask which tracked object it is
        ("first_use", "i4"),
        ("last_use", "i4"),
        ("base", "i4"),  # object + 1, if the node is a field of an object; -1 if it is a passage
        ("field", "i4"),  # field + 1; 0 stands for the elements of an array
        ("next_field", "i4"),  # chain of the (object, field) table
        ("mark", "i4"),
        ("first_predecessor", "i4"),  # entry of `predecessor` + 1
    ],
    align=True,
)
# A set of objects: `length` words at `at`, by ascending key. Equal sets are one. The empty set is 0.
SET = np.dtype(
    [
        ("at", "i8"),
        ("digest", "u8"),  # see `engine.kernel.sets`
        ("length", "i4"),
        ("next", "i4"),  # chain of the table of sets
        ("untracked", "i4"),  # the set of those that are not tracked, plus one
    ],
    align=True,
)
# What a virtual call of `signature` runs on the objects of a set: `runs` methods at `run_at`; and the bundle of such
# calls, plus one.
DISPATCH = np.dtype(
    [("set", "i4"), ("signature", "i4"), ("run_at", "i8"), ("runs", "i4"), ("bundle", "i4")], align=True
)
# A method that is run, and whether an object runs it that stands for tracked ones.
RUN = np.dtype([("callee", "i4"), ("generic", "i4")], align=True)
# Calls of a signature that run the same methods: see `engine.kernel.calls`.
BUNDLE = np.dtype(
    [
        ("signature", "i4"),
        ("digest", "i4"),
        ("callee_at", "i8"),  # the methods
        ("callees", "i4"),
        ("passing_back", "i4"),  # how many of them return an argument
        ("first", "i4"),  # the nodes of its parameters; then of what is returned, and thrown
        ("parameters", "i4"),
        ("returned", "i4"),  # 1 once what is returned flows to its node; likewise what is thrown
        ("thrown", "i4"),
        ("next", "i4"),
    ],
    align=True,
)
# What gives access to a field of all objects of a set: a node, once it is asked for again. `label` is twice the field (plus
# one), plus one for stores.
GROUP = np.dtype([("set", "i4"), ("label", "i4"), ("node", "i4")], align=True)
# What `first` and `second` have together, and what `second` has and `first` lacks; or, where `second` is negative, which
# part of `first` passes a condition.
MEMO = np.dtype([(name, "i4") for name in ("first", "second", "together", "lacking")], align=True)
EDGE = np.dtype([("target", "i4"), ("filter", "i4")], align=True)
# A copy edge to a node outside the slice, by that node.
PREDECESSOR = np.dtype([("source", "i4"), ("filter", "i4"), ("next", "i4")], align=True)
# What happens to each new object of a base variable.
USE = np.dtype([("kind", "i4"), ("detail", "i4"), ("other", "i4"), ("next", "i4")], align=True)
# What many edges go through: see `engine.kernel.edges`.
PASSAGE = np.dtype(
    [
        ("kind", "i4"),
        ("start", "i4"),
        ("label", "i4"),
        ("node", "i4"),  # node + 1; 0 while one edge or access is all there is
        ("use", "i4"),  # use + 1 of that access
        ("next", "i4"),
    ],
    align=True,
)
SITE = np.dtype(
    [
        ("kind", "i4"),
        ("target", "i4"),  # the method of a fixed call, the signature of a virtual one
        ("receiver", "i4"),
        ("result", "i4"),
        ("thrown", "i4"),
        ("arguments", "i4"),
        ("argument_at", "i8"),
        ("last_call", "i4"),  # entry of `call` + 1
    ],
    align=True,
)
METHOD = np.dtype(
    [
        ("reached", "i4"),
        ("first", "i4"),
        ("parameters", "i4"),
        ("variables", "i4"),
        ("flags", "i4"),
        ("returns", "i4"),
        ("declaring", "i4"),
        ("mark", "i4"),
        ("place", "i4"),
    ],
    align=True,
)
TYPE = np.dtype(
    [
        ("superclass", "i4"),
        ("element", "i4"),
        ("flags", "i4"),
        ("mask", "i4"),  # row of `masks` + 1
        ("first_object", "i4"),  # object + 1
        ("generic", "i4"),  # object + 1 that stands for its tracked objects wherever nobody asks
        ("first_subtype", "i4"),  # entry of `subtypes` + 1
        ("class_object", "i4"),  # object + 1
        ("part", "i4"),  # see `engine.kernel.parts`
        ("part_stamp", "i4"),
        ("supertypes", "i4"),
        ("declared", "i4"),
        ("supertypes_at", "i8"),
        ("declared_at", "i8"),
    ],
    align=True,
)
OBJECT = np.dtype([("type", "i4"), ("next", "i4")], align=True)
LINK = np.dtype([("item", "i4"), ("next", "i4")], align=True)
CHOICE = np.dtype([("type", "i4"), ("signature", "i4"), ("method", "i4"), ("next", "i4")], align=True)
ROW = np.dtype([(name, "i4") for name in ("kind", "first", "second", "third", "fourth")], align=True)
# That a site runs a method; or, where `run` is negative, all methods of the bundle -1 - `run`.
CALL = np.dtype(
    [
        ("site", "i4"),
        ("run", "i4"),
        ("next", "i4"),  # chain of the table of calls
        ("before", "i4"),  # entry of `call` + 1: the one before of the same site
    ],
    align=True,
)

# Kinds of use.
USE_LOAD, USE_STORE, USE_CALL, USE_WATCH, USE_NONE = range(5)

# Kinds of row in the inbox, with their columns.
(
    PUT_OBJECT,  # pointer, object
    PUT_EDGE,  # source, target
    PUT_CAST,  # source, target, type
    PUT_EXCLUDE,  # source, target, type
    PUT_USE,  # base, kind of use, detail, other
    PUT_REACH,  # method
    PUT_CALL,  # site, callee
    PUT_UNTRACKED,  # source, target
) = range(8)

# Tracked objects (string constants that may name something, class objects and other metaobjects) are told
# apart only at pointers from which something that asks can be reached; elsewhere one generic object of their
# type stands for them. Their ids fill the upper half of the pool, so that they are the tail of every row.

# Counters: the fill of each pool, then statistics.
(
    NODES, WORDS, EDGES, USES, SITES, ARGUMENTS, METHODS, TYPES, OBJECTS, LINKS, CHOICES, CALLS, MASKS,
    SUPERTYPES, DECLARED, REACHED, WATCHED, FIELD_NODES, FIELD_SLOTS, CHOICE_SLOTS, CALL_SLOTS, DIRTY, CURSOR,
    STAMP, INBOX, LIVE_EDGES, NEW_EDGES, STEPS, SWEEPS, COLLAPSES, COLLAPSED, FULL, CLASS_TYPE,
    OBJECT_TYPE, SPENT, TRACKED, SEEDS, ROOTS, RECEIVERS, CROSSINGS,
    INBOX_TAKEN, PASSAGES, PASSAGE_SLOTS, SETS, SET_SLOTS, MEMO_SLOTS, MEMO_MISSES, LIVE_WORDS, LATE, TAKES_LATE,
    DISPATCH_SLOTS, DISPATCH_MISSES, RUNS, GROUP_SLOTS, GROUP_MISSES, PREDECESSORS, NEWCOMERS,
    BUNDLES, BUNDLE_SLOTS, BUNDLE_CALLEES, CALLED,
) = range(61)  # fmt: skip


class Sets(NamedTuple):
    """Sets of objects: words `word[i]` (objects `64 * key[i] … + 63`), each set once, and what is remembered of them."""

    key: Array
    word: Array
    set: Array
    slot: Array
    memo: Array


class Graph(NamedTuple):
    """Nodes with copy edges and uses; `at` is the inverse of a node's rank, `dirty` a bit for each rank, so is `late` (see `engine.kernel.closure`)."""

    node: Array
    edge: Array
    predecessor: Array
    free: Array
    use: Array
    at: Array
    dirty: Array
    late: Array
    field_slot: Array
    passage: Array
    passage_slot: Array
    group: Array


class Calls(NamedTuple):
    """Call sites, methods and the call graph."""

    site: Array
    argument_position: Array
    argument_variable: Array
    method: Array
    reached: Array
    call: Array
    call_slot: Array
    choice: Array
    choice_slot: Array
    dispatch: Array
    run: Array
    bundle: Array
    bundle_slot: Array
    bundle_callee: Array


class Types(NamedTuple):
    """The hierarchy, the objects, and a bit mask of the objects of each type that filters an edge."""

    type: Array
    object: Array
    link: Array
    supertype: Array
    declared_signature: Array
    declared_method: Array
    mask: Array


class Slice(NamedTuple):
    """What asks for tracked objects, and where they come from: logs, for when more pointers are asked about."""

    root: Array
    crossing: Array
    newcomer: Array
    seed_pointer: Array
    seed_object: Array
    receiver_site: Array
    receiver_callee: Array


class Scratch(NamedTuple):
    """Buffers of one step, the rows that wait to be added, and the log of new objects at watched pointers."""

    part_set: Array
    part_callee: Array
    part_generic: Array
    part_at: Array
    part_length: Array
    part_key: Array
    part_word: Array
    watched_tag: Array
    watched_object: Array
    inbox: Array


class State(NamedTuple):
    """All of it; `counters` holds the fill of each pool and statistics."""

    sets: Sets
    graph: Graph
    calls: Calls
    types: Types
    slice: Slice
    scratch: Scratch
    counters: Array


# The most unions that are remembered, the most dispatches, and the most groups of fields.
MEMOS = 1 << 22

# Without it, Linux refuses what is larger than its memory, and to fork. Python names it from 3.13 on.
_UNCOMMITTED = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


def reserve(shape: tuple[int, ...] | int, dtype: DTypeLike) -> Array:
    """Returns a zeroed array whose memory is committed only where it is touched."""
    kind = np.dtype(dtype)
    cells = int(np.prod(shape))
    size = max(cells * kind.itemsize, 1)
    if sys.platform == "win32":
        return np.zeros(shape, kind)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _UNCOMMITTED
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), kind, cells).reshape(shape)


class Capacity(NamedTuple):
    """How much each pool may hold."""

    nodes: int = 1 << 27
    words: int = 1 << 31
    edges: int = 1 << 30
    objects: int = 1 << 22
    types: int = 1 << 20
    methods: int = 1 << 23
    masks: int = 1 << 15


def roomy_state() -> State:
    """Returns an empty state with all the room of `Capacity`, or a part of what the system lets a process reserve."""
    try:
        return new_state(Capacity())
    except OSError:  # a limit of address space, or a system that commits what it hands out
        return _small_state()


def _small_state() -> State:
    """Returns an empty state that leaves others at least half of what could be reserved."""
    for halvings in range(1, 16):
        with contextlib.suppress(OSError):
            new_state(_part(halvings))
            return new_state(_part(halvings + 1))
    raise MemoryError


def _part(halvings: int) -> Capacity:
    whole = Capacity()
    large = {name: getattr(whole, name) >> halvings for name in ("nodes", "words", "edges", "masks")}
    return whole._replace(**large)


def new_state(capacity: Capacity) -> State:
    """Returns an empty state."""
    nodes, words, edges, objects, types, methods, masks = capacity
    # Tracked objects begin in the middle of the pool, and at a word of their own.
    objects = (objects + 127) & ~127
    return State(
        Sets(
            reserve(words, "i4"), reserve(words, "u8"), reserve(nodes, SET), reserve(nodes, "i4"),
            reserve(min(nodes, MEMOS), MEMO),
        ),
        Graph(
            reserve(nodes, NODE), reserve(edges, EDGE), reserve(edges, PREDECESSOR), reserve(64, "i8"), reserve(nodes, USE),
            reserve(nodes, "i4"), reserve((nodes >> 6) + 1, "u8"), reserve((nodes >> 6) + 1, "u8"),
            reserve(nodes, "i4"), reserve(nodes, PASSAGE), reserve(nodes, "i4"), reserve(min(nodes, MEMOS), GROUP),
        ),
        Calls(
            reserve(nodes, SITE), reserve(nodes, "i4"), reserve(nodes, "i4"), reserve(methods, METHOD),
            reserve(methods, "i4"), reserve(nodes, CALL), reserve(nodes, "i4"), reserve(nodes, CHOICE),
            reserve(nodes, "i4"), reserve(min(nodes, MEMOS), DISPATCH), reserve(nodes, RUN),
            reserve(nodes, BUNDLE), reserve(nodes, "i4"), reserve(nodes, "i4"),
        ),
        Types(
            reserve(types, TYPE), reserve(objects, OBJECT), reserve(nodes, LINK), reserve(nodes, "i4"),
            reserve(nodes, "i4"), reserve(nodes, "i4"), reserve((masks, (objects >> 6) + 1), "u8"),
        ),
        Slice(
            reserve(nodes, "i4"), reserve(nodes, "i4"), reserve(nodes, "i4"), reserve(nodes, "i4"), reserve(nodes, "i4"),
            reserve(nodes, "i4"), reserve(nodes, "i4"),
        ),
        Scratch(
            reserve(types, "i4"), reserve(types, "i4"), reserve(types, "i4"), reserve(types, "i8"), reserve(types, "i4"),
            reserve(objects, "i4"), reserve(objects, "u8"), reserve(words, "i4"), reserve(words, "i4"),
            reserve(nodes, ROW),
        ),
        np.zeros(64, np.int64),
    )  # fmt: skip
