"""The managed server with a real Neo4j: what it listens on, lets nobody see, refuses, and serves."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, LiteralString

import pytest
from neo4j import Driver
from neo4j.exceptions import Neo4jError

from cypher.connection import USER, Unavailable, connect
from cypher.server.configuration import DEFAULT_VERSION, NEWEST_VERSION, needs_java
from cypher.server.java import find_java
from cypher.server.managed import Managed
from tests.cli.conftest import COMMAND, ROOT
from tests.cypher.conftest import assembled, copied
from tests.cypher.server_sockets import sockets

pytestmark = pytest.mark.slow


def listening_ports(managed: Managed) -> set[int]:
    """Returns the ports; fails if one is open to others, or anything else goes beyond this machine."""
    pid = managed.status().pid
    assert pid is not None
    found = sockets(pid)
    assert all(each.local.is_loopback for each in found), found
    assert all(each.listening or each.remote.is_loopback for each in found), found
    return {each.port for each in found if each.listening}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_s4_the_server_listens_on_this_machine_only(server: Managed, admin: Driver) -> None:
    admin.verify_connectivity()
    wanted = {server.settings.http, server.settings.bolt}
    assert listening_ports(server) == wanted
    time.sleep(5)
    assert listening_ports(server) == wanted


def test_s5_the_password_is_nowhere(server: Managed) -> None:
    password = server.password()
    assert len(bytes.fromhex(password)) * 8 >= 128
    files = [each for each in server.folder.rglob("*") if each.is_file()]
    holders = [each.name for each in files if password.encode() in each.read_bytes()]
    assert holders == ["password"]
    for each in (server.folder, *server.folder.rglob("*")):
        assert not stat.S_IMODE(each.lstat().st_mode) & 0o077, each
    assert password not in subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout


def test_s11_s12_what_the_server_says_of_its_settings(server: Managed, admin: Driver) -> None:
    found = admin.execute_query("SHOW SETTINGS YIELD name, value, isExplicitlySet RETURN name, value").records
    settings = {each["name"]: each["value"] for each in found}
    expected = {
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        "server.bolt.telemetry.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "dbms.security.procedures.unrestricted": "",
        "server.default_listen_address": "127.0.0.1",
        "server.https.enabled": "false",
        "server.http_enabled_modules": "BROWSER",
        "db.memory.transaction.max": "256.00MiB",
        "server.memory.pagecache.size": "128.00MiB",
        "initial.dbms.default_database": "neo4j",
    }
    assert {name: settings[name] for name in expected} == expected
    assert settings["dbms.security.procedures.allowlist"] not in ("", "*", None)
    imports = Path(settings["server.directories.import"])
    assert imports == server.home / "import"
    assert list(imports.iterdir()) == []
    assert not Path(settings["server.directories.plugins"]).exists()
    names = [each["name"] for each in admin.execute_query("SHOW PROCEDURES YIELD name").records]
    assert names
    assert all(each.startswith(("db.", "dbms.", "tx.")) for each in names)


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                asked.append(b"")
                connection.close()

        threading.Thread(target=take, daemon=True).start()
        yield server.getsockname()[1], asked
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("place", ["http://127.0.0.1:{}/x", "https://localhost:{}/x", "ftp://127.0.0.1:{}/x"])
def test_s12_queries_reach_no_other_server(
    admin: Driver, listener: tuple[int, list[bytes]], place: str
) -> None:
    port, asked = listener
    with pytest.raises(Neo4jError):
        admin.execute_query("LOAD CSV FROM $place AS row RETURN row", place=place.format(port))
    assert asked == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "file:/etc/passwd"])
def test_s12_queries_read_no_file(server: Managed, admin: Driver, place: str) -> None:
    assert list((server.home / "import").iterdir()) == []
    with pytest.raises(Neo4jError) as problem:
        admin.execute_query("LOAD CSV FROM $place AS row RETURN row", place=place)
    assert "root:" not in str(problem.value)


def test_the_browser_is_there_and_keeps_to_its_server(server: Managed) -> None:
    page, headers = page_at(server.settings.http, "/browser/")
    assert b"neo4j" in page.lower()
    policy = headers["Content-Security-Policy"]
    assert f"ws://127.0.0.1:{server.settings.bolt}" in policy
    assert "http:" not in policy
    assert ".io" not in policy
    page, _ = page_at(server.settings.http, "/")
    assert json.loads(page)["bolt_direct"] == server.uri


def page_at(port: int, path: str) -> tuple[bytes, Message]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    with contextlib.closing(connection), connection.getresponse() as answer:
        assert answer.status == 200
        return answer.read(), answer.headers


def test_status_of_a_running_server(server: Managed) -> None:
    status = server.status()
    assert status.running
    assert status.answers
    assert status.version == DEFAULT_VERSION
    assert status.uri == server.uri
    assert status.memory is not None
    assert 50e6 < status.memory < 2e9
    # (tests before this one may have left some in the store)
    assert 0 < status.database_size < 10e9
    assert server.start() is False


def query(managed: Managed, text: LiteralString, database: str | None = None) -> list[list[Any]]:
    """Returns the rows of a query in a connection of its own."""
    with connect(managed.uri, USER, managed.password()) as driver:
        return [each.values() for each in driver.execute_query(text, database_=database).records]


def needs(version: str) -> None:
    try:
        find_java(needs_java(version), "Neo4j")
    except Unavailable as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(problem))


@pytest.fixture
def managed(tmp_path: Path) -> Iterator[Callable[[str], Managed]]:
    """Makes a server of its own, and ends it."""
    made: list[Managed] = []

    def make(version: str) -> Managed:
        needs(version)
        made.append(Managed(tmp_path / "server", assembled(version)))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.mark.parametrize("version", [DEFAULT_VERSION, NEWEST_VERSION])
def test_an_import_is_served_after_a_switch_and_loses_nothing(
    managed: Callable[[str], Managed], version: str, tmp_path: Path
) -> None:
    server = managed(version)
    server.start(version=version, heap="512m", page_cache="128m")
    assert query(server, "CALL dbms.components() YIELD versions RETURN versions[0]")[0] == [version]
    query(server, "CREATE (:Old)")
    with pytest.raises(Unavailable, match="stop it before the import"):
        server.import_offline("graph-2", [], tmp_path)
    server.stop()

    folder = tmp_path / "commas, which separate files"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id:ID,name\n1,a\n2,b\n")
    (folder / "edges.csv").write_text(":START_ID,:END_ID\n1,2\n")
    nodes, edges = "--nodes=New=./nodes.csv", "--relationships=TO=./edges.csv"
    told: list[str] = []
    done = server.import_offline(
        "graph-2", [nodes, edges, "--id-type=integer"], folder, lambda _what, far: told.append(far)
    )
    assert done == (2, 1, 4)
    assert any(each.startswith("Node import (1 of 4)") for each in told)
    assert any(each.endswith("100 %") for each in told)
    with pytest.raises(Unavailable, match="there is a database graph-2 already"):
        server.import_offline("graph-2", [nodes], folder)
    with pytest.raises(Unavailable, match=r"absent\.csv"):
        server.import_offline("graph-3", ["--nodes=New=./absent.csv"], folder)
    assert server.databases() == ["graph-2", "neo4j"]

    server.default_database = "graph-2"
    server.start()
    assert query(server, "MATCH (n) RETURN labels(n), n.name ORDER BY n.name") == [
        [["New"], "a"],
        [["New"], "b"],
    ]
    assert query(server, "MATCH (n) RETURN labels(n)", "graph-2") == [[["New"]], [["New"]]]
    server.stop()
    server.default_database = "neo4j"
    server.start()
    assert query(server, "MATCH (n) RETURN labels(n)") == [[["Old"]]]
    server.delete_database("graph-2")
    assert server.databases() == ["neo4j"]
    query(server, "CREATE (:Newer)")
    assert query(server, "MATCH (n) RETURN count(n)") == [[2]]


def test_a_newer_version_takes_the_graph_over(managed: Callable[[str], Managed]) -> None:
    needs(NEWEST_VERSION)
    server = managed(DEFAULT_VERSION)
    server.start(heap="512m", page_cache="128m")
    query(server, "CREATE (:Kept)")
    with pytest.raises(Unavailable, match="is running; stop it before you start it differently"):
        server.start(version=NEWEST_VERSION)
    server.stop()
    assembled(NEWEST_VERSION)
    server.start(version=NEWEST_VERSION)
    assert query(server, "MATCH (n) RETURN labels(n)") == [[["Kept"]]]
    server.stop()
    with pytest.raises(Unavailable, match=f"was written by Neo4j {NEWEST_VERSION}"):
        server.start(version=DEFAULT_VERSION)


def command(state: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "graph", *arguments], cwd=ROOT, env=os.environ | {"XDG_STATE_HOME": str(state)}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def done(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=240)
    return process.returncode, output, errors


@pytest.fixture
def taken_ports() -> Iterator[set[int]]:
    """The usual ports, which somebody listens on."""
    held = []
    for port in (7474, 7687):
        try:
            held.append(socket.create_server(("127.0.0.1", port)))
        except OSError:  # somebody else does so already
            continue
    yield {7474, 7687}
    for each in held:
        each.close()


@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven")
def test_two_starts_at_once_a_damaged_jar_and_taken_ports(tmp_path: Path, taken_ports: set[int]) -> None:
    state = tmp_path / "state"
    folder = state / "heliograph" / "neo4j"
    copied(DEFAULT_VERSION, folder / "jars")
    jar = next(folder.glob("jars/*/lib/neo4j-kernel-5*.jar"))
    jar.write_bytes(jar.read_bytes()[:100_000])

    seen: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            for each in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
                except OSError:
                    continue
            time.sleep(0.01)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        both = [command(state, "start", "--heap", "512m", "--page-cache", "128m") for _ in range(2)]
        ends = [done(each) for each in both]
    finally:
        over.set()
        watching.join()
    try:
        assert [code for code, _, _ in ends] == [0, 0], ends
        assert sorted("already" in output for _, output, _ in ends) == [False, True]
        told = "".join(errors for _, _, errors in ends)
        assert f"{jar.name} is missing or damaged and is fetched again" in told
        assert "waiting for it" in told
        code, output, errors = done(command(state, "status", "--format", "json", "--verify"))
        assert code == 0
        status = json.loads(output)
        assert status["status"] == "running"
        assert status["damagedJars"] == []
        ports = {int(status["bolt"].rpartition(":")[2]), int(status["browser"].split(":")[2].split("/")[0])}
        assert len(ports) == 2
        assert not ports & taken_ports
        # S5: of all the programs that ran, none was given the password.
        password = (folder / "password").read_text().strip()
        assert any("set-initial-password" in each for each in seen)
        assert not [each for each in seen if password in each]
        assert password not in "".join(output + errors for _, output, errors in ends) + output + errors
        code, _, errors = done(command(state, "remove"))
        assert (code, "--yes" in errors) == (2, True)
    finally:
        stopped = done(command(state, "stop"))
    assert stopped[:2] == (0, "stopped\n")
    assert done(command(state, "stop"))[1] == "the server was not running\n"
    code, output, _ = done(command(state, "status"))
    assert code == 0
    assert "stopped" in output
    jar.write_bytes(b"x")
    code, _, errors = done(command(state, "status", "--verify"))
    assert code == 6
    assert f"1 of the server's jars are not what was fetched ({jar.name})" in errors
    code, _, errors = done(command(state, "start", "--neo4j", "4.4.1"))
    assert code == 6
    assert "is no version of Neo4j that can be managed" in errors
    assert done(command(state, "remove", "--all", "--yes"))[0] == 0
    assert [each.name for each in folder.iterdir()] == ["lock"]
