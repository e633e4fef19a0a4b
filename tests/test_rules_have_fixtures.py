"""Each rule for reflection has a fixture that fails without it, and one that fails if it holds of too much.

Headers of fixtures say which (see `tests.fixture_harness`). Rules are changed at the calls of one fixture only, so
one analysis of all fixtures tries as many changes.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pytest

from cli.analyze import analyze
from cli.export.jcg_format import lines
from cli.pipeline import Job
from cli.progress import Progress
from cli.run import Run
from cypher.program import ACC_STATIC, Program
from cypher.schema import NONE, Variable
from engine.constraints import Constraints
from engine.models import Models, SiteCall
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.generics import listed
from engine.reflection.members import ANY_CLASS
from engine.reflection.modes import DEFAULT, MODES, RULES
from engine.reflection.names import class_of_descriptor, parameter_descriptors
from engine.reflective import Reflection
from engine.rules import MakeApplier, Rule, Rules, Table
from engine.sites import MODEL, REFLECTION
from engine.specification import Specification
from tests.fixture_analysis import computed, parse
from tests.fixture_harness import (
    Fixture,
    build,
    expectations,
    fixtures,
    negative,
    positive,
    rules_on_server,
    source_of,
    updates,
    wrong_in_mode,
)

FIXTURES = fixtures()
# (those in Cypher are tried on a server: `tests.cypher.test_inference`)
NAMED = [*(each.name for each in RULES), *updates(), *(each.name for each in rules_on_server())]
BY_NAME = {each.name: each for each in FIXTURES}
_FINDERS = (rel.ForName, rel.GetMember, rel.ListMembers)  # calls that find classes and members


class Change(NamedTuple):
    """The rule is taken out at the calls of a fixture or, if `flooded`, finds all that the fixture has at their operands."""

    rule: str
    flooded: bool


def changes_of(fixture: Fixture) -> list[Change]:
    """Returns the changes of which the fixture's header says that it fails with them."""
    return [
        *(Change(rule, flooded=False) for rule in positive(fixture)),
        *(Change(rule, flooded=True) for rule in negative(fixture)),
    ]


class Inventory:
    """What a fixture has that may come to an operand."""

    def __init__(self, program: Program, fixture: Fixture, classes: Iterable[str]) -> None:
        self.types = [program.type_named(each) for each in classes if source_of(each) in fixture.sources]
        self.methods = [method for each in self.types for method in program.methods_of(each)]
        self.fields = [field for each in self.types for field in program.fields_of(each)]
        self.texts = [
            *(program.name_of_type(each).replace("/", ".") for each in self.types),
            *(program.name_of_method(each)[1] for each in self.methods),
            *(program.name_of_field(each)[1] for each in self.fields),
        ]
        generic = "".join(program.generic_of_field(each) for each in self.fields)
        self.signatures = [program.text_of(each) for each in listed(generic)]
        self.handles = [(each, _kind_of(program, each)) for each in self.methods]
        mentioned = {
            class_of_descriptor(program, each)
            for method in self.methods
            for each in parameter_descriptors(program.name_of_method(method)[2])
        }
        self.classes = sorted(mentioned | set(self.types))

    def rows(
        self, relation: Any, pointers: set[int], sites: set[int], finders: Sequence[int]
    ) -> Iterator[tuple[Any, ...]]:
        """Yields all rows of a relation about these pointers or sites; `finders` ask for classes and members."""
        values: dict[Any, Iterable[tuple[Any, ...]]] = {
            rel.ClassAt: ((each,) for each in self.classes),
            rel.StringAt: ((each,) for each in self.texts),
            rel.MethodAt: ((each,) for each in self.methods),
            rel.FieldAt: ((each,) for each in self.fields),
            rel.HandleAt: self.handles,
            rel.TypeAt: ((each,) for each in self.signatures),
            rel.UnknownAt: ((each,) for each in (-1, *finders)),
            rel.ResultCast: ((each, 0) for each in self.types[-1:]),  # (several would exclude each other)
            rel.Local: ((each,) for each in pointers),
            rel.ClassObject: ((each,) for each in self.types),
            rel.FieldObject: ((each,) for each in self.fields),
            rel.OffsetField: ((each, "application") for each in self.fields),
            rel.ParameterClass: (
                (place, each) for place in range(-1, 4) for each in (*self.classes, ANY_CLASS)
            ),
        }
        subjects = sites if "site" in relation._fields else pointers
        for value in values[relation]:
            for subject in subjects:
                yield relation(subject, *value)


