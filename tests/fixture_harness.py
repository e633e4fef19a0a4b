"""Fixtures: programs whose expected calls stand on the line, run on a JVM and analysed.

An expectation is a comment `// $ calls=A.go reaches=A.run SPURIOUS: calls=B.go MISSING: calls=C.go`.

- `calls=` names a method that a call on this line leads to, be it by an instruction, by reflection, as a
  static initialiser (`A.<clinit>`) or as a new thread, which a fixture makes and starts on one line.
- `reaches=` names a method that the library calls on behalf of this line: only that it may run is checked.
- `SPURIOUS:` begins what only the analysis finds, `MISSING:` what only the JVM does. Both are known gaps,
  and the test fails when one is cured.
- A mode (`points-to:`) begins what holds in that mode and those after it, and ends such a gap. What is listed for
  some modes only is missing, or not spurious, in the others.

A method is `Class.name`, or `Class.name(Type,…)` where overloads must be told apart, without the name of
the fixture's own class in front. Methods count if they contain `Probe.reached()`, and those that are not
named by any expectation must not be called.

A header may name rules for reflection: `Positive:` those without which the fixture fails, `Negative:` those that
make it fail if they take everything in it for what is at the operands of its calls. So it may name the updates of
the program's relations that `Effects` does. Rules in Cypher derive something of a positive fixture, and nothing of a
negative one.

A fixture of several files is a folder: what isn't Java lies beside its classes when it runs. One whose header
says `Needs Java 21.` is left out where the JDK is older. What is specified in mode `sound` stands in `NAME.spec`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cypher import inference
from engine.effects import Effects
from engine.reflection import modes
from engine.reflection.modes import RULES
from engine.reflection.papers import LIVSHITS
from tests.fixture_assembler import assemble

FIXTURES = Path(__file__).parent / "fixtures"
# Fixtures that are analysed one by one: they bring so much of the JDK along that calls in the others would reach more.
ALONE = Path(__file__).parent / "alone"
SUPPORT = "support"
MODES = tuple(modes.MODES)
GAPS = ("SPURIOUS", "MISSING")
RELEASE = 17

_COMMENT = re.compile(r"// \$ (.*)$")
_DESCRIPTOR = re.compile(r"\[*(?:[BCDFIJSZ]|L[^;]+;)")
_PRIMITIVES = {
    "B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short",
    "Z": "boolean",
}  # fmt: skip


class Fixture(NamedTuple):
    """A program: its main class and its sources, both by the path of their class, as in `near/Base`."""

    name: str
    sources: dict[str, Path]


class Expectation(NamedTuple):
    """One item of an expectation comment; `mode` is the first in which it holds, empty for all, `gap` for what is simply true."""

    source: str
    line: int
    mode: str
    gap: str
    relation: str
    callee: str


class Call(NamedTuple):
    """A call on `line` of `source` that leads to `callee`, written `Class.name(Type,…)`."""

    source: str
    line: int
    callee: str


class Result(NamedTuple):
    """What a run or an analysis found in one fixture: calls on its lines, and methods that may run.

    Of a run, `reached` holds the methods that the library called; `failure` is what the program threw, if
    anything.
    """

    calls: frozenset[Call]
    reached: frozenset[str]
    failure: str = ""


def fixtures(root: Path = FIXTURES) -> list[Fixture]:
    """Returns the fixtures of a folder that the JDK can run, by name.

    One of several sources is a folder that bears the main class's name.
    """
    found = [
        Fixture(path.stem, {path.stem: path}) for path in root.iterdir() if path.suffix in (".java", ".jasm")
    ]
    for folder in root.iterdir():
        if folder.is_dir() and folder.name != SUPPORT:
            paths = sorted(folder.rglob("*.java"))
            found.append(Fixture(folder.name, {str(p.relative_to(folder).with_suffix("")): p for p in paths}))
    return sorted(fixture for fixture in found if release(fixture) <= _newest_release())


@cache
def _newest_release() -> int:
    """Returns the release of the JDK on the path; without a JDK, that of which most fixtures are."""
    javac = shutil.which("javac")
    if javac is None:
        return RELEASE
    version = subprocess.run([javac, "-version"], capture_output=True, text=True, check=True)
    match = re.search(r"javac (\d+)", version.stdout + version.stderr)
    return int(match[1]) if match else RELEASE


def release(fixture: Fixture) -> int:
    """Returns the release of Java that the fixture needs."""
    match = re.search(r"Needs Java (\d+)\.", header(fixture))
    return int(match[1]) if match else RELEASE


def header(fixture: Fixture) -> str:
    """Returns the text of the comment that says what the fixture shows; empty if there is none."""
    match = re.search(r"/\*\*(.*?)\*/", fixture.sources[fixture.name].read_text(), re.DOTALL)
    return re.sub(r"\n \* ?", "\n", match[1]).strip() if match else ""


def covered(fixture: Fixture) -> list[str]:
    """Returns what the header lists behind `Covers:`."""
    match = re.search(r"Covers: (.*)\.\s*$", header(fixture), re.DOTALL)
    return [each.strip() for each in match[1].replace("\n", " ").split(", ")] if match else []


def positive(fixture: Fixture) -> list[str]:
    """Returns the rules without which the fixture fails, according to its header."""
    return _rules("Positive", fixture)


def negative(fixture: Fixture) -> list[str]:
    """Returns the rules that make the fixture fail if they hold of more than they do, according to its header."""
    return _rules("Negative", fixture)


def _rules(title: str, fixture: Fixture) -> list[str]:
    match = re.search(rf"^{title}: (.*?)\.$", header(fixture), re.DOTALL | re.MULTILINE)
    return match[1].replace("\n", " ").split("; ") if match else []


def updates() -> dict[str, str]:
    """Returns the updates of the program's relations by name, each with the method of `Effects` that does it."""
    return {
        name: method
        for method, function in vars(Effects).items()
        for name in re.findall(
            r"^ +([\w.-]+): [\w-]+\(.*? :-", getattr(function, "__doc__", None) or "", re.MULTILINE
        )
    }


