"""What `explain` says of a small program: each way by which a name comes to a call, in words and as facts of the run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.exits import Failure
from cli.explain import Explainer, explain, find_sites
from cli.run import Run
from cli.site_flows import SiteFlows
from cli.summary import application_sites
from tests.cli.conftest import Heliograph, compiled
from tests.provenance_checks import check_derivation, check_explanation, known

SOURCE = """package demo;

import java.lang.reflect.Method;

public class Main {
    static String shared = "demo.Main$Shared";
    static String nothing;
    String kept;

    static class Shared { static { hit(); } }
    static class Kept { static { hit(); } }
    static class Element {}
    static class Passed {}
    static class Returned {}
    static class Thrown {}
    static class Left {}
    static class Right {}
    static class Own {}
    static class Carrier extends Exception { String name; Carrier(String name) { this.name = name; } }
    interface Plugin {}
    public static class Mirror implements Plugin {}
    public static class Sized implements Plugin { public Sized(String size) {} }
    static void hit() {}

    static Class<?> load(String name) throws Exception { return Class.forName(name); } // @argument
    static String give() { return "demo.Main$Returned"; }
    static String same(String name) { return name != null ? name : nothing; }
    static String itself(String name) { return name; }
    static void fail() throws Exception { throw new Carrier("demo.Main$Thrown"); }
    public void go() {}