def _kind_of(program: Program, method: int) -> int:
    if program.name_of_method(method)[1] == "<init>":
        return api.NEW
    return api.CALL_STATIC if program.flags_of_method(method) & ACC_STATIC else api.CALL_VIRTUAL


class Changed:
    """The rules of an analysis with changes, each at the calls of one fixture."""

    def __init__(
        self, reflection: Reflection, program: Program, classes: Sequence[str], changes: Mapping[str, Change]
    ) -> None:
        self._reflection, self._program = reflection, program
        self._changes = changes
        self._fixture_of = {source: name for name in changes for source in BY_NAME[name].sources}
        self._has = {name: Inventory(program, BY_NAME[name], classes) for name in changes}
        self._change_updates()

    def fixture_at(self, site: int) -> str:
        """Returns the fixture that a call is in, "" if it is in none that has a change."""
        method = self._reflection._constraints.sites.place(self._reflection.handles.site_of(site))[0]
        if method < 0:
            return ""
        declaring = self._program.name_of_method(method)[0]
        return self._fixture_of.get(source_of(self._program.name_of_type(declaring)), "")

    def rule(self, each: Rule) -> Rule:
        """Returns a rule with the changes of it."""
        without = [name for name, change in self._changes.items() if change == (each.name, False)]
        flooded = [name for name, change in self._changes.items() if change == (each.name, True)]
        if not without and not flooded:
            return each

        @wraps(each.derive)
        def derive(**given: Any) -> Iterator[tuple[Any, ...]]:
            for row in each.derive(**given):
                if self.fixture_at(row[0]) not in without:
                    yield row
            if flooded:
                yield from self._flood(each, given, flooded)

        return replace(each, derive=derive)

    def _flood(self, each: Rule, given: dict[str, Any], flooded: list[str]) -> Iterator[tuple[Any, ...]]:
        """Yields what the rule derives if everything that a fixture has is at the operands of its calls."""
        tables = dict(zip(given, each.body, strict=False))
        first, *others = tables
        found: dict[str, list[Any]] = defaultdict(list)
        for row in given[first].everything:
            found[self.fixture_at(row.site)].append(row)
        for name, rows in found.items():
            if name not in flooded:
                continue
            pointers = {
                pointer
                for table in tables
                for row in given[table].everything
                if self._is_at(row, name)
                for pointer in self._pointers(row)
            }
            everything = {
                other: Table(self._everything(name, tables[other], pointers, rows, given[other].everything))
                for other in others
            }
            if others:
                yield from each.derive(**(given | {first: Table(rows)} | everything))
            else:
                yield from self._of_others(each, name, rows)

    def _is_at(self, row: Any, name: str) -> bool:
        """Returns whether a row is about a call of a fixture."""
        return "site" in row._fields and self.fixture_at(row.site) == name

    @staticmethod
    def _pointers(row: Any) -> Iterator[int]:
        hints = get_type_hints(type(row))
        return (getattr(row, each) for each in hints if hints[each] is Variable and getattr(row, each) >= 0)

    def _everything(
        self, name: str, relation: Any, pointers: set[int], rows: list[Any], known: Table[Any]
    ) -> Iterator[tuple[Any, ...]]:
        """Yields the rows of a relation that are known, and those that a fixture might have besides."""
        made = {rel.MadeAt: rel.MakeCall, rel.MethodTypeAt: rel.MethodTypeCall}.get(relation)
        yield from known
        if made is not None:
            calls = [
                row.site for row in self._reflection.rules.tables[made] if self.fixture_at(row.site) == name
            ]
            yield from (relation(pointer, call) for pointer in pointers for call in calls)
        elif relation not in (rel.ParameterClasses, rel.LookupCall, *_FINDERS):
            tables = self._reflection.rules.tables
            finders = [
                row.site for each in _FINDERS for row in tables[each] if self.fixture_at(row.site) == name
            ]
            yield from self._has[name].rows(relation, pointers, {row.site for row in rows}, finders)

    def _of_others(self, each: Rule, name: str, rows: list[Any]) -> Iterator[tuple[Any, ...]]:
        """Yields, for a rule that only looks at the call, the results of the other calls of the fixture."""
        head: Any = each.head
        has = self._has[name]
        found = {rel.FieldObject: has.fields, rel.ClassObject: has.types}
        values = found.get(head) or [row.site for row in rows]
        yield from (head(row.site, value) for row in rows for value in values)

    # --- what derived rows change
    def _change_updates(self) -> None:
        """Changes the updates of the program's relations, where a fixture is to notice it."""
        effects, constraints = self._reflection._effects, self._reflection._constraints
        self._call, self._load, self._store = constraints.call, effects.load, effects.store
        constraints.call = self._changed_call  # type: ignore[method-assign]
        effects.load = self._changed_load  # type: ignore[method-assign]
        effects.store = self._changed_store  # type: ignore[method-assign]

    def _changed_call(
        self, cause: int, kind: int, target: int, receiver: int = NONE, arguments: Iterable[tuple[int, int]] = (),
        result: int = NONE, thrown: int = NONE, origin: int = MODEL, method: int = NONE,
    ) -> int:  # fmt: skip
        name = self.fixture_at(cause) if origin == REFLECTION and cause >= 0 else ""
        update, flooded = self._changes.get(name, ("", False))
        invokes = bool(name) and self._reflection.sites[cause][0].role == api.INVOKE
        if update == "calls.init" and not invokes:
            declaring = self._program.name_of_method(target)[0]
            found = [each for each in self._program.methods_of(declaring) if self._is_constructor(each)]
            for each in found if flooded else ():
                self._call(cause, kind, each, receiver, arguments, result, thrown, origin, method)
            return NONE
        if update == "assign.receiver" and invokes and receiver >= 0:
            receiver = self._other(cause, flooded)
        elif update == "assign.return" and invokes and result >= 0:
            result = self._filled(cause, result) if flooded else NONE
        elif update == "points-to.arguments" and invokes:
            arguments = [(position, self._other(cause, flooded)) for position, _ in arguments]
        return self._call(cause, kind, target, receiver, arguments, result, thrown, origin, method)

    def _is_constructor(self, method: int) -> bool:
        return self._program.name_of_method(method)[1] == "<init>"

    def _other(self, cause: int, flooded: bool) -> int:
        """Returns a pointer to nothing or, if `flooded`, to all that a fixture has."""
        pointer = self._reflection._constraints.fresh()
        return self._filled(cause, pointer) if flooded else pointer

    def _filled(self, cause: int, pointer: int) -> int:
        """Returns a pointer to which an object of each class of the fixture was put that a call is in."""
        effects, call = self._reflection._effects, self._reflection.sites[cause][1]
        for each in self._has[self.fixture_at(cause)].types:
            self._reflection._constraints.put(pointer, effects.instance(each, call))
        return pointer

    def _changed_load(self, call: SiteCall, base: int, field: int, target: int) -> None:
        for each in self._fields("load", call, field):
            self._load(call, base, each, target)

    def _changed_store(self, call: SiteCall, value: int, field: int, base: int) -> None:
        for each in self._fields("store", call, field):
            self._store(call, value, each, base)

    def _fields(self, update: str, call: SiteCall, field: int) -> Sequence[int]:
        """Returns the fields that are accessed in place of one."""
        name = self.fixture_at(call.site)
        if name not in self._changes or self._changes[name].rule != update:
            return [field]
        return self._has[name].fields if self._changes[name].flooded else []


