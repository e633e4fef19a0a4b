"""Asks a query and streams what it returns, within bounds on rows and time, as values that know nothing of a driver.

A query runs in a transaction of its own that is never repeated: the driver's managed ones would try again for half a
minute what the server had no memory for.
"""

from __future__ import annotations

import base64
import contextlib
import math
import re
import threading
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

from cypher import guard
from cypher.connection import Unavailable, reason
from cypher.guard import Refused

if TYPE_CHECKING:
    from neo4j import Driver, Query, Result, ResultSummary, Session

    Database: TypeAlias = Driver

ROWS, SECONDS = 10_000, 30.0
# Seconds that a server gets to notice that the time is over. After them the connection is closed, which ends the
# query, too: parsing and planning don't heed the limit of a transaction.
_GRACE = 0.6

_POSITION = re.compile(r"\(line (\d+), column (\d+)(?: \(offset: \d+\))?\)")
_EXPECTED = re.compile(r": expected [^(]*(?= \(line)")
_WORDY = 200
_MEMORY = ("MemoryPoolOutOfMemoryError", "TransactionOutOfMemoryError", "OutOfMemoryError")
_TIME = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")


class Mistaken(Exception):
    """The server can't follow the query: `str` is what it says, in a sentence."""


class Access(Enum):
    """What a query may do: those of the catalogue read, ad-hoc ones are looked at first, or may do anything."""

    CATALOGUE = "catalogue"
    GUARDED = "guarded"
    WRITE = "write"


class Limits(NamedTuple):
    """Bounds of an answer; None for as many rows as there are."""

    rows: int | None = ROWS
    seconds: float = SECONDS


class Cut(Enum):
    """Why an answer isn't whole."""

    NO = ""
    ROWS = "rows"
    TIME = "time"
    MEMORY = "memory"


class GraphNode(NamedTuple):
    """A node of an answer."""

    id: str
    labels: tuple[str, ...]
    properties: dict[str, Any]


class GraphRelationship(NamedTuple):
    """A relationship of an answer; `start` and `end` are the ids of nodes."""

    id: str
    type: str
    start: str
    end: str
    properties: dict[str, Any]


class GraphPath(NamedTuple):
    """A path of an answer."""

    nodes: tuple[GraphNode, ...]
    relationships: tuple[GraphRelationship, ...]


class LoadedRun(NamedTuple):
    """A run that the graph serves, by the name under which it was loaded; `number` is that of its generation."""

    name: str
    program: str
    mode: str
    number: int
    complete: bool


class Answer:
    """The rows of an answer, to be iterated once; `cut` and `changes` are known after that."""

    def __init__(self, rows: Iterator[list[Any]], columns: list[str]) -> None:
        self.rows = rows
        self.columns = columns
        self.cut = Cut.NO
        self.changes: dict[str, int] = {}

    def __iter__(self) -> Iterator[list[Any]]:
        return self.rows


@contextlib.contextmanager
def asked(
    driver: Driver,
    text: str,
    parameters: Mapping[str, Any],
    limits: Limits = Limits(),  # noqa: B008  # nothing changes it
    access: Access = Access.GUARDED,
) -> Iterator[Answer]:
    """Yields the answer to a query. Raises `Refused`, `Mistaken` or `Unavailable`.

    After an interrupt, or when the server did not heed the limit of time, the driver is closed.
    """
    from neo4j import READ_ACCESS, WRITE_ACCESS, Query

    query = Query(text, timeout=limits.seconds)
    mode = WRITE_ACCESS if access is Access.WRITE else READ_ACCESS
    with _Watch(driver, limits.seconds + _GRACE) as watch, contextlib.ExitStack() as stack:
        try:
            answer = Answer(iter(()), [])
            try:
                session = driver.session(default_access_mode=mode)
                stack.callback(_close, session)
                result = _run(session, query, parameters, access)
                answer = Answer(iter(()), list(result.keys()))
            except Exception as problem:  # noqa: BLE001  # told apart there
                answer.cut = _told(problem, watch, access)
            else:
                answer.rows = _streamed(result, answer, limits, access, watch)
            yield answer
        except KeyboardInterrupt:
            # To end the transaction properly would mean to wait for the query.
            watch.close()
            raise


def _close(session: Session) -> None:
    """Ends what a session has begun; if it can't be ended, the server does so once the connection is closed."""
    with contextlib.suppress(Exception):
        session.close()


def _run(session: Session, query: Query, parameters: Mapping[str, Any], access: Access) -> Result:
    if access is Access.WRITE:
        # No transaction around it: CALL … IN TRANSACTIONS makes its own.
        return session.run(query, dict(parameters))
    transaction = session.begin_transaction(timeout=query.timeout)
    if access is Access.GUARDED:
        guard.check(transaction, query.text, parameters)
    return transaction.run(query.text, dict(parameters))


