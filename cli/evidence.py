"""The columns of a run that explanations are made from."""

from __future__ import annotations

import numpy as np

from cli.run import Run
from cli.text import parameter_descriptors
from cypher.program import ACC_STATIC
from engine.flow import Evidence, evidence_of


def evidence(run: Run) -> Evidence:
    """Returns the columns of a run that explanations are made from."""
    names, result = run.names, run.result
    rows = names.columns.methods[np.searchsorted(names.columns.methods[:, 0], result.reached)]
    descriptors, which = np.unique(rows[:, 3], return_inverse=True)
    counts = np.array(
        [len(parameter_descriptors(names.texts[each])) for each in descriptors.tolist()], np.int32
    )
    receivers = (rows[:, 4] & ACC_STATIC) == 0
    parameters = (counts[which] + receivers).astype(np.int32)
    structure = run.structure
    return evidence_of(result, rows[:, 1], parameters, structure.superclass, structure.interfaces)