def failures(
    classes: Path, changes: Mapping[str, Change], mode: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, list[str]]:
    """Returns what is wrong with each fixture when all are analysed with the changes.

    In other modes than the default one, only those are analysed that have a change.
    """
    chosen = [each for each in FIXTURES if mode == DEFAULT or each.name in changes]
    compiled = sorted(str(each.relative_to(classes).with_suffix("")) for each in classes.rglob("*.class"))

    class ChangedReflection(Reflection):
        def __init__(
            self, constraints: Constraints, mode: str, models: Models, specification: Specification,
            applier: MakeApplier,
        ) -> None:  # fmt: skip
            super().__init__(constraints, mode, models, specification, applier)
            program = constraints.program
            changed = Changed(self, program, compiled, changes)
            rules = [changed.rule(each) for each in RULES if each.name in MODES[mode]]
            self.rules = Rules(rules, self.rules._known)
            self.casts._rules = self.specified.names._rules = self.rules

    place = classes.parent / "changed"
    with monkeypatch.context() as patch:
        patch.setattr("engine.analysis.Reflection", ChangedReflection)
        job = Job([str(classes)], [each.name for each in chosen], mode=mode)
        analyze(job, place, Progress(quiet=True))
    run = Run(place)
    graph = parse(json.loads("".join(lines(run, application=False))))
    return {each.name: wrong_in_mode(mode, expectations(each), computed(graph, each)) for each in chosen}


