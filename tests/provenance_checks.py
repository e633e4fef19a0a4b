"""Checks that what an explanation says is what the program and the run say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cli.naming import Names
from cypher import schema
from cypher.schema import Int32
from engine import flow, heap
from engine.chains import Chain
from engine.flow import Evidence, Fact, Flow
from engine.flows import KINDS, MEMBER, flows_of
from engine.reflection.modes import RULES
from engine.result import Derived


class Columns:
    """The rows of a run, to look facts up in."""

    def __init__(self, evidence: Evidence, derived: Iterable[Derived]) -> None:
        self.evidence = evidence
        self.flow = Flow(evidence)
        self.derived = {(each.relation, (each.site, each.detail)) for each in derived}
        self._known: dict[str, set[tuple[int, ...]]] = {}
        found = flows_of(evidence)
        kinds = (KINDS[each] for each in found.kind.tolist())
        self.all_flows = set(zip(kinds, found.source.tolist(), found.target.tolist(), strict=True))
        self._by_source: dict[int, set[tuple[str, int]]] = defaultdict(set)
        for kind, source, target in self.all_flows:
            self._by_source[source].add((kind, target))

    def flows(self, kind: str, source: int, target: int) -> bool:
        """Returns whether a step is among all flows; one to or from the field of an object goes over that of a set."""
        if kind not in (flow.LOAD, flow.STORE, flow.ARRAY_LOAD, flow.ARRAY_STORE):
            return (kind, source, target) in self.all_flows
        kinds = (MEMBER, kind) if kind in (flow.LOAD, flow.ARRAY_LOAD) else (kind, MEMBER)
        return any(
            first == kinds[0] and (kinds[1], target) in self._by_source[over]
            for first, over in self._by_source[source]
        )

    def holds(self, fact: Fact) -> bool:
        """Returns whether a fact is a row of the run."""
        name, row = fact
        if name == "PointsTo":
            return self.flow.sets.contains(*row)
        if name == "Calls":
            return self._has((self.evidence.call_site, self.evidence.call_callee), row)
        if name == "Invoke":
            columns = [
                np.arange(len(self.evidence.sites.method), dtype=np.int32)
                if each == "site"
                else getattr(self.evidence.sites, each)
                for each in schema.columns_of(schema.Invoke)
            ]
            return self._has(columns, row)
        relation = next((each for each in schema.FACTS if each.__name__ == name), None)
        if relation is None:
            return (name, tuple(row)) in self.derived
        return self._has(list(self.evidence.facts[relation]), row)

    @staticmethod
    def _has(columns: Iterable[Int32], row: tuple[int, ...]) -> bool:
        found: Any = True
        for column, value in zip(columns, row, strict=True):
            found = found & (column == value)
        return bool(np.any(found))


def check_flows(columns: Columns) -> None:
    """Asserts that whatever flows unfiltered arrives: the target's set holds the source's."""
    filtered = {flow.CAST, flow.CATCH, flow.UNCAUGHT, flow.RECEIVER}
    pointers = len(columns.evidence.points_to.representative)
    for kind, source, target in columns.all_flows:
        if kind not in filtered and max(source, target) < pointers:
            here, there = (_untracked(columns, each) for each in (source, target))
            assert here <= there, (kind, source, target)


def _untracked(columns: Columns, pointer: int) -> set[int]:
    """Returns the objects of a pointer that are the same everywhere."""
    kinds = columns.evidence.objects.kind
    found = columns.flow.sets.objects_of(pointer).tolist()
    return {obj for obj in found if int(kinds[obj]) not in heap.TRACKED}


def check_chain(columns: Columns, pointer: int, chain: Chain) -> None:
    """Asserts that the chain is one of facts, without gaps, from its origin to `pointer`, and that each pointer has the object."""
    at = chain.origin.pointer
    assert columns.holds(Fact("PointsTo", (at, chain.obj)))
    assert all(columns.holds(each) for each in chain.origin.facts), chain.origin
    for step in chain.steps:
        assert step.source == at, (chain, step)
        assert all(columns.holds(each) for each in step.facts), step
        assert columns.holds(Fact("PointsTo", (step.target, chain.obj))), step
        check_ends(columns, step)
        assert columns.flows(step.kind, step.source, step.target), step
        at = step.target
    assert at == pointer


def check_ends(columns: Columns, step: flow.Step) -> None:
    """Asserts that the facts of a step lead from its source to its target."""
    evidence = columns.evidence
    rows = evidence.points_to
    fact = step.facts[0]
    named = dict(zip(schema.columns_of(getattr(schema, fact.relation)), fact.row, strict=True))
    if step.kind in flow.LOCAL:
        assert (named["source"], named["target"]) == (step.source, step.target)
    elif step.kind in (flow.LOAD, flow.ARRAY_LOAD):
        node = (int(rows.base[step.source]), int(rows.field[step.source]))
        assert node == (step.base, named.get("field", -1))
        assert named["target"] == step.target
        assert columns.holds(Fact("PointsTo", (named["base"], step.base)))
    elif step.kind in (flow.STORE, flow.ARRAY_STORE):
        node = (int(rows.base[step.target]), int(rows.field[step.target]))
        assert node == (step.base, named.get("field", -1))
        assert named["source"] == step.source
        assert columns.holds(Fact("PointsTo", (named["base"], step.base)))
    elif step.kind in (flow.STATIC_LOAD, flow.STATIC_STORE):
        static = step.source if step.kind == flow.STATIC_LOAD else step.target
        local = named["target"] if step.kind == flow.STATIC_LOAD else named["source"]
        pointers = dict(zip(evidence.static_field.tolist(), evidence.static_pointer.tolist(), strict=True))
        assert pointers[named["field"]] == static
        assert local == (step.target if step.kind == flow.STATIC_LOAD else step.source)
    elif step.kind == flow.PASSED:
        assert named["variable"] == step.source
        assert named["position"] == columns.flow.returned_parameter(step.callee)
        assert int(evidence.sites.result[step.site]) == step.target
    elif step.kind in flow.INTO_CALL:
        assert named["variable"] == step.source
        assert step.target == columns.flow.variable(step.callee, named["position"])
    else:
        assert step.target == named["result" if step.kind == flow.RETURN else "thrown"]
        extra = 0 if step.kind == flow.RETURN else 1
        parameters = columns.flow.parameters_of(step.callee)
        assert step.source == columns.flow.variable(step.callee, parameters + extra)


def check_explanation(columns: Columns, names: Names, document: dict[str, Any]) -> int:
    """Asserts that each printed step is of rows of the run, and stands where they do; returns the number of steps."""
    number = 0
    for answer in document["answers"]:
        for step in answer["steps"]:
            facts = [Fact(each["relation"], tuple(each["row"])) for each in step["facts"]]
            assert facts or document["status"] != "resolved" or not document["targets"], step
            _check_facts(columns, names, step, facts)
            number += 1
    return number


def check_site(columns: Columns, names: Names, document: dict[str, Any], operands: Iterable[int]) -> int:
    """Asserts that each path to a call is of rows of the run, from a source to an operand; returns the number of steps."""
    number = 0
    ends = set(operands)
    for source in document["sources"]:
        path = source["path"]
        assert path or source["kind"] in ("constant", "unknown"), source
        if path:
            check_beginning(columns, path[0], source)
            last = next(step for step in reversed(path) if step["pointer"] >= 0)
            assert last["pointer"] in ends, source
        number += check_steps(columns, names, path)
    assert {each["target"] for each in document["derivations"]} <= set(document["targets"])
    for derivation in document["derivations"]:
        number += check_derivation(columns, names, derivation)
    return number


def check_beginning(columns: Columns, step: dict[str, Any], source: dict[str, Any]) -> None:
    """Asserts that a step begins with what the source is."""
    first = step["facts"][0]
    if source["kind"] == "constant":
        assert first["relation"] == "StringConstant", step
    elif source["kind"] != "unknown":
        called = any(fact["relation"] == "Calls" for fact in step["facts"])
        entered = first["relation"] == "PointsTo" and columns.evidence.objects.kind[step["object"]] in (
            heap.ENTRY, heap.NATIVE, heap.UNKNOWN,
        )  # fmt: skip
        assert called or entered, step


def check_derivation(columns: Columns, names: Names, derivation: dict[str, Any]) -> int:
    """Asserts that a derivation's rule was applied and that its premises are of rows of the run."""
    assert derivation["rule"] in {each.name for each in RULES}
    number = 0
    for premise in derivation["premises"]:
        number += check_steps(columns, names, premise["path"])
        if premise["derivation"] is not None:
            number += check_derivation(columns, names, premise["derivation"])
    return number


