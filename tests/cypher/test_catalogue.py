"""The catalogue: its form, what it takes, and what each query answers about one small program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import pytest
from neo4j import Driver, Session
from neo4j.graph import Path as GraphPath

from cypher import graph
from cypher.catalogue import (
    ALLOW_INCOMPLETE,
    GROUPS,
    INTEGER,
    RUN,
    Query,
    Unusable,
    bound,
    named,
    parsed,
    queries,
)
from tests.cypher.catalogue_graph import PLAIN, RESOLVED, line_of, shop

__all__ = ("shop",)

LIVSHITS = "Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005"
_WRITING = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|LOAD|FOREACH|TRANSACTIONS)\b", re.IGNORECASE)
_COMMENT = re.compile(r"^//.*$", re.MULTILINE)
_TEXT = re.compile(r"'[^']*'")
# Parameters that name one element, which the server finds by an index.
_NAMES = {"method", "class", "field", "site", "annotation", "from", "to", "source"}

by_name = pytest.mark.parametrize("query", queries(), ids=lambda each: each.name)


def statement(query: Query) -> str:
    """Returns what follows the header."""
    return _COMMENT.sub("", query.text).lstrip()


# --- form
def test_the_catalogue_has_all_groups_and_no_name_twice() -> None:
    assert {each.group for each in queries()} == set(GROUPS)
    assert len({each.name for each in queries()}) == len(queries())
    assert len({each.title for each in queries()}) == len(queries())


@by_name
def test_parameters_are_those_that_the_statement_uses(query: Query) -> None:
    used = set(re.findall(r"\$(\w+)", _TEXT.sub("", statement(query))))
    assert used == {each.name for each in query.parameters} | {RUN, ALLOW_INCOMPLETE}


@by_name
def test_a_query_begins_with_the_current_generation(query: Query) -> None:
    head = (
        "MATCH (:Current {name: $run})-[:IS]->(g:Generation)\n"
        "WHERE g.status = 'complete' OR $allowIncomplete\n"
    )
    assert statement(query).startswith(head)
    others = head.replace("$run", "$other").replace("g:", "h:").replace("g.", "h.").replace("\n", "\n  ")
    assert ("$other" in query.text) == (query.group == "comparison")
    assert query.group != "comparison" or others.rstrip() in statement(query)


@by_name
def test_a_query_says_what_it_is_in_sentences_and_orders_what_it_cuts(query: Query) -> None:
    assert query.description.endswith(".")
    assert query.description[0].isupper()
    assert not query.title.endswith(".")
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", query.name)
    assert "ORDER BY" in query.text
    assert not _WRITING.search(_TEXT.sub("", statement(query)))


@by_name
def test_labels_types_and_properties_are_those_of_the_graph(query: Query) -> None:
    text = _TEXT.sub("", statement(query))
    labels = {node.label for node in graph.NODES} | {each for node in graph.NODES for each in node.more}
    types = {edge.type for edge in graph.EDGES}
    properties = {name for node in graph.NODES for name in node.properties}
    properties |= {name for edge in graph.EDGES for name in edge.properties}
    found = {word for each in re.findall(r"\(\w*:([\w|]+)", text) for word in each.split("|")}
    found |= set(re.findall(r"\b[a-z]\w*:([A-Z]\w*)", text))
    found_types = {word for each in re.findall(r"\[\w*:([A-Z_|]+)", text) for word in each.split("|")}
    assert found - found_types <= labels | {"Current", "Generation"}
    assert found_types <= types | {"IS"}
    used = set(re.findall(r"\b[a-z]\w*\.([a-z]\w*)", text))
    # (of generations; and of a map that a query makes)
    assert used <= properties | {"key", "number", "status"} | {"calls", "from"}


@by_name
def test_the_example_values_are_taken(query: Query) -> None:
    values = bound(query, query.example(), "a run")
    assert values.keys() == {each.name for each in query.parameters} | {RUN, ALLOW_INCOMPLETE}
    assert all(each.example and each.meaning for each in query.parameters)
    assert values[RUN] == "a run"
    assert values[ALLOW_INCOMPLETE] is False


HEADER: LiteralString = """\
// title: A title
// description: A sentence.
// group: structure
// paper: JVMS 5.5
// param $method: string, required: the method
// example $method: a.b.C.m
// param $limit: integer, default 10: the most rows
// example $limit: 5
// param $all: boolean, default true: all of them
// example $all: false
// param $kind: string, default '': the kind
// example $kind: file
// column name: its name
MATCH (n) RETURN n.name AS name
"""


def test_a_header_is_read() -> None:
    query = parsed("a-query", HEADER)
    assert query.text == HEADER
    assert (query.name, query.title, query.paper) == ("a-query", "A title", "JVMS 5.5")
    assert [(each.name, each.default, each.required) for each in query.parameters] == [
        ("method", None, True), ("limit", 10, False), ("all", True, False), ("kind", "", False),
    ]  # fmt: skip
    assert [tuple(each) for each in query.columns] == [("name", "its name")]


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("// titel: A title", "// title: A title", "form of a header"),
        ("", "// title: A title\n", "no title"),
        ("", "// description: A sentence.\n", "no description"),
        ("// title: A title\n// title: Another", "// title: A title", "one text"),
        ("// title A title", "// title: A title", "one text"),
        ("// group: structure\n// title: A title", "// title: A title", "must not follow"),
        ("integer, default ten", "integer, default 10", "whole number"),
        ("number, default 10", "integer, default 10", "form of a parameter"),
        ("string, optional", "string, required", "form of a parameter"),
        ("", "// example $limit: 5\n", "needs an example"),
        ("// example $other: 5", "// example $limit: 5", "must follow it"),
        ("", "// column name: its name\n", "no column"),
        ("// column name", "// column name: its name", "a name and a text"),
    ],
)  # fmt: skip
def test_a_header_in_another_form_is_refused(wrong: str, right: str, said: str) -> None:
    assert right in HEADER
    text: Any = HEADER.replace(right, wrong, 1)
    with pytest.raises(ValueError, match=said):
        parsed("a-query", text)


# --- parameters
def test_a_query_that_there_is_not_is_answered_with_those_like_it() -> None:
    assert named("callers").title == "Who calls a method"
    with pytest.raises(Unusable, match=r"there is no query 'caller', did you mean callers"):
        named("caller")
    with pytest.raises(Unusable, match=r"there is no query 'xyzzy'; `query list` lists all"):
        named("xyzzy")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, r"callers needs method \(the method, .*\), as in method=org\."),
        ({"method": "m", "limt": "1"}, r"callers has no parameter 'limt', did you mean limit\?; it takes method, limit"),
        ({"method": "m", "run": "x"}, r"callers has no parameter 'run'"),
        ({"method": "m", "limit": "-1"}, r"limit must be a whole number, not '-1'"),
        ({"method": "m", "limit": "1e3"}, r"limit must be a whole number, not '1e3'"),
        ({"method": "m", "limit": "9223372036854775808"}, r"limit must be a whole number"),
        ({"method": "m", "limit": "٣"}, r"limit must be a whole number"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(given: Mapping[str, str], said: str) -> None:
    with pytest.raises(Unusable, match=said):
        bound(named("callers"), given, "r")


def test_values_get_the_types_of_their_parameters() -> None:
    values = bound(named("callers"), {"method": "' OR 1=1 //", "limit": "7"}, "r", allow_incomplete=True)
    assert values == {"run": "r", "allowIncomplete": True, "method": "' OR 1=1 //", "limit": 7}
    assert bound(named("entry-points"), {"application": "False"}, "r")["application"] is False
    with pytest.raises(Unusable, match="application must be true or false, not 'no'"):
        bound(named("entry-points"), {"application": "no"}, "r")


# --- plans
@pytest.fixture
def session(shop: Driver) -> Iterator[Session]:
    with shop.session(default_access_mode="READ") as found:
        yield found


def operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.mark.slow
@by_name
def test_plans_use_indexes_and_multiply_nothing(session: Session, query: Query) -> None:
    values = bound(query, query.example(), RESOLVED)
    explain: Any = "EXPLAIN " + query.text
    summary = session.run(explain, values).consume()
    assert summary.query_type == "r"
    assert summary.plan is not None
    found = set(operators(summary.plan))
    assert not found & {"CartesianProduct", "AllNodesScan"}
    if _NAMES & {each.name for each in query.parameters}:
        assert "NodeIndexSeek" in found
        assert not any("Scan" in each for each in found - {"NodeByLabelScan"})


# --- answers
class Expected(NamedTuple):
    """What a query answers to these parameters: all rows, or `some` of them; of these columns, or of all but `path`."""

    given: Mapping[str, str]
    rows: Sequence[tuple[Any, ...]]
    columns: Sequence[str] = ()
    some: bool = False


def at(text: str, file: str = "Main.java") -> int:
    return line_of(file, text)


_CONSTANT, _CONSTANT_MEMBER = at('forName("shop.parts.Motor")'), at('getMethod("start")')
_PROPERTY, _LOOK, _ARGUMENT = at('"shop.part"'), at("Class.forName(name)"), at("arguments[0]")
_LINE, _METHOD_NAME, _COMPUTED = at("readLine"), at("SHOP_METHOD"), at("shop.kind")
FOUND = "shop.Main.byConstant()Ljava/lang/Object;@2"
MEMBER = "shop.Main.byConstant()Ljava/lang/Object;@13"
INVOKED = "shop.Main.byConstant()Ljava/lang/Object;@21"
PROPERTY = "shop.Main.byProperty()Ljava/lang/Class;@2"
LOOK = "shop.Main.look(Ljava/lang/String;)Ljava/lang/Class;@1"
ARGUMENT = "shop.Main.byArgument([Ljava/lang/String;)Ljava/lang/Class;@3"
READ, LINE = "shop.Main.byLine()Ljava/lang/Class;@18", "shop.Main.byLine()Ljava/lang/Class;@21"
ENVIRONMENT = "shop.Main.byMethodName()Ljava/lang/Object;@4"
NAMED_MEMBER = "shop.Main.byMethodName()Ljava/lang/Object;@11"
NAMED_INVOKED = "shop.Main.byMethodName()Ljava/lang/Object;@19"
PART, COMPUTED = "shop.Main.byComputed()Ljava/lang/Class;@4", "shop.Main.byComputed()Ljava/lang/Class;@7"
# The JVM calls main.
STARTED = "the JVM@-1"
COMPOSED = "shop.Main.byComputed()Ljava/lang/Class;@10"
MAIN = "shop.Main.main([Ljava/lang/String;)V"
FIT = "shop.Main.fit(Lshop/parts/Part;)V"
REPORT, START, WARM = (
    "shop.Main.report()Ljava/lang/String;",
    "shop.parts.Motor.start()V",
    "shop.parts.Engine.warm()V",
)
DOOR_FIT, WHEEL_FIT, PART_FIT = "shop.parts.Door.fit()V", "shop.parts.Wheel.fit()V", "shop.parts.Part.fit()V"
FOR_NAME, GET_METHOD, INVOKE = (
    "java.lang.Class.forName",
    "java.lang.Class.getMethod",
    "java.lang.reflect.Method.invoke",
)
OTHER = {"other": PLAIN}
GET_METHOD_SIGNATURE = f"{GET_METHOD}(Ljava/lang/String;[Ljava/lang/Class;)Ljava/lang/reflect/Method;"
INVOKE_SIGNATURE = f"{INVOKE}(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;"
BY_CONSTANT, BY_METHOD_NAME = (
    "shop.Main.byConstant()Ljava/lang/Object;",
    "shop.Main.byMethodName()Ljava/lang/Object;",
)
MISSING = "missing classes that the program refers to (1): shop.Absent"

EXPECTED: dict[str, Expected] = {
    # structure
    "callers": Expected({"method": "shop.Main.report"}, [(DOOR_FIT, REPORT, "static", None, at("report()", "parts/Door.java"))]),
    "callees": Expected(
        {"method": FIT},
        [
            (FIT, at("part.fit()"), DOOR_FIT, "virtual", None), (FIT, at("part.fit()"), WHEEL_FIT, "virtual", None),
        ],
    ),
    "call-path": Expected(
        {"from": "shop.Main.main", "to": REPORT},
        [(MAIN, REPORT, 3, [MAIN, FIT, DOOR_FIT, REPORT], ["static", "virtual", "static"])],
    ),
    "overriders": Expected({"method": "shop.parts.Part.fit"}, [(PART_FIT, DOOR_FIT, True), (PART_FIT, WHEEL_FIT, True)]),
    "overridden": Expected({"method": "shop.parts.Door.fit"}, [(DOOR_FIT, PART_FIT)]),
    "dead-methods": Expected(
        {"prefix": "shop."},
        [
            ("shop.Main", "shop.Main.<init>()V", at("public class Main")),
            ("shop.Main", "shop.Main.dead()V", at("Engine.warm()")),
            ("shop.parts.Engine", "shop.parts.Engine.<init>()V", at("class Engine", "parts/Engine.java")),
            ("shop.parts.Engine", "shop.parts.Engine.cold()V", at("cold", "parts/Engine.java")),
            ("shop.parts.Motor", "shop.parts.Motor.<init>()V", at("class Motor", "parts/Motor.java")),
            ("shop.parts.Spare", "shop.parts.Spare.<init>()V", at("class Spare", "parts/Spare.java")),
            ("shop.parts.Spare", "shop.parts.Spare.rust()V", at("rust", "parts/Spare.java")),
        ],
    ),
    "dead-classes": Expected({}, [("shop.parts.Spare", 2)]),
    "entry-points": Expected({}, [(MAIN, True, at('owner = "me"'))]),
    "package-dependencies": Expected({}, [("shop", "shop.parts", 6), ("shop.parts", "shop", 1)]),
    "package-cycles": Expected({}, [("shop.parts", "shop", 1, 6)]),
    "archive-dependencies": Expected({}, [("classes", "modules")], ("archive", "needs")),
    "dispatch-fans": Expected({}, [(f"{FIT}@1", at("part.fit()"), PART_FIT, 2)]),
    "field-accesses": Expected(
        {"field": "shop.Main.owner"}, [("reads", REPORT, at("return owner")), ("writes", MAIN, at('owner = "me"'))]
    ),
    "annotated": Expected(
        {"annotation": "Checked"},
        [
            ("shop.parts.Checked", "class", "shop.Main"), ("shop.parts.Checked", "field", "shop.parts.Door.label"),
            ("shop.parts.Checked", "method", WHEEL_FIT),
        ],
    ),
    "subtypes": Expected(
        {"class": "shop.parts.Part"},
        [("shop.parts.Part", "shop.parts.Door", "class", True), ("shop.parts.Part", "shop.parts.Wheel", "class", True)],
    ),
    "supertypes": Expected(
        {"class": "Door"},
        [("shop.parts.Door", "java.lang.Object", "class", True), ("shop.parts.Door", "shop.parts.Part", "interface", True)],
    ),
    "members": Expected(
        {"class": "Door"},
        [
            ("shop.parts.Door", "method", "shop.parts.Door.<init>()V", True, at("class Door", "parts/Door.java")),
            ("shop.parts.Door", "method", DOOR_FIT, True, at("report()", "parts/Door.java")),
            ("shop.parts.Door", "field", "shop.parts.Door.label", None, None),
        ],
    ),
    "methods-named": Expected(
        {"name": "fit"},
        [
            (FIT, True, True, at("part.fit()")), (DOOR_FIT, True, True, at("report()", "parts/Door.java")),
            (PART_FIT, False, True, None), (WHEEL_FIT, True, True, at("fit() {}", "parts/Wheel.java")),
        ],
    ),
    "initialisers": Expected({"class": "Wheel"}, [("shop.parts.Wheel", MAIN), ("shop.parts.Wheel", "shop.parts.Wheel.<clinit>()V")]),
    "phantoms": Expected({}, [("shop.Absent", "call", "shop.Main.needsPhantom()V")]),
    # reflection
    "sites-by-status": Expected(
        {}, [("resolved", "", 3), ("unresolved", "unknown-name", 5), ("unresolved", "unknown-method", 1)]
    ),
    "sites-by-api": Expected({}, [(FOR_NAME, 5, 1, 0, 4), (GET_METHOD, 2, 1, 0, 1), (INVOKE, 2, 1, 0, 1)]),
    "open-sites": Expected(
        {"reason": "unknown-name"},
        [
            ("unknown-name", ARGUMENT, _ARGUMENT, FOR_NAME, "unresolved"),
            ("unknown-name", COMPOSED, _COMPUTED, FOR_NAME, "unresolved"),
            ("unknown-name", LINE, _LINE, FOR_NAME, "unresolved"),
            ("unknown-name", NAMED_MEMBER, _METHOD_NAME, GET_METHOD, "unresolved"),
            ("unknown-name", LOOK, _LOOK, FOR_NAME, "unresolved"),
        ],
    ),
    "site-targets": Expected(
        {"site": f"shop.Main.byConstant:{_CONSTANT_MEMBER}"},
        [(MEMBER, GET_METHOD, "resolved", "method", START), (INVOKED, INVOKE, "resolved", "method", START)],
    ),
    "reflected-by": Expected(
        {"class": "Motor"},
        [
            ("shop.parts.Motor", FOUND, _CONSTANT, FOR_NAME), (START, MEMBER, _CONSTANT_MEMBER, GET_METHOD),
            (START, INVOKED, _CONSTANT_MEMBER, INVOKE),
        ],
    ),
    "largest-targets": Expected(
        {},
        [
            (MEMBER, _CONSTANT_MEMBER, GET_METHOD, "resolved", 1), (FOUND, _CONSTANT, FOR_NAME, "resolved", 1),
            (INVOKED, _CONSTANT_MEMBER, INVOKE, "resolved", 1),
        ],
    ),
    "reflective-only-members": Expected({}, [("method", START, 1)]),
    "reflective-only-methods": Expected({}, [("shop.parts.Engine", WARM), ("shop.parts.Motor", START)]),
    # provenance
    "forname-provenance": Expected(
        {},
        [
            (ARGUMENT, "argument", "", STARTED, 4, 0), (COMPOSED, "computed string", "", COMPUTED, 0, 0),
            (COMPOSED, "system property", "shop.kind", PART, 1, 1), (LINE, "stream", "", READ, 0, 0),
            (LOOK, "system property", "shop.part", PROPERTY, 1, 0),
        ],
        ("site", "kind", "name", "input", "steps", "computations"),
    ),
    "invoke-provenance": Expected(
        {}, [(NAMED_INVOKED, NAMED_MEMBER, "environment", "SHOP_METHOD", ENVIRONMENT, 0)],
        ("site", "through", "kind", "name", "input", "steps"),
    ),
    "site-provenance": Expected(
        {"site": f"shop.Main.look:{_LOOK}"},
        [(LOOK, LOOK, "system property", "shop.part", PROPERTY, 1, ["P-ForName"])],
        ("site", "through", "kind", "name", "input", "steps", "rules"),
    ),
    "source-to-site": Expected(
        {"source": PROPERTY, "site": LOOK}, [(PROPERTY, "system property", "shop.part", LOOK, 1)],
        ("input", "kind", "name", "site", "steps"),
    ),
    "forname-constants": Expected({}, [(FOUND, "shop.parts.Motor", 0, ["calls.clinit", "classObjects"])], ("site", "text", "steps", "rules")),
    "site-strings": Expected({"site": FOUND}, [(FOUND, "shop.parts.Motor", True)]),
    "computed-names": Expected(
        {"site": COMPOSED},
        [
            (COMPOSED, COMPUTED, "shop.Main.byComputed: v2", "constant", "shop.parts.", None, 0),
            (COMPOSED, COMPUTED, "shop.Main.byComputed: v4", "system property", "shop.kind", PART, 0),
        ],
    ),
    "sites-by-input": Expected(
        {"application": "true"},
        [
            ("argument", 1, 1, []), ("computed string", 1, 1, []), ("environment", 1, 1, ["SHOP_METHOD"]),
            ("stream", 1, 1, []), ("system property", 1, 1, ["shop.part"]),
        ],
    ),
    "specification-points": Expected(
        {},
        [
            ("argument", "", STARTED, 1, [ARGUMENT]), ("computed string", "", COMPUTED, 1, [COMPOSED]),
            ("environment", "SHOP_METHOD", ENVIRONMENT, 1, [NAMED_MEMBER]), ("stream", "", READ, 1, [LINE]),
            ("system property", "shop.part", PROPERTY, 1, [LOOK]),
        ],
    ),
    "unknown-objects": Expected(
        {}, [("unknown java.lang.reflect.Method", BY_METHOD_NAME, _METHOD_NAME, 1)], some=True
    ),
    "input-sources": Expected(
        {},
        [
            ("argument", "", STARTED, None), ("computed string", "", COMPUTED, _COMPUTED), ("environment", "SHOP_METHOD", ENVIRONMENT, _METHOD_NAME),
            ("stream", "", READ, _LINE), ("system property", "shop.kind", PART, _COMPUTED),
            ("system property", "shop.part", PROPERTY, _PROPERTY),
        ],
    ),
    "input-influence": Expected(
        {"name": "shop.part"},
        [
            (PROPERTY, "system property", "shop.Main.byProperty()Ljava/lang/Class;", 0, []),
            (PROPERTY, "system property", LOOK.partition("@")[0], 1, [LOOK]),
        ],
    ),
    "argument-influence": Expected({}, [(ARGUMENT.partition("@")[0], 4, [ARGUMENT])]),
    "why-call": Expected(
        {"from": "shop.Main.byConstant", "to": START},
        [
            (
                BY_CONSTANT, START, INVOKED, _CONSTANT_MEMBER, INVOKE_SIGNATURE, "reflective", "resolvedInvoke",
                "resolvedInvoke", LIVSHITS,
            ),
        ],
    ),
    "site-derivations": Expected(
        {"site": FOUND},
        [
            (FOUND, "calls.clinit", "InitialisedBy", None, ["shop.parts.Motor"], LIVSHITS),
            (FOUND, "classObjects", "ClassObject", "shop.parts.Motor", ["shop.parts.Motor"], LIVSHITS),
        ],
    ),
    # comparison
    "only-methods": Expected(OTHER, [("shop.parts.Engine", WARM), ("shop.parts.Motor", START)]),
    "only-calls": Expected(
        OTHER,
        [
            (BY_CONSTANT, GET_METHOD_SIGNATURE, ["virtual"]), (BY_CONSTANT, INVOKE_SIGNATURE, ["virtual"]),
            (BY_CONSTANT, START, ["reflective"]), (BY_METHOD_NAME, INVOKE_SIGNATURE, ["virtual"]),
            (START, WARM, ["static"]),
        ],
    ),
    "site-changes": Expected(
        OTHER,
        [
            (MEMBER, GET_METHOD, "resolved", "unresolved"), (FOUND, FOR_NAME, "resolved", "unresolved"),
            (INVOKED, INVOKE, "resolved", "unresolved"),
        ],
    ),
    "only-targets": Expected(
        OTHER, [(MEMBER, GET_METHOD, START), (FOUND, FOR_NAME, "shop.parts.Motor"), (INVOKED, INVOKE, START)]
    ),
    "only-diagnostics": Expected(OTHER, [("CLS-NATIVE", "note")], ("code", "severity")),
    "run-counts": Expected(
        OTHER,
        [
            ("methods of the application", 18, 16), ("reflective calls: resolved", 3, 0),
            ("reflective calls: unresolved", 6, 9),
        ],
        some=True,
    ),
    # diagnostics
    "diagnostics": Expected({"severity": "warning"}, [("warning", "HIE-PHANTOM", "soundness", "", "", "", MISSING)]),
    "diagnostics-by-code": Expected({}, [("HIE-PHANTOM", "warning", "soundness", 1, MISSING)], some=True),
    "unsound": Expected({}, [("HIE-PHANTOM", "warning", "", "", "", MISSING)]),
}  # fmt: skip


def test_each_query_has_an_example() -> None:
    assert EXPECTED.keys() == {each.name for each in queries()}


def rows_of(
    session: Session, query: Query, given: Mapping[str, str], columns: Sequence[str]
) -> list[tuple[Any, ...]]:
    result = session.run(query.text, bound(query, given, RESOLVED))
    assert list(result.keys()) == [each.name for each in query.columns]
    wanted = columns or [each.name for each in query.columns if each.name != "path"]
    rows = []
    for record in result:
        if "path" in record.keys():  # noqa: SIM118  # a record contains its values
            assert isinstance(record["path"], GraphPath)
        rows.append(tuple(record[each] for each in wanted))
    return rows


@pytest.mark.slow
@by_name
def test_answers(session: Session, query: Query) -> None:
    expected = EXPECTED[query.name]
    rows = rows_of(session, query, expected.given, expected.columns)
    if query.name == "archive-dependencies":
        rows = [tuple(Path(each).name for each in row) for row in rows]
    if expected.some:
        rows = [each for each in rows if each in expected.rows]
    assert rows == list(expected.rows)


@pytest.mark.slow
@by_name
def test_nothing_is_answered_of_a_run_that_there_is_not(session: Session, query: Query) -> None:
    given = {**EXPECTED[query.name].given}
    assert session.run(query.text, bound(query, given, "no such run")).data() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", [each for each in queries() if "$limit" in each.text], ids=lambda each: each.name
)
def test_limits_cut(session: Session, query: Query) -> None:
    (limit,) = (each for each in query.parameters if each.name == "limit")
    assert limit.type == INTEGER
    given = {**EXPECTED[query.name].given, "limit": "1"}
    assert len(session.run(query.text, bound(query, given, RESOLVED)).data()) == 1


@pytest.mark.slow
def test_an_incomplete_generation_is_refused(shop: Driver) -> None:
    query = named("entry-points")
    with shop.session() as session, session.begin_transaction() as transaction:
        transaction.run(
            "MATCH (:Current {name: $run})-[:IS]->(g) SET g.status = 'loading'", run=RESOLVED
        ).consume()
        assert transaction.run(query.text, bound(query, {}, RESOLVED)).data() == []
        allowed = bound(query, {}, RESOLVED, allow_incomplete=True)
        assert len(transaction.run(query.text, allowed).data()) == 1
        transaction.rollback()


@pytest.mark.slow
def test_a_path_goes_from_the_input_to_the_call(session: Session) -> None:
    query = named("source-to-site")
    given = EXPECTED["source-to-site"].given
    (record,) = list(session.run(query.text, bound(query, given, RESOLVED)))
    assert len(record["flow"]) == record["steps"] + 1 == len(record["path"].nodes) - 2
    assert (record["path"].start_node["name"], record["path"].end_node["name"]) == (PROPERTY, LOOK)
    assert record["flow"][0].startswith("shop.Main.byProperty: ")
    assert record["flow"][-1] == "shop.Main.look: argument 0"
    assert [each.type for each in record["path"].relationships] == ["ENTERS", "FLOWS_TO", "OPERAND"]
