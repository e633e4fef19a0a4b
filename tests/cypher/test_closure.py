"""The closure by rules in Cypher, on a real server, computes what the other solvers do, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import pytest
from neo4j import Driver, Query
from neo4j.exceptions import Neo4jError

from cli.cypher_solver import CypherSolver, on_server
from cli.exits import Exit
from cli.pipeline import Job
from cli.progress import Progress
from cli.query import Place
from cypher import closure, closure_rows
from cypher.connection import USER
from cypher.server.managed import Managed
from engine.analysis import APPLICATION
from engine.kernel.solver import KernelSolver
from engine.reference import ReferenceSolver
from engine.reflection.modes import CASTS, DEFAULT
from tests.cli.conftest import COMMAND, ROOT, run_command
from tests.conftest import EVERYTHING
from tests.engine.feeding import solved
from tests.engine.naive import naive
from tests.engine.programs import CLASS, LARGE, MIDDLE, OBJECT, Script, Size, random_program
from tests.fixture_harness import build, fixtures
from tests.named_rows import named_rows

HOLDER = """
import sys, time
from cypher.closure import opened
from cypher.connection import connect
uri, password = sys.argv[1], sys.stdin.readline().strip()
with connect(uri, "neo4j", password) as driver, opened(driver) as run:
    run.add("TypeNode", [(0, False)])
    print("ready", flush=True)
    time.sleep(600)
