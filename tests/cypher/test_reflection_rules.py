"""The rules of reflection in Cypher, on a real server, derive what their functions do."""

from __future__ import annotations

import itertools
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pytest
from neo4j import Driver

from cli.cypher_rules import CypherRules
from cli.pipeline import Job, _link, _open, _read
from cli.progress import Progress
from cypher import closure, reflection_rows
from cypher.program import PUBLIC, Program
from cypher.schema import CallSite, Field, Method, Type, Variable
from engine.analysis import APPLICATION
from engine.kernel.solver import KernelSolver
from engine.reflection import relations as rel
from engine.reflection.members import ANY_CLASS
from engine.reflection.modes import CASTS, DEFAULT, LOCAL, MODES, RULES
from engine.reflection.names import Members
from engine.reflection.papers import LIVSHITS
from engine.rules import Derivation, Rule, Rules
from tests.cli.conftest import compiled
from tests.conftest import EVERYTHING
from tests.fixture_harness import build, fixtures, negative, positive
from tests.named_rows import named_rows

IN_CYPHER = {each.name: each for each in RULES if each.name in closure.REFLECTION}
# What nodes of methods and classes say by themselves.
PROPERTIES = {"Creates", "Length", "Jdk", "Encapsulated", "Inaccessible"}
# Of rows that have pointers and sites in common; a cast lets many classes pass, so fewer do.
GROUPS, GROUPS_OF_CASTS = 800, 200
# Members of all kinds, found in several ways; what has instances and what hasn't; with default constructors and without.
ZOO = """
interface Shape { int SIDES = 0; void draw(); static void hang() {} }
abstract class Base { public int size; Object kept; public Base() {} public void go(int n) {} public void stay() {} }
class Round extends Base implements Shape {
    private int hidden; public String size;
    public Round() {} private Round(int n, String s) {}
    public void draw() {} public void go(int n) {} public void go(String s) {} void go(String s, int n) {}
}
class Square extends Base implements Shape { public Square(int n) {} public void draw() {} void hidden() {} }
public class Zoo { public static void main(String[] arguments) {} }
"""
TEXTS = ("Shape", "Round", "Zoo", "absent", "go", "stay", "hang", "hidden", "size", "SIDES", "\ud800")


# --- form
def test_every_rule_of_the_paper_is_there_in_cypher() -> None:
    folder = files("cypher") / "rules" / "reflection"
    names = {each.name.removesuffix(".cypher") for each in folder.iterdir() if each.name.endswith(".cypher")}
    assert {each.name for each in RULES if each.paper == LIVSHITS} == set(closure.REFLECTION) == names


@pytest.mark.parametrize("name", closure.REFLECTION)
def test_a_rule_in_cypher_looks_at_what_its_function_does(name: str) -> None:
    function, there = IN_CYPHER[name], closure.reflection_rules()[name]
    assert there.head == function.head.__name__
    body = {each.__name__ for each in function.body}
    assert body <= there.premises
    assert there.premises - body <= PROPERTIES | reflection_rows.ROWS.keys()
    assert {*body, there.head} <= reflection_rows.ROWS.keys()
    assert there.rule.paper.startswith(LIVSHITS)


