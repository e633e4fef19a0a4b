"""What an inference rule is: a generator whose signature is its body and its head; and how rules are run.

A rule is called once for each relation of its body that grew, with that table restricted to the new rows;
`where` on the other tables sees all rows. So a rule must not keep state, and has to be monotone: a row more in
its body never takes one from its head.
"""

from __future__ import annotations

import inspect
import itertools
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, get_args, get_type_hints

from cypher.program import Program

Row = TypeVar("Row", bound=tuple[Any, ...])
Other = TypeVar("Other", bound=tuple[Any, ...])
Relation = type[tuple[Any, ...]]
Derive = Callable[..., Iterator[tuple[Any, ...]]]


class Table(Generic[Row]):
    """The rows of one relation in the order in which they came, indexed by the columns that rules ask for.

    `everything` is the table itself; of one that is restricted to new rows, the whole.
    """

    def __init__(self, rows: Iterable[Row] = (), everything: Table[Row] | None = None) -> None:
        self.everything: Table[Row] = everything or self
        self._rows: dict[Row, None] = dict.fromkeys(rows)
        self._indices: dict[tuple[str, ...], tuple[Callable[[Row], Any], dict[Any, list[Row]]]] = {}

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._rows))

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def add(self, rows: Iterable[Row]) -> list[Row]:
        """Adds rows; returns those that are new."""
        before = len(self._rows)
        self._rows.update(dict.fromkeys(rows))
        fresh = list(itertools.islice(reversed(self._rows), len(self._rows) - before))[::-1]
        for key_of, index in self._indices.values():
            for row in fresh:
                index[key_of(row)].append(row)
        return fresh

    def by(self, *names: str) -> dict[Any, list[Row]]:
        """Returns the rows by their values in these columns, for one column by its value."""
        known = self._indices.get(names)
        if known is None:
            key_of = operator.attrgetter(*names)
            known = self._indices[names] = key_of, defaultdict(list)
            for row in self._rows:
                known[1][key_of(row)].append(row)
        return known[1]

    def where(self, **columns: object) -> Sequence[Row]:
        """Returns the rows whose columns have these values."""
        values = tuple(columns.values())
        return self.by(*columns).get(values[0] if len(values) == 1 else values, ())


def joined(left: Table[Row], right: Table[Other], **columns: str) -> Iterator[tuple[Row, Other]]:
    """Yields the pairs of rows in which a column of `left` equals one of `right`: `joined(calls, objects, receiver="pointer")`."""
    ((ours, theirs),) = columns.items()
    others = right.by(theirs)
    if len(left) <= len(others):
        for row in left:
            for other in others.get(getattr(row, ours), ()):
                yield row, other
    else:
        rows = left.by(ours)
        for value, found in others.items():
            for row, other in itertools.product(rows.get(value, ()), found):
                yield row, other


def having(left: Table[Row], right: Table[Any], **columns: str) -> Iterator[Row]:
    """Yields the rows of `left` of which a column equals one of some row of `right`, each once."""
    ((ours, theirs),) = columns.items()
    others = right.by(theirs)
    if len(left) <= len(others):
        yield from (row for row in left if getattr(row, ours) in others)
    else:
        rows = left.by(ours)
        yield from itertools.chain.from_iterable(rows.get(value, ()) for value in others)


def concerned(rows: Table[Row], asked: Sequence[Table[Any]], **columns: str) -> Table[Row]:
    """Returns the rows that a rule has to look at which asks the tables `asked` about each.

    If one of these grew, that are the rows of which a column equals one of its new ones': `concerned(calls, [classes],
    receiver="pointer")`.
    """
    grown = next((table for table in asked if table.everything is not table), None)
    if grown is None:
        return rows
    ((ours, theirs),) = columns.items()
    found = (rows.where(**{ours: value}) for value in grown.by(theirs))
    return Table(itertools.chain.from_iterable(found), rows.everything)


@dataclass(frozen=True)
class Rule:
    """The rule `name` of `paper`, as a function from tables to rows."""

    name: str
    paper: str
    derive: Derive
    body: tuple[Relation, ...]
    head: Relation


def rule(name: str, paper: str) -> Callable[[Derive], Derive]:
    """Declares the decorated function as the rule `name` of `paper`."""

    def declare(derive: Derive) -> Derive:
        derive.__dict__.setdefault("declared_as", []).append((name, paper))
        return derive

    return declare


@cache
def _parameters(derive: Derive) -> tuple[str, ...]:
    """Returns the names of the parameters of a rule's function."""
    return tuple(inspect.signature(derive).parameters)


def rules_of(*modules: ModuleType) -> list[Rule]:
    """Returns the rules that `modules` declare, in the order of their texts."""
    found = []
    for module in modules:
        for derive in vars(module).values():
            for name, paper in getattr(derive, "declared_as", ()):
                hints = get_type_hints(derive)
                body = tuple(
                    get_args(hints[each])[0] for each in _parameters(derive) if get_args(hints[each])
                )
                found.append(Rule(name, paper, derive, body, get_args(hints["return"])[0]))
    return found


