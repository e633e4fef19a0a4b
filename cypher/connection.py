"""Connections to a Neo4j server: encrypted beyond this machine, bounded in time, with one sentence for what fails."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from neo4j import Driver as Driver  # noqa: PLC0414  # for those who connect

# The user with whom every server begins; the only one of the managed server.
USER = "neo4j"
# Seconds: for a connection, for one from the pool, for what the driver repeats by itself.
CONNECTION, ACQUISITION, RETRIES = 5.0, 8.0, 15.0
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_SECURITY = "Neo.ClientError.Security."
# What the driver logs is said by exceptions, too.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class Unavailable(Exception):
    """The database, or the server that would serve it, can't be used: `str` is the sentence for the user.

    `passing`: it may pass by itself, as when a database is still being opened.
    """

    def __init__(self, text: str, *, passing: bool = False) -> None:
        super().__init__(text)
        self.passing = passing


def connect(uri: str, user: str, password: str, *, insecure: bool = False) -> Driver:
    """Returns a driver that has had an answer from the server. Raises `Unavailable`.

    `insecure` allows a connection to another machine without encryption.
    """
    place = _checked(uri, insecure=insecure)
    if password == "neo4j":  # noqa: S105  # what every server begins with
        raise Unavailable(
            f"{place}: 'neo4j' is the password that every server begins with; set another one first "
            "(ALTER CURRENT USER SET PASSWORD …)"
        )
    from neo4j import GraphDatabase
    from neo4j.exceptions import DatabaseUnavailable, DriverError, Neo4jError

    driver = GraphDatabase.driver(
        uri, auth=(user, password), user_agent="heliograph", telemetry_disabled=True,
        connection_timeout=CONNECTION, connection_acquisition_timeout=ACQUISITION,
        max_transaction_retry_time=RETRIES, notifications_min_severity="OFF",
    )  # fmt: skip
    try:
        with driver.session() as session:
            session.run("RETURN 1").consume()
    except (DriverError, Neo4jError, OSError, ValueError) as problem:
        driver.close()
        passing = isinstance(problem, DatabaseUnavailable)
        raise Unavailable(reason(problem, place, user), passing=passing) from None
    except BaseException:
        driver.close()
        raise
    return driver


@contextmanager
def explained(place: str, user: str) -> Iterator[None]:
    """Turns what a server answers, or that it doesn't, into one sentence (`Unavailable`)."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError) as problem:
        raise Unavailable(reason(problem, place, user)) from None


def _checked(uri: str, *, insecure: bool) -> str:
    """Returns host and port of `uri` for sentences. Raises `Unavailable` if it must not be used."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port or 7687
    except ValueError:
        raise Unavailable("the server's address can't be read; it looks like bolt://localhost:7687") from None
    if parts.scheme not in _SCHEMES or not host:
        raise Unavailable(
            f"the server's address must look like bolt://localhost:7687, with one of {', '.join(_SCHEMES)}"
        )
    if parts.username is not None or parts.password is not None:
        raise Unavailable("the server's address must not hold a user or a password")
    place = f"{host}:{port}"
    if "+" not in parts.scheme and not insecure and not is_loopback(host):
        raise Unavailable(
            f"{place} is another machine, and {parts.scheme}:// would send the password unencrypted: "
            f"use {parts.scheme}+s://, or allow it with --insecure"
        )
    return place


def is_loopback(host: str) -> bool:
    """Returns whether `host` can only be this machine.

    >>> [is_loopback(each) for each in ("localhost", "127.0.0.1", "::1", "localhost.example.org", "10.0.0.1")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reason(problem: Exception, place: str, user: str) -> str:
    """Returns one sentence for what the driver raised; never a password, never several lines."""
    from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError

    code = problem.code or "" if isinstance(problem, Neo4jError) else ""
    if code == _SECURITY + "AuthenticationRateLimit":
        return f"{place} refuses for a while to check passwords after too many wrong ones: wait and try again"
    if code == _SECURITY + "CredentialsExpired":
        return f"the password of {user} at {place} has expired; set another one (ALTER CURRENT USER SET PASSWORD …)"
    if code == _SECURITY + "Unauthorized":
        return f"{place} does not accept this user and password ({user})"
    first = next(iter(str(problem).splitlines()), "") or type(problem).__name__
    if isinstance(problem, Neo4jError):
        return f"{place} answered: {(problem.message or first).splitlines()[0]}"
    if isinstance(problem, ConfigurationError) or not isinstance(problem, (DriverError, OSError)):
        return f"{place} can't be asked: {first}"
    return f"no Neo4j answers at {place}; is it running?"