"""


def nodes(admin: Driver) -> int:
    found = admin.execute_query(
        "MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'Solver') RETURN count(n) AS found"
    )
    return int(found.records[0]["found"])


def test_every_rule_is_applied_in_some_place() -> None:
    folder = files("cypher") / "rules" / "closure"
    names = {each.name.removesuffix(".cypher") for each in folder.iterdir() if each.name.endswith(".cypher")}
    assert sorted(closure.ORDER) == sorted(names)


def test_premises_are_derived_or_given() -> None:
    # What nodes of sites, methods, objects and types say by themselves.
    given = {
        "VirtualInvoke", "SpecialInvoke", "StaticInvoke", "Returns", "ReturnsParameter", "Throws", "Tracked", "ArrayOf",
        "Selected", "DeclaredBy",
    }  # fmt: skip
    heads = {each.head for each in closure.rules()}
    premises = {premise for each in closure.rules() for premise in each.premises}
    assert premises - given - heads - closure_rows.ROWS.keys() == set()


def test_a_rule_looks_only_at_what_is_new() -> None:
    for each in (*closure.rules(), *closure.reflection_rules().values()):
        assert "$since" in each.rule.first, each.rule.name
        branches = re.split(r"\bUNION\b", each.rule.first.partition("\n}\n")[0])
        if "CALL () {" in each.rule.first:
            assert all("$since" in branch for branch in branches), each.rule.name


@pytest.mark.parametrize(
    "text", ["// formal: A(x) :- B(x).\n// formal: C(x) :- B(x).\n", "MATCH (n) RETURN n\n"]
)
def test_a_rule_without_its_head_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="one head"):
        closure.rule_of("rule", text)


@pytest.mark.parametrize(
    ("size", "seed"), [*((MIDDLE, seed) for seed in range(6)), *((LARGE, seed) for seed in range(3))]
)
def test_rules_compute_what_they_say(admin: Driver, size: Size, seed: int) -> None:
    choose = random.Random(seed)
    program = random_program(seed, size)
    script = Script(choose.choice((0, 5_000, 1 << 40)), share=choose.choice((0.5, 0.9, 1.0)), seed=seed)
    with closure.opened(admin) as run:
        assert solved(CypherSolver(run, OBJECT, CLASS), program, script) == naive(program)
        assert nodes(admin) > 0
    assert nodes(admin) == 0


@pytest.fixture
def on_test_server(server: Managed, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("NEO4J_PASSWORD", server.password())
    return Place(server.uri, USER, insecure=False)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("mode", [DEFAULT, CASTS] if os.environ.get(EVERYTHING) else [DEFAULT])
def test_solvers_find_the_same_rows_on_fixtures(
    jars: Path, tmp_path: Path, javac: str, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    (tmp_path / "classes").mkdir()
    build(tmp_path / "classes", javac)
    # A seventh of them, and one mode; a server takes ten minutes for all.
    mains = tuple(each.name for each in fixtures())[:: 1 if os.environ.get(EVERYTHING) else 7]
    job = Job((str(tmp_path / "classes"),), mains, mode=mode, scope=APPLICATION)
    expected = named_rows(job, KernelSolver)
    assert all(expected.values())
    assert named_rows(job, ReferenceSolver) == expected
    server = Managed(tmp_path / "server", jars)
    server.start(heap="1g", page_cache="512m", transaction_memory="1g")
    try:
        monkeypatch.setenv("NEO4J_PASSWORD", server.password())
        with ExitStack() as stack:
            place = Place(server.uri, USER, insecure=False)
            assert named_rows(job, *on_server(place, Progress(quiet=True), stack)) == expected
    finally:
        server.stop()


def test_the_command_says_what_the_compiled_solver_does(
    admin: Driver, on_test_server: Place, classes: Path, jdk: Path, tmp_path: Path
) -> None:
    assert on_test_server.uri
    options = ("analyze", classes, "--jdk", jdk, "--scope", "application", "--format", "json", "--verbose")
    found = []
    for solver in ("kernel", "cypher"):
        done = run_command(
            *options, "--uri", on_test_server.uri, "--solver", solver, "--out", tmp_path / solver
        )
        assert done.code == 0, done.errors
        found.append(json.loads(done.output))
        told = re.search(r"^ *classObjects: [1-9]\d* rows, applied \d+ times", done.errors, re.MULTILINE)
        assert (told is not None) == (solver == "cypher")
    for name in ("reachableMethods", "callEdges", "implicitEdges", "pointsToPairs", "sites"):
        assert found[0][name] == found[1][name]
    assert json.loads((tmp_path / "cypher" / "manifest.json").read_text())["solver"] == "cypher"
    assert nodes(admin) == 0


def test_what_a_killed_run_left_is_deleted_and_what_a_living_one_has_stays(
    server: Managed, admin: Driver
) -> None:
    command = [sys.executable, "-c", HOLDER, server.uri]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, cwd=ROOT) as child:
        assert child.stdin
        assert child.stdout
        child.stdin.write(server.password() + "\n")
        child.stdin.flush()
        assert child.stdout.readline() == "ready\n"
        held = nodes(admin)
        assert held > 0
        with closure.opened(admin):
            assert nodes(admin) > held
        assert nodes(admin) == held
        child.kill()
    with closure.opened(admin):
        assert nodes(admin) < held + 1
    assert nodes(admin) == 0


def test_an_interrupt_leaves_nothing(
    admin: Driver, on_test_server: Place, classes: Path, jdk: Path, tmp_path: Path
) -> None:
    assert on_test_server.uri
    options = (
        "--scope",
        "application",
        "--solver",
        "cypher",
        "--uri",
        on_test_server.uri,
        "--out",
        str(tmp_path / "run"),
    )
    command = [*COMMAND, "analyze", str(classes), "--jdk", str(jdk), *options]
    with subprocess.Popen(command, cwd=ROOT, stderr=-3, stdout=-3) as child:
        while nodes(admin) < 3:
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == Exit.INTERRUPTED
    assert not (tmp_path / "run").exists()
    # A busy server takes a while to notice that nobody works on the run any more.
    for _ in range(20):
        with closure.opened(admin):
            pass
        if not nodes(admin):
            break
    assert nodes(admin) == 0


def test_what_a_run_had_under_way_is_ended_before_it_is_deleted(admin: Driver) -> None:
    long = Query(
        "UNWIND range(1, 1000000) AS i UNWIND range(1, 1000000) AS j RETURN count(*)",
        metadata={"solverRun": 7},
        timeout=300,
    )
    admin.execute_query("CREATE (:SolverRun {number: 7})")
    with ThreadPoolExecutor() as pool, admin.session() as session:
        under_way = pool.submit(lambda: session.run(long).consume())
        while not admin.execute_query(
            "SHOW TRANSACTIONS YIELD metaData WHERE metaData.solverRun = 7"
        ).records:
            assert not under_way.done()
        with closure.opened(admin):
            assert isinstance(under_way.exception(20), Neo4jError)
    assert nodes(admin) == 0


def test_the_whole_program_is_refused(classes: Path, jdk: Path) -> None:
    done = run_command("analyze", classes, "--jdk", jdk, "--solver", "cypher")
    assert done.code == Exit.USAGE
    assert "--scope application" in done.errors


def test_a_server_that_does_not_answer_is_named(
    classes: Path, jdk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "x")
    options = ("--scope", "application", "--solver", "cypher", "--uri", "bolt://127.0.0.1:1")
    done = run_command("analyze", classes, "--jdk", jdk, *options)
    assert done.code == Exit.UNAVAILABLE
    assert "no Neo4j answers" in done.errors
    assert "Traceback" not in done.errors
