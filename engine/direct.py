"""Direct flow: where values come from over assignments, arguments and results, and fields taken as one each.

    Direct(y) :- Direct(x), Assign(y, x).
    Direct(a) :- Direct(p), Parameter(m, i, p), Calls(s, m), Argument(s, i, a).
    Direct(r) :- Direct(x), Result(s, x), Calls(s, m), Returns(m, r).
    Direct(z) :- Direct(x), Load(y, f, x), Store(z, f, w), Followed(f).

What was entered by way of a result is left by the same call again (the last three of them).

Rows are added all the time, but hardly ever where a search passes: an operand is searched again only if one was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.schema import NONE, Facts, Int32, Rows
from engine.asked import Asked
from engine.kernel.index import (
    COPY,
    FIELD,
    OTHER,
    RESULT,
    ROUND,
    TEXT,
    TYPE,
    Added,
    Seen,
    new_seen,
    no_index,
    with_room,
)
from engine.kernel.table import table_of
from engine.solver import Solver

# The most states of a search: a variable, with the calls by which it was come to.
STATES = 20_000
# What defines a variable: relation, kind, and the columns of the variable and of what comes to it.
DEFINITIONS: tuple[tuple[type[tuple[Any, ...]], int, str, str], ...] = (
    (schema.Assign, COPY, "target", "source"),
    (schema.Cast, COPY, "target", "source"),
    (schema.StringConstant, TEXT, "target", "text"),
    (schema.ClassConstant, TYPE, "target", "type"),
    (schema.Invoke, RESULT, "result", "site"),
    (schema.Load, FIELD, "target", "field"),
    (schema.StaticLoad, FIELD, "target", "field"),
    *((relation, OTHER, "target", "target") for relation in (schema.New, schema.ArrayLoad, schema.Catch)),
)  # fmt: skip


class DirectFlow:
    """The definitions of variables, from facts that are added batch by batch, and searches over them.

    `follows(field)` says whether what is loaded from a field comes from what is stored to it, in whatever object;
    `inside` which methods are of the code that is searched.
    """

    def __init__(
        self,
        follows: Callable[[int], bool],
        inside: Callable[[Int32], NDArray[np.bool_]],
    ) -> None:
        self._follows, self._inside = Asked(follows), inside
        self._added: dict[str, list[Int32]] = defaultdict(list)  # by column, since the last update
        self._states: Seen = new_seen(STATES)
        self._found: Seen = new_seen(STATES)
        self._index = no_index()
        self._by = table_of(self._index)
        self._into = table_of(self._states), table_of(self._found)
        self._calls = self._reached = 0  # so far
        # By operand and whether its search goes everywhere: the variables that this passed, and what it found.
        self._origins: dict[tuple[int, bool], tuple[Int32, set[tuple[int, int]]]] = {}

    def add(self, batches: list[Facts]) -> None:
        """Adds facts; sites are above those of batches before."""
        for each in (schema.Store, schema.StaticStore):
            if stores := schema.joined(each, batches):
                self._add_stores(stores)
        for relation, kind, target, value in DEFINITIONS:
            if rows := schema.joined(relation, batches):
                outside = (rows.method >= 0) & ~self._inside(rows.method)
                self._add_definitions(kind, getattr(rows, target), getattr(rows, value), outside)
        if arguments := schema.joined(schema.Argument, batches):
            self._add(site=arguments.site, position=arguments.position, argument=arguments.variable)

    def _add(self, **columns: NDArray[Any]) -> None:
        for name, column in columns.items():
            self._added[name].append(column.astype(np.int32, copy=False))

    def _add_stores(self, stores: Rows) -> None:
        kept = self._follows.many(stores.field) & (stores.source >= 0)
        self._add(field=stores.field[kept], stored=stores.source[kept])

    def _add_definitions(self, kind: int, targets: Int32, values: Int32, outside: NDArray[np.bool_]) -> None:
        kinds = np.full(targets.size, kind, np.int32)
        if kind == FIELD:
            kinds[~self._follows.many(values)] = OTHER
        values = np.where(kinds == OTHER, -1, values)
        kept = targets >= 0
        self._add(target=targets[kept], kind=kinds[kept], definition=values[kept], is_outside=outside[kept])

    def update(
        self,
        solver: Solver,
        parameters: Int32,
        variables: Int32,
        cut: NDArray[np.bool_],
        opaque: Callable[[Int32], NDArray[np.bool_]],
    ) -> None:
        """Has searches go by the facts so far, and the call graph that `solver` has come to; both only grow.

        `parameters` and `variables` are their numbers in each method, by its id; `cut` says of which sites the results
        come from a model or the rules, `opaque` which methods no search enters.
        """
        from engine.kernel import paths  # brings the compiler along, which takes its time

        self._add_calls(solver, opaque)
        self._add_reached(solver, variables)
        added = Added(*(_joined(self._added[name]) for name in Added._fields))
        self._added.clear()
        self._index = with_room(
            self._index,
            added,
            solver.statistics().pointers,
            self._follows.size,
            cut.size,
            parameters.size,
        )
        recut = np.flatnonzero(self._index.cut[: cut.size] != cut).astype(np.int32)
        self._index.cut[: cut.size] = cut
        self._index.parameters[: parameters.size] = parameters
        added = added._replace(recut=recut)
        self._by = table_of(self._index)
        paths.extend(self._by, table_of(added))
        self._forget_changed()

    def _forget_changed(self) -> None:
        """Forgets the searches that passed variables from which they would now go on in other ways."""
        passed = [each for each, _ in self._origins.values()]
        changed = self._index.touched == self._index.fill[ROUND]
        before = np.concatenate(([0], np.cumsum(changed[_joined(passed)])))
        ends = np.cumsum([each.size for each in passed], dtype=np.int64)
        starts = np.concatenate(([0], ends))[:-1]
        searched = list(self._origins)
        for place in np.flatnonzero(before[ends] > before[starts]).tolist():
            del self._origins[searched[place]]

    def _add_calls(self, solver: Solver, opaque: Callable[[Int32], NDArray[np.bool_]]) -> None:
        """Adds the calls made since the last update that searches enter."""
        called, callee, self._calls = solver.calls_made(self._calls)
        entered = ~opaque(callee)
        self._add(called=called[entered], callee=callee[entered])

    def _add_reached(self, solver: Solver, variables: Int32) -> None:
        """Adds the methods reached since the last update."""
        reached = solver.reached()[self._reached :]
        self._reached += reached.size
        first = solver.first_variables(reached)
        self._add(method=reached, first=first, variables=variables[reached], out=~self._inside(reached))

    def origins(self, operand: int, everywhere: bool) -> set[tuple[int, int]]:
        """Returns (kind, value) of where what comes to `operand` begins: TEXT, TYPE, RESULT, OUTSIDE, or OTHER and -1.

        Unless it goes everywhere, the search ends at variables of methods outside, and at other pointers to which
        something comes there.
        """
        if (operand, everywhere) not in self._origins:
            self._origins[operand, everywhere] = self._search(operand, everywhere)
        return self._origins[operand, everywhere][1]

    def is_known(self, operand: int, everywhere: bool) -> bool:
        """Returns whether `origins` would return what it did before."""
        return (operand, everywhere) in self._origins

    def _search(self, operand: int, everywhere: bool) -> tuple[Int32, set[tuple[int, int]]]:
        """Returns the variables that a search passes, and what it finds."""
        from engine.kernel import paths

        number, whole = paths.search(self._by, *self._into, operand, everywhere)
        kinds, values = self._found.first[:number].tolist(), self._found.second[:number].tolist()
        origins = set(zip(kinds, values, strict=True))
        if not whole:
            return np.empty(0, np.int32), origins | {(OTHER, NONE)}
        return self._states.first[: int(self._states.fill[0])].copy(), origins


def _joined(parts: Sequence[Int32]) -> Int32:
    """Returns all parts of a column as one."""
    return np.concatenate((np.empty(0, np.int32), *parts))
