"""Rows of facts that the linker writes itself, a few at a time, for what `invokedynamic` stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from cypher.schema import FACTS, NONE, Argument, CallSite, Invoke, Rows, Variable, columns_of
from loader.fields import Fields
from loader.hierarchy import Types
from loader.members import Methods
from loader.resolution import Call, Resolver
from loader.signatures import Signatures

Row = tuple[Any, ...]


def _columns_of_type(wanted: type[Any]) -> dict[type[Row], list[int]]:
    """Returns, for each relation, the positions of the columns of an entity class."""
    return {
        relation: [
            position
            for position, name in enumerate(columns_of(relation))
            if get_type_hints(relation)[name] is wanted
        ]
        for relation in FACTS
    }


_VARIABLES = _columns_of_type(Variable)
_SITES = _columns_of_type(CallSite)


class Linkage(NamedTuple):
    """The tables of a program that a linker fills."""

    types: Types
    signatures: Signatures
    methods: Methods
    fields: Fields
    resolver: Resolver


class Body:
    """Rows of one method: variables are numbered in the method, call sites from 0 in the order of `invoke`."""

    def __init__(self, method: int, offset: int) -> None:
        self.method = method
        self.offset = offset
        self.rows: list[Row] = []
        self._sites = 0

    def add(self, relation: Callable[..., Row], *values: int) -> None:
        """Adds a row of a relation whose first columns are method and offset."""
        self.rows.append(relation(self.method, self.offset, *values))

    def invoke(self, call: Call, arguments: Iterable[tuple[int, int]], result: int, thrown: int) -> None:
        """Adds a call; `arguments` are (position, variable), variable -1 for one that is no reference."""
        site = self._sites
        self._sites += 1
        self.rows.append(Invoke._make((site, self.method, self.offset, *call, result, thrown)))
        chosen = (each for each in arguments if each[1] != NONE)
        self.rows += [Argument._make((site, position, variable)) for position, variable in chosen]


def emit(bodies: Sequence[tuple[Sequence[Row], int]], first_site: int) -> tuple[dict[type[Row], Rows], int]:
    """Returns the rows of bodies with their first variables, by relation, and the number of call sites."""
    tables: dict[type[Row], list[Row]] = {}
    variables: dict[type[Row], list[int]] = {}
    sites: dict[type[Row], list[int]] = {}
    count = 0
    for rows, first_variable in bodies:
        before = count
        for row in rows:
            relation = type(row)
            tables.setdefault(relation, []).append(row)
            variables.setdefault(relation, []).append(first_variable)
            sites.setdefault(relation, []).append(before)
            count += relation is Invoke
    emitted = {}
    for relation, table in tables.items():
        columns = np.array(table, np.int32).T
        for position in _VARIABLES[relation]:
            column = columns[position]
            columns[position] = np.where(column >= 0, column + np.array(variables[relation], np.int32), NONE)
        for position in _SITES[relation]:
            columns[position] += np.array(sites[relation], np.int32) + np.int32(first_site)
        emitted[relation] = Rows(relation, [np.ascontiguousarray(column) for column in columns])
    return emitted, count
