"""Checks that what an explanation says is what the program and the run say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cli.evidence import evidence
from cli.naming import Names
from cli.run import Run
from cypher import program, schema
from cypher.schema import NONE, STATIC, Int32, Int64
from engine import flow, heap
from engine.chains import Chain
from engine.flow import Evidence, Fact, Flow
from engine.flows import KINDS, MEMBER, flows_of
from engine.provenance import EMPTY
from engine.reflection.sources import ARGUMENT, NATIVE, sources_by_method
from engine.result import Derived

_BEGINNINGS = ("New", "StringConstant", "ClassConstant", "PointsTo")
_MULTIPLIER = np.int64(0x1000_0000_01B3)


class Relation:
    """The rows of a relation, to be found by their values: sorted by a hash of them."""

    def __init__(self, columns: Iterable[Int32]) -> None:
        self._columns = [np.asarray(each) for each in columns]
        hashes = _hashes(self._columns)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]

    def __contains__(self, row: tuple[int, ...]) -> bool:
        wanted = _hashes([np.array([each], np.int32) for each in row])
        start, end = (int(self._hashes.searchsorted(wanted, side)[0]) for side in ("left", "right"))
        found = (tuple(int(column[at]) for column in self._columns) for at in self._order[start:end].tolist())
        return tuple(row) in found


def _hashes(columns: Iterable[Int32]) -> Int64:
    """Returns a number for each row, which may be that of another row as well."""
    found: Any = np.int64(0)
    with np.errstate(over="ignore"):
        for column in columns:
            found = (found + column) * _MULTIPLIER
    return np.asarray(found, np.int64)


class Columns:
    """The rows of a run, to look facts up in."""

    def __init__(self, evidence: Evidence, derived: Sequence[Derived]) -> None:
        self.evidence = evidence
        self.flow = Flow(evidence)
        self.derived = {(each.relation, (each.site, each.detail)) for each in derived}
        self.applied = {(each.rule, each.site) for each in derived}
        self._relations: dict[str, Relation] = {}

    @cached_property
    def all_flows(self) -> set[tuple[str, int, int]]:
        """(kind, source, target) of all flows."""
        found = flows_of(self.evidence)
        kinds = (KINDS[each] for each in found.kind.tolist())
        return set(zip(kinds, found.source.tolist(), found.target.tolist(), strict=True))

    @cached_property
    def _by_source(self) -> dict[int, set[tuple[str, int]]]:
        by_source: dict[int, set[tuple[str, int]]] = defaultdict(set)
        for kind, source, target in self.all_flows:
            by_source[source].add((kind, target))
        return by_source

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
            return self.has(*row)
        if (name, tuple(row)) in self.derived:
            return True
        if name not in self._relations:
            columns = self._columns_of(name)
            if columns is None:
                return False
            self._relations[name] = Relation(columns)
        return row in self._relations[name]

    def has(self, pointer: int, obj: int) -> bool:
        """Returns whether `pointer` may refer to `obj`, by the words of its set."""
        rows = self.evidence.points_to
        of = int(rows.representative[pointer])
        span = slice(int(rows.at[of]), int(rows.at[of + 1]))
        words = rows.word[span][rows.key[span] == obj >> 6]
        return any((int(word) >> (obj & 63)) & 1 for word in words)

    def returned(self, site: int) -> set[int]:
        """Returns the pointers to what rules have a call return: its result, and the elements of an array that it lists."""
        result = int(self.evidence.sites.result[site])
        if result < 0:
            return {result}
        stores, copies = self.evidence.facts[schema.ArrayStore], self.evidence.facts[schema.Assign]
        arrays = copies.source[copies.target == result]
        return {result, *stores.source[np.isin(stores.base, arrays)].tolist()}

    def _columns_of(self, name: str) -> list[Int32] | None:
        evidence = self.evidence
        if name == "Calls":
            return [evidence.call_site, evidence.call_callee]
        if name == "Invoke":
            number = np.arange(len(evidence.sites.method), dtype=np.int32)
            return [
                number if each == "site" else getattr(evidence.sites, each)
                for each in schema.columns_of(schema.Invoke)
            ]
        relation = next((each for each in schema.FACTS if each.__name__ == name), None)
        return None if relation is None else list(evidence.facts[relation])

    # --- what stands behind ids
    @cached_property
    def place_of(self) -> dict[int, int]:
        """The places of methods in `Evidence.reached`."""
        return {method: place for place, method in enumerate(self.evidence.reached.tolist())}

    def variable(self, method: int, position: int) -> int:
        """Returns the pointer of a parameter of a method; of what it returns and throws, which follow these."""
        return int(self.evidence.first_variable[self.place_of[method]]) + position

    def parameters(self, method: int) -> int:
        """Returns the number of parameters of a method, the receiver included."""
        return int(self.evidence.parameters[self.place_of[method]])

    @cached_property
    def static_pointers(self) -> dict[int, int]:
        """The pointers of static fields."""
        evidence = self.evidence
        return dict(zip(evidence.static_field.tolist(), evidence.static_pointer.tolist(), strict=True))

    @cached_property
    def put(self) -> frozenset[int]:
        """The variables that are arguments of calls, or put into arrays."""
        facts = self.evidence.facts
        found = np.concatenate((facts[schema.Argument].variable, facts[schema.ArrayStore].source))
        return frozenset(np.unique(found).tolist())


def check_flows(columns: Columns) -> None:
    """Asserts that whatever flows unfiltered arrives: the target's set holds the source's."""
    filtered = {flow.CAST, flow.CATCH, flow.UNCAUGHT, flow.RECEIVER}
    pointers = len(columns.evidence.points_to.representative)
    evidence = columns.evidence
    arguments = evidence.facts[schema.Argument]
    receiving = (arguments.position == 0) & (evidence.sites.kind[arguments.site] != STATIC)
    # (of receivers only those of the method's class come back)
    results = evidence.sites.result[arguments.site[receiving]]
    back = set(zip(arguments.variable[receiving].tolist(), results.tolist(), strict=True))
    for kind, source, target in columns.all_flows:
        if kind == flow.PASSED and (source, target) in back:
            continue
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


class Known(NamedTuple):
    """A run: its rows, its names, the operands of its reflective calls, and these calls by what they return to."""

    columns: Columns
    names: Names
    operands: dict[int, set[int]]
    returning: dict[int, list[int]]


def known(run: Run) -> Known:
    """Returns what explanations of a run are checked with."""
    operands = {each.site: {*each.operands.values()} - {NONE} for each in run.result.reflective}
    columns = Columns(evidence(run), run.result.derived)
    for relation, (site, _) in columns.derived:
        if relation == "TextObject":
            operands[site] = {columns.flow.argument(site, 0)}
    returning: dict[int, list[int]] = defaultdict(list)
    for site in operands:
        for pointer in columns.returned(site):
            returning[pointer].append(site)
    return Known(columns, run.names, operands, returning)


def check_explanation(known: Known, site: int, document: dict[str, Any]) -> int:
    """Asserts that the printed steps are of rows of the run and lead to operands of the call; returns their number."""
    number = 0
    for answer in document["answers"]:
        if answer["kind"] != EMPTY:
            assert answer["steps"] or document["targets"], answer
            number += Walk(known).follow(answer["steps"]).arrives(site)
    return number


def check_site(known: Known, site: int, document: dict[str, Any]) -> int:
    """Asserts that sources and derivations of a call are of rows of the run; returns the number of steps."""
    assert {each["target"] for each in document["derivations"]} <= set(document["targets"])
    number = check_sources(known, site, document["sources"])
    return number + sum(check_derivation(known, site, each) for each in document["derivations"])


def check_sources(known: Known, site: int, sources: Iterable[dict[str, Any]]) -> int:
    """Asserts that each path to a call leads from its source to an operand; returns the number of steps."""
    number = 0
    for source in sources:
        path = source["path"]
        assert path or source["kind"] in ("constant", "unknown"), source
        if path:
            check_beginning(known, path, source)
            number += Walk(known).follow(path).arrives(site)
    return number


def check_beginning(known: Known, path: list[dict[str, Any]], source: dict[str, Any]) -> None:
    """Asserts that a path begins with what the source is, or where a class or member is found that has its text as name."""
    step = path[0]
    first, kind = step["facts"][0], int(known.columns.evidence.objects.kind[step["object"]])
    called = [each["row"][1] for each in step["facts"] if each["relation"] == "Calls"]
    if source["kind"] == "constant" and first["relation"] == "StringConstant":
        assert known.names.constant(first["row"][2]) == source["text"], step
    elif source["kind"] == "constant":
        facts = [each for listed in path for each in listed["facts"]]
        texts = {each["row"][1] for each in facts if each["relation"] == "TextObject"}
        assert source["text"] in map(known.names.constant, texts), path
    elif source["kind"] == ARGUMENT:
        assert (first["relation"], kind) == ("PointsTo", heap.ENTRY), step
    elif source["kind"] == NATIVE:
        assert first["relation"] == "PointsTo", step
        assert kind in (heap.NATIVE, heap.UNKNOWN), step
    elif source["kind"] != "unknown":
        methods = (known.names.method(each) for each in called)
        table = sources_by_method()
        found = [table.get((each.declaring, each.name)) for each in methods]
        assert source["kind"] in {each.kind for each in found if each is not None}, step


def check_derivation(known: Known, site: int, derivation: dict[str, Any]) -> int:
    """Asserts that a rule was applied at a call to what came to its operands."""
    assert (derivation["rule"], site) in known.columns.applied, (derivation, site)
    number, cast = 0, derivation.get("cast")
    made = _made_at(known, cast) if cast else NONE
    for premise in derivation["premises"]:
        path, because = premise["path"], premise["derivation"]
        assert path, premise
        rule = NONE
        if because is not None:
            returned = next(each["row"][0] for each in path[0]["facts"] if each["relation"] == "PointsTo")
            rule = next(
                each for each in known.returning[returned] if (because["rule"], each) in known.columns.applied
            )
            number += check_derivation(known, rule, because)
        assert not cast or premise["operand"] in ("class", "constructor"), premise
        number += Walk(known, rule).follow(path).arrives(made if cast else site)
    return number


def _made_at(known: Known, cast: dict[str, Any]) -> int:
    """Returns the call that makes what is cast, and asserts that it is cast to those types on every way."""
    evidence = known.columns.evidence
    sites = evidence.sites
    found = next(
        each
        for each in known.operands
        if (str(known.names.method(int(sites.method[each]))), int(sites.offset[each]))
        == (cast["method"], cast["offset"])
    )
    casts = evidence.facts[schema.ResultCast]
    types = sorted(known.names.type(each) for each in casts.type[casts.site == found].tolist())
    assert types == sorted(cast["types"]), cast
    assert types, cast
    return found


def check_place(columns: Columns, names: Names, step: dict[str, Any], facts: list[Fact]) -> None:
    """Asserts that a step stands where its facts do."""
    places = {place for fact in facts for place in place_of(columns, fact)}
    shown = {(str(names.method(method)) if method >= 0 else "", offset) for method, offset in places}
    assert not shown or (step["method"], step["offset"]) in shown, (step, shown)
    lines = {names.line(*place) for place in places}
    assert not lines or step["line"] in lines, (step, lines)


def place_of(columns: Columns, fact: Fact) -> Iterator[tuple[int, int]]:
    """Yields (method, offset) of what a fact is about."""
    sites, objects = columns.evidence.sites, columns.evidence.objects
    relation = getattr(schema, fact.relation, None)
    if fact.relation == "PointsTo":
        if int(objects.kind[fact.row[1]]) == heap.CLASS_OF:
            yield int(objects.method[fact.row[1]]), int(objects.offset[fact.row[1]])
        return
    if relation is None or "site" in schema.columns_of(relation):
        yield int(sites.method[fact.row[0]]), int(sites.offset[fact.row[0]])
    else:
        yield fact.row[0], fact.row[1]


class Walk:
    """Follows printed steps over the rows that they name, from where something begins to an operand.

    `at` is the pointer that the steps have come to; `ends` are those where ways ended that nothing goes on from yet:
    each is an operand of a rule, or a part of a string, that comes later, or of the call itself at last.
    """

    def __init__(self, known: Known, rule: int = NONE) -> None:
        self._columns, self._names, self._operands = known.columns, known.names, known.operands
        self._evidence, self._rule = known.columns.evidence, rule
        self.at, self.obj, self.ends = NONE, NONE, list[int]()
        self.number = 0

    def follow(self, steps: Iterable[dict[str, Any]]) -> Walk:
        """Asserts that steps are of rows of the run, stand where these do, and lead from one to the next."""
        for step in steps:
            facts = [Fact(each["relation"], tuple(each["row"])) for each in step["facts"]]
            assert facts, step
            for fact in facts:
                assert self._columns.holds(fact), (fact, step)
            check_place(self._columns, self._names, step, facts)
            self._goes_on(step, facts)
            self.number += 1
        return self

    def arrives(self, site: int) -> int:
        """Asserts that all ways end at operands of a call; returns the number of steps."""
        assert {*self.ends, self.at} - {NONE} <= self._operands[site], (self.ends, self.at, site)
        return self.number

    def _goes_on(self, step: dict[str, Any], facts: list[Fact]) -> None:
        left = list(facts)
        while left:
            fact = left.pop(0)
            if fact.relation in _BEGINNINGS:
                self._begins(step, fact, left.pop(0) if _is_of_call(fact, left) else None)
            elif fact.relation in ("Argument", "Invoke"):
                self._passes(step, fact, left.pop(0))
            elif fact.relation == "ResultCast":
                self._makes(step, fact)
            elif hasattr(schema, fact.relation) and fact.relation != "Calls":
                self._moves(step, fact)
            elif fact.relation != "Calls":
                self._infers(fact.row[0])
            if self.at != NONE:
                assert self._columns.has(self.at, self.obj), (fact, step)
        if step["pointer"] >= 0:
            assert (self.at, self.obj) == (step["pointer"], step["object"]), step

    def _makes(self, step: dict[str, Any], fact: Fact) -> None:
        """Asserts that what is unknown has come to the call that makes something of it, which is cast."""
        if self.at != NONE:
            assert self._evidence.objects.kind[self.obj] == heap.UNKNOWN, step
            assert self.at in self._operands[fact.row[0]], step
        self.at, self.obj = NONE, NONE

    # --- where something begins
    def _begins(self, step: dict[str, Any], fact: Fact, after: Fact | None) -> None:
        if self.at != NONE:
            self.ends.append(self.at)
        rule, self._rule = self._rule, NONE
        self.at, self.obj = fact.row[-1], step["object"]
        objects = self._evidence.objects
        if fact.relation == "PointsTo":
            self.at = fact.row[0]
            assert fact.row[1] == self.obj, step
        elif fact.relation != "New":
            kinds = (heap.STRING, heap.CLASS_OBJECT, heap.GENERIC)
            assert objects.kind[self.obj] in kinds, step
            assert objects.kind[self.obj] == heap.GENERIC or objects.payload[self.obj] == fact.row[2], step
        else:
            assert objects.type[self.obj] == fact.row[2], step
        if after is not None:
            self._computes(step, after)
        elif rule != NONE:
            assert self.at in self._columns.returned(rule), step
        elif fact.relation == "PointsTo":
            self._provided(step)

    def _computes(self, step: dict[str, Any], call: Fact) -> None:
        """Asserts that a call brings what is at `at`, from the parts that came before if it computes."""
        site = call.row[0]
        constructs = self._columns.holds(Fact("Argument", (site, 0, self.at)))
        assert self.at == self._evidence.sites.result[site] or constructs, step
        while self.ends and self._is_part(self.ends[-1]):
            self.ends.pop()

    def _is_part(self, pointer: int) -> bool:
        return pointer in self._columns.put or int(self._evidence.points_to.base[pointer]) >= 0

    def _provided(self, step: dict[str, Any]) -> None:
        """Asserts that an object comes from outside, or is the class of what came before."""
        objects = self._evidence.objects
        if int(objects.kind[self.obj]) == heap.CLASS_OF:
            site = int(objects.payload[self.obj])
            assert self.at == self._evidence.sites.result[site], step
            if self.ends:
                assert self._columns.holds(Fact("Argument", (site, 0, self.ends.pop()))), step
            return
        assert objects.kind[self.obj] not in (heap.ALLOCATED, heap.REFLECTIVE), step
        if step["text"].startswith("what native method"):
            owner = self._columns.flow.method_of(self.at)
            assert owner is not None, step
            assert self._names.method(owner[0]).flags & program.NATIVE, step
        if int(objects.kind[self.obj]) == heap.STRING:
            # (the value of an annotation)
            texts = self._evidence.facts[schema.StringConstant].text
            assert not (texts == objects.payload[self.obj]).any(), step

    # --- how it goes on
    def _moves(self, step: dict[str, Any], fact: Fact) -> None:
        row = dict(zip(schema.columns_of(getattr(schema, fact.relation)), fact.row, strict=True))
        rows = self._evidence.points_to
        assert self.at != NONE, step
        if fact.relation in ("Load", "ArrayLoad"):
            assert rows.field[self.at] == row.get("field", NONE), step
            assert self._columns.has(row["base"], int(rows.base[self.at])), step
        elif fact.relation == "StaticLoad":
            assert self._columns.static_pointers[row["field"]] == self.at, step
        else:
            assert row["source"] == self.at, step
        if fact.relation in ("Store", "ArrayStore"):
            self.at = step["pointer"]
            assert rows.field[self.at] == row.get("field", NONE), step
            assert self._columns.has(row["base"], int(rows.base[self.at])), step
        elif fact.relation == "StaticStore":
            self.at = self._columns.static_pointers[row["field"]]
        else:
            self.at = row["target"]

    def _passes(self, step: dict[str, Any], fact: Fact, calls: Fact) -> None:
        """Follows an argument into a method that is called there, or what this returns or throws out of it."""
        site, callee = calls.row
        assert fact.row[0] == site, step
        parameters, sites = self._columns.parameters(callee), self._evidence.sites
        if fact.relation == "Invoke":
            thrown = step["kind"] == flow.THROWN
            assert self.at == self._columns.variable(callee, parameters + thrown), step
            self.at = int((sites.thrown if thrown else sites.result)[site])
            return
        _, position, variable = fact.row
        assert (self.at, position < parameters) == (variable, True), step
        entered = self._columns.variable(callee, position)
        self.at = entered
        if step["kind"] == flow.PASSED:
            assigns = self._evidence.facts[schema.Assign]
            returned = assigns.source[assigns.target == self._columns.variable(callee, parameters)]
            assert returned.size, step
            assert (returned == entered).all(), step
            self.at = int(sites.result[site])

    def _infers(self, site: int) -> None:
        """Asserts that what a rule goes by is at operands of its call."""
        if self.at != NONE:
            self.ends.append(self.at)
        while self.ends and self.ends[-1] in self._operands.get(site, ()):
            self.ends.pop()
        self.at, self.obj, self._rule = NONE, NONE, site


def _is_of_call(beginning: Fact, after: list[Fact]) -> bool:
    """Returns whether what comes after a beginning is the call that brings it, none that hands it on."""
    relations = [each.relation for each in after[:2]]
    if beginning.relation == "PointsTo":
        return relations[:1] == ["Calls"]
    return beginning.relation == "New" and relations[:1] == ["Invoke"] and relations != ["Invoke", "Calls"]
