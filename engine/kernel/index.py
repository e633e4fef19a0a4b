"""What the compiled search of direct flow goes by, and where it keeps what it has come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.kernel.state import Array

# What defines a variable in a search of direct flow, and what comes of it: a variable, a text, a type, a call, the
# stores of a field, or what nobody knows. OUTSIDE is a variable of a method where the search ends.
COPY, TEXT, TYPE, RESULT, FIELD, OTHER, OUTSIDE = range(7)


class Index(NamedTuple):
    """What a search of direct flow goes by: chains of rows.

    Columns `first_…` hold the first row of each number, plus one; `next_…` the next of each row.
    """

    first_definition: Array  # by pointer
    next_definition: Array
    defined: Array
    kind: Array
    definition: Array
    first_asking: Array  # by site: the definitions by its result
    first_loading: Array  # by field: the definitions by a load of it
    next_asking: Array  # of both
    first_store: Array  # by field
    passed: Array  # by field: the search that went on from it last
    next_store: Array
    stored: Array
    first_argument: Array  # by site
    next_argument: Array
    position: Array
    argument: Array
    first_callee: Array  # by site
    next_callee: Array
    callee: Array
    callees: Array  # by site: how many they are, of which no more than are followed have a row
    first_caller: Array  # by method
    next_caller: Array
    caller: Array
    callers: Array  # by method, likewise
    cut: Array  # by site: what it returns is not what its callees do
    owner: Array  # by pointer: the method that it is a variable of, plus one; 0 if it is of none
    outside: Array  # by pointer: whether the search ends there
    touched: Array  # by pointer: when searches had to go on from it in other ways for the last time
    variable: Array  # by method, once it is reached: its first variable
    parameters: Array  # by method
    fill: Array  # see the counters below


# The counters of `fill`: rows of each kind, then how often rows were added, and searched.
DEFINITIONS, STORES, ARGUMENTS, CALLEES, CALLERS, ROUND, SEARCHES = range(7)
# The columns of rows of each kind; then those that go by pointers, fields, sites and methods.
COLUMNS = (
    ("next_definition", "defined", "kind", "definition", "next_asking"),
    ("next_store", "stored"),
    ("next_argument", "position", "argument"),
    ("next_callee", "callee"),
    ("next_caller", "caller"),
    ("first_definition", "owner", "outside", "touched"),
    ("first_loading", "first_store", "passed"),
    ("first_asking", "first_argument", "first_callee", "callees", "cut"),
    ("first_caller", "callers", "variable", "parameters"),
)


class Added(NamedTuple):
    """Rows that are added to an index, by kind."""

    target: Array  # definitions
    kind: Array
    definition: Array
    is_outside: Array  # whether the method of the row is
    field: Array  # stores
    stored: Array
    site: Array  # arguments
    position: Array
    argument: Array
    called: Array  # calls
    callee: Array
    recut: Array  # sites of which it changed whether they are cut
    method: Array  # methods that are reached
    first: Array  # their first variables
    variables: Array  # and how many these are
    out: Array  # whether they are outside


class Seen(NamedTuple):
    """Rows of four numbers, each once; `fill` says how many came, which may be more than there is room for."""

    first: Array
    second: Array
    third: Array
    fourth: Array
    place: Array  # of each row in `slot`
    slot: Array
    fill: Array


def new_seen(rows: int) -> Seen:
    """Returns room for so many rows."""
    first, second, third, fourth, place = (np.zeros(rows, np.int32) for _ in range(5))
    slots = 1 << (2 * rows).bit_length()
    return Seen(first, second, third, fourth, place, np.zeros(slots, np.int32), np.zeros(1, np.int64))


def no_index() -> Index:
    """Returns one without rows."""
    columns = [np.zeros(0, np.int32) for _ in Index._fields]
    return Index(*columns)._replace(fill=np.zeros(SEARCHES + 1, np.int64))


def none_added() -> Added:
    """Returns no rows."""
    return Added(*(np.zeros(0, np.int32) for _ in Added._fields))


def with_room(index: Index, added: Added, pointers: int, fields: int, sites: int, methods: int) -> Index:
    """Returns the index with room for rows that are added, and for so many pointers, fields, sites and methods."""
    rows = added.target.size, added.field.size, added.site.size, added.called.size, added.called.size
    sizes = (*(index.fill[:ROUND] + rows).tolist(), pointers, fields, sites, methods)
    grown: dict[str, Array] = {}
    for names, size in zip(COLUMNS, sizes, strict=True):
        for name in names:
            column = getattr(index, name)
            if size > column.size:
                grown[name] = np.zeros(max(size, 2 * column.size), np.int32)
                grown[name][: column.size] = column
    return index._replace(**grown)
