"""The guard of ad-hoc queries: Q01–Q03 of the robustness matrix, S7 and S8 of its security checks."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import socket
import struct
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j import Driver

from cypher import guard
from cypher.asking import Access, Cut, Limits, Mistaken, asked
from cypher.connection import connect
from cypher.guard import Refused, check_plan, check_text
from cypher.server.configuration import DEFAULT_VERSION, NEWEST_VERSION
from tests.cypher.conftest import assembled
from tests.test_project import ROOT

server_test = pytest.mark.slow


@pytest.fixture(scope="module")
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """A server with a node in it; HELIOGRAPH_TEST_URI names one that nothing else protects."""
    uri = os.environ.get("HELIOGRAPH_TEST_URI")
    if uri:
        with connect(uri, "neo4j", os.environ.get("NEO4J_PASSWORD", "-")) as found:
            yield found
        return
    found = request.getfixturevalue("admin")
    found.execute_query("CREATE (:GuardTest {name: 'one'})-[:GUARD_TEST]->(:GuardTest {name: 'two'})")
    yield found
    found.execute_query("MATCH (n:GuardTest) DETACH DELETE n")


def ask(driver: Driver, text: str, seconds: float = 5) -> list[list[Any]]:
    with asked(driver, text, {}, Limits(100, seconds)) as answer:
        return list(answer)


# --- Q01: what writes

WRITING = [
    "CREATE (n:Evil)",
    "MERGE (n:Evil {a: 1})",
    "MATCH (n) SET n.evil = 1",
    "MATCH (n) REMOVE n.name",
    "MATCH (n) DETACH DELETE n",
    "FOREACH (x IN [1] | CREATE (:Evil))",
    "CALL { CREATE (n:Evil) RETURN n } RETURN n",
    "CALL { CREATE (:Evil) } IN TRANSACTIONS",
    "UNWIND [1] AS x CALL (x) { CREATE (:Evil) } IN TRANSACTIONS OF 1 ROW",
    "CREATE INDEX evil FOR (n:Evil) ON (n.a)",
    "CREATE CONSTRAINT evil FOR (n:Evil) REQUIRE n.a IS UNIQUE",
    "DROP INDEX evil IF EXISTS",
    "CREATE USER evil SET PASSWORD 'evilevil'",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    "CREATE DATABASE evil",
    "// nothing\nCREATE (n:Evil)",
    "/* MATCH (n) RETURN n */ CREATE (n:Evil)",
    "CYPHER 5 CREATE (n:Evil)",
    "CYPHER runtime=slotted CREATE (n:Evil)",
    "MATCH (n) RETURN n UNION CREATE (n:Evil) RETURN n",
    "CALL db.createLabel('Evil')",
    "CALL db.create.setNodeVectorProperty(null, 'a', [1.0])",
]


def held(driver: Driver) -> list[Any]:
    """What queries could change: counts of nodes and relationships, labels, indexes, users."""
    texts = (
        "MATCH (n) RETURN count(n), sum(size(keys(n)))",
        "MATCH ()-[r]->() RETURN count(r)",
        "CALL db.labels() YIELD label RETURN count(label)",
        "SHOW INDEXES YIELD name RETURN collect(name)",
        "SHOW USERS YIELD user RETURN collect(user)",
    )
    with driver.session() as session:
        return [session.run(text).values() for text in texts]


@server_test
def test_q01_what_writes_is_refused_and_changes_nothing(driver: Driver) -> None:
    before = held(driver)
    for text in WRITING:
        with pytest.raises((Refused, Mistaken)) as raised:
            ask(driver, text)
        # Neo4j itself takes a union with a part that returns nothing, and databases in its free edition, for mistakes.
        assert raised.type is Refused or "UNION" in text or "DATABASE" in text, text
    assert held(driver) == before


@server_test
def test_q01_the_transaction_refuses_what_writes_without_the_guard(driver: Driver) -> None:
    for text in ("CREATE (n:Evil)", "CALL db.createLabel('Evil')", "CREATE INDEX evil FOR (n:Evil) ON (n.a)"):
        with pytest.raises(Refused), asked(driver, text, {}, access=Access.CATALOGUE) as answer:
            list(answer)


# --- Q02: what reads something else


@pytest.fixture
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server of files, and what it is asked."""
    asked_for: list[bytes] = []
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        asked_for.append(connection.recv(1000))
                        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\na,b\n")

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/x", asked_for
        listening.close()