    public static void main(String[] arguments) throws Exception {
        Class.forName(shared); // @static
        Main box = new Main();
        box.kept = "demo.Main$Kept";
        Class.forName(box.kept); // @field
        String[] names = {"demo.Main$Element"};
        Object name = names[0];
        Class.forName((String) name); // @array
        load("demo.Main$Passed");
        Class.forName(give()); // @return
        try {
            fail();
        } catch (Carrier carrier) {
            Class.forName(carrier.name); // @exception
        }
        same("demo.Main$Right");
        Class.forName(same("demo.Main$Left")); // @mixed
        itself("demo.Main$Right");
        Class.forName(itself("demo.Main$Own")); // @passed
        Method method = box.getClass().getMethod("go");
        method.invoke(box); // @invoke
        Class.forName(System.getProperty("a.key")); // @property
        Class.forName(arguments[0]).newInstance(); // @unknown
        Object first = (Plugin) Class.forName(arguments[1]).newInstance(); // @cast
        Object second = (Plugin) Class.forName(arguments[2]).getConstructor().newInstance(); // @constructor
        Object third = (Plugin) Class.forName(arguments[3]).getConstructors()[0].newInstance(); // @listed
        Class<?> either = Class.forName(arguments[4]); // @either
        Object fourth = (Plugin) either.getConstructor().newInstance();
        Object fifth = (Plugin) either.getConstructor(String.class).newInstance("1"); // @sized
        Class.forName("demo.Absent"); // @absent
        Class.forName(nothing); // @empty
    }
}
"""
LINES = {
    line.partition("// @")[2]: number for number, line in enumerate(SOURCE.splitlines(), 1) if "// @" in line
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str, heliograph: Heliograph) -> Path:
    """The directory of a run of the program above."""
    folder = tmp_path_factory.mktemp("explained")
    classes = compiled(folder, jdk, javac, Main=SOURCE)
    done = heliograph("analyze", classes, "--jdk", jdk, "--mode", "casts", "--out", folder / "run", "--quiet")
    assert done.code == 0, done.errors
    return folder / "run"


@pytest.fixture
def explained(program: Path) -> Run:
    return Run(program)


def at(run: Run, marker: str, method: str = "main") -> list[dict[str, Any]]:
    """Returns what is said of the calls on a line."""
    found = explain(run, f"demo.Main.{method}:{LINES[marker]}")
    return [each.document() for each in found]


def kinds(answer: dict[str, Any]) -> list[str]:
    return [step["kind"] for step in answer["steps"]]


@pytest.mark.parametrize(
    ("marker", "method", "target", "way"),
    [
        ("static", "main", "Shared", ["static-store", "static-load"]),
        ("field", "main", "Kept", ["store", "load"]),
        ("array", "main", "Element", ["array-store", "array-load"]),
        ("argument", "load", "Passed", ["argument"]),
        ("return", "main", "Returned", ["constant", "return"]),
        ("exception", "main", "Thrown", ["argument", "store", "load"]),
    ],
)
def test_a_name_is_followed_from_its_constant(
    explained: Run, marker: str, method: str, target: str, way: list[str]
) -> None:
    (found,) = at(explained, marker, method)
    (answer,) = found["answers"]
    assert answer["target"] == f"demo.Main${target}"
    assert kinds(answer)[: len(way) + 1] == [*way, "rule"]
    assert answer["steps"][0]["text"].startswith(f'constant "demo.Main${target}"')
    assert answer["steps"][len(way)]["rule"] == "classObjects"
    assert answer["steps"][len(way)]["line"] == LINES[marker]


def test_what_a_target_runs_is_told(explained: Run) -> None:
    (found,) = at(explained, "static")
    assert found["answers"][0]["steps"][-1]["text"] == "so it runs demo.Main$Shared.<clinit>()V"


def test_a_way_that_mixes_calls_says_so_and_is_not_preferred(explained: Run) -> None:
    (found,) = at(explained, "mixed")
    texts = {answer["target"]: [step["text"] for step in answer["steps"]] for answer in found["answers"]}
    mixed = "returned by demo.Main.same, whose calls are not told apart"
    assert "returned by demo.Main.same" in texts["demo.Main$Left"]
    assert mixed in texts["demo.Main$Right"]
    assert mixed not in texts["demo.Main$Left"]


def test_a_way_through_a_method_that_returns_its_argument(explained: Run) -> None:
    (found,) = at(explained, "passed")
    (answer,) = found["answers"]
    assert answer["target"] == "demo.Main$Own"
    assert answer["steps"][0]["text"] == (
        'constant "demo.Main$Own" is returned by demo.Main.itself, which always returns this argument'
    )


def test_an_invocation_is_explained_by_its_member_and_that_by_class_and_name(explained: Run) -> None:
    (found,) = at(explained, "invoke")
    (answer,) = found["answers"]
    assert answer["target"] == "demo.Main.go()V"
    assert [step["rule"] for step in answer["steps"] if step["rule"]] == ["methodObject", "resolvedInvoke"]
    assert [step["operand"] for step in answer["steps"] if step["operand"]] == ["the class", "the name"]
    assert "a new demo.Main" in answer["steps"][0]["text"]
    assert any('constant "go"' in step["text"] for step in answer["steps"])


def test_an_unknown_name_is_followed_to_where_it_enters(explained: Run) -> None:
    (found,) = at(explained, "property")
    (answer,) = found["answers"]
    assert answer["kind"] == "unknown"
    assert 'system property "a.key"' in answer["title"]
    entering, creating = at(explained, "unknown")
    assert "an unknown caller passes in" in entering["answers"][0]["title"]
    assert creating["answers"][0]["title"].startswith("the class is unknown, because the name may be")
    assert "rule" in kinds(creating["answers"][0])


@pytest.mark.parametrize(
    ("marker", "rule", "way"),
    [
        ("cast", "classObjects.casts.1", ["array-store", "array-load", "rule", "result-cast", "rule"]),
        (
            "constructor",
            "classObjects.casts.2",
            ["array-store", "array-load", "rule", "rule", "result-cast", "rule"],
        ),
        (
            "listed",
            "classObjects.casts.listed",
            ["array-store", "array-load", "rule", "rule", "array-store", "array-load", "result-cast", "rule"],
        ),
    ],
)
def test_a_class_that_a_cast_tells_is_followed_from_its_name_to_the_cast(
    explained: Run, marker: str, rule: str, way: list[str]
) -> None:
    found = next(each for each in at(explained, marker) if each["api"] == "java.lang.Class.forName")
    answer = found["answers"][0]
    assert (answer["target"], kinds(answer)) == ("demo.Main$Mirror", way)
    cast, told = answer["steps"][-2:]
    assert cast["text"].endswith("makes an object of it, which is cast to demo.Main$Plugin")
    assert told["text"].startswith(f"so Class.forName may find class demo.Main$Mirror [{rule}:")


def test_the_cast_is_that_of_a_call_that_makes_objects_of_the_class(explained: Run) -> None:
    found = next(each for each in at(explained, "either") if each["api"] == "java.lang.Class.forName")
    told = {each["target"]: each["steps"][-2]["line"] for each in found["answers"] if each["target"]}
    assert told == {"demo.Main$Mirror": LINES["sized"] - 1, "demo.Main$Sized": LINES["sized"]}


@pytest.mark.parametrize(
    ("marker", "rule"), [("cast", "classObjects.casts.1"), ("constructor", "classObjects.casts.2")]
)
def test_the_derivation_of_a_class_that_a_cast_tells_names_the_cast(
    explained: Run, marker: str, rule: str
) -> None:
    site = find_sites(explained.names, explained.result, f"demo.Main.main:{LINES[marker]}")[0]
    (derivation,), _ = SiteFlows(explained, facts=True).derivations(site, None)
    assert (derivation["rule"], derivation["cast"]["types"]) == (rule, ["demo.Main$Plugin"])
    assert derivation["cast"]["api"].endswith("newInstance")
    assert check_derivation(known(explained), site.site, derivation) > 2


def test_a_call_without_a_target_says_what_is_missing(explained: Run) -> None:
    (absent,) = at(explained, "absent")
    assert absent["answers"][0]["kind"] == "absent"
    assert '"demo.Absent"' in absent["answers"][0]["title"]
    (empty,) = at(explained, "empty")
    assert empty["answers"][0]["kind"] == "empty"
    assert "field demo.Main.nothing" in empty["answers"][0]["steps"][0]["text"]


def test_every_printed_step_is_a_fact_of_the_program(explained: Run) -> None:
    result = explained.result
    explainer = Explainer(explained)
    rows = known(explained)
    numbers = [
        check_explanation(rows, each.site, explainer.site(each, None).document())
        for each in result.reflective
    ]
    assert len(numbers) == len(LINES) + 10
    assert sum(numbers) > 30


Change = Callable[[list[dict[str, Any]]], object]
WRONG: dict[str, Change] = {
    "a fact that is none": lambda steps: steps[0]["facts"][-1]["row"].append(
        steps[0]["facts"][-1]["row"].pop() + 1
    ),
    "another line": lambda steps: steps[0].update(line=steps[0]["line"] + 1),
    "another variable": lambda steps: steps[1].update(pointer=steps[0]["pointer"]),
    "another object": lambda steps: steps[1].update(object=steps[1]["object"] + 1),
    "no beginning": lambda steps: steps.pop(0),
    "a gap": lambda steps: steps.pop(1),
    "a fact less": lambda steps: steps[0]["facts"].pop(),
    "another order": lambda steps: steps.insert(0, steps.pop(1)),
    "another end": lambda steps: steps.__delitem__(slice(1, None)),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_step_is_found_out(explained: Run, change: Change) -> None:
    site = find_sites(explained.names, explained.result, f"demo.Main.main:{LINES['field']}")[0]
    document = Explainer(explained).site(site, None).document()
    assert check_explanation(known(explained), site.site, document) > 2
    change(document["answers"][0]["steps"])
    with pytest.raises(AssertionError):
        check_explanation(known(explained), site.site, document)


def test_a_site_has_several_names(explained: Run) -> None:
    names, result = explained.names, explained.result
    name = explain(explained, f"demo.Main.load:{LINES['argument']}")[0].site
    method, _, offset = name.rpartition("@")
    for wanted in (name, f"demo.Main.load@{offset}", "Main.load", "demo.Main.load", method):
        (found,) = find_sites(names, result, wanted)
        assert int(result.sites.offset[found.site]) == int(offset)
    with pytest.raises(Failure, match=r"may be one of\n  demo.Main.main"):
        find_sites(names, result, "demo.Main.main")
    with pytest.raises(Failure, match="no reflective call"):
        find_sites(names, result, "demo.Nobody")


def test_the_text_reads_from_the_constant_to_the_target(explained: Run) -> None:
    line = LINES["static"]
    (found,) = explain(explained, f"demo.Main.main:{line}")
    text = list(found.lines())
    assert text[0] == f"demo.Main.main (Main.java:{line}) calls java.lang.Class.forName: resolved, 1 target"
    assert text[3] == "demo.Main$Shared, because"
    assert text[4].startswith(
        '   1. demo.Main.<clinit> (Main.java:6): constant "demo.Main$Shared" is assigned to static field'
    )
    assert text[5] == f"   2. demo.Main.main (Main.java:{line}): read from static field demo.Main.shared"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coordinates", "main"),
    [
        ("antlr:antlr:2.7.7", "antlr.Tool"),
        ("org.hsqldb:hsqldb:2.7.3", "org.hsqldb.server.Server"),
        ("xalan:xalan:2.7.3", "org.apache.xalan.xslt.Process"),
    ],
    ids=["antlr2", "hsqldb", "xalan"],
)
def test_every_printed_step_is_a_fact_of_a_real_program(
    heliograph: Heliograph, tmp_path: Path, coordinates: str, main: str
) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("needs mvn on the path")
    done = heliograph("analyze", coordinates, "--main", main, "--out", tmp_path / "run", "--quiet")
    assert done.code == 0, done.errors
    run = Run(tmp_path / "run")
    explainer = Explainer(run)
    rows = known(run)
    sites = application_sites(run.result, run.names)
    explained = [explainer.site(each, 3) for each in sites]
    assert explained
    assert all(each.parts for each in explained)
    for site, each in zip(sites, explained, strict=True):
        check_explanation(rows, site.site, each.document())