class Derivation(NamedTuple):
    """`rows` were derived by `rule`."""

    rule: Rule
    rows: Sequence[tuple[Any, ...]]


class Applier(Protocol):
    """Applies rules elsewhere than in this process, over relations that are kept there."""

    def applies(self, each: Rule) -> bool:
        """Returns whether the rule is applied there, in place of its function."""

    def add(self, relation: Relation, rows: Iterable[tuple[Any, ...]]) -> None:
        """Adds rows that were not derived there, each once."""

    def apply(self, each: Rule) -> Iterable[tuple[Any, ...]]:
        """Derives what follows from what came since the rule was applied last; returns the rows of its head."""


# Makes what applies rules to a program, None if their functions do.
MakeApplier: TypeAlias = Callable[[Program, Sequence[Rule]], Applier | None]


def in_process(_program: Program, _rules: Sequence[Rule]) -> None:
    """Leaves all rules to their functions."""


class Rules:
    """Runs rules over tables, incrementally. `known` goes to the parameters of those names that are no tables.

    What `applier` applies is not done by functions.
    """

    def __init__(
        self, rules: Sequence[Rule], known: Mapping[str, object], applier: Applier | None = None
    ) -> None:
        self._applier = applier
        self._by_body: dict[Relation, list[Rule]] = defaultdict(list)
        for each in rules:
            for relation in dict.fromkeys(each.body):
                self._by_body[relation].append(each)
        self._known = known
        self.tables: dict[Relation, Table[Any]] = defaultdict(Table)
        # Of each rule's function, the whole table of each parameter, and what goes to those that are no tables.
        self._arguments = {each.derive: self._arguments_of(each) for each in rules}
        self._pending: dict[Relation, list[tuple[Any, ...]]] = defaultdict(list)

    def _arguments_of(self, each: Rule) -> tuple[dict[str, Table[Any]], dict[str, object]]:
        """Returns the whole tables that go to a rule's function, and what goes to it else, by parameter."""
        parameters = _parameters(each.derive)
        tables = (self.tables[relation] for relation in each.body)
        asked = (name for name in parameters if name not in self._known)
        known = {name: self._known[name] for name in parameters if name in self._known}
        return dict(zip(asked, tables, strict=True)), known

    def add(self, rows: Mapping[Relation, Iterable[tuple[Any, ...]]]) -> bool:
        """Adds rows, for the next `derive`; returns whether any waits for it."""
        for relation, listed in rows.items():
            fresh = self.tables[relation].add(listed)
            if fresh:
                self._pending[relation] += fresh
                if self._applier:
                    self._applier.add(relation, fresh)
        return bool(self._pending)

    def derive(self) -> list[Derivation]:
        """Applies the rules until nothing new follows; returns what is new, once a row."""
        derived = []
        while self._pending:
            pending, self._pending = self._pending, defaultdict(list)
            for relation, fresh in pending.items():
                grown = Table(fresh, self.tables[relation])  # one for all, with its indices
                for each in self._by_body[relation]:
                    rows = self._derived(each, relation, grown)
                    if rows:
                        derived.append(Derivation(each, rows))
                        self._pending[each.head] += rows
        return derived

    def _derived(self, each: Rule, relation: Relation, grown: Table[Any]) -> list[tuple[Any, ...]]:
        """Adds to the tables what `each` derives from the new rows of a relation; returns what is new."""
        table: Table[Any] = self.tables[each.head]
        if self._applier and self._applier.applies(each):
            return table.add(self._applier.apply(each))
        rows = table.add(self._apply(each, relation, grown))
        if self._applier and rows:
            self._applier.add(each.head, rows)
        return rows

    def _apply(self, each: Rule, relation: Relation, grown: Table[Any]) -> Iterator[tuple[Any, ...]]:
        """Yields what `each` derives with the table of a relation restricted to its new rows, `grown`."""
        tables, known = self._arguments[each.derive]
        for name, one in zip(tables, each.body, strict=True):
            if one is relation:
                yield from each.derive(**{**tables, name: grown}, **known)


class Late:
    """Rows that rules are told when all else is done (`tell`), and from then on at once.

    So what is found without them is found with them, though searches have limits, and the members of a class are listed
    or not as there are few.
    """

    def __init__(self, rules: Rules, at_once: bool = False) -> None:
        self._rules, self._at_once = rules, at_once
        self._waiting: list[Iterable[tuple[Any, ...]]] = []

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Adds rows; an iterator makes them when they are told."""
        self._waiting.append(rows)
        if self._at_once:
            self.tell()

    def tell(self) -> bool:
        """Tells the rules what waits; returns whether there was any."""
        self._at_once = True
        waiting, self._waiting = self._waiting, []
        found: dict[Relation, list[tuple[Any, ...]]] = defaultdict(list)
        for row in itertools.chain.from_iterable(waiting):
            found[type(row)].append(row)
        return self._rules.add(found)
