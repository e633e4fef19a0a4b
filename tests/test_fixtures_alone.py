"""Fixtures that are analysed by themselves do what is expected on a JVM, and in each mode."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.reflection.modes import SOUND
from tests.fixture_analysis import analysed, computed
from tests.fixture_harness import (
    ALONE,
    MODES,
    Fixture,
    build,
    execute,
    expectations,
    fixtures,
    wrong_at_run_time,
    wrong_in_mode,
)

JAVAC, JAVA = shutil.which("javac"), shutil.which("java")
FIXTURES = fixtures(ALONE)

pytestmark = pytest.mark.skipif(JAVAC is None or JAVA is None, reason="needs javac and java on the path")
each_fixture = pytest.mark.parametrize("fixture", FIXTURES, ids=[each.name for each in FIXTURES])


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with their class files."""
    folder = tmp_path_factory.mktemp("alone") / "classes"
    folder.mkdir()
    assert JAVAC is not None
    build(folder, JAVAC, ALONE)
    return folder


@each_fixture
def test_expectations_hold_at_run_time(fixture: Fixture, classes: Path) -> None:
    assert JAVA is not None
    observed = execute(classes, JAVA, [fixture])
    assert wrong_at_run_time(expectations(fixture), observed[fixture.name]) == []


@pytest.mark.parametrize("mode", [each for each in MODES if each != SOUND])
@each_fixture
def test_analysis_finds_what_is_expected(fixture: Fixture, mode: str, classes: Path) -> None:
    found = computed(analysed(classes, [fixture.name], mode), fixture)
    assert wrong_in_mode(mode, expectations(fixture), found) == []
