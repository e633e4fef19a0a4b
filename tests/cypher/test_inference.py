"""Rules in Cypher derive, row by row, what is derived in the process; on all fixtures and on a real program."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from neo4j import Driver, Session

from cli.graph.analysis import COMPUTED
from cli.graph.names import ElementNames
from cli.loading import Wanted, load_over_bolt
from cli.run import Run
from cli.structure import supertype_pairs
from cypher import graph, inference, schema
from cypher.inference import Unknown, chosen, infer, parsed, rules
from cypher.load import generations
from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE, PHANTOM, PRIVATE
from cypher.schema import NONE, VIRTUAL
from cypher.server.managed import Managed
from cypher.server.progress import silently
from engine import heap
from engine.flows import KINDS, flows_of
from engine.hierarchy import Hierarchy, Method, Type
from engine.reflection import api
from engine.result import PARTIAL, RESOLVED, UNRESOLVED, ReflectiveSite
from engine.sets import Sets
from engine.sites import BYTECODE, ORIGINS
from tests.cli.conftest import run_command
from tests.fixture_analysis import heliograph
from tests.fixture_harness import build, fixtures, negative, positive, rules_on_server, source_of

Pairs = set[tuple[int, int]]
ROLES = (api.CLASS_NEW, api.CONSTRUCTOR_NEW)
# By the call that takes a member's name, what leads there.
MEMBERS = {
    f"java.lang.Class.get{declared}{member}": type_
    for member, type_ in (("Method", "LEADS_TO_INVOKE"), ("Field", "LEADS_TO_FIELD"))
    for declared in ("", "Declared")
}
LEADING = ("LEADS_TO_FOR_NAME", *sorted(set(MEMBERS.values())))
KINDS_OF_CALL = ("static", "special", "virtual")


# --- form
def test_rules_come_behind_what_they_need() -> None:
    order = [each.name for each in rules()]
    assert len(set(order)) == len(order) >= 7
    for before, after in (
        ("subtypes", "dispatch"),
        ("leadsToForName", "specPts"),
        ("leadsToInvoke", "specPts"),
        ("leadsToField", "specPts"),
        ("subtypes", "castNarrowing"),
    ):
        assert order.index(before) < order.index(after)
    *premises, last = (each.name for each in chosen(["specPts"]))
    assert (sorted(premises), last) == (["leadsToField", "leadsToForName", "leadsToInvoke"], "specPts")
    assert {each.name for each in chosen([])} == set(order)
    with pytest.raises(Unknown, match=r"there is no rule specpts; there are .*specPts"):
        chosen(["specpts"])


def test_no_rule_derives_what_is_loaded_or_another_derives() -> None:
    heads = [each.head for each in rules()]
    assert len(set(heads)) == len(heads)
    loaded = {edge.type for edge in graph.EDGES} | {
        label for node in graph.NODES for label in (node.label, *node.more)
    }
    assert not loaded & set(heads)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n) RETURN n",
        "// title: a\n// description: b\n// paper: c\n",
        "// title: a\n// description: b\n// paper: c\n// head: Class\n// formal: d(x).\n",
        "// title: a\n// paper: c\n// description: b\n// head: (A)-[:B]->(C)\n// formal: d(x).\n",
        "// title: a\n// description: b\n// paper: c\n// head: (A)-[:B]->(C)\n",
        "// title: a\n// description: b\n// paper: c\n// head: (A)-[:B]->(C)\n// Differs: e.\n// formal: d(x).\n",
    ],
)
def test_headers_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^broken: "):
        parsed("broken", text)


def test_headers_have_clauses_and_where_the_statements_depart_from_them() -> None:
    header = "// title: a\n// description: b\n// paper: c\n// head: (A:B)\n// formal: d(x) :- e(x).\n// formal: d(0).\n"
    same, other = parsed("same", header), parsed("other", header + "// Differs: f.\n// formal: g(x).\n")
    assert same.formal == other.formal == ("d(x) :- e(x).", "d(0).")
    assert (same.differs, other.differs) == ("", "f.")


def test_clauses_are_of_what_the_rules_are_named_after() -> None:
    """Those of Livshits et al. are found by the paper's names."""
    for each in rules():
        if each.paper.endswith(f": {each.name}"):
            assert each.formal[0].startswith(f"{each.name}("), each.name
        assert all(re.fullmatch(r"\w+\(\w+(, \w+)?\) :- .+\)\.", clause) for clause in each.formal), each.name


