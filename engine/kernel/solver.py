"""The compiled solver."""

from __future__ import annotations

import numpy as np

from cypher.program import MethodRows, TypeRows
from cypher.schema import STATIC, Int32, Int64
from engine.kernel import closure, doors, paths  # noqa: F401 compiled with the rest
from engine.kernel import state as pools
from engine.kernel.state import Capacity, State, new_state, roomy_state
from engine.kernel.table import table_of
from engine.solver import PointsToRows, Statistics

# The hash tables begin with so many slots: a power of two.
SLOTS = 1 << 12

# The pools that take the most memory, and the bytes of a row of each.
_WIDTHS = (
    (pools.WORDS, 12), (pools.SETS, pools.SET.itemsize), (pools.MEMO_SLOTS, pools.MEMO.itemsize),
    (pools.DISPATCH_SLOTS, pools.DISPATCH.itemsize),
    (pools.RUNS, pools.RUN.itemsize), (pools.BUNDLES, pools.BUNDLE.itemsize), (pools.BUNDLE_CALLEES, 4),
    (pools.GROUP_SLOTS, pools.GROUP.itemsize),
    (pools.EDGES, pools.EDGE.itemsize), (pools.PREDECESSORS, pools.PREDECESSOR.itemsize),
    (pools.NODES, pools.NODE.itemsize), (pools.PASSAGES, pools.PASSAGE.itemsize), (pools.USES, pools.USE.itemsize),
    (pools.CALLS, pools.CALL.itemsize),
)  # fmt: skip


def int32(values: Int32) -> Int32:
    """Returns `values` as the kernel takes them."""
    return np.ascontiguousarray(values, np.int32)


