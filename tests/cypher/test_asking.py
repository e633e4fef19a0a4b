"""Answers of the graph database: their values, their limits (Q04), and what becomes of what fails."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from neo4j import Driver

from cypher.asking import (
    Access,
    Cut,
    GraphNode,
    GraphPath,
    GraphRelationship,
    Limits,
    Mistaken,
    asked,
    loaded_runs,
    plain,
)  # fmt: skip
from cypher.connection import USER, Unavailable, connect
from cypher.guard import Refused
from cypher.server.managed import Managed

pytestmark = pytest.mark.slow

PRODUCT = (
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a + b < 0 RETURN count(*) AS n"
)
COLLECTED = "UNWIND range(1, 60000000) AS x RETURN size(collect(toString(x) + 'and so on')) AS n"


@pytest.fixture
def driver(server: Managed) -> Iterator[Driver]:
    """A connection of its own: some of these tests end it."""
    with contextlib.ExitStack() as stack:
        found = connect(server.uri, USER, server.password())
        stack.callback(found.close)
        yield found


def ask(driver: Driver, text: str, **parameters: Any) -> list[list[Any]]:
    with asked(driver, text, parameters) as answer:
        return list(answer)


def running(admin: Driver) -> list[str]:
    """Returns the queries that the server is running, but for this one."""
    with admin.session() as session:
        found = session.run("SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery AS text")
        return [each["text"] for each in found if "SHOW TRANSACTIONS" not in each["text"]]


def wait_until_idle(admin: Driver) -> None:
    for _ in range(50):
        if not running(admin):
            return
        time.sleep(0.1)
    raise AssertionError(running(admin))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None), ("true", True), ("9007199254740993", 9007199254740993), ("1.5", 1.5), ("0.0/0.0", "NaN"),
        ("1.0/0.0", "Infinity"), ("-1.0/0.0", "-Infinity"), ("'ü\\n'", "ü\n"), ("[1, [2, null]]", [1, [2, None]]),
        ("{a: {b: [1.0/0.0]}}", {"a": {"b": ["Infinity"]}}), ("date('2024-02-29')", "2024-02-29"),
        ("time('12:00:01.5+02:00')", "12:00:01.500000000+02:00"),
        ("localdatetime('2024-02-29T12:00')", "2024-02-29T12:00:00.000000000"),
        ("datetime('2024-02-29T12:00Z')", "2024-02-29T12:00:00.000000000+00:00"), ("duration('P1DT2S')", "P1DT2S"),
        ("point({x: 1, y: 2})", {"srid": 7203, "coordinates": [1.0, 2.0]}),
    ],
)  # fmt: skip
def test_values_are_those_of_json(driver: Driver, text: str, value: object) -> None:
    assert ask(driver, f"RETURN {text} AS x") == [[value]]
    assert plain(b"ab") == "YWI="


def test_nodes_relationships_and_paths(driver: Driver, admin: Driver) -> None:
    admin.execute_query(
        "CREATE (:AskTest:B {n: 1, d: date('2024-01-01')})-[:ASK_TEST {k: 'v'}]->(:AskTest {n: 2})"
    )
    try:
        [[node, edge, path, nodes, mapped]] = ask(
            driver,
            "MATCH p = (a:B)-[r:ASK_TEST]->(:AskTest) RETURN a, r, p, nodes(p) AS nodes, {a: a} AS mapped",
        )
        assert isinstance(node, GraphNode)
        assert node[1:] == (("AskTest", "B"), {"n": 1, "d": "2024-01-01"})
        assert isinstance(edge, GraphRelationship)
        assert (edge.type, edge.start, edge.properties) == ("ASK_TEST", node.id, {"k": "v"})
        assert path == GraphPath(tuple(nodes), (edge,))
        assert [nodes[0], nodes[1].id, mapped] == [node, edge.end, {"a": node}]
    finally:
        admin.execute_query("MATCH (n:AskTest) DETACH DELETE n")


def test_rows_are_cut_only_where_there_are_more(driver: Driver) -> None:
    for rows, cut in ((9, Cut.ROWS), (10, Cut.NO), (None, Cut.NO), (1, Cut.ROWS)):
        with asked(driver, "UNWIND range(1, 10) AS x RETURN x", {}, Limits(rows)) as answer:
            assert answer.columns == ["x"]
            assert list(answer) == [[each] for each in range(1, (rows or 10) + 1)]
            assert answer.cut is cut


def test_an_answer_that_nobody_reads_on_ends_at_once(driver: Driver, admin: Driver) -> None:
    began = time.monotonic()
    with asked(driver, "UNWIND range(1, 1000000000) AS x RETURN x", {}, Limits(None)) as answer:
        assert next(iter(answer)) == [1]
    assert time.monotonic() - began < 5
    wait_until_idle(admin)
    assert ask(driver, "RETURN 1 AS x") == [[1]]


@pytest.mark.parametrize("access", [Access.GUARDED, Access.CATALOGUE])
def test_q04_a_heavy_query_ends_with_its_time(driver: Driver, admin: Driver, access: Access) -> None:
    began = time.monotonic()
    with asked(driver, PRODUCT, {}, Limits(None, 2), access) as answer:
        assert list(answer) == []
        assert answer.cut is Cut.TIME
    assert time.monotonic() - began < 3
    wait_until_idle(admin)


def test_q04_a_large_query_ends_with_its_memory_and_is_not_repeated(driver: Driver, admin: Driver) -> None:
    began = time.monotonic()
    with asked(driver, COLLECTED, {}, Limits(None, 20)) as answer:
        assert list(answer) == []
        assert answer.cut is Cut.MEMORY
    # Once it takes a second or two; the driver's own repetitions go on for fifteen.
    assert time.monotonic() - began < 12
    wait_until_idle(admin)
    assert ask(driver, "RETURN 1 AS x") == [[1]]


def test_what_came_before_the_limit_is_there(driver: Driver) -> None:
    text = "UNWIND range(1, 20000) AS x CALL (x) { WITH x WHERE x > 5000 UNWIND range(1, 10000000) AS y RETURN count(y) AS c "
    text += "UNION WITH x WHERE x <= 5000 RETURN 0 AS c } RETURN x"
    with asked(driver, text, {}, Limits(None, 8)) as answer:  # (a busy machine plans for seconds)
        assert len(list(answer)) >= 1000
        assert answer.cut is Cut.TIME


def test_an_interrupt_ends_the_query(driver: Driver, admin: Driver) -> None:
    began = time.monotonic()
    asking = asked(driver, "UNWIND range(1, 1000000000) AS x RETURN x", {}, Limits(None, 60))
    answer = asking.__enter__()
    assert next(iter(answer)) == [1]
    assert not asking.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert time.monotonic() - began < 5
    wait_until_idle(admin)


@pytest.fixture
def stalling(server: Managed) -> Iterator[tuple[str, threading.Event]]:
    """The address of something between a client and the server, and what makes it pass nothing on."""
    stalled = threading.Event()
    to = urlsplit(server.uri)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def carry() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    other = socket.create_connection((to.hostname, to.port))
                    threading.Thread(target=pass_on, args=(client, other), daemon=True).start()

        def pass_on(one: socket.socket, other: socket.socket) -> None:
            with one, other, contextlib.suppress(OSError):
                while True:
                    for ready in select.select([one, other], [], [], 10)[0]:
                        data = ready.recv(1 << 16)
                        if not data:
                            return
                        if not stalled.is_set():
                            (other if ready is one else one).sendall(data)

        threading.Thread(target=carry, daemon=True).start()
        yield f"bolt://127.0.0.1:{listening.getsockname()[1]}", stalled


@pytest.mark.parametrize("late", [False, True])
def test_q04_a_server_that_says_nothing_ends_with_the_time(
    server: Managed, stalling: tuple[str, threading.Event], late: bool
) -> None:
    uri, stalled = stalling
    with connect(uri, USER, server.password()) as driver:
        began = time.monotonic()
        if not late:
            stalled.set()
        with asked(driver, "UNWIND range(1, 100000) AS x RETURN x", {}, Limits(None, 1)) as answer:
            for _ in answer:
                stalled.set()
            assert answer.cut is Cut.TIME
        assert time.monotonic() - began < 3


def test_a_connection_that_breaks_is_a_sentence(
    server: Managed, stalling: tuple[str, threading.Event]
) -> None:
    driver = connect(stalling[0], USER, server.password())
    driver.close()
    with pytest.raises(Unavailable), asked(driver, "RETURN 1 AS x", {}) as answer:
        list(answer)


@pytest.mark.parametrize(
    ("text", "parameters", "sentence"),
    [
        ("RETRUN 1", {}, r"Invalid input 'RETRUN' \(line 1, column 1\)"),
        ("MATCH (n)\nRETRUN n", {}, r"line 2, column 1\)$"),
        ("RETURN 1/0 AS x", {}, "/ by zero"),
        ("RETURN $x AS x", {}, r"Expected parameter\(s\): x"),
        ("RETURN $x AS x", {"x": "\ud800"}, "half a character"),
        ("RETURN $x AS x", {"x": 1 << 70}, "64 bits"),
    ],
)
def test_mistakes_are_sentences(driver: Driver, text: str, parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Mistaken, match=sentence) as raised:
        ask(driver, text, **parameters)
    assert "\n" not in str(raised.value)


def test_only_those_that_may_write_do(driver: Driver, admin: Driver) -> None:
    text = "UNWIND [1, 2] AS x CALL (x) { CREATE (:WriteTest {x: x}) } IN TRANSACTIONS OF 1 ROW RETURN x"
    try:
        for access in (Access.GUARDED, Access.CATALOGUE):
            with pytest.raises((Refused, Mistaken)), asked(driver, text, {}, Limits(), access) as answer:
                list(answer)
        # All of it is done, however few rows are wanted.
        with asked(driver, text, {}, Limits(1), Access.WRITE) as answer:
            assert list(answer) == [[1]]
        assert answer.cut is Cut.ROWS
        assert answer.changes == {"nodes_created": 2, "labels_added": 2, "properties_set": 2}
        assert ask(driver, "MATCH (n:WriteTest) RETURN count(n) AS n") == [[2]]
    finally:
        admin.execute_query("MATCH (n:WriteTest) DETACH DELETE n")


def test_loaded_runs_are_those_that_are_current_the_newest_first(driver: Driver, admin: Driver) -> None:
    admin.execute_query(
        "UNWIND [{name: 'old', number: 901, status: 'complete'}, {name: 'new', number: 902, status: 'loading'}] AS row "
        "CREATE (:Current {name: row.name})-[:IS]->(:Generation {id: row.name, number: row.number, "
        "status: row.status, program: 'p', mode: 'm'}) CREATE (:Generation {id: row.name + 'x', number: row.number + 50})"
    )
    try:
        assert [each for each in loaded_runs(driver) if each.number > 900] == [
            ("new", "p", "m", 902, False),
            ("old", "p", "m", 901, True),
        ]
    finally:
        admin.execute_query(
            "MATCH (n) WHERE (n:Current OR n:Generation) AND (n.name IN ['old', 'new'] OR n.number > 900) DETACH DELETE n"
        )
