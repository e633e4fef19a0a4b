"""`heliograph console`: on a terminal of its own, and with statements from standard input."""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pygments.token import Error, Name  # type: ignore[import-untyped]

from cli import console as module
from cli.console import Console, Settings, converse, follow, history_file
from cli.exits import Exit, Failure
from cli.query import Place
from cypher import graph
from cypher.asking import Access, Answer, Cut, GraphNode, Limits, LoadedRun, Mistaken
from cypher.connection import USER, Unavailable, connect
from cypher.console_language import LABELS, PROPERTIES, TYPES, Lexer, Words, split, suggested
from cypher.guard import Refused
from cypher.server.configuration import DEFAULT_VERSION
from cypher.server.managed import Managed
from tests.cli.conftest import COMMAND, ROOT
from tests.cypher.conftest import assembled, started

ENTER, INTERRUPT, END, TAB, UP = "\r", "\x03", "\x04", "\t", "\x1b[A"


class Server:
    """Answers by the text of the query; notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any], Access]] = []
        self.connections = 0
        self.fails: dict[str, BaseException] = {}
        self.cut = Cut.NO
        self.rows: list[list[Any]] = [["a.B\x1b[31m", 1], [GraphNode("1", ("Class",), {"name": "a.C"}), None]]

    def close(self) -> None:
        pass

    @contextlib.contextmanager
    def answer(
        self, driver: object, text: str, parameters: Mapping[str, Any], _limits: Limits, access: Access
    ) -> Iterator[Answer]:
        assert driver is self
        self.asked.append((text, dict(parameters), access))
        if text in self.fails:
            raise self.fails[text]
        answer = Answer(iter(self.rows), ["name", "n"])
        answer.cut = self.cut
        yield answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    found = Server()

    def connect(_place: Place) -> Server:
        found.connections += 1
        return found

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "connected", connect)
    monkeypatch.setattr(module, "asked", found.answer)
    monkeypatch.setattr(
        module, "chosen", lambda _driver, name: LoadedRun(name or "app", "p", "m", 1, complete=True)
    )
    return found


def console(*, interactive: bool = True, run: str | None = None) -> Console:
    made = Console(Place(None, "neo4j", insecure=False), Settings(run, 1000, 30.0), interactive=interactive)
    made.connect()
    return made


def typed(server: Server, *keys: str) -> Console:
    """Types into a console until it ends."""
    assert server is not None
    made = console()
    with create_pipe_input() as source:
        worker = threading.Thread(target=converse, args=(made, source, DummyOutput()), daemon=True)
        worker.start()
        for each in keys:
            source.send_text(each)
            if each == TAB:
                time.sleep(0.5)  # what is typed on ends the search for suggestions
        worker.join(20)
        assert not worker.is_alive()
    return made


# --- on a terminal


def test_a_statement_ends_with_its_semicolon(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    typed(server, "MATCH (n)", ENTER, "RETURN ';' AS a", ENTER, "; ", ENTER, "RETURN 1;RETURN 2;", ENTER, END)
    assert [each[0] for each in server.asked] == ["MATCH (n)\nRETURN ';' AS a", "RETURN 1", "RETURN 2"]
    assert {each[2] for each in server.asked} == {Access.GUARDED}
    assert [each[1] for each in server.asked] == [{"run": "app"}] * 3
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "a.B\\x1b[31m" in output
    assert "(:Class a.C)" in output
    assert "2 rows in" in output


def test_it_ends_when_somebody_leaves(server: Server) -> None:
    typed(server, END)
    typed(server, ":quit", ENTER)
    assert server.asked == []


def test_parameters_are_set_shown_and_used(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        ":param a => 5",
        ":param $b => 'x y'",
        ":param c => [1, 2]",
        ":param nothing",
        ":params",
        "RETURN $a;",
    ]
    typed(server, *(each + ENTER for each in lines), ":clear" + ENTER, "RETURN 2;" + ENTER, END)
    set_ = {"run": "app", "a": 5, "b": "x y", "c": [1, 2]}
    assert [each[1] for each in server.asked] == [set_, {"run": "app"}]
    output = capsys.readouterr()
    assert 'b => "x y"\n' in output.out
    assert "NAME => VALUE" in output.err


def test_queries_of_the_catalogue_are_listed_and_asked(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        ":queries reflection",
        ":show callers",
        ":run callers",
        ":param method => a.B.m",
        ":param x => 1",
        ":run callers",
    ]
    typed(
        server,
        *(each + ENTER for each in lines),
        ":run nothing" + ENTER,
        ":nothing" + ENTER,
        ":help" + ENTER,
        END,
    )
    [(text, parameters, access)] = server.asked
    assert "CALLS" in text
    assert access is Access.CATALOGUE
    assert parameters == {"run": "app", "allowIncomplete": False, "method": "a.B.m", "limit": 1000}
    output = capsys.readouterr()
    for each in ("sites-by-status", "// param $method", ":param NAME"):
        assert each in output.out
    for each in ("callers needs method", "there is no query 'nothing'", "there is no command :nothing"):
        assert each in output.err


@pytest.mark.parametrize(
    ("problem", "sentence", "connections"),
    [
        (Refused("LOAD CSV does more than read the graph"), "refused: LOAD CSV does more", 1),
        (Mistaken("Invalid \x1b[31minput"), "Invalid \\x1b[31minput", 1),
        (Unavailable("no Neo4j answers"), "no Neo4j answers", 2),
        (KeyboardInterrupt(), "cancelled", 2),
    ],
)
def test_what_fails_is_a_sentence_and_the_console_goes_on(
    server: Server,
    capsys: pytest.CaptureFixture[str],
    problem: BaseException,
    sentence: str,
    connections: int,
) -> None:
    server.fails["RETURN 1"] = problem
    typed(server, "RETURN 1;", ENTER, "RETURN 2;", ENTER, END)
    assert [each[0] for each in server.asked] == ["RETURN 1", "RETURN 2"]
    assert server.connections == connections
    errors = capsys.readouterr().err
    assert sentence in errors
    assert errors.count("\n") == 1


def test_an_interrupt_at_the_prompt_begins_a_new_line(server: Server) -> None:
    typed(server, "MATCH (n", INTERRUPT, "RETURN 1;", ENTER, END)
    assert [each[0] for each in server.asked] == ["RETURN 1"]


def test_what_is_cut_is_said(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.cut = Cut.ROWS
    typed(server, "RETURN 1;", ENTER, END)
    assert "more than these 1,000 rows" in capsys.readouterr().err
    server.cut = Cut.TIME
    typed(server, "RETURN 1;", ENTER, "RETURN 2;", ENTER, END)
    assert "after 30 seconds" in capsys.readouterr().err
    assert server.connections == 1 + 2


def test_tab_completes_and_the_history_is_kept(server: Server) -> None:
    typed(server, "MATCH (n:Archi", TAB, ") RETURN n.qualif", TAB, ";", ENTER, END)
    typed(server, UP, ENTER, END)
    assert [each[0] for each in server.asked] == ["MATCH (n:Archive) RETURN n.qualifiedName"] * 2
    file = history_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_s10_the_history_goes_through_no_link(server: Server, tmp_path: Path) -> None:
    assert server is not None
    file = history_file()
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Failure, match="can't be used"):
        history_file()
    file.unlink()
    file.write_text("")
    file.chmod(0o644)
    assert stat.S_IMODE(history_file().stat().st_mode) == 0o600


def test_long_tables_are_paged_on_terminals_only(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paged: list[str] = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.setenv("LINES", "24")
    server.rows = [[each, each] for each in range(100)]
    console().do("RETURN 1")
    assert paged == []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    console().do("RETURN 1")
    assert [each.count("\n") for each in paged] == [102]
    server.rows = server.rows[:3]
    console().do("RETURN 1")
    assert len(paged) == 1
    assert capsys.readouterr().out


# --- from standard input


def test_statements_of_a_file_are_done(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    text = ":param a => 1\nMATCH (n) // ;\nRETURN ';\n:x', $a; RETURN 2\n;\n\n:params\nRETURN 3"
    follow(console(interactive=False, run="other"), io.StringIO(text))
    assert [each[0] for each in server.asked] == [
        "MATCH (n) // ;\nRETURN ';\n:x', $a",
        "RETURN 2",
        "RETURN 3",
    ]
    assert server.asked[0][1] == {"run": "other", "a": 1}
    assert "rows in" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("problem", "code"),
    [(Refused("x"), Exit.REFUSED), (Mistaken("x"), Exit.USAGE), (Unavailable("x"), Exit.UNAVAILABLE)],
)
def test_the_first_mistake_ends_a_file(server: Server, problem: Exception, code: Exit) -> None:
    server.fails["RETURN 1"] = problem
    with pytest.raises(Failure) as raised:
        follow(console(interactive=False), io.StringIO("RETURN 1;\nRETURN 2;"))
    assert raised.value.code == code
    assert len(server.asked) == 1


def test_quit_ends_a_file(server: Server) -> None:
    follow(console(interactive=False), io.StringIO(":quit\nRETURN 2;"))
    assert server.asked == []


# --- the language


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:Class&!Phantom)-[r:CALLS|EXTENDS*1..3]->(b:A|B {name: 'x\\d'}) WHERE a:%&!C RETURN {a: b, c: 1}",
        "CALL (g) { RETURN 1 AS x } RETURN $run, n:$(l), n:(A&B)",
        "MATCH p = SHORTEST 1 (a)((x)-[:FLOWS_TO]->(y) WHERE NOT y IN z){0,25}(b) RETURN [n IN nodes(p) | n.name]",
        'RETURN "a\\u0041\\"" AS a, COUNT { (a)-->() } AS n, x[1..2], x[..2] // c',
    ],
)
def test_the_lexer_knows_the_cypher_of_today(text: str) -> None:
    assert [value for kind, value in Lexer().get_tokens(text) if kind in Error] == []


def test_the_lexer_tells_labels_from_variables() -> None:
    tokens = list(Lexer().get_tokens("MATCH (a:Class&!Phantom {name: b}) RETURN a"))
    assert [value for kind, value in tokens if kind is Name.Label] == ["Class", "Phantom"]
    assert [value for kind, value in tokens if kind is Name.Variable] == ["a", "name", "b", "a"]


def test_the_catalogue_is_highlighted_without_mistakes() -> None:
    from cypher.catalogue import queries

    found = {
        each.name: [value for kind, value in Lexer().get_tokens(each.text) if kind in Error]
        for each in queries()
    }
    assert {name: errors for name, errors in found.items() if errors} == {}
    assert {each.name for each in queries() if split(each.text)[0]} == set()


def test_what_is_declared_is_suggested() -> None:
    assert {"Class", "Phantom", "ReflectiveSite", "Generation", "Current"} <= set(LABELS)
    assert {each.label for each in graph.NODES} <= set(LABELS)
    assert {each.type for each in graph.EDGES} <= set(TYPES)
    assert {"qualifiedName", "key", "site", "inputKind"} <= set(PROPERTIES)


@pytest.mark.parametrize(
    ("before", "begun", "some"),
    [
        ("MATCH (n:", "", "Class"),
        ("MATCH (n:Class&!Ph", "Ph", "Phantom"),
        ("MATCH (n)-[:FLO", "FLO", "FLOWS_TO"),
        ("MATCH (n)-[:CALLS]->(m:Met", "Met", "Method"),
        ("RETURN n.qua", "qua", "qualifiedName"),
        ("RETURN $ru", "ru", "run"),
        ("opt", "opt", "OPTIONAL"),
        ("CALL db.la", "db.la", "db.labels"),
        ("RETURN duration.be", "duration.be", "duration.between"),
        (":ru", ":ru", ":run"),
        (":run call", "call", "callers"),
    ],
)
def test_suggestions_fit_their_place(before: str, begun: str, some: str) -> None:
    words = Words(("callers", "sites-by-status"), ("run", "method"), (":run", ":quit"))
    word, found = suggested(before, words)
    assert word == begun
    assert some in found
    assert all(each.lower().startswith(begun.lower()) for each in found)


# --- as a process, on a real server


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managed]:
    with started(tmp_path_factory.mktemp("neo4j") / "server", assembled(DEFAULT_VERSION)) as managed:
        with connect(managed.uri, USER, managed.password()) as driver:
            driver.execute_query(
                "CREATE (:Current {name: 'r'})-[:IS]->(:Generation {number: 1, status: 'complete'})"
            )
        yield managed


@pytest.fixture
def piped(real: Managed) -> Callable[[str], subprocess.CompletedProcess[str]]:
    more = {"NEO4J_URI": real.uri, "NEO4J_PASSWORD": real.password()}

    def run(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "console"],
            input=text,
            cwd=ROOT,
            env=os.environ | more,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
def test_a_console_on_a_real_server(piped: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    done = piped("RETURN 'x' AS a,\n $run AS r; :nothing")
    assert done.stdout == " a | r\n---|---\n x | r\n"
    assert done.returncode == 2
    assert piped("MATCH (n) DETACH DELETE n;").returncode == 7


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_an_interrupt_on_a_terminal_ends_the_query_alone(real: Managed, tmp_path: Path) -> None:
    import pty

    more = {
        "NEO4J_URI": real.uri,
        "NEO4J_PASSWORD": real.password(),
        "TERM": "dumb",
        "XDG_STATE_HOME": str(tmp_path),
    }
    python, option, code = COMMAND
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.execve(python, [python, option, heed + code, "console"], os.environ | more)  # noqa: S606
    shown = ""

    def until(text: str, seconds: float = 30) -> None:
        nonlocal shown
        end = time.monotonic() + seconds
        while text not in shown:
            assert select.select([terminal], [], [], max(0.0, end - time.monotonic()))[0], shown
            shown += os.read(terminal, 1 << 16).decode()
        shown = shown.partition(text)[2]

    try:
        until("heliograph> ")
        time.sleep(0.5)
        os.write(
            terminal,
            b"UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a + b < 0 RETURN 1;\r",
        )
        time.sleep(2)
        began = time.monotonic()
        os.write(terminal, b"\x03")
        until("cancelled")
        assert time.monotonic() - began < 4
        until("heliograph> ")
        time.sleep(2)  # longer than other commands live after an interrupt
        os.write(terminal, b"RETURN 6 * 7 AS answer;\r")
        until("42")
        until("heliograph> ")
        time.sleep(0.5)  # the prompt stands there before anything is read
        os.write(terminal, b":quit\r")
        with contextlib.suppress(OSError):  # how the end of the other side shows
            until("nothing more", 10)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        child = 0
    finally:
        os.close(terminal)
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
