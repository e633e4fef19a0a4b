"""Andersen's analysis by rules in Cypher: its relations on a server, and the rounds of rules up to the fixpoint.

A rule is a file in `rules/closure`, like those of `cypher.inference`, with its Datalog below the header; those in
`rules/reflection` resolve reflective calls, and who drives the rounds has them applied between these:

    // formal: Head(…) :- Premise(…), ….

A rule looks at what came since it was applied last: each premise in turn ranges over what is new of it, the others
over all. What is new is told by a number, `round`, that no two applications have in common on the whole server: those
of a run begin at its `base`, and so do the keys of its nodes. Rules are applied in turn; one of which no premise has
grown is passed over.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

from neo4j import Query
from neo4j.exceptions import Neo4jError

from cypher import closure_rows, reflection_rows
from cypher.inference import Rule, formal_of, parsed

if TYPE_CHECKING:
    from neo4j import Driver, Result, Session, Transaction

# Rules in the order in which they are applied. What calls select on new objects is found before it is asked for, and
# methods that are reached get their variables before anything is passed to them; so the rule that brings new objects
# to receivers by calls is the last one.
ORDER = (
    "instanceOf", "wanted", "new", "assign", "cast", "exclude", "assignUntracked", "fieldPointer", "load", "store",
    "arrayStore", "receiverType", "select", "givesThis", "staticInvoke", "virtualInvoke", "specialInvoke", "reachable",
    "argument", "result", "passedThrough", "passedReceiver", "thrown", "specialThis", "virtualThis",
)  # fmt: skip
# Those that are applied to what they derive at once, till that is nothing.
REPEATED = ("wanted", "assign")
# Rules of reflection, in the order of documents: what is derived of names and classes, then what is done with it.
REFLECTION = (
    "classObjects", "classObjects.local", "classObjects.casts.1", "classObjects.casts.2", "calls.clinit",
    "memberCandidate", "constructorTypes", "methodObject", "fieldObject", "newInstanceTargets.1",
    "newInstanceTargets.2", "newInstanceTargets.local", "resolvedInvoke", "load, store",
)  # fmt: skip
REACHABLE = "Reachable"
# Rows that are sent at a time.
BATCH = 20_000
_RUN_BITS, _NUMBER_BITS = 32, 30
_ROWS = closure_rows.ROWS | reflection_rows.ROWS
_NAME = re.compile(r"\b([A-Z]\w*)\(")
_MADE = re.compile(r"^CREATE (?:CONSTRAINT|INDEX) (\w+) ")
# Seconds that another run is given to show that it lives, and between two looks at what a run has under way.
_PATIENCE, _PAUSE = 1.0, 0.05


class ClosureRule(NamedTuple):
    """A rule: the relation that it derives, and those that it looks at, according to its Datalog."""

    rule: Rule
    head: str
    premises: frozenset[str]


class Derived(NamedTuple):
    """What a rule derived in a run: in so many applications, so many rows, in so many seconds."""

    rule: str
    applications: int
    rows: int
    seconds: float


@cache
def rules() -> tuple[ClosureRule, ...]:
    """Returns the rules of the closure in their order."""
    return tuple(_read_rules("closure", ORDER))


@cache
def reflection_rules() -> dict[str, ClosureRule]:
    """Returns the rules of reflection, by name."""
    return {each.rule.name: each for each in _read_rules("reflection", REFLECTION)}


def _read_rules(folder: str, names: Iterable[str]) -> Iterator[ClosureRule]:
    place = files("cypher") / "rules" / folder
    for name in names:
        yield rule_of(name, (place / f"{name}.cypher").read_text("utf-8"))


def rule_of(name: str, text: LiteralString) -> ClosureRule:
    """Returns a rule from its text. Raises ValueError if the header isn't in the form above."""
    names = [_NAME.findall(line) for line in formal_of(text)]
    heads = {head for head, *_ in names}
    if len(heads) != 1:
        raise ValueError(f"{name}: the lines after 'formal:' must have one head")
    premises = frozenset(each for _, *body in names for each in body)
    return ClosureRule(parsed(name, text), heads.pop(), premises)