# --- rows
class Zoo(NamedTuple):
    """The classes above, and what rows may speak of."""

    program: Program
    values: dict[Any, Sequence[Any]]
    numbers: Iterator[int]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> Zoo:
    classes = compiled(tmp_path_factory.mktemp("zoo"), jdk, javac, Zoo=ZOO)
    job = Job((str(classes),), ("Zoo",), jdk=str(jdk))
    program, _, _ = _link(job, _read(job, Progress(quiet=True), *_open(job)))
    closed = program.type_named("Square")
    program.is_inaccessible = lambda type_, flags: type_ == closed or not flags & PUBLIC  # type: ignore[method-assign]
    types = [program.type_named(each) for each in ("Shape", "Base", "Round", "Square", "java/lang/Object")]
    members = [each for type_ in types for each in program.methods_of(type_)]
    fields = [each for type_ in types for each in program.fields_of(type_)]
    return Zoo(
        program,
        {
            Variable: [0, 1], CallSite: [0, 1], Type: [*types, -ord("I")], Method: members, Field: fields, str: TEXTS,
            "made": [0, 1, -1], "sort": ["method", "constructor", "field"], "length": [0, 1, 2],
            (rel.GetMember, "name"): [0, 1, -1],
            (rel.ParameterClass, "type"): [program.type_named("java/lang/String"), -ord("I"), ANY_CLASS],
            (rel.ResultCast, "type"): types,
        },
        itertools.count(),
    )  # fmt: skip


def random_row(relation: Any, zoo: Zoo, first: int, choose: random.Random) -> Any:
    """Returns a row whose pointers and sites are `first` or the next one, or none."""
    found: dict[str, Any] = {}
    for name, kind in get_type_hints(relation).items():
        values = zoo.values.get((relation, name)) or zoo.values.get(name) or zoo.values.get(kind) or [0, 1]
        value = choose.choice(values)
        found[name] = first + value if kind in (Variable, CallSite) and value >= 0 else value
    if relation is rel.ResultCast:
        found["inside"] = found["site"] & 1  # whose code a call is in is no matter of choice
    return relation(**found)


def pieces(rule: Rule, zoo: Zoo, choose: random.Random) -> Iterator[dict[Any, list[Any]]]:
    """Yields rows for the body, and then some of one relation, and so for each relation of the body."""
    groups = GROUPS_OF_CASTS if rel.ResultCast in rule.body else GROUPS
    for late in dict.fromkeys(rule.body):
        rows: dict[Any, list[Any]] = defaultdict(list)
        kept = []
        for _ in range(groups):
            first = 2 * next(zoo.numbers)
            for each in rule.body:
                rows[each] += (random_row(each, zoo, first, choose) for _ in range(choose.randint(0, 2)))
            kept += [random_row(late, zoo, first, choose)]
        yield rows
        yield {late: kept}


def _rows(derived: Sequence[Derivation]) -> set[tuple[Any, ...]]:
    return {row for each in derived for row in each.rows}


@pytest.mark.parametrize("name", closure.REFLECTION)
def test_a_rule_derives_what_its_function_does(admin: Driver, zoo: Zoo, name: str) -> None:
    rule, choose = IN_CYPHER[name], random.Random(name)
    known = {"program": zoo.program, "members": Members(zoo.program)}
    function = Rules([rule], known)
    with closure.opened(admin) as run:
        there = Rules([rule], known, CypherRules(run, zoo.program, [rule]))
        for rows in pieces(rule, zoo, choose):
            function.add(rows)
            there.add(rows)
            assert _rows(there.derive()) == _rows(function.derive())
        assert run.rows == len(function.tables[rule.head]) > 0


def concerned(mode: str) -> tuple[str, ...]:
    """Returns the fixtures that show what rules of a mode, which are there in Cypher, do and what they don't."""
    names = set(MODES[mode]) & IN_CYPHER.keys()
    return tuple(
        each.name
        for each in fixtures()
        if os.environ.get(EVERYTHING) or names & {*positive(each), *negative(each)}
    )


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("mode", [LOCAL, DEFAULT, CASTS] if os.environ.get(EVERYTHING) else [CASTS])
def test_fixtures_have_the_same_rows_by_rules_in_cypher(
    admin: Driver, tmp_path: Path, javac: str, mode: str
) -> None:
    build(tmp_path, javac)
    job = Job((str(tmp_path),), concerned(mode), mode=mode, scope=APPLICATION)
    expected = named_rows(job, KernelSolver)
    assert expected["derived"]
    with closure.opened(admin) as run:
        assert named_rows(job, KernelSolver, partial(CypherRules, run)) == expected
