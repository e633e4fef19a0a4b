"""Were a rule for reflection different, a fixture would show it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.engine.model_mutation import compiled
from tests.engine.rule_mutation import TRIED, mutants, survivors
from tests.mutants import sampled

# One mutant in so many is tried, without the JDK's code; `python -m tests.engine.rule_mutation` tries them all, with it.
PART = 12

# Mutants that no fixture notices.
NOT_SHOWN: set[str] = set()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
def test_changed_rules_are_noticed(tmp_path: Path) -> None:
    tried = [each for each in mutants() if sampled(each.name, PART)]
    found = survivors(tried, compiled(tmp_path), TRIED[:3])
    assert len(tried) > 40
    assert set(found) == {each for each in NOT_SHOWN if sampled(each, PART)}
