"""Fixtures do on a JVM what their lines say, and the analysis finds it in every mode."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import pytest

from cli.explain import Explainer
from cli.run import Run
from cli.site_flows import SiteFlows
from cli.sites import rows as rows_of_sites
from cli.summary import application_sites
from engine import heap
from engine.jvm import MODELS, Model
from engine.machine import BOOTSTRAPPING
from engine.reflection.modes import CASTS, SOUND
from engine.result import RESOLVED
from engine.sets import Sets
from tests.conftest import EVERYTHING
from tests.fixture_analysis import SEPARATE, Graph, analysed, computed, parse
from tests.fixture_harness import (
    ALONE,
    MODES,
    Call,
    Expectation,
    Fixture,
    Result,
    build,
    covered,
    execute,
    expectations,
    fixtures,
    header,
    source_of,
    wrong_at_run_time,
    wrong_in_mode,
)
from tests.provenance_checks import check_explanation, check_sources, known

FIXTURES = fixtures()
JAVAC, JAVA = shutil.which("javac"), shutil.which("java")

# Fixtures that an older compiler leaves out.
LATER = {"InstanceMain", "PatternSwitch", "PatternSwitchEnum", "VirtualThreads"}

needs_jdk = pytest.mark.skipif(JAVAC is None or JAVA is None, reason="needs javac and java on the path")
needs_command = pytest.mark.skipif(
    importlib.util.find_spec("cli.main") is None, reason="needs the command line"
)
together = pytest.mark.skipif(bool(os.environ.get(SEPARATE)), reason="asks the run of all fixtures together")
each_fixture = pytest.mark.parametrize("fixture", FIXTURES, ids=[each.name for each in FIXTURES])


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with the class files of all fixtures."""
    folder = tmp_path_factory.mktemp("fixtures") / "classes"
    folder.mkdir()
    assert JAVAC is not None
    build(folder, JAVAC)
    return folder


@pytest.fixture(scope="session")
def observed(classes: Path) -> dict[str, Result]:
    """Returns what each fixture called when it ran."""
    assert JAVA is not None
    return execute(classes, JAVA, FIXTURES)


@pytest.fixture(scope="session")
def graph_of(classes: Path) -> Callable[[Fixture, str], Graph]:
    """Returns a function from (fixture, mode) to a call graph, which is one for all if not told otherwise."""
    separate = bool(os.environ.get(SEPARATE))
    compute = cache(partial(analysed, classes))
    everything = tuple(each.name for each in FIXTURES)
    return lambda fixture, mode: compute((fixture.name,) if separate else everything, mode)


@pytest.fixture(scope="session", params=[each for each in MODES if each != CASTS])
def mode(request: pytest.FixtureRequest) -> str:
    """Returns each mode in turn; `sound` has all that `casts` has."""
    return str(request.param)


@each_fixture
def test_header_says_what_it_shows(fixture: Fixture) -> None:
    assert header(fixture).split("Covers:")[0].strip()
    assert covered(fixture)
    assert any(each.gap != "SPURIOUS" for each in expectations(fixture))


@needs_jdk
@each_fixture
def test_expectations_hold_at_run_time(fixture: Fixture, observed: dict[str, Result]) -> None:
    assert wrong_at_run_time(expectations(fixture), observed[fixture.name]) == []


@needs_jdk
@needs_command
@each_fixture
def test_analysis_finds_what_is_expected(
    fixture: Fixture, mode: str, graph_of: Callable[[Fixture, str], Graph]
) -> None:
    found = computed(graph_of(fixture, mode), fixture)
    # (some spurious calls come of what other fixtures do)
    exact = not os.environ.get(SEPARATE)
    assert wrong_in_mode(mode, expectations(fixture), found, exact=exact) == []


@needs_jdk
@needs_command
def test_each_mode_finds_the_calls_that_the_one_before_finds(
    graph_of: Callable[[Fixture, str], Graph],
) -> None:
    graphs = [graph_of(FIXTURES[0], each).edges for each in MODES if each != CASTS]
    listed = [{(caller, *call) for caller, calls in each.items() for call in calls} for each in graphs]
    lacking = {
        (caller.declaring, callee.name)
        for before, after in pairwise(listed)
        for caller, _, callee in before - after
    }
    assert lacking <= {("SpecifiedNames", "<clinit>")}  # a specification replaces what a call finds


