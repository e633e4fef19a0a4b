"""Reflective sites and what rules derived at them, as columns that a run keeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Int32
from engine.result import Derived, NameSource, ReflectiveSite, Target


class ReflectiveColumns(NamedTuple):
    """Tables of numbers; words and texts are places in `words`.

    `site` has (site, api, role, status, reason, assumptions); `target` (row of the site, kind, id), `source` (row of the
    site, kind, text, object) and `operand` (row of the site, name, pointer) are in the order of their sites.
    `derived` has (rule, paper, relation, site, detail).
    """

    site: Int32
    target: Int32
    source: Int32
    operand: Int32
    derived: Int32


class _Words:
    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def of(self, word: str) -> int:
        return self.ids.setdefault(word, len(self.ids))


def columns_of(
    sites: Sequence[ReflectiveSite], derived: Sequence[Derived]
) -> tuple[ReflectiveColumns, list[str]]:
    """Returns the columns and their words."""
    words = _Words()
    of = words.of
    site_rows = [
        (each.site, *map(of, (each.api, each.role, each.status, each.reason, " ".join(each.assumes))))
        for each in sites
    ]
    targets = [(row, of(found.kind), found.id) for row, each in enumerate(sites) for found in each.targets]
    sources = [
        (row, of(found.kind), of(found.text), found.obj)
        for row, each in enumerate(sites)
        for found in each.sources
    ]
    operands = [
        (row, of(name), pointer) for row, each in enumerate(sites) for name, pointer in each.operands.items()
    ]
    rows: list[tuple[int, ...]] = []
    for named, listed in groupby(derived, itemgetter(0, 1, 2)):
        ids = tuple(map(of, named))
        rows += [(*ids, each.site, each.detail) for each in listed]
    columns = ReflectiveColumns(
        _table(6, site_rows), _table(3, targets), _table(4, sources), _table(3, operands), _table(5, rows)
    )
    return columns, list(words.ids)


def _table(width: int, rows: Sequence[tuple[int, ...]]) -> Int32:
    return np.array(rows, np.int32).reshape(-1, width)


def sites_of(columns: ReflectiveColumns, words: Sequence[str]) -> tuple[ReflectiveSite, ...]:
    """Returns the sites."""
    number = len(columns.site)
    targets, sources, operands = (_by_site(table, number) for table in columns[1:4])
    return tuple(
        ReflectiveSite(
            site, words[api], words[role], words[status], words[reason],
            tuple(Target(words[kind], found) for _, kind, found in targets[row]),
            tuple(NameSource(words[kind], words[text], obj) for _, kind, text, obj in sources[row]),
            {words[name]: pointer for _, name, pointer in operands[row]}, tuple(words[assumes].split()),
        )
        for row, (site, api, role, status, reason, assumes) in enumerate(columns.site.tolist())
    )  # fmt: skip


def _by_site(table: NDArray[Any], number: int) -> list[list[list[int]]]:
    """Returns the rows of each site."""
    at = np.searchsorted(table[:, 0], np.arange(number + 1)).tolist()
    rows = table.tolist()
    return [rows[start:end] for start, end in pairwise(at)]


def derived_of(columns: ReflectiveColumns, words: Sequence[str]) -> tuple[Derived, ...]:
    """Returns what rules derived."""
    return tuple(
        Derived(words[rule], words[paper], words[relation], site, detail)
        for rule, paper, relation, site, detail in columns.derived.tolist()
    )
