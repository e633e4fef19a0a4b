"""Source lines of bytecode offsets."""

from __future__ import annotations

import numpy as np

from cypher.schema import NONE, Int32
from loader.csr import spans
from loader.part import Part

# An offset is less than this (JVMS 4.7.3).
_OFFSETS = 1 << 17


def lines_of(part: Part, rows: Int32, offsets: Int32) -> Int32:
    """Returns the source line of each offset of the method in that row of `part`, -1 where it has none."""
    at = part.unit.method_lines_at
    methods, owner = np.unique(rows, return_inverse=True)
    counts = at[methods + 1] - at[methods]
    entries = spans(at[methods], counts)
    key = (
        np.repeat(np.arange(len(methods), dtype=np.int64), counts) * _OFFSETS + part.unit.line_offset[entries]
    )
    order = np.argsort(key, kind="stable")
    key = key[order]
    lines = np.full(len(rows), NONE, np.int32)
    place = np.searchsorted(key, owner * np.int64(_OFFSETS) + offsets, "right") - 1
    found = np.flatnonzero(place >= 0)
    found = found[key[place[found]] // _OFFSETS == owner[found]]
    lines[found] = part.unit.line_number[entries[order[place[found]]]]
    return lines