@needs_jdk
@needs_command
@together
def test_class_objects_stay_out_of_the_bodies_of_the_reflective_api(
    mode: str, classes: Path, graph_of: Callable[[Fixture, str], Graph]
) -> None:
    """Else a mode without rules for the API would have what the next one, whose rules stand for it, has not."""
    graph_of(FIXTURES[0], mode)
    run = Run(classes.parent / f"kernel-{mode}-program-all")
    result, names = run.result, run.names
    (receiver,) = (
        int(first)
        for method, first in zip(result.reached, result.first_variable, strict=True)
        if str(names.method(int(method))).startswith("java.lang.Class.getMethod(")
    )
    objects = Sets(result.points_to).objects_of(receiver)
    kinds = set(result.objects.kind[objects].tolist())
    assert heap.GENERIC in kinds
    assert heap.CLASS_OBJECT not in kinds


@needs_jdk
@needs_command
def test_a_call_has_iterators_of_its_own_if_these_are_of_few_types(classes: Path) -> None:
    (fixture,) = (each for each in FIXTURES if each.name == "IteratorsOfMany")
    # (beside other fixtures, collections of some of the classes are open)
    found = computed(analysed(classes, [fixture.name], "points-to"), fixture)
    assert wrong_in_mode("points-to", expectations(fixture), found) == []


@needs_jdk
@needs_command
def test_each_call_that_finds_annotations_makes_them(graph_of: Callable[[Fixture, str], Graph]) -> None:
    (fixture,) = (each for each in FIXTURES if each.name == "AnnotatedMembers")
    lines = fixture.sources["AnnotatedMembers"].read_text().splitlines()
    asking = {number for number, line in enumerate(lines, start=1) if ".getAnnotation(Mark.class)" in line}
    edges = graph_of(fixture, SOUND).edges
    making = {
        line
        for caller, calls in edges.items()
        for line, callee in calls
        if caller.declaring == "AnnotatedMembers"
        and (callee.declaring, callee.name) == ("AnnotatedMembers$Mark$$Annotation$$Proxy", "<init>")
    }
    assert len(asking) == 2
    assert asking <= making


@needs_jdk
@needs_command
def test_elements_of_annotations_unbox_numbers(graph_of: Callable[[Fixture, str], Graph]) -> None:
    edges = graph_of(FIXTURES[0], SOUND).edges
    (element,) = (
        each
        for each in edges
        if (each.declaring, each.name) == ("AnnotationsListed$OnParameter$$Annotation$$Proxy", "times")
    )
    assert ("java/lang/Integer", "intValue") in {(each.declaring, each.name) for _, each in edges[element]}


@needs_jdk
@needs_command
def test_call_sites_call_bootstrap_methods_not_the_library(graph_of: Callable[[Fixture, str], Graph]) -> None:
    edges, probed = graph_of(FIXTURES[0], SOUND)
    linking = [each for each in edges if each.declaring.partition("$")[0] in BOOTSTRAPPING]
    assert {each.name for each in linking} >= {"makeSite", "invoke"}
    called = {callee for caller in linking for _, callee in edges[caller]} & probed
    (modelled,) = (each for each in MODELS if each.name == "bootstrap methods of the program")
    assert {source_of(each.declaring) for each in called}.isdisjoint(modelled.fixtures.split())


