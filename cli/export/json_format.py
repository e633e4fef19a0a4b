"""The call graph as JSON: methods by number, and calls between them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from cli.edges import edges_of, kind_of, of_application
from cli.naming import MethodName
from cli.run import Run
from cypher.program import APPLICATION


def lines(run: Run, application: bool) -> Iterator[str]:
    """Yields the text: `methods` (reachable ones), and `calls` that refer to them by their places."""
    names, reached = run.names, run.result.reached
    edges = edges_of(run.result)
    if application:
        edges = of_application(edges, names)
        reached = np.unique(
            np.concatenate((edges.caller, edges.callee, reached[names.is_application(reached)]))
        )
    place = {method: index for index, method in enumerate(reached.tolist())}
    numbers = names.lines(edges.caller, edges.offset).tolist()
    yield '{"methods": [\n'
    methods = (json.dumps(_method(names.method(each))) for each in place)
    yield from _separated(methods)
    yield '],\n"calls": [\n'
    calls = (
        json.dumps(
            {"caller": place[caller], "line": line, "offset": offset, "kind": kind_of(origin),
             "callee": place[callee]}
        )
        for caller, offset, origin, callee, line in zip(*(each.tolist() for each in edges), numbers, strict=True)
    )  # fmt: skip
    yield from _separated(calls)
    yield "]}\n"


def _method(name: MethodName) -> dict[str, str | bool]:
    return {
        "class": name.declaring.replace("/", "."), "name": name.name, "descriptor": name.descriptor,
        "application": bool(name.flags & APPLICATION),
    }  # fmt: skip


def _separated(items: Iterator[str]) -> Iterator[str]:
    before = ""
    for each in items:
        yield f"{before}{each}"
        before = ",\n"
    yield "\n"
