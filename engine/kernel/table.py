"""Tables of addresses: what compiled code gets in place of a group of arrays (see `engine.kernel.groups`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Table = NDArray[Any]  # whole numbers of 64 bits
Group = TypeVar("Group", bound=tuple[Any, ...])
NO_TABLE: Table = np.empty(0, np.int64)


def with_table(group: Group) -> Group:
    """Returns a named tuple of arrays, and of such tuples, with the `table` of where these arrays lie.

    Raises ValueError if an array is not contiguous: compiled code goes by its address and shape.
    """
    table = np.array(list(_numbers(group)), np.int64)
    return group._replace(table=table)  # type: ignore[attr-defined]


def _numbers(group: tuple[Any, ...]) -> Iterator[int]:
    """Yields the address and the shape of each array; the table itself is none of them."""
    for name, each in zip(group._fields, group, strict=True):  # type: ignore[attr-defined]
        if isinstance(each, tuple):
            yield from _numbers(each)
        elif name != "table":
            if not each.flags.c_contiguous:
                raise ValueError(f"{name} is not contiguous")
            yield each.ctypes.data
            yield from each.shape