@pytest.mark.slow
@needs_jdk
@needs_command
@pytest.mark.skipif(
    not os.environ.get(EVERYTHING),
    reason="takes six minutes; closing library code off compares the solvers on the fixtures alone",
)
def test_the_plain_solver_finds_what_is_expected(classes: Path) -> None:
    # Searches of direct flow end at limits, and where they do depends on the order: what is spurious may be absent.
    graph = analysed(classes, [each.name for each in FIXTURES], "points-to", "reference")
    found = {
        each.name: wrong_in_mode("points-to", expectations(each), computed(graph, each), exact=False)
        for each in FIXTURES
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


# What is missing where library code is closed off, by fixture and method, and why.
CALLED_BACK = "the library calls it, not this line"
AS_ASSUMED = (
    "the library finds a member, or makes an object of an interface, of the application by reflection"
)
CLOSED_OFF = {
    ("CurrentThread", "Worker.run"): CALLED_BACK,
    ("DynamicConstantLibrary", "DynamicConstantLibrary.make(Class)"): CALLED_BACK,
    ("HandleArguments", "A.use(Item)"): CALLED_BACK,
    ("ThreadSubclass", "Worker.run"): CALLED_BACK,
    ("DynamicConstantLibrary", "B.go"): AS_ASSUMED,
    ("HandleProxies", "HandleProxies.make"): AS_ASSUMED,
    ("HandleProxies", "Item.go"): "the method that calls it isn't called, see above",
    ("HandleProxies", "Other.go"): "the method that makes it isn't called, see above",
    **dict.fromkeys(
        (("LookupClasses", "Base.go"), ("LookupClasses", "Heir.go")),
        "on whose behalf a lookup is, is not told",
    ),
}


@needs_jdk
@needs_command
def test_closing_library_code_off_loses_only_what_is_assumed(classes: Path) -> None:
    graph = analysed(classes, [each.name for each in FIXTURES], "points-to", scope="application")
    lost = {
        (each.name, callee)
        for each in FIXTURES
        for found in wrong_in_mode("points-to", expectations(each), computed(graph, each), exact=False)
        if " is expected but not " in found
        for callee in [found.split(": ")[1].split(" is expected")[0]]
    }
    assert lost == set(CLOSED_OFF)


@needs_jdk
@needs_command
def test_explanations_lead_from_sources_to_arguments(classes: Path) -> None:
    analysed(classes, [each.name for each in FIXTURES], SOUND, scope="application")
    run = Run(classes.parent / f"kernel-{SOUND}-application-all")
    rows, flows, explainer = known(run), SiteFlows(run, facts=True), Explainer(run)
    for site in application_sites(run.result, run.names):
        sources, omitted = flows.sources(site, None)
        explained = explainer.site(site, 3).document()
        assert omitted == 0
        assert site.status != RESOLVED or len(explained["answers"]) >= min(len(site.targets), 3)
        check_sources(rows, site.site, sources)
        check_explanation(rows, site.site, explained)


@pytest.fixture(scope="session")
def run_of_all(classes: Path, graph_of: Callable[[Fixture, str], Graph]) -> Run:
    """Returns the run of all fixtures together in mode `points-to`."""
    graph_of(FIXTURES[0], "points-to")
    return Run(classes.parent / "kernel-points-to-program-all")


@needs_jdk
@needs_command
@together
def test_what_is_missing_is_open(run_of_all: Run) -> None:
    """No call is said to be resolved that has a target at run time which is not found."""
    at: dict[tuple[str, int], set[str]] = defaultdict(set)
    for site in rows_of_sites(run_of_all, everything=False):
        at[source_of(site.caller.declaring), site.line].add(site.status)
    missing = {
        (expected.source, expected.line)
        for each in FIXTURES
        for expected in expectations(each)
        if expected.gap == "MISSING" and expected.relation == "calls"
    }
    assert [place for place in missing if at.get(place) == {RESOLVED}] == []


@needs_jdk
@needs_command
@together
def test_views_of_bytes_leave_no_access_open(run_of_all: Run) -> None:
    found = {
        site.api.rpartition(".")[2]: site.status
        for site in rows_of_sites(run_of_all, everything=False)
        if source_of(site.caller.declaring) == "VarHandleViews"
    }
    assert found == dict.fromkeys(("set", "get", "compareAndSet", "getVolatile"), RESOLVED)


@needs_jdk
@needs_command
@together
def test_only_native_methods_are_said_to_be_native(run_of_all: Run) -> None:
    explainer = Explainer(run_of_all)
    steps = [
        step
        for row in rows_of_sites(run_of_all, everything=False)
        if source_of(row.caller.declaring) == "ClassesOfDeclarations"
        for part in explainer.site(row.site, 3).parts
        for step in part.steps
    ]
    native = {step.place.method.partition("(")[0] for step in steps if step.kind == "native"}
    known = {"java.lang.Class.getDeclaringClass0", "java.lang.Class.getSuperclass"}
    assert native - known == {"jdk.internal.reflect.Reflection.getCallerClass"}
    assert not [step for step in steps if "offset -1" in str(step.place)]


@pytest.mark.slow
@needs_jdk
@needs_command
def test_both_solvers_close_library_code_off_alike(classes: Path) -> None:
    names = [each.name for each in FIXTURES]
    graphs = [
        analysed(classes, names, "points-to", solver, "application") for solver in ("kernel", "reference")
    ]
    assert {key: sorted(value) for key, value in graphs[0].edges.items()} == {
        key: sorted(value) for key, value in graphs[1].edges.items()
    }


@pytest.mark.parametrize("model", MODELS, ids=[each.name for each in MODELS])
def test_each_model_of_the_jvm_has_fixtures(model: Model) -> None:
    known = {each.name for each in (*FIXTURES, *fixtures(ALONE))} | LATER
    assert set(model.fixtures.split()) <= known
    assert model.fixtures


def _expected(gap: str = "", relation: str = "calls", mode: str = "") -> list[Expectation]:
    return [Expectation("X", 3, mode, gap, relation, "A.go")]


CALLED = Result(frozenset({Call("X", 3, "A.go()")}), frozenset())
ANALYSED = Result(CALLED.calls, frozenset({"A.go()"}))
REACHED = Result(frozenset(), frozenset({"A.go()"}))
NOTHING = Result(frozenset(), frozenset())
ELSEWHERE = Result(frozenset({Call("X", 4, "A.go()")}), frozenset({"A.go()"}))


@pytest.mark.parametrize(
    ("expected", "result", "fine"),
    [
        (_expected(), CALLED, True),
        (_expected(), NOTHING, False),
        (_expected(), ELSEWHERE, False),
        ([], CALLED, False),
        ([], REACHED, False),
        (_expected("MISSING"), CALLED, True),
        (_expected("MISSING"), NOTHING, False),
        (_expected("SPURIOUS"), NOTHING, True),
        (_expected("SPURIOUS"), CALLED, False),
        (_expected(relation="reaches"), REACHED, True),
        (_expected(relation="reaches"), NOTHING, False),
        (_expected(mode="none"), CALLED, True),
    ],
)
def test_run_is_held_against_expectations(expected: list[Expectation], result: Result, fine: bool) -> None:
    assert (wrong_at_run_time(expected, result) == []) is fine


@pytest.mark.parametrize(
    ("expected", "result", "fine"),
    [
        (_expected(), ANALYSED, True),
        (_expected(), CALLED, False),
        (_expected(), NOTHING, False),
        (_expected(), ELSEWHERE, False),
        ([], ANALYSED, False),
        ([], REACHED, False),
        (_expected("MISSING"), NOTHING, True),
        (_expected("MISSING"), ANALYSED, False),
        (_expected("SPURIOUS"), NOTHING, False),
        (_expected("SPURIOUS"), ANALYSED, True),
        (_expected(relation="reaches"), REACHED, True),
        (_expected(relation="reaches"), ANALYSED, True),
        (_expected(mode="points-to"), NOTHING, True),
        (_expected(mode="points-to"), ANALYSED, False),
        (_expected(mode="none"), ANALYSED, True),
    ],
)
def test_analysis_is_held_against_expectations(
    expected: list[Expectation], result: Result, fine: bool
) -> None:
    assert (wrong_in_mode("none", expected, result) == []) is fine


def _method(declaring: str, name: str) -> dict[str, object]:
    return {"declaringClass": f"L{declaring};", "name": name, "parameterTypes": [], "returnType": "V"}


def test_classes_of_lambdas_pass_calls_on() -> None:
    body, made = _method("X", "lambda$main$0"), _method("X$$Lambda$7", "run")
    probe = _method("support/Probe", "reached")

    def site(line: int, target: dict[str, object]) -> dict[str, object]:
        return {"declaredTarget": target, "line": line, "pc": 0, "targets": [target]}

    graph = parse(
        {
            "reachableMethods": [
                {"method": _method("X", "main"), "callSites": [site(3, made)]},
                {"method": made, "callSites": [site(0, body)]},
                {"method": body, "callSites": [site(2, probe)]},
            ]
        }
    )
    found = computed(graph, Fixture("X", {"X": Path("X.java")}))
    assert found == Result(frozenset({Call("X", 3, "X.lambda$main$0()")}), frozenset({"X.lambda$main$0()"}))
