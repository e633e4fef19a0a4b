"""Fixtures under analysis: the call graph that the command line exports, cut down to one fixture."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.reflection.modes import SOUND
from tests.fixture_harness import SUPPORT, Call, Fixture, Result, shown, source_of, specification

REPOSITORY = Path(__file__).parent.parent

# Set to run each fixture by itself, as a user would: an analysis a fixture and mode, which takes long.
SEPARATE = "HELIOGRAPH_FIXTURES_SEPARATE"


class Target(NamedTuple):
    """A method of the exported call graph; `declaring` is an internal name."""

    declaring: str
    name: str
    parameters: str
    result: str


class Graph(NamedTuple):
    """A call graph: (line, callee) of each method that may run, and the methods that call `Probe.reached`."""

    edges: dict[Target, list[tuple[int, Target]]]
    probed: frozenset[Target]


def analysed(
    classes: Path, mains: Sequence[str], mode: str, solver: str = "kernel", scope: str = "program"
) -> Graph:
    """Returns the call graph of the program with the main methods of `mains`, library bodies included by default.

    Keeps the run beside the folder `classes`.
    """
    run = classes.parent / f"{solver}-{mode}-{scope}-{mains[0] if len(mains) == 1 else 'all'}"
    exported = run.parent / f"{run.name}.json"
    entries = [word for main in mains for word in ("--main", main)]
    specified = classes.parent / "fixtures.spec"
    specified.write_text(specification())
    spec = ("--spec", str(specified)) if mode == SOUND else ()
    options = (
        *spec,
        "--mode",
        mode,
        "--solver",
        solver,
        "--scope",
        scope,
        "--format",
        "json",
        "--out",
        str(run),
    )
    heliograph("analyze", str(classes), *entries, *options)
    heliograph("export", "callgraph", "--run", str(run), "--format", "jcg", "--out", str(exported))
    return parse(json.loads(exported.read_text()))


def computed(graph: Graph, fixture: Fixture) -> Result:
    """Returns the calls on lines of `fixture` and its methods that may run, according to `graph`."""
    own = {method for method in graph.probed if source_of(method.declaring) in fixture.sources}
    calls = {
        Call(source_of(caller.declaring), line, _shown(fixture, callee))
        for caller, edges in graph.edges.items()
        if source_of(caller.declaring) in fixture.sources and not _is_made(caller)
        for line, target in edges
        for callee in _through(graph, target)
        if callee in own
    }
    return Result(frozenset(calls), frozenset(_shown(fixture, method) for method in own))


def _shown(fixture: Fixture, method: Target) -> str:
    return shown(fixture, method.declaring, method.name, method.parameters)


def _is_made(method: Target) -> bool:
    return "$$" in method.declaring


def _through(graph: Graph, target: Target) -> Iterator[Target]:
    """Yields what a call of `target` leads to: `target`, or what methods that only pass on calls do.

    Classes that the JVM makes pass on to what they are made for, `Thread.start` to `run`, and some of
    java.lang.invoke to what a method handle is for.
    """
    seen = {target}
    waiting = [target]
    while waiting:
        each = waiting.pop()
        if _passes_on(each):
            fresh = {callee for _, callee in graph.edges.get(each, ())} - seen
            seen |= fresh
            waiting += fresh
        else:
            yield each


def _passes_on(target: Target) -> bool:
    return (
        _is_made(target)
        or target.declaring.startswith(
            ("java/lang/invoke/ConstantBootstraps", "java/lang/invoke/MethodHandleProxies")
        )
        or (target.declaring == "java/lang/invoke/MethodHandle" and target.name.startswith("invoke"))
        or (target.declaring == "java/lang/Thread" and target.name in ("start", "start0"))
    )


def heliograph(*arguments: str) -> None:
    command = [sys.executable, "-c", "from cli.main import main; main()", *arguments]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert outcome.returncode == 0, f"heliograph {' '.join(arguments)}\n{outcome.stdout}\n{outcome.stderr}"


def parse(exported: dict[str, Any]) -> Graph:
    """Returns the call graph in the JSON of call-graph comparison suites."""
    edges: dict[Target, list[tuple[int, Target]]] = {}
    probed = set()
    for entry in exported["reachableMethods"]:
        method = _target(entry["method"])
        listed = edges.setdefault(method, [])
        for site in entry["callSites"]:
            if _target(site["declaredTarget"])[:2] == (f"{SUPPORT}/Probe", "reached"):
                probed.add(method)
            listed.extend((site["line"], _target(target)) for target in site["targets"])
    return Graph(edges, frozenset(probed))


def _target(method: dict[str, Any]) -> Target:
    declaring = method["declaringClass"].removeprefix("L").removesuffix(";")
    return Target(declaring, method["name"], "".join(method["parameterTypes"]), method["returnType"])