# `LOAD` stands for a clause that loads a file, `CALLED` for a call of a procedure that only reads, as the server says.
NESTED = [
    "LOAD RETURN l",
    "CALL { LOAD RETURN l } RETURN l",
    "RETURN COLLECT { LOAD RETURN l } AS x",
    # From here on the plan doesn't say so.
    "RETURN [x IN [1] | COLLECT { LOAD RETURN l }] AS x",
    "RETURN any(x IN [1] WHERE EXISTS { LOAD RETURN l }) AS x",
    "RETURN reduce(a = 0, x IN [1] | a + COUNT { LOAD RETURN l }) AS x",
    "UNWIND [1, 2] AS n RETURN CASE WHEN n = 3 THEN 1 ELSE COUNT { LOAD RETURN l } END AS x",
    "UNWIND [x IN [1] | COLLECT { LOAD RETURN l }] AS y RETURN y",
    "RETURN {a: [x IN [1] | {b: COLLECT { LOAD RETURN l }}]} AS x",
]


@server_test
@pytest.mark.parametrize("text", NESTED)
@pytest.mark.parametrize(
    "words", ["LOAD CSV", "load/* '*/csv", 'LOAD // "\n CSV', "LOAD CSV WITH HEADERS", "LOAD\u00a0CSV"]
)
def test_q02_nothing_is_loaded(
    driver: Driver, listener: tuple[str, list[bytes]], text: str, words: str
) -> None:
    address, asked_for = listener
    with pytest.raises(Refused, match="LOAD CSV does more"):
        ask(driver, text.replace("LOAD", f"{words} FROM '{address}' AS l"))
    with pytest.raises(Refused):
        ask(driver, text.replace("LOAD", f"{words} FROM 'file:///etc/passwd' AS l"))
    time.sleep(0.05)
    assert asked_for == []


@server_test
@pytest.mark.parametrize("text", NESTED)
def test_q02_procedures_are_not_called(driver: Driver, text: str) -> None:
    for name in ("db.stats.clear('TOKENS') YIELD section AS l", "dbms.listConfig() YIELD name AS l"):
        for call in (f"CALL {name}", f"CALL {name}".replace("db", "`db", 1).replace(".", "`.", 1)):
            with pytest.raises((Refused, Mistaken)) as raised:
                ask(driver, text.replace("LOAD", call))
            assert raised.type is Refused or "`dbms" in call or "`db`" in call
    assert ask(driver, "CALL db.labels() YIELD label RETURN count(label) >= 0") == [[True]]


@server_test
@pytest.mark.parametrize(
    "text",
    [
        "SHOW USERS", "SHOW CURRENT USER", "SHOW SETTINGS", "SHOW TRANSACTIONS", "SHOW PROCEDURES", "SHOW FUNCTIONS",
        "SHOW INDEXES", "SHOW CONSTRAINTS", "SHOW DATABASES", "TERMINATE TRANSACTION 'neo4j-transaction-1'",
        "SHOW TRANSACTIONS YIELD transactionId AS t TERMINATE TRANSACTIONS t YIELD message RETURN message",
        "CALL db.clearQueryCaches()", "CALL dbms.listConfig()", "CALL dbms.killConnections(['bolt-1'])",
        "CALL nobody.knows()", "CALL apoc.load.json('http://127.0.0.1/') YIELD value RETURN value",
        "RETURN apoc.util.sleep(1)", "USE system SHOW USERS",
    ],
)  # fmt: skip
def test_q02_the_server_keeps_its_own(driver: Driver, text: str) -> None:
    with pytest.raises(Refused):
        ask(driver, text)


# --- Q03: what is no query


