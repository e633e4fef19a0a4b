"""`heliograph query`: forms of answers, the commands, exit codes, pipes and interrupts (Q04, Q05)."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from neo4j import Driver

from cli import graph_formats
from cli.exits import Exit, Failure
from cli.query import Place, Wanted, ask_adhoc, value_of
from cypher.asking import GraphNode, GraphPath, GraphRelationship
from cypher.connection import USER, connect
from cypher.server.configuration import DEFAULT_VERSION
from cypher.server.managed import Managed
from tests.cli.conftest import COMMAND, ROOT, Done, run_command
from tests.cypher.conftest import assembled, started

A = GraphNode("4:x:1", ("Class", "Interface"), {"name": "a.A", "size": 3, "label": "L", "public": True})
B = GraphNode("4:x:2", ("Class",), {"name": "<b>&\x00\x1b\ud800]]>", "size": 0.5, "texts": ["x", None]})
CALL = GraphRelationship("5:x:1", "CALLS", A.id, B.id, {"line": 7})
AWAY = GraphRelationship("5:x:2", "IS", B.id, "4:x:9", {})
PATH = GraphPath((A, B), (CALL,))
VALUES = [A, CALL, PATH, [B, A], {"n": A}, None, "x", 1, 1.5, True, [1, None], {"a": [1]}]


def printed(capsys: pytest.CaptureFixture[str], write: Callable[..., None], *rows: list[Any]) -> str:
    columns = [f"c{place}" for place in range(len(rows[0]))] if rows else ["c0"]
    write(columns, iter(rows))
    return capsys.readouterr().out


# --- forms


def test_json_is_an_array_of_objects(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(printed(capsys, graph_formats.write_json)) == []
    [first, second] = json.loads(printed(capsys, graph_formats.write_json, VALUES, VALUES))
    assert first == second
    assert first["c0"] == {"id": A.id, "labels": ["Class", "Interface"], "properties": A.properties}
    assert first["c1"]["start"] == A.id
    assert [each["id"] for each in first["c2"]["nodes"]] == [A.id, B.id]
    assert first["c3"][0]["properties"]["texts"] == ["x", None]
    assert first["c4"]["n"] == first["c0"]
    assert list(first.values())[5:] == VALUES[5:]


def test_csv_holds_what_a_spreadsheet_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    row = ["=1+1", "+x", "-x", "@x", 'a\x1b[31m,"b"', -5, -0.5, True, None, [1, "=2"], A]
    cells = list(csv.reader(io.StringIO(printed(capsys, graph_formats.write_csv, row))))[1]
    assert cells[:9] == ["'=1+1", "'+x", "'-x", "'@x", 'a\\x1b[31m,"b"', "-5", "-0.5", "true", ""]
    assert json.loads(cells[9]) == [1, "=2"]
    assert json.loads(cells[10])["id"] == A.id


def test_tables_are_lined_up_and_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(
        capsys, graph_formats.write_table, ["a\x1b[31m\u202e", 5, None], ["表", 1000, 7], [A, None, 8]
    )
    lines = output.splitlines()
    assert "\x1b" not in output
    assert lines[2].startswith("a\\x1b[31m\\u202e")
    assert lines[3].index("1000") + 3 == lines[0].index("c1")  # a wide character takes two places


def test_tables_of_many_rows_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[each, "x" * (each // 400)] for each in range(1200)]
    lines = printed(capsys, graph_formats.write_table, *rows).splitlines()
    assert len(lines) == 1202
    assert lines[-1].split() == ["1199", "xx"]


NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"


def test_graphml_is_a_graph_of_declared_types(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, graph_formats.write_graphml, [*VALUES, AWAY])
    root = ET.fromstring(text)  # noqa: S314  # what we have just written
    keys = {
        each.get("id"): (each.get("for"), each.get("attr.name"), each.get("attr.type"))
        for each in root.iter(f"{NAMESPACE}key")
    }
    assert len(set(keys.values())) == len(keys)
    assert set(keys.values()) == {
        ("node", "labels", "string"), ("node", "label", "string"), ("node", "name", "string"),
        ("node", "size", "double"), ("node", "label_", "string"), ("node", "public", "boolean"),
        ("node", "texts", "string"), ("edge", "type", "string"), ("edge", "label", "string"),
        ("edge", "line", "long"),
    }  # fmt: skip
    assert [each.tag.removeprefix(NAMESPACE) for each in root] == ["key"] * len(keys) + ["graph"]
    [graph] = root.iter(f"{NAMESPACE}graph")
    assert graph.get("edgedefault") == "directed"
    nodes, edges = graph.findall(f"{NAMESPACE}node"), graph.findall(f"{NAMESPACE}edge")
    ids = [each.get("id") for each in nodes]
    assert len(ids) == len(set(ids)) == 3  # the one that the answer only mentions, too
    assert len(edges) == 2
    assert all({each.get("source"), each.get("target")} <= set(ids) for each in edges)

    def data(element: ET.Element) -> dict[str | None, str | None]:
        return {keys[each.get("key")][1]: each.text for each in element}

    assert data(nodes[0]) == {
        "labels": ":Class:Interface", "label": "a.A", "name": "a.A", "size": "3", "label_": "L", "public": "true",
    }  # fmt: skip
    assert data(nodes[1])["name"] == "<b>&\\x00\\x1b\\ud800]]>"
    assert data(edges[0]) == {"type": "CALLS", "label": "CALLS", "line": "7"}


def test_graphml_needs_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Failure, match="--format csv") as raised:
        printed(capsys, graph_formats.write_graphml, [1, "x"])
    assert raised.value.code == Exit.USAGE


# --- the command


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["list"], "forname-provenance"),
        (["list", "reflection"], "sites-by-status"),
        (["show", "callers"], "// param $method"),
        (["--help"], "heliograph query --cypher"),
        (["callers", "--help"], "--param"),
    ],
)
def test_the_catalogue_is_shown_without_a_server(arguments: list[str], output: str) -> None:
    done = run_command("query", *arguments)
    assert (done.code, done.errors) == (0, "")
    assert output in done.output


def test_the_catalogue_is_shown_to_programs() -> None:
    found = json.loads(run_command("query", "list", "--format", "json").output)
    [callers] = [each for each in found if each["name"] == "callers"]
    assert callers == json.loads(run_command("query", "show", "callers", "--format", "json").output)
    assert {"method", "limit"} <= {each["name"] for each in callers["parameters"]}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["calers"], "did you mean callers"),
        (["show", "calers"], "did you mean callers"),
        (["list", "nothing"], "there is no group nothing"),
        (["run"], "name a query"),
        (["callers", "--cypher", "RETURN 1"], "name a query"),
        (["callers"], "needs method"),
        (["callers", "--param", "method"], "NAME=VALUE"),
        (["callers", "--param", "methd=x"], "no parameter"),
        (["callers", "-p", "method=x", "-p", "limit=many"], "whole number"),
        (["callers", "-p", "method=x", "--write"], "--write goes with --cypher"),
    ],
)
def test_what_cannot_be_followed_is_said_without_a_server(arguments: list[str], sentence: str) -> None:
    done = run_command("query", *arguments)
    assert (done.code, done.output) == (2, "")
    assert sentence in done.errors
    assert done.errors.count("\n") == 1


def test_d04_without_a_server_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("NEO4J_URI", raising=False)
    done = run_command("query", "entry-points")
    assert (done.code, done.output) == (6, "")
    assert "heliograph graph start" in done.errors
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret-word")
    done = run_command("query", "--cypher", "RETURN 1")
    assert (done.code, done.output) == (6, "")
    assert "secret-word" not in done.errors


@pytest.mark.parametrize(("answer", "goes_on"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_query_that_may_write_asks_first(
    monkeypatch: pytest.MonkeyPatch, answer: str, goes_on: bool
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def nowhere(_place: Place) -> None:
        raise Failure(Exit.UNAVAILABLE, "asked")

    monkeypatch.setattr("cli.query.connected", nowhere)
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    wanted = Wanted(None, (), "table", None, 1.0, False)
    place = Place(None, "neo4j", insecure=False)
    with pytest.raises(Failure) as raised:
        ask_adhoc("CREATE (n)", place, wanted, write=True, sure=False)
    assert raised.value.code == (Exit.UNAVAILABLE if goes_on else Exit.REFUSED)
    with pytest.raises(Failure) as raised:
        ask_adhoc("CREATE (n)", place, wanted, write=True, sure=True)
    assert raised.value.code == Exit.UNAVAILABLE


def test_values_of_parameters() -> None:
    assert [value_of(each) for each in ("1", "-1.5", "true", "null", '{"a": 1}', "a.B", "[", "1 2", "")] == [
        1, -1.5, True, None, {"a": 1}, "a.B", "[", "1 2", "",
    ]  # fmt: skip


# --- on a real server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managed]:
    with started(tmp_path_factory.mktemp("neo4j") / "server", assembled(DEFAULT_VERSION)) as managed:
        yield managed


@pytest.fixture(scope="module")
def driver(server: Managed) -> Iterator[Driver]:
    with connect(server.uri, USER, server.password()) as found:
        found.execute_query(
            "UNWIND [1, 2] AS number CREATE (:Current {name: 'run' + number})-[:IS]->(g:Generation {id: 'g' + number, "
            "number: number, name: 'run' + number, status: 'complete', program: 'p.jar', mode: 'points-to'}) "
            "CREATE (:ReflectiveSite:CallSite {generation: number, key: number, name: 'a.B.m()V@1', application: true, "
            "status: 'resolved', api: '\x1b[31m'})"
        )
        yield found


@pytest.fixture
def query(server: Managed, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    assert driver is not None
    monkeypatch.setenv("NEO4J_URI", server.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", server.password())
    return lambda *arguments: run_command("query", *arguments)


server_test = pytest.mark.slow


@server_test
def test_a_query_of_the_catalogue_is_asked(query: Callable[..., Done]) -> None:
    done = query("sites-by-status", "--format", "json")
    assert done.code == 0, done.errors
    assert json.loads(done.output) == [{"status": "resolved", "reason": None, "sites": 1}]
    assert query("sites-by-status", "--run", "run1").code == 0
    done = query("sites-by-status", "--run", "run3")
    assert (done.code, "run2, run1" in done.errors) == (2, True)


@server_test
def test_the_newest_run_is_the_default(query: Callable[..., Done]) -> None:
    for more, name in (((), "run2"), (("--run", "run1"), "run1"), (("-p", "run=other"), "other")):
        done = query("--cypher", "RETURN $run AS run", "--format", "json", *more)
        assert json.loads(done.output) == [{"run": name}]


@server_test
@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("CREATE (n)", 7, "--write lifts this guard"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l", 7, "LOAD CSV does more"),
        ("RETRUN 1", 2, "Invalid input"),
        ("UNWIND range(1, 10001) AS x RETURN x", 5, "more than these 10,000 rows"),
        ("UNWIND range(1, 60000000) AS x RETURN size(collect(toString(x) + 'and so on')) AS n", 5, "memory"),
    ],
)
def test_how_ad_hoc_queries_end(query: Callable[..., Done], text: str, code: int, sentence: str) -> None:
    done = query("--cypher", text)
    assert (done.code, sentence in done.errors, done.errors.count("\n")) == (code, True, 1), done.errors


@server_test
def test_as_many_rows_as_were_asked_for_are_enough(query: Callable[..., Done]) -> None:
    done = query("--cypher", "UNWIND range(1, 20000) AS x RETURN x", "--limit", "2", "--format", "csv")
    assert (done.code, done.output) == (0, "x\n1\n2\n")
    assert "--limit 0" in done.errors
    done = query("--cypher", "UNWIND range(1, 20000) AS x RETURN x", "--limit", "0", "--format", "csv")
    assert (done.code, done.output.count("\n"), done.errors) == (0, 20001, "")


@server_test
def test_output_is_escaped(query: Callable[..., Done]) -> None:
    for form in ("table", "csv", "json", "graphml"):
        done = query("--cypher", "MATCH (s:ReflectiveSite) RETURN s, s.api AS a", "--format", form)
        assert done.code == 0
        assert "[31m" in done.output
        assert "\x1b" not in done.output


@server_test
def test_writing_is_deliberate(query: Callable[..., Done]) -> None:
    try:
        done = query(
            "--cypher",
            "CREATE (n:Written {a: $a}) RETURN n.a AS a",
            "--write",
            "-p",
            "a=x",
            "--format",
            "csv",
        )
        assert (done.code, done.output) == (0, "a\nx\n")
        assert "nodes created: 1" in done.errors
    finally:
        query("--cypher", "MATCH (n:Written) DELETE n", "--write")


def start(text: str, *more: str, **options: Any) -> subprocess.Popen[bytes]:
    python, option, code = COMMAND
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [python, option, heed + code, "query", "--cypher", text, *more]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, **options)


@server_test
def test_q05_a_closed_pipe_ends_it_quietly(query: Callable[..., Done]) -> None:
    assert query is not None
    text = "UNWIND range(1, 1000000000) AS x RETURN x"
    for form in ("table", "csv", "json"):
        with start(text, "--limit", "0", "--format", form, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr is not None
            assert process.stderr.read() == b""
            assert process.wait(10) == 0


MEASURED = """
import sys
from cli.main import main
from cli.memory import own_peak_bytes
try:
    main()
