"""Mutation testing of how casts of results are found: `python -m tests.loader.mutation_casts` lists the survivors."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path

from loader import bytecode, casts, operands
from tests import mutants
from tests.loader import test_casts

MODULES = (casts, operands)
# They take long, and show where long searches end.
SKIPPED = {
    "test_casts_on_all_ways",
    "test_a_way_too_long_to_follow_has_no_cast",
    "test_work_for_a_method_has_an_end",
}
NOT_CHANGED = {"result_casts", "_Ways.explore"}
SECONDS = 0.3  # of CPU time a case; the unchanged modules take a twentieth


def cases(folder: Path) -> list[mutants.Case]:
    """Returns the written cases, that of compiled methods first."""
    content = test_casts.compile_source(folder)
    expected = dict(test_casts.expectations())

    def compiled() -> None:
        found = test_casts.casts_in(content)
        assert {name: found[name] for name in expected} == expected

    return [compiled, *mutants.cases_of([test_casts], SKIPPED)]


def survivors(part: int) -> tuple[list[str], int]:
    """Returns the names of the mutants in the sample that nothing notices, and how many mutants it has."""
    calls = (each for each in mutants.mutants_of(bytecode) if each.name.startswith("_add_result_casts: "))
    every = chain(calls, *(mutants.mutants_of(each, NOT_CHANGED) for each in MODULES))
    changed = (each for each in every if mutants.sampled(each.name, part))
    with tempfile.TemporaryDirectory(prefix="heliograph-tests-") as folder:
        return mutants.survivors(changed, cases(Path(folder)), SECONDS)


if __name__ == "__main__":
    surviving, among = survivors(1)
    print("\n".join([*surviving, f"{len(surviving)} of {among} survive"]))
