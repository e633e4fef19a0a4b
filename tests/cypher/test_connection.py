"""What a connection refuses, and how it says what fails."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from neo4j import Driver

from cypher.connection import USER, Unavailable, connect
from cypher.server.managed import Managed


def refused(uri: str, user: str, password: str, *, insecure: bool = False) -> tuple[str, float]:
    """Returns the sentence and the seconds until it came."""
    began = time.monotonic()
    with pytest.raises(Unavailable) as problem:
        connect(uri, user, password, insecure=insecure)
    text = str(problem.value)
    assert "\n" not in text
    assert "Traceback" not in text
    if len(password) > 5:
        assert password not in text
    return text, time.monotonic() - began


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("bolt://db.example.org:7687", "bolt+s://"),
        ("neo4j://db.example.org", "neo4j+s://"),
        ("bolt://localhost.example.org", "--insecure"),
        ("bolt://127.0.0.1.example.org", "--insecure"),
        ("bolt://10.0.0.1:7687", "--insecure"),
        ("http://localhost:7474", "must look like"),
        ("bolt:///x", "must look like"),
        ("bolt://localhost:x", "can't be read"),
        ("bolt://[::1", "can't be read"),
        ("bolt://neo4j:secret-in-address@localhost", "must not hold a user"),
    ],
)
def test_s6_addresses_that_are_refused(uri: str, said: str) -> None:
    text, seconds = refused(uri, "neo4j", "secret-in-address")
    assert said in text
    assert seconds < 1


@pytest.mark.parametrize("uri", ["bolt://localhost:1", "bolt://db.example.org:7687"])
def test_s6_the_default_password_is_refused(uri: str) -> None:
    text, _ = refused(uri, "neo4j", "neo4j", insecure=True)
    assert "every server begins with" in text


@pytest.mark.parametrize("uri", ["bolt+s://127.0.0.1:1", "bolt+ssc://127.0.0.1:1", "neo4j+s://localhost:1"])
def test_s6_encryption_is_tried(uri: str) -> None:
    text, seconds = refused(uri, "neo4j", "some-password")
    assert "no Neo4j answers" in text
    assert seconds < 10


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def web_port() -> Iterator[int]:
    """A port that speaks HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_d04_a_server_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    text, seconds = refused(f"bolt://127.0.0.1:{port}", "neo4j", "some-password")
    assert text == f"no Neo4j answers at 127.0.0.1:{port}; is it running?"
    assert seconds < 10


def test_d04_what_takes_connections_and_says_nothing(silent_port: int) -> None:
    text, seconds = refused(f"bolt://127.0.0.1:{silent_port}", "neo4j", "some-password")
    assert "no Neo4j answers" in text
    assert seconds < 10


def test_d04_what_speaks_something_else(web_port: int) -> None:
    text, seconds = refused(f"bolt://127.0.0.1:{web_port}", "neo4j", "some-password")
    assert "no Neo4j answers" in text
    assert seconds < 10


def test_d04_a_wrong_password_and_too_many_of_them(server: Managed, admin: Driver) -> None:
    # A user of its own, so that the others' attempts don't count.
    admin.execute_query(
        "CREATE USER careless SET PASSWORD 'a-good-password' CHANGE NOT REQUIRED", database_="system"
    )
    try:
        said = []
        for _ in range(5):
            text, seconds = refused(server.uri, "careless", "a-wrong-password")
            assert seconds < 10
            said.append(text)
        assert "does not accept this user and password (careless)" in said[0]
        assert "wait and try again" in said[-1]
    finally:
        admin.execute_query("DROP USER careless", database_="system")


def test_d04_a_password_that_has_expired(server: Managed, admin: Driver) -> None:
    admin.execute_query(
        "CREATE USER fresh SET PASSWORD 'a-first-password' CHANGE REQUIRED", database_="system"
    )
    try:
        text, seconds = refused(server.uri, "fresh", "a-first-password")
        assert "has expired" in text
        assert seconds < 10
    finally:
        admin.execute_query("DROP USER fresh", database_="system")


def test_a_connection_answers(server: Managed) -> None:
    with connect(server.uri, USER, server.password()) as driver:
        assert driver.execute_query("RETURN 1 AS one").records[0]["one"] == 1