# --- what they start from, and what they derive
class Loaded(NamedTuple):
    """A run in a graph, to which the rules were applied."""

    name: str
    run: Run
    session: Session
    number: int
    rounds: list[inference.Round]

    def pairs(self, type_: str) -> Pairs:
        """Returns the relationships of a type, by the numbers of their ends."""
        text = "MATCH (a {generation: $number})-[r]->(b) WHERE type(r) = $type RETURN a.key AS a, b.key AS b"
        found = self.session.run(text, number=self.number, type=type_)
        return {(number_of(each["a"]), number_of(each["b"])) for each in found}

    def labelled(self, label: str) -> set[int]:
        """Returns the numbers of the nodes with a label."""
        text = "MATCH (n {generation: $number}) WHERE $label IN labels(n) RETURN n.key AS key"
        return {number_of(each["key"]) for each in self.session.run(text, number=self.number, label=label)}


def number_of(key: int) -> int:
    """Returns the number of a node among those of its label."""
    return key & (graph.key_base(0, graph.LABELS[1]) - 1)


def fixtures_analysed(folder: Path) -> Run:
    classes = folder / "classes"
    classes.mkdir()
    javac = shutil.which("javac")
    assert javac
    build(classes, javac)
    mains = [
        word
        for each in fixtures()
        if (classes / f"{each.name}.class").exists()
        for word in ("--main", each.name)
    ]
    heliograph("analyze", str(classes), *mains, "--scope", "application", "--out", str(folder / "run"), "-q")
    return Run(folder / "run")


def antlr_analysed(folder: Path) -> Run:
    heliograph(
        "analyze",
        "antlr:antlr:2.7.7",
        "--main",
        "antlr.Tool",
        "--scope",
        "application",
        "--out",
        str(folder / "run"),
        "-q",
    )
    return Run(folder / "run")


PROGRAMS = {"fixtures": fixtures_analysed, "antlr": antlr_analysed}


