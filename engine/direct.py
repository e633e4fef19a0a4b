"""Direct flow: where values come from over assignments, arguments and results, and fields taken as one each.

    Direct(y) :- Direct(x), Assign(y, x).
    Direct(a) :- Direct(p), Parameter(m, i, p), Calls(s, m), Argument(s, i, a).
    Direct(r) :- Direct(x), Result(s, x), Calls(s, m), Returns(m, r).
    Direct(z) :- Direct(x), Load(y, f, x), Store(z, f, w), Followed(f).

What was entered by way of a result is left by the same call again (the last DEPTH of them).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.schema import Facts, Int32, Rows
from engine.solver import Solver

# What defines a variable, and what the value is: a variable, a text, a type, a site or nothing.
COPY, TEXT, TYPE, RESULT, FIELD, RETURNED, PASSED, STORED, OTHER, OUTSIDE = range(10)
_DEFINITIONS: tuple[tuple[type[tuple[Any, ...]], int, str, str], ...] = (
    (schema.Assign, COPY, "target", "source"),
    (schema.Cast, COPY, "target", "source"),
    (schema.StringConstant, TEXT, "target", "text"),
    (schema.ClassConstant, TYPE, "target", "type"),
    (schema.Invoke, RESULT, "result", "site"),
    (schema.Load, FIELD, "target", "field"),
    (schema.StaticLoad, FIELD, "target", "field"),
    *((relation, OTHER, "target", "target") for relation in (schema.New, schema.ArrayLoad, schema.Catch)),
)  # fmt: skip
# The most calls that a search keeps in mind, and the most states that it looks at.
DEPTH, STATES = 3, 20_000
# A parameter to which more calls pass something, and a call of more methods, are not followed any further.
MOST_CALLS, MOST_CALLEES = 300, 50

_Context: TypeAlias = tuple[int, ...]
Step: TypeAlias = tuple[int, int, int]  # kind of definition, its value, and the call it goes by


class Calls(NamedTuple):
    """The call graph by callee and by site, the reached methods by their first variables, and what each returns."""

    site: Int32  # ordered by callee
    callee: Int32
    from_site: Int32  # ordered by site
    to_callee: Int32
    first: Int32  # ascending
    method: Int32
    parameters: Int32
    returned: Int32  # by the method's id
    outside: NDArray[np.bool_]  # of those methods, in the order of their first variables
    cut: NDArray[np.bool_]  # by site: what it returns is not what its callees do
    pointers: int


def calls_of(
    solver: Solver,
    parameters: Int32,
    cut: NDArray[np.bool_],
    opaque: Callable[[Int32], NDArray[np.bool_]],
    inside: Callable[[Int32], NDArray[np.bool_]],
) -> Calls:
    """Returns the call graph that `solver` has come to, without calls of `opaque` methods.

    `parameters` is their number, by a method's id; `inside` says which methods are of the code that is searched.
    """
    sites, callees = solver.calls_made()
    entered = ~opaque(callees)
    sites, callees = sites[entered], callees[entered]
    by_callee, by_site = np.argsort(callees, kind="stable"), np.argsort(sites, kind="stable")
    reached = solver.reached()
    firsts = solver.first_variables(reached)
    by_first = np.argsort(firsts, kind="stable")
    returned = np.full(parameters.size, -1, np.int32)
    returned[reached] = firsts + parameters[reached]
    return Calls(
        sites[by_callee], callees[by_callee], sites[by_site], callees[by_site],
        firsts[by_first], reached[by_first], parameters[reached[by_first]], returned,
        ~inside(reached[by_first]), cut,
        solver.statistics().pointers,
    )  # fmt: skip


class DirectFlow:
    """The definitions of variables, from facts that are added batch by batch.

    `follows(field)` says whether what is loaded from a field comes from what is stored to it, in whatever object.
    """

    def __init__(self, follows: Callable[[int], bool]) -> None:
        self._follows: dict[int, bool] = {}
        self._ask = follows
        self._runs: list[tuple[Int32, Int32, Int32]] = []  # (target, kind, value), ordered by target
        self._stores: list[tuple[Int32, Int32]] = []  # (field, source), ordered by field
        self._arguments: list[tuple[Int32, Int32, Int32]] = []  # (site, position, variable), ordered by site

    def add(self, batches: list[Facts]) -> None:
        """Adds facts; sites are above those of batches before."""
        columns: list[list[Int32]] = [[], [], []]
        stores: list[Rows] = []
        for facts in batches:
            stores += [facts[each] for each in (schema.Store, schema.StaticStore) if each in facts]
            for relation, kind, target, value in _DEFINITIONS:
                rows = facts.get(relation)
                if rows is not None:
                    columns[0].append(getattr(rows, target))
                    columns[1].append(np.full(len(rows), kind, np.int32))
                    columns[2].append(getattr(rows, value))
            arguments = facts.get(schema.Argument)
            if arguments is not None:
                self._arguments.append((arguments.site, arguments.position, arguments.variable))
        if columns[0]:
            targets, kinds, values = map(np.concatenate, columns)
            loaded = kinds == FIELD
            kinds[loaded] = np.where(self._followed(values[loaded]), FIELD, OTHER)
            values[kinds == OTHER] = -1
            order = np.argsort(targets, kind="stable")
            order = order[targets[order] >= 0]
            self._runs.append((targets[order], kinds[order], values[order]))
        if stores:
            fields = np.concatenate([each.field for each in stores])
            sources = np.concatenate([each.source for each in stores])
            order = np.argsort(fields, kind="stable")
            order = order[self._followed(fields[order]) & (sources[order] >= 0)]
            self._stores.append((fields[order], sources[order]))

    def _followed(self, fields: Int32) -> NDArray[np.bool_]:
        distinct, inverse = np.unique(fields, return_inverse=True)
        for field in distinct.tolist():
            if field not in self._follows:
                self._follows[field] = self._ask(field)
        mask: NDArray[np.bool_] = np.array([self._follows[each] for each in distinct.tolist()], bool)[inverse]
        return mask

    def region(self, roots: Int32, calls: Calls, everywhere: bool) -> dict[int, list[Step]]:
        """Returns the definitions of every variable from which the `roots` may get something.

        Unless it goes everywhere, the search ends at variables of methods outside, with a step that says so.
        """
        steps: dict[int, list[Step]] = defaultdict(list)
        arguments = self._joined_arguments()
        seen = np.zeros(calls.pointers, bool)
        frontier = np.unique(roots)
        while frontier.size:
            seen[frontier] = True
            if not everywhere:
                at = np.searchsorted(calls.first, frontier, side="right") - 1
                outside = (at >= 0) & calls.outside[at]
                for variable in frontier[outside].tolist():
                    steps[variable].append((OUTSIDE, variable, -1))
                frontier = frontier[~outside]
            found = [*self._defined(frontier, calls), _passed(frontier, calls, arguments)]
            following = []
            for targets, kinds, values, sites in found:
                for target, *step in zip(
                    targets.tolist(), kinds.tolist(), values.tolist(), sites.tolist(), strict=True
                ):
                    steps[target].append(tuple(step))
                following.append(values[np.isin(kinds, (COPY, RETURNED, PASSED, STORED))])
            frontier = np.unique(np.concatenate(following))
            frontier = frontier[~seen[frontier]]
        return steps

    def _joined_arguments(self) -> tuple[Int32, Int32, Int32]:
        if len(self._arguments) > 1:
            sites, positions, variables = (
                np.concatenate(each) for each in zip(*self._arguments, strict=True)
            )
            self._arguments = [(sites, positions, variables)]
        return self._arguments[0] if self._arguments else (_NONE, _NONE, _NONE)

    def _defined(self, frontier: Int32, calls: Calls) -> Iterator[tuple[Int32, Int32, Int32, Int32]]:
        """Yields (target, kind, value, site) of what defines the variables; results with what each callee returns."""
        for targets, kinds, values in self._runs:
            index, _ = _ranges(targets, frontier)
            target, kind, value = targets[index], kinds[index], values[index]
            loaded, returning = kind == FIELD, kind == RESULT
            returning[returning] = ~calls.cut[value[returning]]
            yield from self._stored(target[loaded], value[loaded])
            yield _returned(target[returning], value[returning], calls)
            others = ~(loaded | returning)
            none = np.full(np.count_nonzero(others), -1, np.int32)
            yield target[others], kind[others], value[others], none

    def _stored(self, targets: Int32, fields: Int32) -> Iterator[tuple[Int32, Int32, Int32, Int32]]:
        """Yields (target, kind, value, site) of what is stored to the fields that variables are loaded from."""
        for stored, sources in self._stores if targets.size else ():
            index, repeats = _ranges(stored, fields)
            none = np.full(index.size, -1, np.int32)
            yield np.repeat(targets, repeats), np.full(index.size, STORED, np.int32), sources[index], none


_UNDEFINED: list[Step] = [(OTHER, -1, -1)]
_NONE: Int32 = np.empty(0, np.int32)


def _ranges(
    ordered: Int32, wanted: Int32, most: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns where each of `wanted` stands in an ordered column, one after the other, and how often each.

    What stands there more often than `most` is left out.
    """
    starts = np.searchsorted(ordered, wanted)
    lengths = np.searchsorted(ordered, wanted, side="right") - starts
    if most is not None:
        lengths[lengths > most] = 0
    total = int(lengths.sum())
    offsets = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + offsets, lengths


