"""The state of the abstract interpretation of one method body, and how the states of blocks meet.

A value is an int: a variable, counted from 1; 0 for null or a number that isn't known; or `-1 - n` for the
int constant `n`, which array indexes and lengths need. A store makes no variable: the slot just holds the
value. Where ways into a block disagree, a slot holds a promise, `-1 - (merge * slots + slot)`, until someone
reads it; then it becomes a variable to which each way assigns (pruned static single assignment, with joins
made on demand). A slot that one instruction defines needs none of this: the definition comes before each
use, and before it in the order of interpretation, too.
"""

from __future__ import annotations

from bisect import bisect_right

from loader.classfile import Code, Handler, MalformedClass
from loader.flow import Flow, handlers_at
from loader.symbols import Pool

# Work that one method may cost: blocks, and values copied from one to another. Bodies that compilers make
# stay far below; without it, 64 KiB of code could ask for gigabytes.
LIMIT = 20_000_000

NOWHERE = 1 << 30

Edge = tuple[list[int], list[int]]
Region = tuple[tuple[int, int], ...]


def _too_large() -> MalformedClass:
    return MalformedClass("CLS-LIMIT", "the method body is too large to be interpreted")


class Frame:
    """Interprets one body after the other; `rows` collects their constraints."""

    __slots__ = (
        "_lists",
        "argument",
        "array_load",
        "array_store",
        "arrays",
        "arrivals",
        "arrived",
        "assign",
        "begun",
        "behind",
        "bounds",
        "calls",
        "cast",
        "catch",
        "code",
        "constant",
        "covered",
        "current",
        "definitions",
        "done",
        "dynamic",
        "dynamic_argument",
        "dynamic_calls",
        "exact_argument",
        "handler_variables",
        "handlers",
        "invoke",
        "load",
        "merged",
        "merges",
        "new",
        "next_variable",
        "pending",
        "phis",
        "pool",
        "region",
        "region_variables",
        "regions",
        "result_cast",
        "returns",
        "rows",
        "singles",
        "snapshots",
        "stack",
        "stacks",
        "static_load",
        "static_store",
        "store",
        "thrown",
        "thrown_variable",
        "uncaught",
        "variables",
        "work",
    )  # fmt: skip

    def __init__(self, rows: dict[str, list[int]]) -> None:
        self.rows = rows
        self._lists = list(rows.values())
        self.begun: list[int] = []  # the lengths of `rows` where the last body began
        for name, listed in rows.items():
            setattr(self, name, listed)
        self.new: list[int]
        self.constant: list[int]
        self.assign: list[int]
        self.cast: list[int]
        self.load: list[int]
        self.store: list[int]
        self.array_load: list[int]
        self.array_store: list[int]
        self.static_load: list[int]
        self.static_store: list[int]
        self.invoke: list[int]
        self.argument: list[int]
        self.exact_argument: list[int]
        self.result_cast: list[int]
        self.dynamic: list[int]
        self.dynamic_argument: list[int]
        self.catch: list[int]
        self.uncaught: list[int]

    def begin(self, code: bytes, pool: Pool, entry: list[int], positions: int) -> None:
        """Starts a body with `positions` parameters; `entry` has the value of each slot at the start."""
        self.code = code
        self.pool = pool
        self.stack: list[int] = []
        self.variables = self.singles = entry
        # Variables `positions + 1` and `positions + 2` are what the method returns and throws.
        self.thrown = self.thrown_variable = positions + 2
        self.next_variable = positions + 3
        self.calls = self.dynamic_calls = 0
        self.arrays: dict[int, int] = {}  # length of each new array, where it is a constant
        self.merged: frozenset[int] = frozenset()
        self.returns: dict[int, list[int]] = {}
        self.handlers: list[Handler] = []

    def begin_flow(self, code: Code, flow: Flow) -> None:
        """Prepares for the blocks of `flow`, and arrives at the first."""
        self.arrivals = flow.arrivals
        self.arrived: dict[int, list[Edge]] = {}
        self.merged = frozenset(flow.merged)
        self.returns = flow.returns
        self.current = 0
        self.behind = NOWHERE
        self.done: set[int] = set()
        self.stacks: dict[int, list[int]] = {}  # of blocks where several ways meet, as they were entered
        self.merges: list[int] = []  # their leaders
        self.phis: dict[int, int] = {}  # from promises to variables
        self.pending: list[int] = []  # promises whose variable nothing assigns to yet
        self.work = 0
        self.handlers = code.handlers
        if code.handlers:
            self.bounds = sorted({at for each in code.handlers for at in (each.start, each.end)})
            self.regions: dict[int, Region] = {}
            self.region: Region = ()
            self.region_variables: dict[Region, int] = {}
            self.handler_variables: dict[int, int] = {}
            # Of merged slots: what they hold where a covered block begins, and each store with its end.
            self.snapshots: list[tuple[int, list[int]]] = []
            self.definitions: list[tuple[int, int, int]] = []
            self.covered: dict[int, tuple[list[list[int]], list[tuple[int, int]]]] = {}
        self.join(0)

    def begin_rows(self) -> list[int]:
        """Returns the length of each list of rows, where the next body begins."""
        self.begun = [*map(len, self._lists)]
        return self.begun

    def variable(self) -> int:
        """Returns a new variable."""
        number = self.next_variable
        self.next_variable = number + 1
        return number

    def spend(self, work: int) -> None:
        """Counts `work`; raises MalformedClass if the body has cost more than it may."""
        self.work += work
        if self.work > LIMIT:
            raise _too_large()

    # --- blocks

    def join(self, target: int) -> None:
        """Takes the present state to the block at `target`."""
        stack, variables = self.stack.copy(), self.variables
        work = self.work + 1 + len(stack)
        if self.merged:
            variables = variables.copy()
            work += len(variables)
        self.work = work
        if work > LIMIT:
            raise _too_large()
        edges = self.arrived.get(target)
        if edges is None:
            edges = self.arrived[target] = []
            if target < self.current:
                self.behind = min(self.behind, target)
        edges.append((stack, variables))
        if target in self.done:
            self._assign_stack(target, self.stacks[target], stack)

    def enter(self, leader: int) -> None:
        """Makes the state at the start of the block at `leader` out of those of the ways that arrived."""
        edges = self.arrived[leader]
        self.done.add(leader)
        if self.handlers and leader in self.handler_variables:
            self.stack = [self.handler_variables[leader]]
            for edge in edges:
                self._assign_stack(leader, self.stack, edge[0])
        elif self.arrivals[leader] == 1:
            self.stack, self.variables = edges[0]
            self.current = leader
            if self.handlers:
                self._cover(leader)
            return
        else:
            self.stack = self._merge_stacks(leader, edges)
        self.stacks[leader] = self.stack.copy()
        if self.merged:
            promise = -1 - len(self.merges) * len(self.singles)
            self.merges.append(leader)
            self.spend(len(self.singles))
            self.variables = self.singles.copy()
            for slot in self.merged:
                self.variables[slot] = promise - slot
        self.at_block(leader)

    def at_block(self, leader: int) -> None:
        """Begins the block at `leader` with the present state."""
        self.current = leader
        if self.handlers:
            self._cover(leader)

    def _merge_stacks(self, leader: int, edges: list[Edge]) -> list[int]:
        """Returns the stack of a block where `edges`, and perhaps others later, meet."""
        depth = len(edges[0][0])
        for stack, _ in edges:
            if len(stack) != depth:
                raise MalformedClass("CLS-STACK", f"ways to {leader} have stacks of different depth")
        if not depth:
            return []
        complete = len(edges) == self.arrivals[leader]
        merged = []
        for values in zip(*(stack for stack, _ in edges), strict=True):
            if complete and len(set(values)) == 1:
                merged.append(values[0])
                continue
            phi = self.variable()
            merged.append(phi)
            for value in dict.fromkeys(values):
                if value > 0:
                    self.assign.extend((leader, value, phi))
        return merged

    def _assign_stack(self, leader: int, merged: list[int], stack: list[int]) -> None:
        """Adds a way to the block at `leader`, whose stack is made of the variables `merged`."""
        if len(merged) != len(stack):
            raise MalformedClass("CLS-STACK", f"ways to {leader} have stacks of different depth")
        for phi, value in zip(merged, stack, strict=True):
            if value > 0 and value != phi:
                self.assign.extend((leader, value, phi))

    # --- slots

    def store_slot(self, slot: int, value: int, following: int) -> None:
        """Stores to a slot; `following` is where the next instruction is."""
        value = max(value, 0)
        self.variables[slot] = value
        if self.merged:
            if slot not in self.merged:
                self.singles[slot] = value
            elif self.handlers:
                self.definitions.append((following, slot, value))

    def read_promise(self, promise: int) -> int:
        """Returns the variable (or 0) that a slot holds where several ways meet."""
        path = []
        while True:
            known = self.phis.get(promise)
            if known is not None:
                break
            path.append(promise)
            merge, slot = divmod(-1 - promise, len(self.singles))
            leader = self.merges[merge]
            values = self._agreeing(leader, slot)
            if len(values) == 1:
                known = values.pop()
                if known >= 0:
                    break
                promise = known
                continue
            known = self.variable()
            self.pending.append(promise)
            break
        for each in path:
            self.phis[each] = known
        return known

    def _agreeing(self, leader: int, slot: int) -> set[int]:
        """Returns what a slot holds on the ways to a block; nothing if there may be other ways."""
        edges = self.arrived[leader]
        if len(edges) != self.arrivals[leader]:
            return set()
        phis = self.phis
        return {phis.get(each[slot], each[slot]) for _, each in edges}

    def finish(self) -> None:
        """Adds the assignments to variables that stand for slots where ways meet, and the handlers' rows."""
        if self.handlers:
            self._finish_regions()
        while self.pending:
            promise = self.pending.pop()
            phi = self.phis[promise]
            merge, slot = divmod(-1 - promise, len(self.singles))
            leader = self.merges[merge]
            values = {edge[1][slot] for edge in self.arrived[leader]}
            if self.handlers and leader in self.handler_variables:
                values |= self._seen_by_handler(leader, slot)
            self.spend(len(values))
            sources = {self.read_promise(value) if value < 0 else value for value in values}
            for source in sorted(sources):
                if source > 0 and source != phi:
                    self.assign.extend((leader, source, phi))

    # --- exceptions

    def _cover(self, leader: int) -> None:
        """Finds the handlers of the block at `leader`, and makes them reachable."""
        interval = bisect_right(self.bounds, leader)
        region = self.regions.get(interval)
        if region is None:
            self.spend(len(self.handlers))
            region = self.regions[interval] = handlers_at(self.handlers, leader)
            for target, _ in region:
                if target not in self.handler_variables:
                    self._reach_handler(target)
        self.region = region
        if not region:
            self.thrown = self.thrown_variable
            return
        self.thrown = self.region_variables.get(region, 0)
        for target, _ in region:
            if target < leader and target not in self.done:
                self.behind = min(self.behind, target)
        if self.merged:
            self.spend(len(self.variables))
            self.snapshots.append((leader, self.variables.copy()))

    def _reach_handler(self, target: int) -> None:
        self.arrived.setdefault(target, [])
        if target not in self.done:
            self.handler_variables[target] = self.variable()
        elif len(self.stacks[target]) == 1:  # by a branch, before what it handles
            self.handler_variables[target] = self.stacks[target][0]
        else:
            raise MalformedClass("CLS-STACK", f"ways to {target} have stacks of different depth")

    def thrown_here(self) -> int:
        """Returns the variable that takes what instructions of this block throw."""
        thrown = self.thrown
        if not thrown:
            thrown = self.thrown = self.region_variables[self.region] = self.variable()
        return thrown

    def _finish_regions(self) -> None:
        """Takes what is thrown in a region to its first handler, and what that doesn't catch on.

        Where no instruction throws what a variable holds, the JVM still may.
        """
        variables = self.region_variables
        for region in self.regions.values():
            if region and region not in variables:
                variables[region] = self.variable()
        waiting = list(variables)
        while waiting:
            region = waiting.pop()
            target, type_index = region[0]
            every = not type_index or self.pool.pool.class_name(type_index) == b"java/lang/Throwable"
            type_ref = self.pool.type(type_index) if type_index else self.pool.throwable()
            source = variables[region]
            self.catch.extend((target, source, type_ref, self.handler_variables[target]))
            if every:
                continue
            rest = region[1:]
            onward = variables.get(rest) if rest else self.thrown_variable
            if onward is None:
                onward = variables[rest] = self.variable()
                waiting.append(rest)
            self.uncaught.extend((target, source, type_ref, onward))

    def _seen_by_handler(self, target: int, slot: int) -> set[int]:
        """Returns what a slot may hold before the instructions that a handler covers."""
        covered = self.covered.get(target)
        if covered is None:
            ranges = {(each.start, each.end) for each in self.handlers if each.target == target}
            self.spend(len(self.handlers) + len(ranges) * (len(self.snapshots) + len(self.definitions)))
            states = [
                state for at, state in self.snapshots if any(start <= at < end for start, end in ranges)
            ]
            stores = [
                (stored, value)
                for following, stored, value in self.definitions
                if any(start < following < end for start, end in ranges)
            ]
            covered = self.covered[target] = states, stores
        self.spend(len(covered[0]) + len(covered[1]))
        return {state[slot] for state in covered[0]} | {
            value for stored, value in covered[1] if stored == slot
        }
