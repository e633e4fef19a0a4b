"""The call sites of an analysis: those of the bytecode, and calls that something else makes on behalf of one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher.schema import NONE, Int32

# Where a site comes from. Edges of BYTECODE and REFLECTION are call edges, the others are implicit.
BYTECODE, REFLECTION, INITIALISATION, MODEL, ENTRY_POINT = range(5)
ORIGINS = ("bytecode", "reflection", "initialisation", "model", "entry point")


class Sites(NamedTuple):
    """One entry a site, by its id.

    `method` and `offset` are where it stands (-1 for the JVM itself), `kind`, `declared`, `callee` and
    `signature` as in `Invoke`, `origin` one of the above and `cause` the site in the bytecode on whose behalf
    the call is made, or -1. `cut` is 1 where a model, not the callee, says what the call returns.
    """

    method: Int32
    offset: Int32
    kind: Int32
    declared: Int32
    callee: Int32
    signature: Int32
    result: Int32
    thrown: Int32
    origin: Int32
    cause: Int32
    cut: Int32


class SiteTable:
    """Grows as sites are added, in the order of their ids."""

    def __init__(self) -> None:
        self._table = np.empty((len(Sites._fields), 1 << 14), np.int32)
        self.number = 0

    def add(self, number: int, **columns: Int32 | int) -> int:
        """Adds `number` sites, with the columns of `Sites` (absent ones are -1, `cut` 0); returns the first."""
        while self.number + number > self._table.shape[1]:
            self._table = np.concatenate((self._table, np.empty_like(self._table)), axis=1)
        rows = self._table[:, self.number : self.number + number]
        for row, name in enumerate(Sites._fields):
            rows[row] = columns.get(name, 0 if name == "cut" else NONE)
        self.number += number
        return self.number - number

    def cut(self, sites: Int32) -> None:
        """Notes that what these sites return comes from a model."""
        self._table[Sites._fields.index("cut"), sites] = 1

    def cut_mask(self) -> NDArray[np.bool_]:
        """Returns of which sites the results come from a model."""
        return self._table[Sites._fields.index("cut"), : self.number] > 0

    def place(self, site: int) -> tuple[int, int]:
        """Returns the method and the offset of one site."""
        method, offset = self._table[:2, site].tolist()  # (the first columns)
        return method, offset

    def finish(self) -> Sites:
        """Returns all sites."""
        return Sites(*self._table[:, : self.number].copy())
