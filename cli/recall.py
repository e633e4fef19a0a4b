"""`heliograph recall`: how much of what was observed while a program ran a run's call graph holds."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from cli.causes import EXPLANATIONS, FOLLOWS, Missing, explain
from cli.matching import Graph
from cli.observed import CALL, JVM, Observed, Pair, ReflectiveCall
from cli.present import write_line, write_table
from cli.run import Run

_EXAMPLES = 5


class Category(NamedTuple):
    """What was observed of one kind, and how much of it the run has."""

    name: str
    observed: int
    found: int

    @property
    def missing(self) -> int:
        return self.observed - self.found

    @property
    def recall(self) -> float:
        """Returns the share that was found; a category has at least one row."""
        return self.found / self.observed

    def document(self) -> dict[str, Any]:
        """Returns the numbers for programs."""
        return {
            "category": self.name, "observed": self.observed, "found": self.found, "missing": self.missing,
            "recall": round(self.recall, 6),
        }  # fmt: skip


class Recall(NamedTuple):
    """The comparison.

    `methods` counts those that were observed, `unknown` those that the run doesn't name. `unread` are inputs
    that aren't there any more, which would tell of classes that the run doesn't name.
    """

    categories: list[Category]
    missing: list[Missing]
    methods: int
    unknown: int
    unreached: int
    skipped: int
    unread: list[str]

    def document(self) -> dict[str, Any]:
        """Returns the comparison for programs."""
        return {
            "categories": [each.document() for each in self.categories],
            "methods": {"observed": self.methods, "unknown": self.unknown, "unreached": self.unreached},
            "skippedLines": self.skipped,
            "unreadInputs": self.unread,
            "causes": EXPLANATIONS,
            "missing": [each.document() for each in self.missing],
        }


def compare(run: Run, observed: Observed) -> Recall:
    """Returns what of `observed` the run has, and what not and why."""
    graph = Graph(run, observed)
    found: set[Pair | ReflectiveCall] = set(
        graph.calls([each for each in observed.pairs if each.kind == CALL])
    )
    found |= {each for each in observed.pairs if each.kind != CALL and graph.reaches(each.callee)}
    found |= {each for each in observed.reflective if each.target in graph.targets(graph.sites_of(each))}
    rows: tuple[Pair | ReflectiveCall, ...] = (*observed.pairs, *observed.reflective)
    names = [_category(graph, each) for each in rows]
    counts = Counter(names)
    hits = Counter(name for name, each in zip(names, rows, strict=True) if each in found)
    missing = explain(graph, observed, [each for each in rows if each not in found])
    return Recall(
        [Category(name, counts[name], hits[name]) for name in _CATEGORIES if counts[name]],
        missing, len(graph.methods), len(graph.methods) - len(graph.ids),
        sum(not graph.reaches(each) for each in graph.methods), observed.skipped,
        graph.unread,
    )  # fmt: skip


_SIDES = ("library", "application")
_BY_MACHINE = "called by the JVM"
_CATEGORIES = (
    *(f"{caller} → {callee}" for caller in _SIDES[::-1] for callee in _SIDES[::-1]), _BY_MACHINE,
    *(f"reflective calls of the {each}" for each in _SIDES[::-1]),
)  # fmt: skip


def _category(graph: Graph, row: Pair | ReflectiveCall) -> str:
    if isinstance(row, ReflectiveCall):
        return f"reflective calls of the {_SIDES[graph.is_application(row.caller)]}"
    if row.kind == JVM or row.caller is None:
        return _BY_MACHINE
    return f"{_SIDES[graph.is_application(row.caller)]} → {_SIDES[graph.is_application(row.callee)]}"


def write(found: Recall, everything: bool) -> None:
    """Prints the counts, and what is missing by cause; a few of each, or all."""
    write_table(
        ("", "observed#", "found#", "missing#", "recall#"),
        [
            (each.name, each.observed, each.found, each.missing, f"{100 * each.recall:.2f} %")
            for each in found.categories
        ],
    )
    write_line(
        f"{found.methods:,} methods observed; {found.unreached:,} may not run according to the run,"
        f" {found.unknown:,} of them it doesn't know"
    )
    for each in found.unread:
        write_line(f"{each} can't be read any more: its classes that the run doesn't name count as absent")
    if found.skipped:
        write_line(f"{found.skipped:,} lines tell of calls that are not compared")
    for cause, explanation in EXPLANATIONS.items():
        if cause == FOLLOWS and not everything:
            continue
        rows = [each for each in found.missing if each.cause == cause]
        if rows:
            following = sum(each.following for each in rows)
            follows = f" (from them follow {following:,} more)" if following else ""
            shown = rows if everything else rows[:_EXAMPLES]
            write_table(
                ("caller", "callee", "follow#", ""),
                [
                    (
                        each.caller,
                        each.callee,
                        each.following,
                        "; ".join(filter(None, (each.detail, each.root))),
                    )
                    for each in shown
                ],
                f"{len(rows):,} {cause}{follows}: {explanation}",
            )
            if len(shown) < len(rows):
                write_line(f"{len(rows) - len(shown):,} more; --all shows all")
