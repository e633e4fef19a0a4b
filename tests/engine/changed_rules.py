"""Rules for reflection with mutants, each of which takes effect at the calls of one fixture only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, wraps
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from cypher.program import Program
from engine.reflection import actions, casts, entries, handles, library, members, names, texts
from engine.reflection.modes import MODES, RULES
from engine.reflection.names import Members
from engine.reflective import Reflection
from engine.rules import Rule, Rules, Table
from tests.fixture_harness import Fixture, source_of
from tests.mutants import Mutant, changed_by, limited

MODULES = (entries, members, actions, casts, handles, library, texts, names)
SECONDS = 2.0  # of CPU time, for what a rule derives at once: no end
MANY = 2_000  # rows that a rule derives in a fixture: no end
NO_END = "no end"

Found = list[tuple[Any, ...]] | str


# --- which rules a mutant changes
def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_in(each)


@cache
def _functions() -> dict[str, CodeType]:
    """Returns the functions and methods of MODULES by name."""
    listed = [each for module in MODULES for each in (*vars(module).values(), *vars(Members).values())]
    return {each.__name__: each.__code__ for each in listed if hasattr(each, "__code__")}


@cache
def _run_by(rule: Rule) -> frozenset[CodeType]:
    """Returns the functions of MODULES that a rule may run, itself included."""
    found: set[CodeType] = set()
    work = [_code(rule)]
    if "members" in work[0].co_varnames:
        work.append(_functions()["__init__"])
    while work:
        code = work.pop()
        if code not in found:
            found.add(code)
            work += [_functions()[name] for name in _names_in(code) if name in _functions()]
    return frozenset(found)


def _code(rule: Rule) -> CodeType:
    assert isinstance(rule.derive, FunctionType)
    return rule.derive.__code__


def changes(mutant: Mutant, rule: Rule) -> bool:
    """Returns whether a mutant changes what a rule may run."""
    return mutant.function.__code__ in _run_by(rule)


# --- applied
class Parts:
    """A table in parts, by the fixture that the call of a row is in; grows with the table."""

    def __init__(self, part_of: Callable[[int], str]) -> None:
        self.part_of, self._taken = part_of, 0
        self._tables: dict[str, Table[Any]] = {}

    def of(self, table: Table[Any]) -> dict[str, Table[Any]]:
        """Returns the parts of a table that may have grown."""
        for row in islice(iter(table), self._taken, None):
            name = self.part_of(row.site)
            if name not in self._tables:
                self._tables[name] = Table((), table.everything)
            self._tables[name].add([row])
        self._taken = len(table)
        return dict(self._tables)


class Trial:
    """A mutant at work: what it has indexed, how much it has derived, and how it failed, if it did."""

    def __init__(self, mutant: Mutant, program: Program) -> None:
        self.mutant, self._program = mutant, program
        self._members: Members | None = None
        self._number = 0
        self.failure = ""

    def derived(self, each: Rule, given: Mapping[str, Any]) -> Found:
        """Returns what a rule derives with the mutant, or how it fails."""
        try:
            with limited(SECONDS), changed_by(self.mutant):
                return list(each.derive(**{**given, **self._own(given)}))
        except TimeoutError:
            return NO_END
        except Exception as exception:  # noqa: BLE001 whatever is raised is noticed
            return repr(exception)

    def _own(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if "members" not in given:
            return {}
        if self._members is None:
            self._members = Members(self._program)
        return {"members": self._members}

    def goes_on(self, each: Rule, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Returns what a rule derives with the mutant, nothing once it has failed."""
        found = self.derived(each, given)
        if isinstance(found, str):
            self.failure = found
            return []
        self._number += len(found)
        if self._number > MANY:
            self.failure = NO_END
        return [] if self.failure else found


