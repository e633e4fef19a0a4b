"""Were a rule for reflection different, a fixture would show it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.engine.rule_mutation import TRIED, known_survivors, mutants, survivors
from tests.mutants import sampled

# One mutant in so many is tried, without the JDK's code; `python -m tests.engine.rule_mutation` tries them all, with it.
PART = 12


def test_what_no_fixture_notices_are_mutants() -> None:
    assert known_survivors() <= {each.name for each in mutants()}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
def test_changed_rules_are_noticed(tmp_path: Path) -> None:
    tried = [each for each in mutants() if sampled(each.name, PART)]
    assert len(tried) > 40
    assert set(survivors(tried, tmp_path, TRIED[:3])) <= known_survivors()
