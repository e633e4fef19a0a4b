"""Mutation testing of how archives are read: `python -m tests.loader.mutation_archives` lists the survivors.

What notices a mutant are the cases of WRITTEN, whose expectations are all written down; that they are those
of a JVM is what `test_zip_jvm` is for.
"""

from __future__ import annotations

from itertools import chain

from loader import containers, manifest, views, zipread
from tests import mutants
from tests.loader import test_container_edges, test_zip_edges

MODULES = (zipread, views, manifest, containers)
WRITTEN = (test_zip_edges, test_container_edges)
SECONDS = 2.0  # of CPU time a case; the unchanged modules take a four-hundredth, a busy machine more


def survivors() -> tuple[list[str], int]:
    """Returns the names of the mutants that nothing notices, and how many mutants there are."""
    changed = chain.from_iterable(mutants.mutants_of(each) for each in MODULES)
    return mutants.survivors(changed, mutants.cases_of(WRITTEN), SECONDS)


if __name__ == "__main__":
    surviving, among = survivors()
    print("\n".join([*surviving, f"{len(surviving)} of {among} survive"]))