def _streamed(
    result: Result, answer: Answer, limits: Limits, access: Access, watch: _Watch
) -> Iterator[list[Any]]:
    """Yields rows as they come; says in `answer` how it ended."""
    given = 0
    records = iter(result)
    while True:
        try:
            record = next(records, None)
            if record is None or given == limits.rows:
                if record is not None:
                    answer.cut = Cut.ROWS
                if record is None or access is Access.WRITE:
                    answer.changes = _changes(result.consume())
                return
            row = [plain(each) for each in record.values()]
        except Exception as problem:  # noqa: BLE001  # told apart there
            answer.cut = _told(problem, watch, access)
            return
        yield row
        given += 1


class _Watch:
    """Closes the driver when the time is over: the server then ends the query."""

    def __init__(self, driver: Driver, seconds: float) -> None:
        self._driver = driver
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self.over = False

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        self.over = True
        self.close()

    def close(self) -> None:
        """Closes the connection, whatever it is doing."""
        with contextlib.suppress(Exception):
            self._driver.close()


def _changes(summary: ResultSummary) -> dict[str, int]:
    """Returns what a query has changed, by kind."""
    counters = vars(summary.counters)
    return {
        name.lstrip("_"): value
        for name, value in counters.items()
        if isinstance(value, int) and not isinstance(value, bool) and value
    }


def _told(problem: Exception, watch: _Watch, access: Access) -> Cut:
    """Returns which limit was reached. Raises what else it was."""
    from neo4j.exceptions import Neo4jError

    if watch.over:
        return Cut.TIME
    if isinstance(problem, (Refused, Unavailable)):
        raise problem
    if isinstance(problem, UnicodeEncodeError):
        raise Mistaken("the query or a parameter holds half a character (a lone surrogate)") from None
    if isinstance(problem, OverflowError):
        raise Mistaken("a parameter is a number of more than 64 bits") from None
    if not isinstance(problem, Neo4jError):
        raise Unavailable(reason(problem, "the server", "this user")) from None
    code = problem.code or ""
    kind = code.rpartition(".")[2]
    if kind in _TIME:
        return Cut.TIME
    if kind in _MEMORY:
        return Cut.MEMORY
    message = _sentence(problem.message or code, 1 if access is Access.GUARDED else 0)
    if kind in ("AccessMode", "Forbidden") or code.startswith("Neo.ClientError.Security.Auth"):
        raise Refused(f"the server refuses it: {message}") from None
    if code.startswith("Neo.ClientError."):
        raise Mistaken(message) from None
    raise Unavailable(f"the server answered: {message}") from None


def _sentence(message: str, added: int) -> str:
    """Returns the first line of what the server says; the lines `added` before the query are not counted.

    >>> _sentence("Invalid input 'X' (line 2, column 1 (offset: 8))", 1)
    "Invalid input 'X' (line 1, column 1)"
    """
    first = next(iter(message.splitlines()), "")
    if len(first) > _WORDY:
        # Every word that could stand there is no help.
        first = _EXPECTED.sub("", first)
    return _POSITION.sub(lambda found: _position(int(found[1]) - added, found[2]), first).rstrip()


def _position(line: int, column: str) -> str:
    return f"(line {line}, column {column})" if line > 0 else ""


def plain(value: Any) -> Any:
    """Returns a value of an answer as one of JSON's, or as part of a graph.

    >>> plain([1, float("nan"), b"ab"])
    [1, 'NaN', 'YWI=']
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return (
            value
            if math.isfinite(value)
            else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        )
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return _of_graph(value)


def _of_graph(value: Any) -> Any:
    from neo4j.graph import Node, Path, Relationship
    from neo4j.spatial import Point

    if isinstance(value, Node):
        return _node(value)
    if isinstance(value, Relationship):
        return _relationship(value)
    if isinstance(value, Path):
        return GraphPath(tuple(map(_node, value.nodes)), tuple(map(_relationship, value.relationships)))
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": list(value)}
    if hasattr(value, "iso_format"):
        return value.iso_format()
    return str(value)


def _node(node: Any) -> GraphNode:
    return GraphNode(node.element_id, tuple(sorted(node.labels)), _properties(node))


def _relationship(found: Any) -> GraphRelationship:
    start, end = (each.element_id if each is not None else "" for each in found.nodes)
    return GraphRelationship(found.element_id, found.type, start, end, _properties(found))


def _properties(entity: Any) -> dict[str, Any]:
    return {name: plain(each) for name, each in sorted(entity.items())}


def loaded_runs(driver: Driver) -> list[LoadedRun]:
    """Returns the runs that the graph serves, the newest first. Raises `Unavailable`."""
    text = (
        "MATCH (c:Current)-[:IS]->(g:Generation) RETURN c.name AS name, g.program AS program, g.mode AS mode, "
        "g.number AS number, g.status = 'complete' AS complete ORDER BY number DESC"
    )
    with asked(driver, text, {}, Limits(None), Access.CATALOGUE) as answer:
        return [LoadedRun(*row) for row in answer]