def _returned(targets: Int32, sites: Int32, calls: Calls) -> tuple[Int32, Int32, Int32, Int32]:
    """Returns (target, kind, value, site) of what the callees of sites return."""
    made, repeats = _ranges(calls.from_site, sites, MOST_CALLEES)
    returned = calls.returned[calls.to_callee[made]]
    kinds = np.full(made.size, RETURNED, np.int32)
    return np.repeat(targets, repeats), kinds, returned, np.repeat(sites, repeats)


def _passed(
    frontier: Int32, calls: Calls, arguments: tuple[Int32, Int32, Int32]
) -> tuple[Int32, Int32, Int32, Int32]:
    """Returns (target, kind, value, site) of the arguments that calls pass to those that are parameters."""
    at = np.searchsorted(calls.first, frontier, side="right") - 1
    position = frontier - calls.first[at]
    is_parameter = (at >= 0) & (position < calls.parameters[at])
    targets, position, callee = frontier[is_parameter], position[is_parameter], calls.method[at[is_parameter]]
    made, repeats = _ranges(calls.callee, callee, MOST_CALLS)
    sites, targets, position = calls.site[made], np.repeat(targets, repeats), np.repeat(position, repeats)
    passed, repeats = _ranges(arguments[0], sites)
    same = arguments[1][passed] == np.repeat(position, repeats)
    targets, sites, values = (
        np.repeat(targets, repeats)[same],
        np.repeat(sites, repeats)[same],
        arguments[2][passed][same],
    )
    return targets, np.full(targets.size, PASSED, np.int32), values, sites


def origins(steps: Mapping[int, list[Step]], operand: int) -> set[tuple[int, int]]:
    """Returns (kind, value) of where what comes to `operand` begins: TEXT, TYPE, RESULT, OUTSIDE, or OTHER and -1."""
    found: set[tuple[int, int]] = set()
    seen: set[tuple[int, _Context]] = {(operand, ())}
    pending: list[tuple[int, _Context]] = [(operand, ())]
    while pending:
        variable, context = pending.pop()
        for kind, value, site in steps.get(variable, _UNDEFINED):
            if kind == COPY:
                state = value, context
            elif kind == STORED:
                state = value, ()
            elif kind == PASSED:
                if context and context[-1] != site:
                    continue
                state = value, context[:-1]
            elif kind == RETURNED:
                state = value, (*context, site)[-DEPTH:]
            else:
                found.add((kind, value))
                continue
            if state not in seen:
                seen.add(state)
                pending.append(state)
        if len(seen) > STATES:
            found.add(_UNDEFINED[0][:2])
            break
    return found