@pytest.mark.parametrize("rule", NAMED)
def test_each_rule_has_a_positive_and_a_negative_fixture(rule: str) -> None:
    assert [each.name for each in FIXTURES if rule in positive(each)], "no fixture fails without it"
    assert [each.name for each in FIXTURES if rule in negative(each)], "no fixture fails if it holds of more"


@pytest.mark.parametrize("fixture", FIXTURES, ids=list(BY_NAME))
def test_fixtures_name_rules(fixture: Fixture) -> None:
    assert {*positive(fixture), *negative(fixture)} <= set(NAMED)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with the class files of all fixtures."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("needs javac on the path")
    folder = tmp_path_factory.mktemp("rules") / "classes"
    folder.mkdir()
    build(folder, javac)
    return folder


def mode_of(rule: str) -> str:
    """Returns the mode in which a rule is tried: the default one, or the first that has the rule; "" if none has."""
    if rule in updates():
        return DEFAULT
    return next((mode for mode in (DEFAULT, *MODES) if rule in MODES[mode]), "")


CHANGES = {
    mode: {
        each.name: [change for change in changes_of(each) if mode_of(change.rule) == mode]
        for each in FIXTURES
    }
    for mode in MODES
}
ROUNDS = [
    (mode, {name: changes[number] for name, changes in found.items() if number < len(changes)})
    for mode, found in CHANGES.items()
    for number in range(max(map(len, found.values())))
]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "changes"), ROUNDS, ids=range(len(ROUNDS)))
def test_fixtures_fail_if_their_rules_are_changed(
    mode: str, changes: dict[str, Change], classes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = failures(classes, changes, mode, monkeypatch)
    assert {name: each for name, each in found.items() if each and name not in changes} == {}
    assert [(name, change) for name, change in changes.items() if not _shows(change, found[name])] == []


def _shows(change: Change, wrong: Iterable[str]) -> bool:
    """Returns whether what is wrong with a fixture is what the change has to cause."""
    return any(each.endswith("not expected") == change.flooded for each in wrong)
