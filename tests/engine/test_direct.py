"""Direct flow: the compiled search finds what the rules say, on random programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypher import schema
from cypher.schema import Facts, Int32
from engine.direct import DirectFlow
from engine.kernel.index import COPY, FIELD, OTHER, OUTSIDE, RESULT, TEXT
from engine.solver import Statistics

Steps: TypeAlias = set[tuple[int, int, int]]  # (target, kind, value)

# Each method has one parameter, what it returns, what it throws, and a local variable, in this order.
METHODS, WIDTH, SITES, FIELDS = 4, 4, 6, 2
# Between the variables of two methods are pointers that are of none: what comes to them comes by rows of some method.
OTHERS = 2
STEP = WIDTH + OTHERS
variables = st.integers(0, METHODS * STEP - 1)
sites, methods, fields = st.integers(0, SITES - 1), st.integers(0, METHODS - 1), st.integers(0, FIELDS - 1)


class Reached:
    """What a search asks a solver for: all methods are reached, and these calls made."""

    def __init__(self, calls: list[tuple[int, int]]) -> None:
        self._calls = np.array(calls, np.int32).reshape(-1, 2)

    def calls_made(self, since: int) -> tuple[Int32, Int32, int]:
        return self._calls[since:, 0], self._calls[since:, 1], len(self._calls)

    def reached(self) -> Int32:
        return np.arange(METHODS, dtype=np.int32)

    def first_variables(self, methods: Int32) -> Int32:
        return methods * STEP

    def statistics(self) -> Statistics:
        return Statistics(METHODS * STEP, 0, 0, METHODS, len(self._calls), 0, 0)


def method_of(variable: int) -> int | None:
    """Returns the method that a pointer is a variable of."""
    method, place = divmod(variable, STEP)
    return method if place < WIDTH else None


def naive(
    steps: Steps, made_by: list[int], stores: set[tuple[int, int]], arguments: set[tuple[int, int]],
    calls: set[tuple[int, int]], cut: set[int], outside: set[int], operand: int, everywhere: bool,
) -> set[tuple[int, int]]:  # fmt: skip
    """Returns the origins of an operand, state by state."""

    def following(variable: int, context: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]] | None]:
        for target, kind, value in steps:
            if target != variable:
                continue
            if kind == COPY:
                yield value, context
            elif kind == FIELD:
                yield from ((source, ()) for field, source in stores if field == value)
            elif kind == RESULT and value not in cut:
                yield from (
                    (callee * STEP + 1, (*context, value)[-3:]) for site, callee in calls if site == value
                )
            else:
                found.add((kind, value))
                yield None
        method, place = divmod(variable, STEP)
        if place == 0:
            callers = context[-1:] or [site for site, callee in calls if callee == method]
            yield from ((each, context[:-1]) for site, each in arguments if site in callers)

    found: set[tuple[int, int]] = set()
    seen: set[tuple[int, tuple[int, ...]]] = set()
    pending: list[tuple[int, tuple[int, ...]]] = [(operand, ())]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        owner = method_of(state[0])
        if owner is None and any(target == state[0] for target, _, _ in steps):
            owner = made_by[state[0]]
        if not everywhere and owner in outside:
            found.add((OUTSIDE, state[0]))
            continue
        ways = list(following(*state))
        pending += [each for each in ways if each is not None]
        if not ways:
            found.add((OTHER, -1))
    return found


def batch_of(
    steps: Steps, made_by: list[int], stores: set[tuple[int, int]], arguments: set[tuple[int, int]]
) -> Facts:
    """Returns facts of which some are a step each, `made_by` the method of its target."""

    def by_kind(wanted: int) -> list[tuple[int, ...]]:
        return [(made_by[target], 0, value, target) for target, kind, value in steps if kind == wanted]

    facts: dict[Any, list[tuple[int, ...]]] = {
        schema.Assign: by_kind(COPY),
        schema.StringConstant: by_kind(TEXT),
        schema.StaticLoad: by_kind(FIELD),
        schema.Invoke: [
            (site, method, 0, 0, -1, -1, -1, target, -1) for method, _, site, target in by_kind(RESULT)
        ],
        schema.StaticStore: [(0, 0, source, field) for field, source in stores],
        schema.Argument: [(site, 0, variable) for site, variable in sorted(arguments)],
    }
    return {relation: schema.rows(relation, rows) for relation, rows in facts.items() if rows}


@pytest.mark.usefixtures("kernel")
@settings(deadline=None)
@given(
    st.sets(
        st.tuples(variables, st.sampled_from([COPY, TEXT, RESULT, FIELD]), st.integers(0, 15)), max_size=20
    ),
    st.sets(st.tuples(fields, variables), max_size=4),
    st.sets(st.tuples(sites, variables), max_size=8),
    st.sets(st.tuples(sites, methods), max_size=8),
    st.sets(sites, max_size=2),
    st.sets(methods, max_size=2),
    st.lists(methods, min_size=METHODS * STEP, max_size=METHODS * STEP),
    st.sampled_from([lambda _: True, lambda row: sum(row) % 2 == 0]),
)
def test_search_agrees_with_the_rules(
    steps: Steps, stores: set[tuple[int, int]], arguments: set[tuple[int, int]], calls: set[tuple[int, int]],
    cut: set[int], outside: set[int], makers: list[int], at_first: Callable[[tuple[int, ...]], bool],
) -> None:  # fmt: skip
    """Two searches, of the rows that are there `at_first` and of all."""
    limits = {COPY: METHODS * STEP, TEXT: 16, RESULT: SITES, FIELD: FIELDS}
    steps = {(target, kind, value % limits[kind]) for target, kind, value in steps}
    one_result = {value: (target, kind, value) for target, kind, value in steps if kind == RESULT}
    steps = {each for each in steps if each[1] != RESULT} | set(one_result.values())
    owners = [method_of(variable) for variable in range(METHODS * STEP)]
    made_by = [chosen if owner is None else owner for owner, chosen in zip(owners, makers, strict=True)]
    flow = DirectFlow(lambda _: True, lambda asked: ~np.isin(asked, sorted(outside)))
    some_steps = {row for row in steps if at_first(row)}
    some_stores = {row for row in stores if at_first(row)}
    some_calls = {row for row in calls if at_first(row)}
    some_cut = {site for site in cut if at_first((site,))}
    # (a site comes with all its arguments)
    some = batch_of(some_steps, made_by, some_stores, arguments)
    rest = batch_of(steps - some_steps, made_by, stores - some_stores, set())
    for batch, known_steps, known_stores, known_calls, known_cut in (
        (some, some_steps, some_stores, list(some_calls), some_cut),
        (rest, steps, stores, [*some_calls, *(calls - some_calls)], cut),
    ):
        flow.add([batch])
        solver: Any = Reached(known_calls)
        flow.update(
            solver,
            np.ones(METHODS, np.int32),
            np.full(METHODS, WIDTH, np.int32),
            np.isin(np.arange(SITES), sorted(known_cut)),
            lambda callees: np.zeros(callees.size, bool),
        )
        for operand, everywhere in product(range(METHODS * STEP), (False, True)):
            assert flow.origins(operand, everywhere) == naive(
                known_steps,
                made_by,
                known_stores,
                arguments,
                set(known_calls),
                known_cut,
                outside,
                operand,
                everywhere,
            )