@server_test
@pytest.mark.parametrize(
    "text",
    [
        "PROFILE MATCH (n) DELETE n", "EXPLAIN PROFILE MATCH (n) DELETE n", "CYPHER 5 PROFILE CREATE (n)",
        "RETURN 1; CREATE (n)", "RETURN 1;\nRETURN 2", "USE system CREATE USER a SET PASSWORD 'abcdefgh'",
        "RETURN '" + "x" * 1_000_000 + "'", "RETURN " + "1+" * 500_000 + "1", "RETURN 1\0", "RETURN '\0'",
        "RETURN " + "(" * 5_000 + "1" + ")" * 5_000, "RETURN " + "[" * 300 + "1" + "]" * 300,
        "CALL { " * 200 + "RETURN 1 AS x" + " } RETURN x" * 200, "", "  \n", "\ud800", "RETRUN 1", "RETURN $missing",
        "\\u004c\\u004fAD CSV FROM 'x' AS l RETURN l", "RETURN '\\u0027", "RETURN 1\rLOAD CSV FROM 'x' AS l RETURN l",
    ],
    ids=lambda text: repr(text[:30]),
)  # fmt: skip
def test_q03_odd_texts_end_soon(driver: Driver, text: str) -> None:
    began = time.monotonic()
    with pytest.raises((Refused, Mistaken)):
        ask(driver, text)
    assert time.monotonic() - began < 2


@server_test
def test_q03_explain_only_explains(driver: Driver) -> None:
    assert ask(driver, "EXPLAIN MATCH (n) RETURN n") == []
    with pytest.raises(Refused):
        ask(driver, "EXPLAIN CREATE (n)")


@server_test
def test_q03_the_deepest_that_is_allowed_is_answered(driver: Driver) -> None:
    depth = guard.DEEPEST
    assert ask(driver, "RETURN " + "[" * depth + "1" + "]" * depth + " AS x", 30)
    with asked(
        driver, "CALL { " * depth + "RETURN 1 AS x" + " } RETURN x" * depth, {}, Limits(1, 30)
    ) as answer:
        assert list(answer) == [[1]]
        assert answer.cut is Cut.NO


# --- the text


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n:Class)-[:LOAD]->(csv) RETURN csv",
        "MATCH (n) WHERE n.name = 'LOAD CSV FROM x' RETURN n.call AS call ORDER BY call",
        "MATCH (n) // CALL somebody.said(so)\nRETURN n /* SHOW USERS */",
        "RETURN \"it's \\\" CALL evil.thing()\" AS show, 'a\\\\' AS load ORDER BY show",
        "WITH 1 AS call, 2 AS load RETURN call AS a, load IS NULL, {call: 1, show: call}",
        "CALL { RETURN 1 AS x } RETURN x",
        "CALL(*) { RETURN 1 AS x } RETURN x",
        "CALL db.labels() YIELD label RETURN label",
        "call `db`.`labels`() YIELD label RETURN label",
        "CALL db . labels ( ) YIELD label RETURN label",
        "RETURN date.truncate('day', date()), duration.inDays(date(), date()), point.distance($a, $b)",
        "MATCH (`LOAD CSV`) RETURN `LOAD CSV`.name",
        "MATCH (a)-[:CALL|SHOW]->(b:Load) WHERE b:CALL OR b.show.x STARTS WITH '(((((((' RETURN a",
    ],
)
def test_queries_that_read_pass(text: str) -> None:
    check_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "LOAD CSV FROM 'x' AS l RETURN l",
        "RETURN '//', COLLECT { LOAD CSV FROM 'x' AS l RETURN l }",
        "RETURN '/*', COLLECT { LOAD CSV FROM 'x' AS l RETURN l } // */",
        "RETURN `'`, COLLECT { LOAD CSV FROM 'x' AS l RETURN l } AS `'`",
        "RETURN '\\'', COLLECT { LOAD CSV FROM 'x' AS l RETURN l } AS y",
        'RETURN "\\\\", COLLECT { LOAD CSV FROM "x" AS l RETURN l } AS y',
        "// '\nLOAD CSV FROM 'x' AS l RETURN l",
        "WITH 1 AS show CALL dbms.listConfig() YIELD name RETURN name",
        "WITH 1 AS load LOAD CSV FROM 'x' AS l RETURN l",
        "RETURN 1 AS call LOAD CSV FROM 'x' AS l",
        "CALL`dbms`.listConfig()",
        "CALL dbms\u2003.\u3000listConfig()",
        "CALL db.labelsOf()",
        "CALL with.evil()",
        "CALL `AS`()",
        "RETURN apoc.load.json('x')",
        "RETURN `apoc`.load . json ('x')",
        "RETURN [x IN [1] | COLLECT { SHOW TRANSACTIONS YIELD username RETURN username }]",
        "RETURN [x IN [1] | COLLECT { TERMINATE TRANSACTION 'x' YIELD message RETURN message }]",
        "LOAD LOAD CSV",
    ],
)
def test_texts_that_do_more_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        check_text(text)


