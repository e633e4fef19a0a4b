"""Direct flow: the compiled search finds what the rules say, on random programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypher import schema
from cypher.schema import Facts, Int32
from engine.direct import DirectFlow
from engine.kernel.index import COPY, FIELD, OTHER, OUTSIDE, RESULT, TEXT
from engine.solver import Statistics

# Each method has one parameter, what it returns, what it throws, and a local variable, in this order.
METHODS, WIDTH, SITES, FIELDS = 4, 4, 6, 2
variables = st.integers(0, METHODS * WIDTH - 1)
sites, methods, fields = st.integers(0, SITES - 1), st.integers(0, METHODS - 1), st.integers(0, FIELDS - 1)


class Reached:
    """What a search asks a solver for: all methods are reached, and these calls made."""

    def __init__(self, calls: set[tuple[int, int]]) -> None:
        self._calls = np.array(sorted(calls), np.int32).reshape(-1, 2)

    def calls_made(self) -> tuple[Int32, Int32]:
        return self._calls[:, 0], self._calls[:, 1]

    def reached(self) -> Int32:
        return np.arange(METHODS, dtype=np.int32)

    def first_variables(self, methods: Int32) -> Int32:
        return methods * WIDTH

    def statistics(self) -> Statistics:
        return Statistics(METHODS * WIDTH, 0, 0, METHODS, len(self._calls), 0, 0)


def naive(
    steps: set[tuple[int, int, int]], stores: set[tuple[int, int]], arguments: set[tuple[int, int]],
    calls: set[tuple[int, int]], outside: set[int], operand: int, everywhere: bool,
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
            elif kind == RESULT:
                yield from (
                    (callee * WIDTH + 1, (*context, value)[-3:]) for site, callee in calls if site == value
                )
            else:
                found.add((kind, value))
                yield None
        method, place = divmod(variable, WIDTH)
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
        if not everywhere and state[0] // WIDTH in outside:
            found.add((OUTSIDE, state[0]))
            continue
        ways = list(following(*state))
        pending += [each for each in ways if each is not None]
        if not ways:
            found.add((OTHER, -1))
    return found


@pytest.mark.usefixtures("kernel")
@settings(deadline=None)
@given(
    st.sets(
        st.tuples(variables, st.sampled_from([COPY, TEXT, RESULT, FIELD]), st.integers(0, 15)), max_size=20
    ),
    st.sets(st.tuples(fields, variables), max_size=4),
    st.sets(st.tuples(sites, variables), max_size=8),
    st.sets(st.tuples(sites, methods), max_size=8),
    st.sets(methods, max_size=2),
    variables,
    st.booleans(),
)
def test_search_agrees_with_the_rules(
    steps: set[tuple[int, int, int]], stores: set[tuple[int, int]], arguments: set[tuple[int, int]],
    calls: set[tuple[int, int]], outside: set[int], operand: int, everywhere: bool,
) -> None:  # fmt: skip
    limits = {COPY: METHODS * WIDTH, TEXT: 16, RESULT: SITES, FIELD: FIELDS}
    steps = {(target, kind, value % limits[kind]) for target, kind, value in steps}
    one_result = {value: (target, kind, value) for target, kind, value in steps if kind == RESULT}
    steps = {each for each in steps if each[1] != RESULT} | set(one_result.values())
    facts: dict[Any, list[tuple[int, ...]]] = {
        schema.Assign: [(0, 0, value, target) for target, kind, value in steps if kind == COPY],
        schema.StringConstant: [(0, 0, value, target) for target, kind, value in steps if kind == TEXT],
        schema.StaticLoad: [(0, 0, value, target) for target, kind, value in steps if kind == FIELD],
        schema.Invoke: [
            (value, 0, 0, 0, -1, -1, -1, target, -1) for target, kind, value in steps if kind == RESULT
        ],
        schema.StaticStore: [(0, 0, source, field) for field, source in stores],
        schema.Argument: [(site, 0, variable) for site, variable in sorted(arguments)],
    }
    batch: Facts = {relation: schema.rows(relation, rows) for relation, rows in facts.items() if rows}
    flow = DirectFlow(lambda _: True, lambda asked: ~np.isin(asked, sorted(outside)))
    flow.add([batch])
    solver: Any = Reached(calls)
    none = np.zeros(SITES, bool)
    index = flow.index(solver, np.ones(METHODS, np.int32), none, lambda callees: np.zeros(callees.size, bool))
    found = flow.origins(index, operand, everywhere)
    assert found == naive(steps, stores, arguments, calls, outside, operand, everywhere)