def check_steps(columns: Columns, names: Names, steps: Iterable[dict[str, Any]]) -> int:
    """Asserts that steps are of rows of the run, stand where these do, and lead from one to the next."""
    number = 0
    for step in steps:
        facts = [Fact(each["relation"], tuple(each["row"])) for each in step["facts"]]
        assert facts, step
        _check_facts(columns, names, step, facts)
        number += 1
    return number


def _check_facts(columns: Columns, names: Names, step: dict[str, Any], facts: list[Fact]) -> None:
    for fact in facts:
        assert columns.holds(fact), (fact, step)
    if step["pointer"] >= 0:
        assert columns.holds(Fact("PointsTo", (step["pointer"], step["object"]))), step
    places = {place for fact in facts for place in place_of(columns, fact)}
    shown = {(str(names.method(method)) if method >= 0 else "", offset) for method, offset in places}
    assert not shown or (step["method"], step["offset"]) in shown, (step, shown)
    lines = {names.line(*place) for place in places}
    assert not lines or step["line"] in lines, (step, lines)


def place_of(columns: Columns, fact: Fact) -> Iterator[tuple[int, int]]:
    """Yields (method, offset) of what a fact is about."""
    sites = columns.evidence.sites
    relation = getattr(schema, fact.relation, None)
    if fact.relation == "PointsTo":
        return
    if relation is None or "site" in schema.columns_of(relation):
        yield int(sites.method[fact.row[0]]), int(sites.offset[fact.row[0]])
    else:
        yield fact.row[0], fact.row[1]
