"""Words of 64 bits, places in ascending columns, and slots of hash tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

from engine.kernel.compiled import compiled
from engine.kernel.state import Keys

ZERO = np.uint64(0)
ONE = np.uint64(1)


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """Returns the index of the lowest set bit of a non-zero word."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


@intrinsic
def bits(typingctx: Any, word: Any) -> Any:
    """Returns the number of set bits."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), build


@compiled
def slot(first: int, second: int, slots: int) -> int:
    """Returns the slot of a pair in a table of `slots` (a power of two)."""
    mixed = np.uint64(first) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(second) * np.uint64(
        0xD6E8FEB86659FD93
    )
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(29)
    return int(mixed & np.uint64(slots - 1))


@compiled
def place_of(key: Keys, start: int, end: int, wanted: int) -> int:
    """Returns where in the ascending key[start:end] the first is that is `wanted` or above."""
    while start < end:
        middle = (start + end) >> 1
        if key[middle] < wanted:
            start = middle + 1
        else:
            end = middle
    return start


@compiled
def next_place(key: Keys, start: int, end: int, wanted: int) -> int:
    """Returns the same as place_of, sooner if it is near `start`."""
    if start >= end or key[start] >= wanted:
        return start
    step = 1
    while start + step < end and key[start + step] < wanted:
        start += step
        step <<= 1
    return place_of(key, start + 1, min(start + step, end), wanted)
