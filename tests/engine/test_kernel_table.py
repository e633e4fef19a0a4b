"""What compiled code is told of arrays: where they lie, and their shapes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.kernel.table import table_of


class Inner(NamedTuple):
    grid: NDArray[Any]


class Outer(NamedTuple):
    inner: Inner
    column: NDArray[Any]


def test_a_table_has_addresses_and_shapes_in_the_order_of_the_members() -> None:
    group = Outer(Inner(np.zeros((2, 3), np.uint64)), np.zeros(5, np.int32))
    expected = [group.inner.grid.ctypes.data, 2, 3, group.column.ctypes.data, 5]
    assert table_of(group).tolist() == expected


def test_no_array_with_gaps_gets_into_a_table() -> None:
    with pytest.raises(ValueError, match="not contiguous"):
        table_of(Outer(Inner(np.zeros((2, 3))), np.zeros(10)[::2]))
