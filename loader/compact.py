"""Constraints of all methods of a unit at once: copies away, variables renumbered without gaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loader.unit import RELATIONS

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
Body = dict[str, dict[str, Int32]]

# Columns that hold variables: those that a row defines, and those that it uses.
_TARGETS = {"target", "result", "thrown"}
_SOURCES = {"source", "base", "variable"}
# Here `target` is -1 or used by other methods.
_ROUNDS = 3


class Bodies(NamedTuple):
    """Constraints of all methods: offsets by method and columns of each relation; variables of each method."""

    at: dict[str, Int64]
    columns: Body
    variables: Int32


def compact(at: dict[str, Int64], columns: Body, parameters: Int32, variables: Int32) -> Bodies:
    """Returns the constraints without plain copies and with variables numbered densely.

    Variables come as the interpreter numbers them: from 1, with 0 for none, and `variables` is the first
    number that a method doesn't use. A variable to which one other is assigned, and nothing else, becomes
    that other; assignments to variables that nobody uses go. The first `parameters + 2` of a method stay.
    """
    first = np.concatenate(([0], np.cumsum(variables, dtype=np.int64)))
    # Variable v of method m becomes first[m] + v; number 0 of each method is "none".
    for name, relation in columns.items():
        start = np.repeat(first[:-1].astype(np.int32), np.diff(at[name]))
        for column in _variable_columns(name):
            relation[column] = relation[column] + start
    total = int(first[-1])
    fixed = np.zeros(total + 1, np.int8)
    fixed[first[:-1]] += 1
    np.add.at(fixed, first[:-1] + parameters + 3, -1)
    kept = np.cumsum(fixed[:-1], dtype=np.int8).astype(bool)
    _propagate_copies(at, columns, kept)
    _drop_unused(at, columns, kept)
    return _renumber(at, columns, kept, first)


def _variable_columns(name: str) -> list[str]:
    return [column for column in RELATIONS[name] if column in _TARGETS or column in _SOURCES]


def _each(columns: Body, wanted: set[str]) -> Iterator[tuple[str, str, Int32]]:
    """Returns relation, name and values of each column of variables in `wanted`."""
    for name, relation in columns.items():
        for column, values in relation.items():
            if column in wanted:
                yield name, column, values


def _keep(at: dict[str, Int64], columns: Body, name: str, mask: Mask) -> None:
    """Keeps the rows of a relation where `mask` is true."""
    kept = np.concatenate(([0], np.cumsum(mask, dtype=np.int64)))
    at[name] = kept[at[name]]
    columns[name] = {column: values[mask] for column, values in columns[name].items()}


def _propagate_copies(at: dict[str, Int64], columns: Body, kept: Mask) -> None:
    """Replaces variables that are copies of one other."""
    defined = kept.copy()
    for name, _, values in _each(columns, _TARGETS):
        if name != "assign":
            defined[values] = True
    size = len(kept)
    renamed = np.arange(size, dtype=np.int32)
    for _ in range(_ROUNDS):
        source, target = columns["assign"]["source"], columns["assign"]["target"]
        only = np.zeros(size, np.int32)
        only[target] = source
        several = np.zeros(size, np.bool_)
        several[target[only[target] != source]] = True
        copy = (only > 0) & ~several & ~defined
        if not copy.any():
            break
        copies = np.flatnonzero(copy)
        step = np.arange(size, dtype=np.int32)
        step[copies] = only[copies]
        # Chains of copies shrink by half each time; rings (code that no value reaches) never end.
        for _ in range(32):
            further = step[step[copies]]
            if np.array_equal(further, step[copies]):
                break
            step[copies] = further
        renamed = step[renamed]
        _keep(at, columns, "assign", ~copy[target])
        rows = columns["assign"]
        rows["source"], rows["target"] = step[rows["source"]], step[rows["target"]]
        _keep(at, columns, "assign", rows["source"] != rows["target"])
    for name, column, values in _each(columns, _SOURCES | _TARGETS):
        if name != "assign":
            columns[name][column] = renamed[values]


def _drop_unused(at: dict[str, Int64], columns: Body, kept: Mask) -> None:
    """Removes assignments to variables that nothing uses."""
    for _ in range(_ROUNDS):
        used = kept.copy()
        for _, _, values in _each(columns, _SOURCES):
            used[values] = True
        wanted = used[columns["assign"]["target"]]
        if wanted.all():
            break
        _keep(at, columns, "assign", wanted)


def _renumber(at: dict[str, Int64], columns: Body, kept: Mask, first: Int64) -> Bodies:
    """Numbers the variables that are left from 0 in each method, with -1 for none."""
    used = kept.copy()
    for _, _, values in _each(columns, _SOURCES | _TARGETS):
        used[values] = True
    used[first[:-1]] = True  # "none" of each method takes a number, to become -1
    number = np.concatenate(([0], np.cumsum(used, dtype=np.int32))).astype(np.int32)
    start = number[first]
    for name, column, values in list(_each(columns, _SOURCES | _TARGETS)):
        columns[name][column] = number[values] - np.repeat(start[:-1] + 1, np.diff(at[name])).astype(np.int32)
    return Bodies(at, columns, np.diff(start).astype(np.int32) - 1)
