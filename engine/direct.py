"""Direct flow: where values come from over assignments, arguments and results, and fields taken as one each.

    Direct(y) :- Direct(x), Assign(y, x).
    Direct(a) :- Direct(p), Parameter(m, i, p), Calls(s, m), Argument(s, i, a).
    Direct(r) :- Direct(x), Result(s, x), Calls(s, m), Returns(m, r).
    Direct(z) :- Direct(x), Load(y, f, x), Store(z, f, w), Followed(f).

What was entered by way of a result is left by the same call again (the last three of them).

Rows are added all the time, but hardly ever where a search passes: an operand is searched again only if one was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.schema import NONE, Facts, Int32, Int64, Rows
from engine.kernel.index import COPY, FIELD, OTHER, RESULT, TEXT, TYPE, Index, Seen, new_seen, no_index
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
        self._follows: dict[int, bool] = {}
        self._ask, self._inside = follows, inside
        self._definitions: list[tuple[Int32, ...]] = []  # (target, kind, value, whether in a method outside)
        self._stores: list[tuple[Int32, Int32]] = []  # (field, source)
        self._arguments: list[tuple[Int32, Int32, Int32]] = []  # (site, position, variable), ordered by site
        self._states: Seen = new_seen(STATES)
        self._found: Seen = new_seen(STATES)
        self._index = no_index()
        # Of the calls and of the reached methods so far: whether a search enters them; whether they are outside.
        self._entered = np.empty(0, np.bool_)
        self._out = np.empty(0, np.int32)
        # By operand and whether its search goes everywhere: the variables that this passed, and what it found.
        self._origins: dict[tuple[int, bool], tuple[Int32, set[tuple[int, int]]]] = {}

    def add(self, batches: list[Facts]) -> None:
        """Adds facts; sites are above those of batches before."""
        for facts in batches:
            for each in (schema.Store, schema.StaticStore):
                if stores := facts.get(each):
                    self._add_stores(stores)
            for relation, kind, target, value in DEFINITIONS:
                if rows := facts.get(relation):
                    outside = (rows.method >= 0) & ~self._inside(rows.method)
                    self._add_definitions(kind, getattr(rows, target), getattr(rows, value), outside)
            if arguments := facts.get(schema.Argument):
                self._arguments.append((arguments.site, arguments.position, arguments.variable))

    def _add_stores(self, stores: Rows) -> None:
        kept = self._followed(stores.field) & (stores.source >= 0)
        self._stores.append((stores.field[kept], stores.source[kept]))

    def _add_definitions(self, kind: int, targets: Int32, values: Int32, outside: NDArray[np.bool_]) -> None:
        kinds = np.full(targets.size, kind, np.int32)
        if kind == FIELD:
            kinds[~self._followed(values)] = OTHER
        values = np.where(kinds == OTHER, -1, values).astype(np.int32)
        kept = targets >= 0
        self._definitions.append((targets[kept], kinds[kept], values[kept], outside[kept].astype(np.int32)))

    def _followed(self, fields: Int32) -> NDArray[np.bool_]:
        distinct, inverse = np.unique(fields, return_inverse=True)
        for field in distinct.tolist():
            if field not in self._follows:
                self._follows[field] = self._ask(field)
        mask: NDArray[np.bool_] = np.array([self._follows[each] for each in distinct.tolist()], bool)[inverse]
        return mask

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
        from engine.kernel import paths

        self._definitions = [_joined(self._definitions, 4)]
        self._stores, self._arguments = [_joined(self._stores, 2)], [_joined(self._arguments, 3)]
        (target, kind, value, outside), (field, source) = self._definitions[0], self._stores[0]
        site, position, argument = self._arguments[0]
        called, callee = self._calls_entered(solver, opaque)
        first, method, out = self._methods_reached(solver)
        returned = np.full(parameters.size, -1, np.int32)
        returned[method] = first + parameters[method]
        pointers = solver.statistics().pointers
        definition_at, by_target = _ordered(target, pointers)
        store_at, by_field = _ordered(field, max(self._follows, default=-1) + 1)
        callee_at, by_site = _ordered(called, cut.size)
        caller_at, by_callee = _ordered(callee, parameters.size)
        owner, ends = np.full(pointers, NONE, np.int32), np.zeros(pointers, np.int32)
        ends[target[outside != 0]] = 1
        paths.own(first, variables[method], out, owner, ends)
        index = Index(
            definition_at, kind[by_target], value[by_target],
            store_at, source[by_field],
            _starts(site, cut.size), position, argument,
            callee_at, callee[by_site],
            caller_at, called[by_callee],
            cut.astype(np.int32), returned, owner, ends, first, method, parameters[method],
        )  # fmt: skip
        changed = paths.changed(self._index, index)
        self._index = index
        for searched, (passed, _) in list(self._origins.items()):
            if changed[passed].any():
                del self._origins[searched]

    def _calls_entered(
        self, solver: Solver, opaque: Callable[[Int32], NDArray[np.bool_]]
    ) -> tuple[Int32, Int32]:
        """Returns the call graph, without the calls that no search enters."""
        called, callee = solver.calls_made()
        fresh = ~opaque(callee[self._entered.size :])
        self._entered = np.concatenate((self._entered, fresh))
        return called[self._entered], callee[self._entered]

    def _methods_reached(self, solver: Solver) -> tuple[Int32, Int32, Int32]:
        """Returns the first variable, ascending, and the id of each reached method; and 1 if it is outside."""
        reached = solver.reached()
        fresh = ~self._inside(reached[self._out.size :])
        self._out = np.concatenate((self._out, fresh.astype(np.int32)))
        first = solver.first_variables(reached)
        ordered = np.argsort(first, kind="stable")
        return first[ordered], reached[ordered], self._out[ordered]

    def origins(self, operand: int, everywhere: bool) -> tuple[set[tuple[int, int]], bool]:
        """Returns (kind, value) of where what comes to `operand` begins: TEXT, TYPE, RESULT, OUTSIDE, or OTHER and -1.

        And whether it was searched again, or is what was returned before.

        Unless it goes everywhere, the search ends at variables of methods outside, and at other pointers to which
        something comes there.
        """
        from engine.kernel import paths  # brings the compiler along, which takes its time

        known = self._origins.get((operand, everywhere))
        again = known is None
        if known is None:
            number, whole = paths.search(self._index, self._states, self._found, operand, everywhere)
            kinds, values = self._found.first[:number].tolist(), self._found.second[:number].tolist()
            origins, passed = set(zip(kinds, values, strict=True)), np.empty(0, np.int32)
            if whole:
                passed = self._states.first[: int(self._states.fill[0])].copy()
            else:
                origins.add((OTHER, NONE))
            known = passed, origins
            self._origins[operand, everywhere] = known
        return known[1], again


def _joined(parts: Sequence[tuple[Int32, ...]], columns: int) -> Any:
    """Returns the columns of all parts as one."""
    if not parts:
        return (np.empty(0, np.int32),) * columns
    return tuple(np.ascontiguousarray(np.concatenate(each), np.int32) for each in zip(*parts, strict=True))


def _starts(ordered: Int32, size: int) -> Int64:
    """Returns where the rows of each number below `size` begin in an ordered column, and where the last end."""
    return np.searchsorted(ordered, np.arange(size + 1, dtype=np.int32)).astype(np.int64)


def _ordered(column: Int32, size: int) -> tuple[Int64, Int32]:
    """Returns where the rows of each number below `size` begin when they are ordered by it, and these rows in that order."""
    from engine.kernel import paths

    starts = np.zeros(size + 1, np.int64)
    return starts, paths.order_by(np.ascontiguousarray(column, np.int32), starts)