finally:
    sys.stderr.write(str(own_peak_bytes() // 1024))
"""


@server_test
@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_q05_rows_are_streamed(query: Callable[..., Done], form: str) -> None:
    # Kept, these rows would take 500 MB. (Ten millions of them take a minute or three, and as much memory as these.)
    assert query is not None
    text = "UNWIND range(1, 1000000) AS x RETURN x, toString(x) + $pad AS y"
    command = [sys.executable, "-c", MEASURED, "query", "--cypher", text, "-p", "pad=" + "x" * 300]
    more = ["--limit", "0", "--timeout", "300", "--format", form]
    with subprocess.Popen(
        [*command, *more], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        lines = sum(1 for _ in process.stdout)
        assert process.stderr is not None
        kibibytes = int(process.stderr.read())
    assert process.returncode == 0
    assert lines in (1_000_001, 1_000_002)
    assert kibibytes < 300 * 1024


@server_test
def test_q04_h10_an_interrupt_ends_the_command_and_the_query(
    query: Callable[..., Done], driver: Driver
) -> None:
    assert query is not None
    text = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a + b < 0 RETURN count(*) AS n"
    for _ in range(2):
        with start(text, "--timeout", "60") as process:
            for _ in range(100):
                if text in running(driver):
                    break
                time.sleep(0.1)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert process.stderr is not None
            assert process.stderr.read() == b"heliograph: interrupted\n"
        assert time.monotonic() - began < 4
        for _ in range(30):
            if text not in running(driver):
                break
            time.sleep(0.1)
        assert text not in running(driver)


def running(driver: Driver) -> list[str]:
    with driver.session() as session:
        return [
            each["text"] for each in session.run("SHOW TRANSACTIONS YIELD currentQuery AS text RETURN text")
        ]


@server_test
def test_s5_the_password_is_in_no_list_of_processes(query: Callable[..., Done], server: Managed) -> None:
    assert query is not None
    with start(
        "UNWIND range(1, 1000000000) AS x RETURN x", "--limit", "0", stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        line = Path(f"/proc/{process.pid}/cmdline")
        if line.exists():
            assert server.password().encode() not in line.read_bytes()
        process.stdout.close()
        process.wait(10)
    assert os.environ["NEO4J_PASSWORD"] == server.password()
