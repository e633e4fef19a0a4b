"""Tables of addresses: what compiled code gets in place of a group of arrays (see `engine.kernel.groups`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]  # whole numbers of 64 bits


def table_of(group: tuple[Any, ...]) -> Table:
    """Returns where the arrays lie of a named tuple of arrays and of such tuples, and their shapes.

    Whoever hands it on keeps the arrays. Raises ValueError if one is not contiguous: nothing else is known of it then.
    """
    return np.array(list(_numbers(group)), np.int64)


def _numbers(group: tuple[Any, ...]) -> Iterator[int]:
    """Yields the address and the shape of each array."""
    for each in group:
        if isinstance(each, tuple):
            yield from _numbers(each)
            continue
        if not each.flags.c_contiguous:
            raise ValueError("an array for compiled code is not contiguous")
        yield each.ctypes.data
        yield from each.shape