@pytest.fixture(scope="module", params=PROGRAMS)
def loaded(
    request: pytest.FixtureRequest, admin: Driver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    """A program whose library code is closed off, in the graph, with all that the rules derive."""
    name = f"inference-{request.param}"
    run = PROGRAMS[request.param](tmp_path_factory.mktemp(name))
    load_over_bolt(Wanted(run, graph.FULL, name), admin, silently)
    with admin.session() as session:
        text = "MATCH (:Current {name: $name})-[:IS]->(g:Generation) RETURN g.id AS id, g.number AS number"
        found = session.run(text, name=name).single(strict=True)
        yield Loaded(name, run, session, found["number"], infer(session, found["number"], chosen([])))
        generations.remove(session, found["id"], found["number"])


def test_call_sites_come_back_as_they_were(loaded: Loaded) -> None:
    text = """MATCH (s:CallSite {generation: $number})
OPTIONAL MATCH (m:Method)-[:CONTAINS]->(s)
OPTIONAL MATCH (s)-[:RETURNS_TO]->(r:Pointer)
OPTIONAL MATCH (s)-[:THROWS_TO]->(t:Pointer)
OPTIONAL MATCH (s)-[:CAUSED_BY]->(c:CallSite)
RETURN s.key, m.key, s.kind, s.origin, s.offset, s.declaredType, s.callee, s.signature, r.key, t.key, c.key
ORDER BY s.key"""
    keyed = (0, 1, 5, 6, 8, 9, 10)
    found = []
    for record in loaded.session.run(text, number=loaded.number):
        row = [
            NONE if each is None else number_of(each) if place in keyed else each
            for place, each in enumerate(record)
        ]
        found.append([row[0], row[1], KINDS_OF_CALL.index(row[2]), ORIGINS.index(row[3]), *row[4:]])
    sites = loaded.run.result.sites
    columns = (
        np.arange(len(sites.method)), sites.method, sites.kind, sites.origin, sites.offset, sites.declared, sites.callee,
        sites.signature, sites.result, sites.thrown, sites.cause,
    )  # fmt: skip
    assert found == np.stack(columns, axis=1).tolist()


def test_exact_arguments_and_handles_come_back_as_they_were(loaded: Loaded) -> None:
    exact = """MATCH (a {generation: $number})-[r:EXACT_ARGUMENT]->(s:CallSite)
RETURN s.key, r.position, r.length, r.index, CASE WHEN a:Pointer THEN a.key END"""
    handles = """MATCH (a {generation: $number})-[r:HANDLE_CONSTANT]->(p:Pointer)
RETURN r.method, r.offset, r.kind, CASE WHEN a:Method THEN a.key END, CASE WHEN a:Field THEN a.key END, p.key"""
    for relation, text, keyed in (
        (schema.ExactArgument, exact, (0, 4)),
        (schema.HandleConstant, handles, (0, 3, 4, 5)),
    ):
        records = [list(each) for each in loaded.session.run(text, number=loaded.number)]
        found = [
            [
                NONE if each is None else number_of(each) if place in keyed else each
                for place, each in enumerate(record)
            ]
            for record in records
        ]
        expected = np.stack(list(loaded.run.result.facts[relation]), axis=1).tolist()
        assert sorted(found) == sorted(expected)
        assert expected or loaded.name != "inference-fixtures"


def test_subtype_closure(loaded: Loaded) -> None:
    expected = set(map(tuple, supertype_pairs(loaded.run.structure).tolist()))
    assert loaded.pairs("INFERRED_SUBTYPE_OF") == expected == loaded.pairs("SUBTYPE_OF")


def test_class_hierarchy_dispatch(loaded: Loaded) -> None:
    run, sites = loaded.run, loaded.run.result.sites
    hierarchy, below = hierarchy_of(run)
    expected: Pairs = set()
    for site in np.flatnonzero(sites.origin == BYTECODE).tolist():
        declared, signature = int(sites.declared[site]), int(sites.signature[site])
        if int(sites.kind[site]) != VIRTUAL:
            expected.add((site, int(sites.callee[site])))
        elif declared != NONE:
            expected |= {(site, hierarchy.select(each, signature)) for each in below[declared]}
    assert loaded.pairs("INFERRED_TARGET") == {pair for pair in expected if pair[1] != NONE}


def hierarchy_of(run: Run) -> tuple[Hierarchy, dict[int, list[int]]]:
    """Returns the hierarchy of a run's types, and by type the ones below it, and itself, that have instances."""
    structure, columns = run.structure, run.names.columns
    above: dict[int, set[int]] = {each: {each} for each in range(len(structure.superclass))}
    for type_, other in supertype_pairs(structure).tolist():
        above[type_].add(other)
    declared: dict[int, dict[int, int]] = defaultdict(dict)
    signature_of = dict(structure.selects.tolist())
    flags = {}
    for method, declaring, name, _, flag in columns.methods.tolist():
        flags[method] = flag
        if not flag & (ACC_STATIC | PRIVATE) and run.names.texts[name] not in ("<init>", "<clinit>"):
            declared[declaring][signature_of[method]] = method
    hierarchy = Hierarchy()
    types = columns.types[:, 1].tolist()
    for type_, flag in enumerate(types):
        superclass, element = int(structure.superclass[type_]), int(structure.element[type_])
        hierarchy.types.append(Type(superclass, element, flag, frozenset(above[type_]), declared[type_]))
    hierarchy.methods = [Method(0, 0, flags.get(each, 0), NONE, NONE) for each in range(max(flags) + 1)]
    below: dict[int, list[int]] = defaultdict(list)
    for type_, flag in enumerate(types):
        if not flag & (ABSTRACT | INTERFACE | PHANTOM):
            for each in above[type_]:
                below[each].append(type_)
    return hierarchy, below


def test_call_graph_reachability(loaded: Loaded) -> None:
    text = "MATCH (:Generation {number: $number})-[:INFERRED_REACHES]->(m:Method) RETURN m.key AS key"
    found = [number_of(each["key"]) for each in loaded.session.run(text, number=loaded.number)]
    assert sorted(found) == sorted(loaded.run.result.reached.tolist())


def test_classification(loaded: Loaded) -> None:
    application = loaded.run.names.is_application(loaded.run.result.sites.method)
    for label, status in (
        ("FullyResolved", RESOLVED),
        ("PartiallyResolved", PARTIAL),
        ("Unresolved", UNRESOLVED),
    ):
        expected = {
            each.site
            for each in loaded.run.result.reflective
            if each.status == status and application[each.site]
        }
        assert loaded.labelled(label) == expected


def computed_from(loaded: Loaded) -> dict[int, set[int]]:
    """Returns by pointer to a string those from which it is computed."""
    text = "MATCH (a {generation: $number})-[:FLOWS_TO {kind: $kind}]->(b) RETURN a.key AS a, b.key AS b"
    found: dict[int, set[int]] = defaultdict(set)
    for each in loaded.session.run(text, number=loaded.number, kind=COMPUTED):
        found[number_of(each["b"])].add(number_of(each["a"]))
    return found


def leading(site: ReflectiveSite) -> str:
    """Returns the relationship type for what leads to the name at a call, "" if no rule asks for that name."""
    return "LEADS_TO_FOR_NAME" if site.role == api.FOR_NAME else MEMBERS.get(site.api, "")


def leads(loaded: Loaded) -> dict[str, Pairs]:
    """Returns the pointers that lead to the names at calls, with these, by relationship type."""
    found = flows_of(ElementNames(loaded.run).evidence)
    inputs = loaded.labelled("Input")
    before: dict[int, set[int]] = defaultdict(set)
    for kind, source, target in zip(
        found.kind.tolist(), found.source.tolist(), found.target.tolist(), strict=True
    ):
        assert KINDS[kind] != COMPUTED
        before[target].add(source)
    computed = computed_from(loaded)
    pairs: dict[str, Pairs] = defaultdict(set)
    for each in loaded.run.result.reflective:
        if (type_ := leading(each)) and each.operands.get("name", NONE) != NONE:
            waiting = [each.operands["name"]]
            while waiting:
                pointer = waiting.pop()
                if (pointer, each.site) not in pairs[type_]:
                    pairs[type_].add((pointer, each.site))
                    waiting += (computed if pointer in inputs else before)[pointer]
    return pairs


def test_what_leads_to_names(loaded: Loaded) -> None:
    expected = leads(loaded)
    for type_ in LEADING:
        assert loaded.pairs(type_) == expected[type_]
        assert expected[type_] or loaded.name != "inference-fixtures"


def test_specification_points(loaded: Loaded) -> None:
    found = flows_of(ElementNames(loaded.run).evidence)
    inputs, open_ = loaded.labelled("Input"), loaded.labelled("OpenString")
    after = {
        target
        for source, target in zip(found.source.tolist(), found.target.tolist(), strict=True)
        if source in open_ and target not in inputs
    }
    after |= {target for target, parts in computed_from(loaded).items() if target in inputs and parts & open_}
    begin, pairs = open_ - after, leads(loaded)
    expected = {type_: {pair for pair in pairs[type_] if pair[0] in begin} for type_ in LEADING}
    assert loaded.pairs("SPECIFICATION_POINT") == set().union(*expected.values())
    assert all(expected[type_] for type_ in LEADING) or loaded.name != "inference-fixtures"


def test_names_of_classes_methods_and_fields(loaded: Loaded) -> None:
    names, objects = loaded.run.names, loaded.run.result.objects
    columns = names.columns
    of_members = {
        "MethodString": {names.texts[each] for each in columns.methods[:, 2].tolist()},
        "FieldString": {names.texts[each] for each in columns.fields[:, 2].tolist()},
    }
    of_classes = {each.replace("/", ".") for each in names.type_ids if not each.startswith("[")}
    for label, known in {"TypeString": of_classes, **of_members}.items():
        named = np.zeros(len(objects.kind), np.bool_)
        for each in np.flatnonzero(objects.kind == heap.STRING).tolist():
            named[each] = names.constant(int(objects.payload[each])) in known
        expected = np.flatnonzero(Sets(loaded.run.result.points_to).holding(named)).tolist()
        assert sorted(loaded.labelled(label)) == expected
        assert expected or loaded.name != "inference-fixtures"


def test_cast_narrowing(loaded: Loaded) -> None:
    run, result = loaded.run, loaded.run.result
    _, below = hierarchy_of(run)
    assigns, casts = result.facts[schema.Assign], result.facts[schema.Cast]
    expected: Pairs = set()
    for each in result.reflective:
        pointer, method = int(result.sites.result[each.site]), int(result.sites.method[each.site])
        if each.role not in ROLES or each.status == RESOLVED or pointer == NONE:
            continue
        aliases = {pointer}
        while more := set(assigns.target[np.isin(assigns.source, list(aliases))].tolist()) - aliases:
            aliases |= more
        cast = casts.type[np.isin(casts.source, list(aliases)) & (casts.method == method)].tolist()
        expected |= {
            (each.site, type_)
            for to in cast
            for type_ in below[to]
            if not run.names.type(type_).endswith("[]")
        }
    assert loaded.pairs("NARROWED_TO") == expected


def fixtures_of(loaded: Loaded, rule: inference.Rule) -> set[str]:
    """Returns the fixtures of which a rule derives something: of a call, or of a pointer to a constant or to what is returned."""
    names, result = loaded.run.names, loaded.run.result
    if rule.is_label:
        found = loaded.labelled(rule.head)
    else:
        found = {pair[0 if rule.name == "castNarrowing" else 1] for pair in loaded.pairs(rule.head)}
    if rule.is_label and rule.pattern.startswith("(Pointer"):
        constants, sites = result.facts[schema.StringConstant], result.sites
        made = [*zip(constants.target.tolist(), constants.method.tolist(), strict=True)]
        made += [*zip(sites.result.tolist(), sites.method.tolist(), strict=True)]
        methods = {method for pointer, method in made if pointer in found}
    else:
        methods = set(result.sites.method[sorted(found)].tolist())
    columns = names.columns.methods
    declaring = columns[np.isin(columns[:, 0], list(methods)), 1].tolist()
    return {source_of(names.type(each).replace(".", "/")) for each in declaring}


@pytest.mark.parametrize("loaded", ["fixtures"], indirect=True, scope="module")
def test_rules_hold_of_positive_fixtures_and_not_of_negative_ones(loaded: Loaded) -> None:
    found = {each.name: fixtures_of(loaded, each) for each in rules_on_server()}
    holds = [(rule, each.name) for each in fixtures() for rule in positive(each) if rule in found]
    fails = [(rule, each.name) for each in fixtures() for rule in negative(each) if rule in found]
    assert {rule for rule, _ in holds} == {rule for rule, _ in fails} == set(found)
    assert [(rule, name) for rule, name in holds if name not in found[rule]] == []
    assert [(rule, name) for rule, name in fails if name in found[rule]] == []


def test_rounds_tell_what_was_derived_and_a_second_time_is_the_same(loaded: Loaded) -> None:
    last = {each.rule: each for each in loaded.rounds}
    for rule in rules():
        assert last[rule.name].rows == 0 or not rule.step
        rows = sum(each.rows for each in loaded.rounds if each.rule == rule.name)
        if rule.is_label:
            assert rows == len(loaded.labelled(rule.head))
    wanted = chosen(["subtypes", "unresolved"])
    again = infer(loaded.session, loaded.number, wanted)
    assert [(each.rule, each.rows) for each in again] == [
        (each.rule, each.rows) for each in loaded.rounds if each.rule in {rule.name for rule in wanted}
    ]


def test_the_command_tells_rows_by_round(
    loaded: Loaded, server: Managed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", server.password())
    done = run_command(
        "graph", "infer", "unresolved", "subtypes", "--run", loaded.name, "--format", "json", "-q"
    )
    assert done.code == 0, done.errors
    told = {each["rule"]: each for each in json.loads(done.output)}
    assert told.keys() == {"unresolved", "subtypes"}
    for name, each in told.items():
        assert each["rowsByRound"] == [one.rows for one in loaded.rounds if one.rule == name]
        assert each["rows"] == sum(each["rowsByRound"])


def test_the_command_names_the_rules_that_there_are() -> None:
    done = run_command("graph", "infer", "nothing")
    assert done.code == 2
    assert "there is no rule nothing; there are subtypes" in done.errors