class Closure:
    """The relations of one run on a server. `base` is the least of its keys and rounds."""

    def __init__(self, session: Session, base: int) -> None:
        self._session, self._base = session, base
        self.now = base
        self._since: dict[str, int] = {}  # when each rule was applied last
        self._grown: dict[str, int] = {}  # when each relation grew last
        self._applications: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()  # that each rule derived
        self._sizes: Counter[str] = Counter()  # of relations
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.rounds = 0

    # --- rows in
    def add(self, relation: str, rows: Sequence[Sequence[Any]]) -> None:
        """Adds rows of a relation that the rules take as given, or derive."""
        if rows:
            self.now += 1
            for start in range(0, len(rows), BATCH):
                batch = list(rows[start : start + BATCH])
                text = _ROWS[relation]
                found = self._run(text, {"rows": batch, "base": self._base, "round": self.now}).consume()
                self._sizes[relation] += found.counters.relationships_created
            self._grown[relation] = self.now

    def note(self, relation: str) -> None:
        """Has rules look at a relation of which rows came with those of another."""
        self._grown[relation] = self.now

    # --- rounds
    def round(self) -> Iterator[ClosureRule]:
        """Applies every rule of which a premise has grown; yields those that derived something."""
        self.rounds += 1
        for each in rules():
            found = self._apply(each) if self._is_due(each) else 0
            if found:
                while each.rule.name in REPEATED and self._apply(each):
                    pass
                yield each

    def _is_due(self, each: ClosureRule) -> bool:
        since = self._since.get(each.rule.name, self._base)
        return any(self._grown.get(name, -1) >= since for name in each.premises)

    def _apply(self, each: ClosureRule) -> int:
        """Returns the number of rows that a rule derived."""
        name, began = each.rule.name, time.monotonic()
        since = self._since.get(name, self._base)
        self.now += 1
        self._since[name] = self.now
        text = each.rule.first
        counters = self._run(text, {"since": since, "round": self.now}).consume().counters
        rows = counters.labels_added if each.rule.is_label else counters.relationships_created
        if rows:
            self._grown[each.head] = self.now
        self._applications[name] += 1
        self._rows[name] += rows
        self._sizes[each.head] += rows
        self._seconds[name] += time.monotonic() - began
        return rows

    def derive(self, name: str) -> list[list[int]]:
        """Applies a rule of reflection; returns the rows that it derived, as (site, what was found)."""
        each = reflection_rules()[name]
        if not (self._is_due(each) and self._apply(each)):
            return []
        return self._read(reflection_rows.DERIVED[each.head])

    @property
    def rows(self) -> int:
        """How many rows the rules derived."""
        return self._rows.total()

    def size_of(self, relation: str) -> int:
        """Returns how many rows a relation has."""
        return self._sizes[relation]

    def derived(self) -> list[Derived]:
        """Returns what each rule derived that was applied."""
        return [
            Derived(name, self._applications[name], self._rows[name], self._seconds[name])
            for name in (*ORDER, *REFLECTION)
            if self._applications[name]
        ]

    # --- rows out
    def reached(self, since: int) -> list[int]:
        """Returns the methods that were reached in a round from `since` on."""
        return [each[0] for each in self._read(closure_rows.REACHED, since=max(since, self._base))]

    def watched(self, since: int) -> list[list[int]]:
        """Returns the pairs (tag, object) that came up in a round from `since` on."""
        return self._read(closure_rows.WATCHED, since=max(since, self._base))

    def select(self, type_: int, signature: int) -> int:
        """Returns the method that was selected for a type and a signature, -1 if there is none."""
        found = self._read(closure_rows.SELECTED, type=type_, signature=signature)
        return found[0][0] if found else -1

    def calls(self) -> list[list[int]]:
        """Returns all pairs (site, callee), in the order of their rounds."""
        return self._read(closure_rows.CALLS)

    def objects_of(self, pointer: int) -> list[int]:
        """Returns the objects of a pointer, ascending."""
        return [each[0] for each in self._read(closure_rows.OBJECTS, pointer=pointer)]

    def points_to(self) -> Iterator[list[Any]]:
        """Yields (pointer, objects) of all pointers."""
        return self._stream(closure_rows.POINTS_TO)

    def fields(self, since: int) -> list[list[int]]:
        """Returns the pairs (object, field) of the fields that became pointers in a round from `since` on."""
        return self._read(closure_rows.FIELDS, since=max(since, self._base))

    def _read(self, text: LiteralString, **parameters: int) -> list[list[Any]]:
        return list(self._stream(text, **parameters))

    def _stream(self, text: LiteralString, **parameters: int) -> Iterator[list[Any]]:
        bounds = {"base": self._base, "end": _end(self._base), "now": self.now}
        found = self._run(text, {**bounds, **parameters})
        return (record.values() for record in found)

    def _run(self, text: LiteralString, parameters: dict[str, Any]) -> Result:
        marked = Query(text, metadata={"solverRun": self._base >> _RUN_BITS})
        return self._session.run(marked, parameters)


