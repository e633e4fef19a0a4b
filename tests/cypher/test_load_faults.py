"""Loads that are killed: the server, the client or the connection dies, and a later load finishes what was begun."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from neo4j import Driver
from neo4j.exceptions import Neo4jError

from cli.exits import Exit, Failure
from cli.graph.build import tables_of
from cli.loading import Wanted, identity_of, load_managed, load_over_bolt
from cli.run import Run
from cli.server import failing
from cypher import graph
from cypher.connection import USER, Unavailable, connect
from cypher.load import bolt, generations
from cypher.server.managed import Managed
from cypher.server.progress import silently
from tests.cypher.conftest import clear

pytestmark = pytest.mark.slow

# How often the server, and the client, are killed.
KILLS = int(os.environ.get("HELIOGRAPH_KILLS", "2"))
NAME = "killed"


@pytest.fixture
def own(jars: Path, tmp_path: Path) -> Iterator[Managed]:
    """A server that may be killed."""
    managed = Managed(tmp_path / "server", jars)
    managed.start(heap="512m", page_cache="64m")
    yield managed
    managed.stop()


def loader(run: Run, server: Managed) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        "from cli.main import main; main()",
        "graph",
        "load",
        "--run",
        str(run.folder),
    ]
    options = ["--uri", server.uri, "--detail", "full", "--name", NAME, "--quiet"]
    environment = os.environ | {"NEO4J_PASSWORD": server.password()}
    return subprocess.Popen(
        [*command, *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def load(run: Run, server: Managed) -> None:
    """Loads a run, and checks that all of it is there."""
    process = loader(run, server)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    check_whole(run, server)


def check_whole(run: Run, server: Managed) -> None:
    with connect(server.uri, USER, server.password()) as driver, driver.session() as session:
        generation = generations.enter(session, identity_of(run, graph.FULL, NAME), {})
        assert generation.complete
        expected = tables_of(run, generation.number, graph.FULL).counts()
        generations.compare(generations.counts(session, generation.number), expected)
        found = session.run("MATCH (:Current {name: $name})-[:IS]->(g) RETURN g.id AS id", name=NAME).single(
            strict=True
        )
        assert found["id"] == generation.id


def check_unseen(server: Managed) -> None:
    """Asserts that nobody sees what is not whole."""
    with connect(server.uri, USER, server.password()) as driver, driver.session() as session:
        assert session.run("MATCH (c:Current) RETURN c").single() is None
        assert session.run("MATCH (g:Generation {status: 'complete'}) RETURN g").single() is None


def forget(server: Managed) -> None:
    with connect(server.uri, USER, server.password()) as driver, driver.session() as session:
        clear(session)


def duration(run: Run, server: Managed) -> float:
    began = time.monotonic()
    load(run, server)
    return time.monotonic() - began


def test_d06_the_client_is_killed(run: Run, own: Managed) -> None:
    whole = duration(run, own)
    choose = random.Random(6)
    for _ in range(KILLS):
        forget(own)
        process = loader(run, own)
        time.sleep(choose.uniform(0.3, 0.9) * whole)
        process.kill()
        process.communicate()
        if process.returncode == -signal.SIGKILL:
            check_unseen(own)
        load(run, own)


def test_d05_the_server_is_killed(run: Run, own: Managed) -> None:
    whole = duration(run, own)
    choose = random.Random(5)
    for _ in range(KILLS):
        forget(own)
        process = loader(run, own)
        time.sleep(choose.uniform(0.3, 0.9) * whole)
        pid = own.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        output, _ = process.communicate(timeout=60)
        while own.is_running():
            time.sleep(0.1)
        own.start()
        if process.returncode != 0:
            assert process.returncode == 6, output
            assert len(output.splitlines()) == 1, output
            check_unseen(own)
        load(run, own)


class Proxy:
    """Passes bytes on to a server, and cuts the connection after one commit in three, before the answer."""

    COMMIT = b"\xb0\x12"

    def __init__(self, port: int, cuts: int) -> None:
        self._target, self.cuts, self.made, self.seen = port, cuts, 0, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._target))
            for ends in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, outward: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                commits = outward and self.COMMIT in data
                self.seen += commits
                cut = commits and self.seen % 3 == 0 and self.made < self.cuts
                target.sendall(data)
                if cut:
                    self.made += 1
                    break
        except OSError:
            pass
        for each in (source, target):
            each.close()

    def close(self) -> None:
        self._listener.close()


def test_d08_the_connection_is_cut_during_commits(run: Run, server: Managed, admin: Driver) -> None:
    with admin.session() as session:
        clear(session)
    proxy = Proxy(server.settings.bolt, cuts=6)
    with (
        connect(f"bolt://127.0.0.1:{proxy.port}", USER, server.password()) as driver,
        driver.session() as session,
    ):
        generations.prepare(session)
        generation = generations.enter(session, "cut", {})
        tables = tables_of(run, generation.number, graph.FULL)
        bolt.load(
            session,
            generation,
            bolt.phases(generation.number, tables.nodes, tables.edges),
            lambda _n, _w: None,
        )
        generations.compare(generations.counts(session, generation.number), tables.counts())
    proxy.close()
    assert proxy.made == 6
    load_over_bolt(Wanted(run, graph.STRUCTURE, "after"), admin, silently)


@pytest.fixture
def full(jars: Path, tmp_path: Path) -> Iterator[Managed]:
    """A server on a small disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256m", "none", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("may not mount a disk")
    managed = Managed(disk / "server", jars)
    try:
        managed.start(heap="512m", page_cache="64m")
        yield managed
    finally:
        managed.stop()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(server: Managed, space: int) -> Path:
    """Leaves so many bytes on the server's disk; returns the file that takes the others."""
    ballast = server.folder.parent / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(server.folder).free - space)
    return ballast


