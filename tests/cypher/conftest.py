"""A real Neo4j for a whole test session, assembled once into the tests' cache; tests that use it are slow."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from neo4j import Driver, Session

from cypher.connection import USER, Unavailable, connect
from cypher.server.assembly import Assembly
from cypher.server.configuration import DEFAULT_VERSION
from cypher.server.managed import Managed
from tests.cli.conftest import classes, folder, javac, jdk, run
from tests.conftest import CACHE
from tests.engine.conftest import kernel

__all__ = ["classes", "folder", "javac", "jdk", "kernel", "run"]

JARS = CACHE / "neo4j"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        here = item.path.is_relative_to(Path(__file__).parent)
        if here and {"server", "admin", "jars"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


def assembled(version: str) -> Path:
    """Returns the folder of jars with those of `version` in it; skips if they can't be had."""
    JARS.mkdir(parents=True, exist_ok=True, mode=0o700)
    JARS.chmod(0o700)
    with (JARS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            Assembly(JARS / version, version).complete(lambda _what, _far: None)
        except Unavailable as problem:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"needs Neo4j: {problem}")
    return JARS


def copied(version: str, folder: Path) -> Path:
    """Returns a folder of jars of its own, which may be spoilt."""
    shutil.copytree(assembled(version) / version, folder / version)
    return folder


@pytest.fixture(scope="session")
def jars() -> Path:
    return assembled(DEFAULT_VERSION)


@contextmanager
def started(folder: Path, jars: Path) -> Iterator[Managed]:
    """A running server with an empty database and little memory."""
    managed = Managed(folder, jars)
    managed.start(heap="512m", page_cache="128m", transaction_memory="256m")
    yield managed
    managed.stop()


def clear(session: Session) -> None:
    """Deletes all nodes and relationships."""
    session.run("MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 10000 ROWS").consume()
    session.run("MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()


@pytest.fixture(scope="session")
def shared_server(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managed]:
    """A running server for all tests of the session; they leave its settings alone."""
    with started(tmp_path_factory.mktemp("neo4j") / "server", jars) as managed:
        yield managed


@pytest.fixture(scope="module")
def server(shared_server: Managed) -> Managed:
    """The running server, in which other modules have left neither nodes nor constraints."""
    uri, password = shared_server.uri, shared_server.password()
    with connect(uri, USER, password) as driver, driver.session() as session:
        clear(session)
        for each in session.run("SHOW CONSTRAINTS YIELD name").value():
            session.run(f"DROP CONSTRAINT `{each}`").consume()
        for each in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").value():
            session.run(f"DROP INDEX `{each}`").consume()
    return shared_server


@pytest.fixture(scope="module")
def admin(server: Managed) -> Iterator[Driver]:
    """A connection of the server's only user."""
    with connect(server.uri, USER, server.password()) as driver:
        yield driver