def rules_on_server() -> list[inference.Rule]:
    """Returns the rules in Cypher that are the paper's on names, specification points and casts."""
    return [each for each in inference.rules() if re.search(r"§§? (5\.2|5\.4\.2|6\.2)", each.paper)]


def rule_table() -> str:
    """Returns the rules, the updates and their fixtures for the documentation, in Markdown."""
    rows = [
        (each.name, each.paper, f"engine/reflection/{module}.py", f"{module}.{each.derive.__name__}")
        for each in RULES
        for module in [each.derive.__module__.rpartition(".")[2]]
    ]
    rows += [(name, LIVSHITS, "engine/effects.py", f"effects.{method}") for name, method in updates().items()]
    rows += [
        (each.name, LIVSHITS, f"cypher/rules/{each.name}.cypher", f"{each.name}.cypher")
        for each in rules_on_server()
    ]
    lines = ["| rule | from | where | positive | negative |", "| --- | --- | --- | --- | --- |"]
    known = fixtures()
    for name, paper, path, where in rows:
        shows = (
            ", ".join(f"`{fixture.name}`" for fixture in known if name in named(fixture))
            for named in (positive, negative)
        )
        # Authors and year of a paper, whose title stands between them.
        short = re.sub(r"\..* (\d{4})$", r" \1", paper)
        lines.append(f"| {' | '.join((name, short, f'[`{where}`]({path})', *shows))} |")
    return "\n".join(lines)


def expectations(fixture: Fixture) -> list[Expectation]:
    """Returns the expectations of all sources of the fixture."""
    return [each for source, path in fixture.sources.items() for each in _parse(source, path.read_text())]


def _parse(source: str, text: str) -> Iterator[Expectation]:
    """Yields the expectations in `text`.

    >>> [each[1:] for each in _parse("X", "// $ calls=A.b points-to: MISSING: reaches=C.d")]
    [(1, '', '', 'calls', 'A.b'), (1, 'points-to', 'MISSING', 'reaches', 'C.d')]
    """
    for line, content in enumerate(text.splitlines(), 1):
        match = _COMMENT.search(content)
        mode = gap = ""
        for word in match[1].split() if match else ():
            relation, equals, callee = word.partition("=")
            if word.removesuffix(":") in GAPS:
                gap = word[:-1]
            elif word.removesuffix(":") in MODES:
                mode, gap = word[:-1], ""
            elif equals and relation in ("calls", "reaches"):
                yield Expectation(source, line, mode, gap, relation, callee)
            else:
                raise ValueError(f"{source}:{line}: {word!r} is no expectation")


def specification() -> str:
    """Returns what all fixtures specify."""
    return "".join(path.read_text() for path in sorted(FIXTURES.rglob("*.spec")))