@contextmanager
def opened(driver: Driver) -> Iterator[Closure]:
    """Yields the relations of a run, empty at first; they are deleted at the end, whatever that is.

    A run that lives has a transaction open, which holds a lock; what runs that were killed have left is deleted.
    """
    with driver.session() as session, driver.session() as living:
        _make_schema(session)
        _remove_remnants(driver, session)
        number = secrets.randbits(_NUMBER_BITS)
        with closing(living.begin_transaction()) as alive:
            _take(alive, number)
            session.run("CREATE (:SolverRun {number: $number})", number=number).consume()
            try:
                yield Closure(session, number << _RUN_BITS)
                # A server that ended this transaction meanwhile let another run delete what is here.
                _take(alive, number)
            finally:
                with driver.session() as last:
                    _remove(last, number)


def _make_schema(session: Session) -> None:
    """Makes what constraints and indexes are not there yet."""
    known = {name for (name,) in session.run("SHOW INDEXES YIELD name").values()}
    for text in (*closure_rows.SCHEMA, *reflection_rows.SCHEMA):
        if _MADE.findall(text)[0] not in known:
            session.run(text).consume()
    session.run("CALL db.awaitIndexes(300)").consume()


def _take(transaction: Transaction, number: int) -> None:
    """Waits for the lock of a run: that on a node which is never committed."""
    transaction.run("MERGE (:SolverAlive {number: $number})", number=number).consume()


def _remove_remnants(driver: Driver, session: Session) -> None:
    """Deletes the runs that nobody works on any more."""
    for (number,) in session.run("MATCH (r:SolverRun) RETURN r.number AS number").values():
        with driver.session() as other:
            try:
                with closing(other.begin_transaction(timeout=_PATIENCE)) as transaction:
                    _take(transaction, number)
            except Neo4jError:
                continue
            with closing(other.begin_transaction()) as transaction:
                _take(transaction, number)
                _remove(session, number)


def _remove(session: Session, number: int) -> None:
    """Deletes a run."""
    _stop(session, number)
    base = number << _RUN_BITS
    for text in (*closure_rows.DELETIONS, *reflection_rows.DELETIONS):
        session.run(text, base=base, end=_end(base)).consume()
    session.run("MATCH (r:SolverRun {number: $number}) DELETE r", number=number).consume()


def _stop(session: Session, number: int) -> None:
    """Ends what a run has under way, and waits till it has: a server goes on for a while when its client is gone."""
    while session.run(
        "SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.solverRun = $number "
        "TERMINATE TRANSACTION id YIELD message RETURN message",
        number=number,
    ).values():
        time.sleep(_PAUSE)


def _end(base: int) -> int:
    return base + (1 << _RUN_BITS)


def closure_table() -> str:
    """Returns the rules of the closure for the documentation, in Markdown."""
    return _table(rules())


def reflection_table() -> str:
    """Returns the rules of reflection for the documentation, in Markdown."""
    return _table(reflection_rules().values())


def _table(found: Iterable[ClosureRule]) -> str:
    lines = ["| rule | Datalog | what that is |", "| --- | --- | --- |"]
    for each in found:
        text = "<br>".join(f"`{line}`" for line in each.rule.formal)
        lines.append(f"| `{each.rule.name}` | {text} | {each.rule.description} |")
    return "\n".join(lines)
