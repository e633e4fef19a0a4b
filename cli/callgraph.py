"""`heliograph callgraph`: who calls what, and the way from one method to another."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cli.edges import Edges, edges_of, kind_of, methods_named
from cli.exits import usage
from cli.naming import MethodName
from cli.present import write_line, write_table
from cli.run import Run
from cypher.schema import NONE


class Edge(NamedTuple):
    """A call by names."""

    caller: MethodName
    line: int
    offset: int
    kind: str
    callee: MethodName

    @property
    def place(self) -> str:
        """Returns the site for people."""
        if self.line >= 0:
            return f"{self.caller.qualified}:{self.line}"
        return f"{self.caller}@{self.offset}" if self.offset >= 0 else str(self.caller)

    def document(self) -> dict[str, Any]:
        """Returns the call for programs."""
        return {
            "caller": str(self.caller), "line": self.line, "offset": self.offset, "kind": self.kind,
            "callee": str(self.callee),
        }  # fmt: skip


class Answer(NamedTuple):
    """Paths from a method to another: of length 1 if only one end was given."""

    paths: list[list[Edge]]
    both: bool


def answer(run: Run, origin: str | None, goal: str | None) -> Answer:
    """Returns the calls from `origin`, those to `goal`, or a shortest path to each `goal`. Raises `Failure`."""
    if origin is None and goal is None:
        raise usage("name a method with --from, with --to, or with both")
    edges = edges_of(run.result)
    if goal is None:
        assert origin is not None
        chosen = np.isin(edges.caller, list(methods_named(run, origin)))
        return Answer([[each] for each in _named(run, edges.take(chosen))], both=False)
    goals = methods_named(run, goal)
    if origin is None:
        chosen = np.isin(edges.callee, list(goals))
        return Answer([[each] for each in _named(run, edges.take(chosen))], both=False)
    paths = shortest_paths(edges, methods_named(run, origin), goals)
    return Answer([_named(run, edges.take(np.array(path, np.int64))) for path in paths if path], both=True)


def shortest_paths(edges: Edges, starts: set[int], goals: set[int]) -> list[list[int]]:
    """Returns, for each goal that can be reached, the rows of `edges` on a shortest path to it."""
    order = np.argsort(edges.caller, kind="stable")
    callers, callees = edges.caller[order], edges.callee[order].tolist()
    last = max(int(callers.max(initial=0)), int(edges.callee.max(initial=0)), *starts) + 2
    at = np.searchsorted(callers, np.arange(last)).tolist()
    came_by: dict[int, int] = dict.fromkeys(sorted(starts), NONE)
    waiting = deque(came_by)
    while waiting:
        method = waiting.popleft()
        for row in range(at[method], at[method + 1]):
            if callees[row] not in came_by:
                came_by[callees[row]] = row
                waiting.append(callees[row])
    paths = []
    for goal in sorted(goals & came_by.keys()):
        path: list[int] = []
        row = came_by[goal]
        while row != NONE:
            path.append(int(order[row]))
            row = came_by[int(callers[row])]
        paths.append(path[::-1])
    return sorted(paths, key=len)


def _named(run: Run, edges: Edges) -> list[Edge]:
    names = run.names
    lines = names.lines(edges.caller, edges.offset).tolist()
    columns = (column.tolist() for column in edges)
    return [
        Edge(names.method(caller), line, offset, kind_of(origin), names.method(callee))
        for caller, offset, origin, callee, line in zip(*columns, lines, strict=True)
    ]


def write(found: Answer, limit: int) -> None:
    """Prints calls as a table, paths one below the other; at most `limit` of them, unless that is 0."""
    if not found.paths:
        write_line("there is no such path" if found.both else "there is no such call")
        return
    shown = found.paths[: limit or None]
    if found.both:
        for number, path in enumerate(shown):
            if number:
                write_line()
            _write_path(path)
    else:
        rows = [(edge.place, edge.kind, str(edge.callee)) for path in shown for edge in path]
        write_table(("site", "kind", "callee"), rows)
    if len(found.paths) > len(shown):
        write_line(f"{len(found.paths) - len(shown):,} more; --limit 0 shows all")


def _write_path(path: Sequence[Edge]) -> None:
    write_line(str(path[0].caller))
    for number, edge in enumerate(path, 1):
        note = "" if edge.kind == "call" else f" [{edge.kind}]"
        write_line(f"{number:4d}. {edge.place} calls {edge.callee}{note}")