def served(server: Managed) -> list[tuple[str, int]]:
    """Returns the names that readers see, and of how many methods."""
    with connect(server.uri, USER, server.password()) as driver, driver.session() as session:
        records = session.run(
            "MATCH (c:Current)-[:IS]->(g) OPTIONAL MATCH (m:Method {generation: g.number}) "
            "RETURN c.name AS name, count(m) AS methods ORDER BY name"
        )
        return [(each["name"], each["methods"]) for each in records]


def test_d10_the_disk_has_no_room_for_the_files_of_an_import(run: Run, full: Managed) -> None:
    load_managed(Wanted(run, graph.STRUCTURE, "old"), full, silently, replace=False)
    before, stores = served(full), full.databases()
    ballast = fill(full, 1 << 12)
    with pytest.raises(Failure, match="No space left") as caught, failing():
        load_managed(Wanted(run, graph.FULL, "new"), full, silently, replace=True)
    assert caught.value.code == Exit.UNAVAILABLE
    assert len(str(caught.value).splitlines()) == 1
    assert not list(full.folder.glob("import-*"))
    assert full.is_running()
    assert full.databases() == stores
    assert served(full) == before
    ballast.unlink()
    load_managed(Wanted(run, graph.FULL, "new"), full, silently, replace=True)
    assert [name for name, _ in served(full)] == ["new"]


def test_d10_the_disk_is_full_during_batches(run: Run, full: Managed) -> None:
    load_managed(Wanted(run, graph.STRUCTURE, "old"), full, silently, replace=False)
    before = served(full)
    fill(full, 1 << 18)
    output, _ = (process := loader(run, full)).communicate(timeout=120)
    assert process.returncode == Exit.UNAVAILABLE, output
    assert len(output.splitlines()) == 1, output
    # (Neo4j closes a database that it can't write to, and may need more memory than this one has to open it again.)
    with suppress(Unavailable, Neo4jError):
        assert served(full) == before
