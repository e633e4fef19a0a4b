"""Strings among the objects of a run."""

from __future__ import annotations

import numpy as np

from cli.run import Run
from engine import heap
from engine.constraints import STRING
from engine.sets import Bools


def string_objects(run: Run, *, constant: bool) -> Bools:
    """Returns which objects are strings: constants among them, or not."""
    objects, type_ = run.result.objects, run.names.type_ids.get(STRING)
    if type_ is None:
        return np.zeros(len(objects.kind), np.bool_)
    is_constant = np.isin(objects.kind, (heap.STRING, heap.GENERIC))
    found: Bools = (np.asarray(objects.type) == type_) & (constant | ~is_constant)
    return found