HIDDEN = "[y IN [1] | COLLECT { LOAD CSV FROM $f AS l RETURN l }]"
PIECES = [
    "'",
    '"',
    "`",
    "\\\\",
    "\\'",
    '\\"',
    "``",
    "//",
    "/*",
    "*/",
    "\n",
    "''",
    "x",
    "1",
    "\r\n",
    "(",
    HIDDEN,
]
inner = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
units = st.one_of(
    inner.filter(lambda text: not re.search(r"(?<!\\)(?:\\\\)*'", text)).map("'{}'".format),
    inner.filter(lambda text: not re.search(r'(?<!\\)(?:\\\\)*"', text)).map('"{}"'.format),
    inner.filter(lambda text: "*/" not in text).map("1 /*{}*/".format),
    inner.filter(lambda text: "\n" not in text).map("1 //{}\n".format),
    inner.map(lambda text: text.replace("`", "``")).map("{{`a{}`: 1}}".format),
    st.just(HIDDEN),
    inner,
)


@server_test
def test_strings_and_comments_end_where_the_server_says(driver: Driver) -> None:
    """A clause is seen where the server takes it for one, and nowhere else."""
    seen = {True: 0, False: 0}

    @settings(max_examples=400, deadline=None)
    @given(texts=st.lists(units, min_size=1, max_size=5), added=st.booleans())
    def holds(texts: list[str], added: bool) -> None:
        text = f"RETURN [{', '.join([*texts, HIDDEN] if added else texts)}] AS x"
        loads = loads_a_file(driver, text)
        if loads is not None:
            seen[loads] += 1
        if loads:
            with pytest.raises(Refused):
                check_text(text)
        elif loads is False:
            check_text(text)

    holds()
    assert min(seen.values()) > 20, seen


def loads_a_file(driver: Driver, text: str) -> bool | None:
    """Returns whether the server wants to know which file; None if it takes the text for no query."""
    try:
        with asked(driver, text, {}, access=Access.CATALOGUE) as answer:
            list(answer)
    except Mistaken as problem:
        return True if "Expected parameter(s): f" in str(problem) else None
    return False


@pytest.mark.parametrize(
    "text",
    [
        "LOAD " * 20_000, "CALL a" * 16_000, "a." * 50_000, "a . " * 25_000, "`" * 99_999, "/*" * 50_000, "'" * 99_999,
        "'\\" * 50_000, "//" * 50_000, " " * 99_999 + "a", "LOAD" + " " * 99_000 + "x", "[" * 99_999, "a" * 99_999,
        "a ." + " " * 99_000, "`a`." * 25_000,
    ],
    ids=lambda text: repr(text[:10]),
)  # fmt: skip
def test_s13_long_texts_are_looked_through_in_proportion(text: str) -> None:
    began = time.perf_counter()
    with contextlib.suppress(Refused):
        check_text(text)
    assert time.perf_counter() - began < 0.5


# --- S7: all that servers know is classified