class ChangedReflection(Reflection):
    """The reflective calls of an analysis whose rules have a mutant at the calls of each fixture in `chosen`."""

    def __init__(self, *given: Any, chosen: Mapping[str, Mutant], known: Iterable[Fixture]) -> None:
        super().__init__(*given)
        self.program = self._program
        self.trials = {name: Trial(mutant, self.program) for name, mutant in chosen.items()}
        self._fixture_of = {source: each.name for each in known for source in each.sources}
        self._at: dict[int, str] = {}
        self.used = [each for each in RULES if each.name in MODES[self._mode]]
        self.known = self.rules._known
        self.rules = Rules([self._changed(each) for each in self.used], self.known)
        self.casts._rules = self.specified.names._rules = self.rules
        self.on_derived = {head: self._guarded(enter) for head, enter in self.on_derived.items()}

    def fixture_at(self, site: int) -> str:
        """Returns the fixture that a call is in, "" if it is in none."""
        if site not in self._at:
            method = self._constraints.sites.place(self.handles.site_of(site))[0]
            type_ = self.program.name_of_method(method)[0] if method >= 0 else -1
            source = source_of(self.program.name_of_type(type_)) if type_ >= 0 else ""
            self._at[site] = self._fixture_of.get(source, "")
        return self._at[site]

    def _changed(self, each: Rule) -> Rule:
        """Returns a rule with the mutants of what it runs."""
        here = {name: trial for name, trial in self.trials.items() if changes(trial.mutant, each)}
        if not here:
            return each
        parts = Parts(lambda site: at if (at := self.fixture_at(site)) in here else "")

        @wraps(each.derive)
        def derive(**given: Any) -> Iterator[tuple[Any, ...]]:
            first, table = next(iter(given.items()))
            split = (parts if table.everything is table else Parts(parts.part_of)).of(table)
            for name, part in split.items():
                if name:
                    yield from here[name].goes_on(each, given | {first: part})
                else:
                    yield from each.derive(**given | {first: part})

        return replace(each, derive=derive)

    def _guarded(self, enter: Callable[[Any], None]) -> Callable[[Any], None]:
        """Returns what does what a derived row says, which a mutant may have made a row of nothing."""

        def entered(row: Any) -> None:
            try:
                enter(row)
            except Exception as exception:
                trial = self.trials.get(self.fixture_at(row[0]))
                if trial is None:
                    raise
                trial.failure = repr(exception)

        return entered

    # --- at the end
    def answers(self, tried: Iterable[Mutant]) -> dict[str, dict[str, int]]:
        """Returns, by mutant, the fixtures for which rules derive something else, with a number for what they derive."""
        given = {each.name: self._given(each) for each in self.used}
        usual = {
            (each.name, name): frozenset(each.derive(**tables))
            for each in self.used
            for name, tables in given[each.name].items()
        }
        return {mutant.name: self._answers(mutant, given, usual) for mutant in tried}

    def _answers(self, mutant: Mutant, given: Any, usual: Any) -> dict[str, int]:
        trial = Trial(mutant, self.program)
        found: dict[str, list[Any]] = defaultdict(list)
        different: dict[str, None] = {}
        for each in self.used:
            for name, tables in given[each.name].items() if changes(mutant, each) else ():
                rows = trial.derived(each, tables)
                if rows == NO_END:
                    return {name: 0}
                answer = rows if isinstance(rows, str) else frozenset(rows)
                found[name].append((each.name, answer))
                if answer != usual[each.name, name]:
                    different[name] = None
        return {name: hash(frozenset(found[name])) for name in different}

    def _given(self, each: Rule) -> dict[str, dict[str, Any]]:
        """Returns, by fixture, what a rule is applied to."""
        code = _code(each)
        parameters = code.co_varnames[: code.co_argcount]
        tables: dict[str, Any] = {
            name: self.rules.tables[relation] for name, relation in zip(parameters, each.body, strict=False)
        }
        extra = {name: self.known[name] for name in parameters if name in self.known}
        first = parameters[0]
        split = Parts(self.fixture_at).of(tables[first])
        return {name: tables | extra | {first: part} for name, part in split.items() if name}
