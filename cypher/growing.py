"""Arrays that grow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Int32


class Growing:
    """An int32 array to which rows are appended.

    >>> array = Growing(); array.extend(np.array([1, 2], np.int32)); array.view.tolist()
    [1, 2]
    """

    __slots__ = ("_array", "_length")

    def __init__(self) -> None:
        self._array: Int32 = np.empty(1024, np.int32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def view(self) -> Int32:
        """Returns the rows so far; later rows may or may not be written to the same memory."""
        return self._array[: self._length]

    def extend(self, values: NDArray[Any] | Iterable[int]) -> None:
        """Appends `values`."""
        added = values if isinstance(values, np.ndarray) else np.array(list(values), np.int32)
        end = self._length + len(added)
        if end > len(self._array):
            larger = np.empty(max(end, 2 * len(self._array)), np.int32)
            larger[: self._length] = self.view
            self._array = larger
        self._array[self._length : end] = added
        self._length = end