REFUSED_OPERATORS = set(
    """
    AdministrationCommand AlterCurrentGraphTypeAdd AlterCurrentGraphTypeAlter AlterCurrentGraphTypeDrop
    AlterCurrentGraphTypeSet AssertSameNode AssertSameRelationship AssertingMultiNodeIndexSeek
    AssertingMultiRelationshipIndexSeek Create CreateConstraint CreateIndex Delete DetachDelete DoNothingIfExists
    DropConstraint DropIndex Error ExhaustiveLimit External Foreach Input LoadCSV LockNodes LockingMerge Merge
    MergeInto MergeUniqueNode NonFuseable RemoteBatchProperties RemoteBatchPropertiesWithFilter RemoteNodeIndexSeek RemoteNodeUniqueIndexSeek
    RemoveLabels
    RunQueryAt SetDynamicProperty SetLabels SetNodePropertiesFromMap SetProperties SetPropertiesFromMap SetProperty
    SetRelationshipPropertiesFromMap ShowConstraints ShowCurrentGraphType ShowDatabases ShowFunctions ShowIndexes
    ShowProcedures ShowSettings ShowTransactions SimulatedExpand SimulatedFilter SimulatedNodeScan
    TerminateTransactions TransactionApply TransactionForeach
    """.split()  # noqa: SIM905
)
# Words in the same classes that name no operator: they are parts of descriptions.
NO_OPERATORS = {
    "RemoteIndexSeekRewriter",
    "ASSERT",
    "All",
    "CONSTRAINT",
    "CREATE",
    "FOR",
    "FULLTEXT",
    "IN",
    "Into",
    "LOCK",
    "LOOKUP",
    "LogicalPlan2PlanDescription",
    "MATCH",
    "ON",
    "REQUIRE",
    "VECTOR",
}
REFUSED_PROCEDURES = {
    "db.awaitIndex",
    "db.awaitIndexes",
    "db.clearQueryCaches",
    "db.create.setNodeVectorProperty",
    "db.create.setRelationshipVectorProperty",
    "db.create.setVectorProperty",
    "db.createLabel",
    "db.createProperty",
    "db.createRelationshipType",
    "db.index.fulltext.awaitEventuallyConsistentIndexRefresh",
    "db.index.fulltext.listAvailableAnalyzers",
    "db.index.vector.createNodeIndex",
    "db.index.vector.queryNodes",
    "db.index.vector.queryRelationships",
    "db.info",
    "db.ping",
    "db.prepareForReplanning",
    "db.resampleIndex",
    "db.resampleOutdatedIndexes",
    "db.stats.clear",
    "db.stats.collect",
    "db.stats.retrieve",
    "db.stats.retrieveAllAnonymized",
    "db.stats.status",
    "db.stats.stop",
    "dbms.cluster.routing.getRoutingTable",
    "dbms.components",
    "dbms.info",
    "dbms.killConnection",
    "dbms.killConnections",
    "dbms.listCapabilities",
    "dbms.listConfig",
    "dbms.listConnections",
    "dbms.queryJmx",
    "dbms.routing.getRoutingTable",
    "dbms.showCurrentUser",
    "dbms.upgrade",
    "fleetManagement.debugLogging",
    "fleetManagement.disable",
    "fleetManagement.inspectToken",
    "fleetManagement.registerToken",
    "fleetManagement.reportedData",
    "fleetManagement.restart",
    "fleetManagement.status",
    "dbms.upgradeStatus",
    "tx.getMetaData",
    "tx.setMetaData",
}
REFUSED_FUNCTIONS = {"graph.byelementid", "graph.byname"}


def strings(data: bytes) -> list[str]:
    """Returns the string constants of a class file."""
    (count,) = struct.unpack_from(">H", data, 8)
    texts, named, place, index = {}, [], 10, 1
    sizes = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 15: 4, 16: 3, 19: 3, 20: 3}
    while index < count:
        tag = data[place]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, place + 1)
            texts[index] = data[place + 3 : place + 3 + length].decode("utf-8", "replace")
            place += 3 + length
        else:
            if tag == 8:
                named.append(struct.unpack_from(">H", data, place + 1)[0])
            place += sizes.get(tag, 5)
        index += 2 if tag in (5, 6) else 1
    return [texts[each] for each in named]


