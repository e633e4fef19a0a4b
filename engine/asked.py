"""Answers to questions about each of many ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from cypher.schema import NONE, Int32


class Asked:
    """Answers to a question about ids: each is asked about once, -1 like any other."""

    def __init__(self, ask: Callable[[int], bool]) -> None:
        self._ask = ask
        self._answers: dict[int, bool] = {}
        self._mask = np.full(1, NONE, np.int8)  # the same by id, from -1 on; -1 if nobody asked for many

    @property
    def size(self) -> int:
        """No id above this was among many that were asked about."""
        return self._mask.size

    def one(self, id_: int) -> bool:
        """Returns the answer for one id."""
        found = self._answers.get(id_)
        if found is None:
            found = self._answers[id_] = self._ask(id_)
        return found

    def many(self, ids: Int32) -> NDArray[np.bool_]:
        """Returns the answer for each id."""
        last = int(ids.max(initial=NONE))
        if last + 1 >= self._mask.size:
            self._mask = np.concatenate((self._mask, np.full(last + 1, NONE, np.int8)))
        unknown = ids[self._mask[ids + 1] < 0]
        for each in np.unique(unknown).tolist() if unknown.size else ():
            self._mask[each + 1] = self.one(each)
        mask: NDArray[np.bool_] = self._mask[ids + 1] > 0
        return mask


class Among:
    """Whether ids, -1 like any other, are among some that are known from the start."""

    def __init__(self, ids: Iterable[int]) -> None:
        known = np.array(list(ids), np.int32)
        # By id, from -1 on; the last stands for all above those that are known.
        self._mask = np.zeros(int(known.max(initial=NONE)) + 3, np.bool_)
        self._mask[known + 1] = True

    def many(self, ids: Int32) -> NDArray[np.bool_]:
        """Returns which ids are."""
        found: NDArray[np.bool_] = self._mask[np.minimum(ids, self._mask.size - 2) + 1]
        return found
