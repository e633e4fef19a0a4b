"""The rule framework: what a rule is, and that running rules bit by bit derives what running them at once does."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.reflection.modes import MODES, RULES, rules_in
from engine.rules import Rule, Rules, Table, rule, rules_of


class Edge(NamedTuple):
    """Holds if there is an edge."""

    source: int
    target: int


class Path(NamedTuple):
    """Holds if there is a path."""

    source: int
    target: int


@rule("step", "a textbook")
def step(edges: Table[Edge]) -> Iterator[Path]:
    """path(x, y) :- edge(x, y)."""
    for edge in edges:
        yield Path(edge.source, edge.target)


@rule("closure", "a textbook")
def closure(paths: Table[Path], edges: Table[Edge]) -> Iterator[Path]:
    """path(x, z) :- path(x, y), edge(y, z)."""
    for path in paths:
        for edge in edges.where(source=path.target):
            yield Path(path.source, edge.target)


def transitive() -> list[Rule]:
    module = ModuleType("transitive")
    module.__dict__.update(step=step, closure=closure)
    return rules_of(module)


def expected(edges: list[Edge]) -> set[tuple[int, int]]:
    paths: set[tuple[int, int]] = set(edges)
    while True:
        more = paths | {(a, d) for a, b in paths for c, d in edges if b == c}
        if more == paths:
            return paths
        paths = more


edges_lists = st.lists(st.builds(Edge, st.integers(0, 5), st.integers(0, 5)), max_size=12)


@given(edges_lists, st.integers(1, 4))
def test_rules_run_in_pieces_derive_the_closure(edges: list[Edge], piece: int) -> None:
    rules = Rules(transitive(), {})
    derived: list[tuple[object, ...]] = []
    for start in range(0, len(edges), piece):
        rules.add({Edge: edges[start : start + piece]})
        derived += [row for each in rules.derive() for row in each.rows]
    assert set(rules.tables[Path]) == expected(edges)
    assert len(derived) == len(set(derived)) == len(rules.tables[Path])


@given(edges_lists, edges_lists)
def test_a_row_more_takes_none_away(edges: list[Edge], more: list[Edge]) -> None:
    fewer, all_of_them = Rules(transitive(), {}), Rules(transitive(), {})
    fewer.add({Edge: edges})
    all_of_them.add({Edge: edges + more})
    fewer.derive()
    all_of_them.derive()
    assert set(fewer.tables[Path]) <= set(all_of_them.tables[Path])


def test_a_table_keeps_its_indices_as_it_grows() -> None:
    table = Table([Edge(1, 2)])
    assert table.where(source=3) == ()
    assert table.add([Edge(3, 4), Edge(1, 2)]) == [Edge(3, 4)]
    assert list(table.where(source=3)) == [Edge(3, 4)]
    assert Table([Edge(5, 6)], table).everything is table


def test_a_rule_states_its_body_and_head() -> None:
    found = {each.name: each for each in transitive()}
    assert found["closure"].body == (Path, Edge)
    assert found["closure"].head is Path


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.name)
def test_a_reflection_rule_says_its_formal_rule_and_paper(each: Rule) -> None:
    text = each.derive.__doc__ or ""
    assert any(mark in text for mark in (":-", "----", "string2method")), text
    assert each.paper


def test_modes_name_rules_that_exist_and_every_rule_is_in_a_mode() -> None:
    known = [each.name for each in RULES]
    assert len(known) == len(set(known))
    assert set(known) == {name for names in MODES.values() for name in names}
    assert [each.name for each in rules_in("none")] == [
        each.name for each in RULES if each.name in MODES["none"]
    ]
    assert "classObjects" not in MODES["none"]
    assert set(MODES["none"]) < set(MODES["points-to"])