def operators(version: str) -> set[str]:
    """Returns the words that the planner of a server has for operators."""
    folder = assembled(version) / version
    found: set[str] = set()
    for archive in folder.rglob(f"neo4j-cypher*-{version}.jar"):
        with zipfile.ZipFile(archive) as jar:
            for name in jar.namelist():
                stem = name.rpartition("/")[2]
                if not stem.endswith(".class"):
                    continue
                if "plandescription/LogicalPlan2PlanDescription" in name:
                    found.update(strings(jar.read(name)))
                elif "/logical/plans/" in name and "IndexSeek" in stem:
                    found.update(each for each in strings(jar.read(name)) if "IndexSeek" in each)
    words = {re.sub(r"[(,].*", "", each, flags=re.DOTALL) for each in found}
    return {each.removeprefix("Partitioned") for each in words if re.fullmatch(r"[A-Z][A-Za-z0-9]+", each)}


@server_test
def test_s7_every_operator_is_classified(jars: Path) -> None:
    assert jars.exists()
    known = {version: operators(version) for version in (DEFAULT_VERSION, NEWEST_VERSION)}
    for version, words in known.items():
        assert {
            "LoadCSV",
            "ProduceResults",
            "NodeUniqueIndexSeek",
            "Expand",
            "StatefulShortestPath",
        } <= words, version
        assert sorted(words - guard.OPERATORS - REFUSED_OPERATORS - NO_OPERATORS) == []
    everything = set.union(*known.values())
    assert sorted(guard.OPERATORS - everything - {"EmptyRow"}) == []
    assert not guard.OPERATORS & REFUSED_OPERATORS


def test_s7_unknown_operators_are_refused() -> None:
    def plan(name: str) -> dict[str, Any]:
        return {
            "operatorType": "ProduceResults@neo4j",
            "children": [{"operatorType": f"{name}@neo4j", "args": {}}],
        }

    for name in ("Expand(All)", "VarLengthExpand(Pruning,BFS,All)", "StatefulShortestPath(Into, Trail)"):
        check_plan("r", plan(name))
    for name in [
        *sorted(REFUSED_OPERATORS),
        "Unheard",
        "",
        "expand",
        "NodeUniqueIndexSeek(Locking)",
        "ProcedureCall",
    ]:
        with pytest.raises(Refused):
            check_plan("r", plan(name))
    for kind in ("rw", "w", "s", "", None, "R"):
        with pytest.raises(Refused):
            check_plan(kind, plan("Expand"))
    with pytest.raises(Refused):
        check_plan("r", None)
    called = {"operatorType": "ProcedureCall@neo4j", "args": {"Details": "db.labels() :: (label :: STRING)"}}
    check_plan("r", called)
    with pytest.raises(Refused, match=r"dbms\.info"):
        check_plan("r", called | {"args": {"Details": "dbms.info() :: (id :: STRING)"}})


@server_test
def test_s7_every_procedure_and_function_is_classified(driver: Driver) -> None:
    with driver.session() as session:
        procedures = {each["name"] for each in session.run("SHOW PROCEDURES YIELD name")}
        functions = {each["name"].lower() for each in session.run("SHOW FUNCTIONS YIELD name")}
    assert sorted(procedures - guard.PROCEDURES - REFUSED_PROCEDURES) == []
    assert procedures >= guard.PROCEDURES
    spaced = {each for each in functions if "." in each}
    assert sorted(spaced - guard.FUNCTIONS - REFUSED_FUNCTIONS) == []
    assert spaced >= guard.FUNCTIONS
    for name in sorted(procedures - guard.PROCEDURES):
        with pytest.raises(Refused):
            ask(driver, f"CALL {name}")


# --- S8: no Cypher is made of what comes from outside