def build(classes: Path, javac: str, root: Path = FIXTURES) -> None:
    """Compiles all fixtures of a folder and what runs them into the folder `classes`, and copies their other files there."""
    sources = {RELEASE: sorted((FIXTURES / SUPPORT).glob("*.java"))}
    for fixture in fixtures(root):
        for path in fixture.sources.values():
            if path.suffix == ".java":
                sources.setdefault(release(fixture), []).append(path)
            else:
                for name, content in assemble(path.read_text(), path.name).items():
                    (classes / f"{name}.class").write_bytes(content)
        _copy_resources(root / fixture.name, classes)
    for number, paths in sorted(sources.items()):
        options = f"--release {number} -g -nowarn -Xlint:none -proc:none -cp {classes} -d {classes}".split()
        # Warnings about Unsafe, which can't be switched off, are of no interest.
        run = subprocess.run([javac, *options, *map(str, paths)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr


def _copy_resources(folder: Path, classes: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".java":
            copy = classes / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)


def shown(fixture: Fixture, declaring: str, name: str, parameters: str) -> str:
    """Returns a method the way expectations write it; `declaring` is an internal name.

    >>> shown(Fixture("X", {}), "X$A", "go", "I[Ljava/util/List;LX$B;")
    'A.go(int,List[],B)'
    """
    short = declaring.removeprefix(f"{fixture.name}$").replace("/", ".")
    return f"{short}.{name}({','.join(map(_simple, _DESCRIPTOR.findall(parameters)))})"


def _simple(descriptor: str) -> str:
    element = descriptor.lstrip("[")
    base = _PRIMITIVES.get(element) or re.split(r"[/$]", element[1:-1])[-1]
    return base + "[]" * (len(descriptor) - len(element))


def source_of(declaring: str) -> str:
    """Returns the source, as in `Fixture.sources`, of the class with this internal name."""
    return declaring.partition("$")[0]


def execute(classes: Path, java: str, mains: Iterable[Fixture]) -> dict[str, Result]:
    """Runs fixtures on one JVM to its exit, and returns what each called, by name."""
    return observe([java, "-cp", str(classes), f"{SUPPORT}.Observer"], mains)


def observe(observer: list[str], mains: Iterable[Fixture]) -> dict[str, Result]:
    """Returns what each fixture called, by name, when the command `observer` gets their main classes."""
    by_name = {fixture.name: fixture for fixture in mains}
    by_source = {source: fixture for fixture in by_name.values() for source in fixture.sources}
    command = [*observer, *(name.replace("/", ".") for name in by_name)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    calls: dict[str, set[Call]] = {name: set() for name in by_name}
    reached: dict[str, set[str]] = {name: set() for name in by_name}
    failures: dict[str, str] = {}
    for line in run.stdout.splitlines():
        match line.replace(".", "/").split():
            case ["call", caller, number, declaring, name, descriptor]:
                fixture = by_source[source_of(declaring)]
                callee = shown(fixture, declaring, name, _parameters(descriptor))
                calls[fixture.name].add(Call(source_of(caller), int(number), callee))
            case ["reach", declaring, name, descriptor]:
                fixture = by_source[source_of(declaring)]
                reached[fixture.name].add(shown(fixture, declaring, name, _parameters(descriptor)))
            case ["failed", name, *_]:
                failures[name] = line
            case _:
                raise ValueError(f"{line!r} is no line of the observer")
    return {
        name: Result(frozenset(calls[name]), frozenset(reached[name]), failures.get(name, ""))
        for name in by_name
    }


def _parameters(descriptor: str) -> str:
    return descriptor[1:].partition(")")[0]


def names(written: str, callee: str) -> bool:
    """Returns whether the method of an expectation is `callee`.

    >>> names("A.go", "A.go(int)"), names("A.go()", "A.go(int)")
    (True, False)
    """
    return written in (callee, callee.partition("(")[0])


def _expects(each: Expectation, call: Call) -> bool:
    return (each.source, each.line) == (call.source, call.line) and names(each.callee, call.callee)


def _place(each: Expectation | Call) -> str:
    return f"{each.source}:{each.line}: {each.callee}"


def wrong_at_run_time(expected: Iterable[Expectation], observed: Result) -> list[str]:
    """Returns what is wrong with expectations according to a run: observed = what is said to be true."""
    true = [each for each in expected if each.gap != "SPURIOUS"]
    calls = [each for each in true if each.relation == "calls"]
    reaches = [each for each in true if each.relation == "reaches"]
    return [
        *([observed.failure] if observed.failure else []),
        *(
            f"{_place(call)} is called but not expected"
            for call in sorted(observed.calls)
            if not any(_expects(each, call) for each in calls)
        ),
        *(
            f"{callee} is reached through the library but not expected"
            for callee in sorted(observed.reached)
            if not any(names(each.callee, callee) for each in reaches)
        ),
        *(
            f"{_place(each)} is expected but not called"
            for each in calls
            if not any(_expects(each, call) for call in observed.calls)
        ),
        *(
            f"{_place(each)} is expected but not reached"
            for each in reaches
            if not any(names(each.callee, callee) for callee in observed.reached)
        ),
    ]


def wrong_in_mode(
    mode: str, expected: Iterable[Expectation], computed: Result, *, exact: bool = True
) -> list[str]:
    """Returns what is wrong with an analysis in `mode` according to the expectations.

    Unless it is to be `exact`, what is spurious may as well be absent.
    An initialiser runs once, at whichever of the lines that may trigger it comes first: further lines are
    allowed. A call on a line that `reaches` the method is allowed, too.
    """
    known = ("", *MODES[: MODES.index(mode) + 1])
    found = [each for each in expected if each.mode in known and each.gap != "MISSING"]
    unexpected = [call for call in computed.calls if not any(_expects(each, call) for each in found)]
    wanted = [each for each in found if exact or each.gap != "SPURIOUS"]
    return [
        *(
            f"{_place(each)} is expected but not computed"
            for each in wanted
            if each.relation == "calls" and not any(_expects(each, call) for call in computed.calls)
        ),
        *(
            f"{_place(call)} is computed but not expected"
            for call in sorted(unexpected)
            if "<clinit>" not in call.callee
        ),
        *(
            f"{_place(each)} is expected but not reachable"
            for each in wanted
            if not any(names(each.callee, callee) for callee in computed.reached)
        ),
        *(
            f"{callee} is reachable but not expected"
            for callee in sorted(computed.reached)
            if not any(names(each.callee, callee) for each in found)
        ),
    ]