class KernelSolver:
    """`Solver` on reserved pools and compiled sweeps.

    `waiting`: how many newly reached methods `solve` lets pile up before it asks for their facts. `ratio`
    and `least` say when cycles are collapsed: when new edges exceed `least + ratio * all edges`.
    """

    def __init__(
        self,
        object_type: int,
        class_type: int,
        capacity: Capacity | None = None,
        waiting: int = 2000,
        ratio: float = 0.25,
        least: int = 20000,
    ) -> None:
        self._state: State = new_state(capacity) if capacity else roomy_state()
        self._table = table_of(self._state)
        count = self._state.counters
        count[pools.OBJECT_TYPE], count[pools.CLASS_TYPE] = object_type, class_type
        slots = min(SLOTS, 1 << (self._state.graph.node.size.bit_length() - 1))
        for table in (
            pools.FIELD_SLOTS, pools.CHOICE_SLOTS, pools.CALL_SLOTS, pools.PASSAGE_SLOTS, pools.SET_SLOTS,
            pools.MEMO_SLOTS, pools.DISPATCH_SLOTS, pools.GROUP_SLOTS, pools.BUNDLE_SLOTS,
        ):  # fmt: skip
            count[table] = slots
        self._waiting, self._ratio, self._least = waiting, float(ratio), least
        self._taken = 0
        self.tracked_from = self._state.types.object.size >> 1

    def add_types(self, rows: TypeRows) -> None:
        doors.enter_types(
            self._table, rows.superclass, rows.element, rows.flags, rows.supertypes_at, rows.supertypes,
            rows.declared_at, rows.declared_signature, rows.declared_method,
        )  # fmt: skip

    def add_methods(self, rows: MethodRows) -> None:
        doors.enter_methods(
            self._table, rows.declaring, rows.parameters, rows.variables, rows.flags, rows.returns
        )

    def add_objects(self, types: Int32) -> int:
        return int(doors.enter_objects(self._table, int32(types)))

    def add_tracked(self, types: Int32) -> int:
        return int(doors.enter_tracked(self._table, int32(types)))

    def add_pointers(self, number: int) -> int:
        return int(doors.enter_pointers(self._table, number))

    def add_sites(
        self, kinds: Int32, targets: Int32, receivers: Int32, results: Int32, throwns: Int32,
        arguments_at: Int64, positions: Int32, variables: Int32,
    ) -> int:  # fmt: skip
        first = int(
            doors.enter_sites(
                self._table,
                int32(kinds),
                int32(targets),
                int32(receivers),
                int32(results),
                int32(throwns),
                np.ascontiguousarray(arguments_at, np.int64),
                int32(positions),
                int32(variables),
            )
        )
        sites = np.arange(first, first + kinds.size, dtype=np.int32)
        static = (kinds == STATIC) & (targets >= 0)
        self.call(sites[static], targets[static])
        others = (kinds != STATIC) & (targets >= 0) & (receivers >= 0)
        self._put(pools.PUT_USE, receivers[others], pools.USE_CALL, sites[others])
        return first

    def new(self, pointers: Int32, objects: Int32) -> None:
        self._put(pools.PUT_OBJECT, pointers, objects)

    def assign(self, sources: Int32, targets: Int32) -> None:
        self._put(pools.PUT_EDGE, sources, targets)

    def cast(self, sources: Int32, types: Int32, targets: Int32) -> None:
        self._put(pools.PUT_CAST, sources, targets, types)

    def exclude(self, sources: Int32, types: Int32, targets: Int32) -> None:
        self._put(pools.PUT_EXCLUDE, sources, targets, types)

    def assign_untracked(self, sources: Int32, targets: Int32) -> None:
        self._put(pools.PUT_UNTRACKED, sources, targets)

    def load(self, bases: Int32, fields: Int32, targets: Int32) -> None:
        self._put(pools.PUT_USE, bases, pools.USE_LOAD, fields + 1, targets)

    def store(self, sources: Int32, fields: Int32, bases: Int32) -> None:
        self._put(pools.PUT_USE, bases, pools.USE_STORE, fields + 1, sources)

    def watch(self, pointers: Int32, tags: Int32) -> None:
        self._put(pools.PUT_USE, pointers, pools.USE_WATCH, tags)

    def reach(self, methods: Int32) -> None:
        self._put(pools.PUT_REACH, methods)

    def call(self, sites: Int32, callees: Int32) -> None:
        self._put(pools.PUT_CALL, sites, callees)

    def _put(self, kind: int, *columns: Int32 | int) -> None:
        """Appends rows to the inbox; the first column is an array."""
        count, inbox = self._state.counters, self._state.scratch.inbox
        start = count[pools.INBOX]
        end = start + np.size(columns[0])
        if count[pools.FULL] or end > inbox.size:
            count[pools.FULL] = 1
            return
        inbox["kind"][start:end] = kind
        for name, column in zip(("first", "second", "third", "fourth"), columns, strict=False):
            inbox[name][start:end] = column
        count[pools.INBOX] = end

    def class_objects(self, types: Int32) -> Int32:
        found: Int32 = doors.enter_class_objects(self._table, int32(types))
        return found

    def solve(self, budget: int) -> int:
        return int(closure.solve(self._table, budget, self._waiting, self._ratio, self._least))

    def take_reached(self) -> tuple[Int32, Int32]:
        methods: Int32 = self._state.calls.reached[self._taken : self._state.counters[pools.REACHED]].copy()
        self._taken += methods.size
        return methods, self.first_variables(methods)

    def take_watched(self) -> tuple[Int32, Int32]:
        number, scratch = self._state.counters[pools.WATCHED], self._state.scratch
        self._state.counters[pools.WATCHED] = 0
        return scratch.watched_tag[:number].copy(), scratch.watched_object[:number].copy()

    def calls_made(self, since: int = 0) -> tuple[Int32, Int32, int]:
        count = self._state.counters
        sites, callees = np.empty((2, count[pools.CALLED]), np.int32)
        number = doors.list_calls(self._table, since, sites, callees)
        return sites[:number], callees[:number], int(count[pools.CALLS])

    def reached(self) -> Int32:
        found: Int32 = self._state.calls.reached[: self._state.counters[pools.REACHED]].copy()
        return found

    def first_variables(self, methods: Int32) -> Int32:
        table = self._state.calls.method
        found: Int32 = np.where(table["reached"][methods] > 0, table["first"][methods], -1).astype(np.int32)
        return found

    def types_of(self, objects: Int32) -> Int32:
        found: Int32 = self._state.types.object["type"][objects]
        return found

    def class_object_types(self) -> tuple[Int32, Int32]:
        made = self._state.types.type[: self._state.counters[pools.TYPES]]["class_object"]
        types = np.flatnonzero(made).astype(np.int32)
        return made[types] - 1, types

    def select(self, type_: int, signature: int) -> int:
        return int(doors.selected(self._table, type_, signature))

    def objects_of(self, pointer: int) -> Int32:
        found: Int32 = doors.row_objects(self._table, pointer)
        return found

    def number_of(self, pointer: int) -> int:
        return int(doors.number_of(self._table, pointer))

    def points_to(self) -> PointsToRows:
        of = doors.sets_of(self._table)
        sets, count = self._state.sets, self._state.counters
        lengths = sets.set["length"][: int(count[pools.SETS]) + 1]
        at = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        key, word = sets.key[: at[-1]].copy(), sets.word[: at[-1]].copy()
        nodes = self._state.graph.node[: of.size]
        base = np.maximum(nodes["base"], 0) - 1
        field = np.where(base >= 0, nodes["field"] - 1, -1).astype(np.int32)
        return PointsToRows(of, at, key, word.view(np.int64), base, field)

    def statistics(self) -> Statistics:
        count = self._state.counters
        masks = int(count[pools.MASKS]) * max(4096, int(count[pools.OBJECTS]) >> 3)
        size = masks + sum(width * int(count[pool]) for pool, width in _WIDTHS)
        return Statistics(
            int(count[pools.NODES]), int(count[pools.OBJECTS]), int(count[pools.TRACKED]), int(count[pools.REACHED]),
            int(count[pools.CALLED]), int(count[pools.STEPS]), size,
        )  # fmt: skip