# Where a statement isn't written down on the spot: file, expression, and why that is right.
ELSEWHERE = {
    ("cypher/guard.py", "'EXPLAIN\\n' + text"): "explains what somebody typed, and runs nothing",
    ("cypher/asking.py", "text"): "what somebody typed, or a query of the catalogue",
    ("cypher/asking.py", "query"): "the same",
    ("cypher/asking.py", "query.text"): "the same",
    ("cypher/closure.py", "text"): "of a rule's file, or of closure_rows",
    ("cypher/closure.py", "marked"): "the same",
    ("cypher/inference.py", "text"): "of a rule's file, or of statements.delete_rounds() and delete_labels()",
    ("cypher/load/generations.py", "statement"): "of statements.constraints()",
    ("cypher/load/bolt.py", "phase.statement"): "of statements.create_nodes() and create_edges()",
}
BUILDER = "cypher/load/statements.py"
CLAUSE = re.compile(r"\b(?:MATCH|MERGE|RETURN|UNWIND|DETACH|FOREACH|LOAD CSV)\b")
# Sentences for people.
SENTENCES = {"cypher/connection.py", "cypher/guard.py", "cli/commands/query.py", "cli/console.py"}


def run_texts(tree: ast.AST) -> Iterator[ast.expr]:
    """Yields what is run as a statement."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess" | "typer"))):
                continue
            case ast.Call(func=ast.Attribute(attr="run" | "execute_query"), args=[first, *_]):
                yield first
            case ast.Call(
                func=ast.Name(id="Query") | ast.Attribute(attr="Query"), args=[first], keywords=[_, *_]
            ):
                yield first


def is_fixed(text: ast.expr) -> bool:
    match text:
        case ast.Constant(value=str()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="statements"))):
            return True
    return False


def built(tree: ast.AST) -> Iterator[ast.expr]:
    """Yields text that is put together with a clause of Cypher in it."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.JoinedStr()
                | ast.BinOp(op=ast.Add() | ast.Mod())
                | ast.Call(func=ast.Attribute(attr="format" | "join" | "replace" | "substitute"))
            ):
                parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                if any(isinstance(each, str) and CLAUSE.search(each) for each in parts):
                    yield node


def trees() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("cypher", "cli"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_s8_statements_are_written_down() -> None:
    found = [
        (name, ast.unparse(text)) for name, tree in trees() for text in run_texts(tree) if not is_fixed(text)
    ]
    assert sorted(set(found) - ELSEWHERE.keys()) == []
    assert sorted(ELSEWHERE.keys() - set(found)) == []


def test_s8_statements_are_not_put_together() -> None:
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in trees()
        if name != BUILDER and name not in SENTENCES
        for node in built(tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "session.run(f'MATCH (n:{label}) RETURN n')",
        "session.run('MATCH (n:' + label + ') RETURN n')",
        "session.run('MATCH (n:%s) RETURN n' % label)",
        "driver.execute_query('MATCH (n:{}) RETURN n'.format(label))",
        "transaction.run(' '.join(['MATCH (n)', clause]))",
        "session.run(Query(f'RETURN {x}', timeout=1))",
        "session.run(text)",
    ],
)
def test_s8_statements_of_input_are_noticed(code: str) -> None:
    tree = ast.parse(code)
    assert any(not is_fixed(text) for text in run_texts(tree))
    assert list(built(tree)) or code == "session.run(text)"


def test_s8_the_builder_takes_declared_words_alone() -> None:
    tree = ast.parse((ROOT / BUILDER).read_text(encoding="utf-8"))
    functions = [
        each for each in tree.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    ]
    assert functions
    for function in functions:
        texts = [each for each in ast.walk(function) if isinstance(each, ast.JoinedStr)]
        checked = [
            each
            for each in ast.walk(function)
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "_checked"
        ]
        assert bool(texts) == bool(checked), function.name
        # Whatever is put into a text is also handed to the check.
        words = {
            ast.unparse(part.value)
            for text in texts
            for part in text.values
            if isinstance(part, ast.FormattedValue)
        } - {"values", "place"}
        named = {ast.unparse(word).removeprefix("*") for call in checked for word in call.args[1:]}
        assert words - named <= {"name"}, function.name
    from cypher.load import statements

    with pytest.raises(AssertionError):
        statements._checked("MATCH (n:a b)", "a b")
