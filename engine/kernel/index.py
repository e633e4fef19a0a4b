"""What the compiled search of direct flow goes by, and where it keeps what it has come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.kernel.state import Array

# What defines a variable in a search of direct flow, and what comes of it: a variable, a text, a type, a call, the
# stores of a field, or what nobody knows. OUTSIDE is a variable of a method where the search ends.
COPY, TEXT, TYPE, RESULT, FIELD, OTHER, OUTSIDE = range(7)


class Index(NamedTuple):
    """What a search of direct flow goes by. `…_at` says where the rows of each variable, field, site or method begin."""

    definition_at: Array
    kind: Array
    definition: Array
    store_at: Array
    stored: Array
    argument_at: Array
    position: Array
    argument: Array
    callee_at: Array  # by site
    callee: Array
    caller_at: Array  # by method
    caller: Array
    cut: Array  # by site: what it returns is not what its callees do
    returned: Array  # by method
    owner: Array  # by pointer: the row below of the method that it is a variable of, -1 if it is of none
    outside: Array  # by pointer: whether the search ends there
    first: Array  # of the reached methods, ascending; likewise the columns below
    method: Array
    parameters: Array


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
    at, column = np.zeros(1, np.int64), np.zeros(0, np.int32)
    return Index(*(at if name.endswith("_at") else column for name in Index._fields))
