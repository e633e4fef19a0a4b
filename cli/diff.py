"""`heliograph diff`: what one run has and another lacks, by names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cli.edges import Edges, edge_keys, edges_at, edges_of, kind_of, of_application, place_keys
from cli.present import write_line, write_table
from cli.run import Run
from cli.sites import rows as site_rows
from cli.summary import distinct


class Changed(NamedTuple):
    """A reflective call of which the runs say different things."""

    site: str
    api: str
    before: str
    after: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


class Difference(NamedTuple):
    """What the second run has and the first lacks (`gained`), and the other way round (`lost`)."""

    methods_gained: list[str]
    methods_lost: list[str]
    edges_gained: list[tuple[str, str, str]]
    edges_lost: list[tuple[str, str, str]]
    sites: list[Changed]

    def document(self) -> dict[str, Any]:
        """Returns the difference for programs."""
        return {
            "methods": {"gained": self.methods_gained, "lost": self.methods_lost},
            "edges": {"gained": _edge_documents(self.edges_gained), "lost": _edge_documents(self.edges_lost)},
            "sites": [each._asdict() for each in self.sites],
        }


def _edge_documents(edges: Sequence[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"site": site, "kind": kind, "callee": callee} for site, kind, callee in edges]


def compare(before: Run, after: Run, everything: bool) -> Difference:
    """Returns how the runs differ in application code, or in all code."""
    methods = [methods_in(each, everything) for each in (before, after)]
    gained, lost = _edges(before, after, everything)
    return Difference(
        sorted(methods[1] - methods[0]), sorted(methods[0] - methods[1]), gained, lost, _sites(before, after, everything)
    )  # fmt: skip


def methods_in(run: Run, everything: bool) -> set[str]:
    """Returns the names of the methods that may run, of application code or of all."""
    names, reached = run.names, run.result.reached
    chosen = reached if everything else reached[names.is_application(reached)]
    return {str(names.method(each)) for each in chosen.tolist()}


def _edges(before: Run, after: Run, everything: bool) -> list[list[tuple[str, str, str]]]:
    """Returns the calls that only the second run makes, and those that only the first makes.

    Of each these are the names of the site, its kind and the callee, of calls by application code or by all.
    """
    names = _CommonNames()
    edges = [names.edges(each, everything) for each in (before, after)]
    at = [place_keys(each.caller, each.offset) for each in edges]
    places = distinct(np.concatenate(at))
    keys = [
        edge_keys(places.searchsorted(place), each.origin, each.callee)
        for place, each in zip(at, edges, strict=True)
    ]
    differing = [np.setdiff1d(keys[own], keys[1 - own]) for own in (1, 0)]
    return [sorted(names.named(edges_at(places, each))) for each in differing]


class _CommonNames:
    """Numbers the methods of runs by their names, so that equal numbers are methods of one name."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def edges(self, run: Run, everything: bool) -> Edges:
        """Returns the calls of a run, with these numbers for its methods."""
        edges = edges_of(run.result)
        if not everything:
            edges = of_application(edges, run.names)
        ids = np.flatnonzero(np.bincount(np.concatenate((edges.caller, edges.callee))))
        known = (
            self._number.setdefault(str(run.names.method(each)), len(self._number)) for each in ids.tolist()
        )
        number = np.zeros(ids.max(initial=0) + 1, np.int32)
        number[ids] = np.fromiter(known, np.int32, len(ids))
        return edges._replace(caller=number[edges.caller], callee=number[edges.callee])

    def named(self, edges: Edges) -> Iterator[tuple[str, str, str]]:
        """Yields the names of site, kind and callee of calls that have these numbers."""
        names = list(self._number)
        for caller, offset, origin, callee in zip(*(column.tolist() for column in edges), strict=True):
            yield f"{names[caller]}@{offset}", kind_of(origin), names[callee]


def _sites(before: Run, after: Run, everything: bool) -> list[Changed]:
    old, new = ({each.name: each for each in site_rows(run, everything)} for run in (before, after))
    found = []
    for name in sorted(old.keys() | new.keys()):
        first, second = old.get(name), new.get(name)
        known = first or second
        assert known is not None
        statuses = [each.status if each else "absent" for each in (first, second)]
        targets = [set(each.targets) if each else set() for each in (first, second)]
        if statuses[0] != statuses[1] or targets[0] != targets[1]:
            gained, lost = tuple(sorted(targets[1] - targets[0])), tuple(sorted(targets[0] - targets[1]))
            found.append(Changed(name, known.api, statuses[0], statuses[1], gained, lost))
    return found


def write(found: Difference, limit: int) -> None:
    """Prints the counts, and the first rows of each kind; all if `limit` is 0."""
    counts = [
        ("methods", len(found.methods_gained), len(found.methods_lost)),
        ("call edges", len(found.edges_gained), len(found.edges_lost)),
        ("targets of reflective calls", sum(len(each.gained) for each in found.sites),
         sum(len(each.lost) for each in found.sites)),
    ]  # fmt: skip
    write_table(("", "only in the second#", "only in the first#"), counts)
    most = limit or None
    methods = [("+", each) for each in found.methods_gained] + [("-", each) for each in found.methods_lost]
    edges = [("+", *each) for each in found.edges_gained] + [("-", *each) for each in found.edges_lost]
    sites = [
        (each.site, f"{each.before} → {each.after}",
         "\n".join([f"+ {target}" for target in each.gained] + [f"- {target}" for target in each.lost]))
        for each in found.sites
    ]  # fmt: skip
    for title, columns, rows in (
        ("reflective calls", ("site", "status", "targets"), sites),
        ("methods", ("", "method"), methods),
        ("call edges", ("", "site", "kind", "callee"), edges),
    ):
        if rows:
            write_table(columns, rows[:most], title)
            if len(rows) > len(rows[:most]):
                write_line(f"{len(rows) - len(rows[:most]):,} more; --limit 0 shows all")
