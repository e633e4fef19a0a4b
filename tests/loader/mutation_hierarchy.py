"""Mutation testing of the class hierarchy: `python -m tests.loader.mutation_hierarchy` lists the survivors.

What notices a mutant are random programs beside a model of the specification, and written cases.
"""

from __future__ import annotations

from itertools import chain

from loader import fields, hierarchy, members, overriding, resolution
from tests import mutants
from tests.loader import test_hierarchy, test_hierarchy_edges

MODULES = (hierarchy, overriding, members, resolution, fields)
WRITTEN = (test_hierarchy_edges, test_hierarchy)
# They take long.
SKIPPED = {
    "test_h05_deep_hierarchy_needs_no_recursion",
    "test_h05_very_wide_hierarchy",
    "test_h05_arrays_of_as_many_dimensions_as_can_be",
}
# Of the bodies, not of the hierarchy.
NOT_CHANGED = {"returned_parameters", "Fields.of_refs"}
SECONDS = 1.0  # of CPU time a case; the unchanged modules take a fiftieth


def survivors(part: int) -> tuple[list[str], int]:
    """Returns the names of the mutants in the sample that nothing notices, and how many mutants it has."""
    every = chain.from_iterable(mutants.mutants_of(each, NOT_CHANGED) for each in MODULES)
    changed = (each for each in every if mutants.sampled(each.name, part))
    cases = mutants.cases_of(WRITTEN, SKIPPED)
    return mutants.survivors(changed, cases, SECONDS, overriding._NOTHING.clear)


if __name__ == "__main__":
    surviving, among = survivors(1)
    print("\n".join([*surviving, f"{len(surviving)} of {among} survive"]))
