"""No reflective call of a real program is called resolved that had another target when the program ran."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cli.causes import REFLECTION_RESOLVED
from tests.benchmarks.jdk import Jdk
from tests.benchmarks.workloads import Unavailable
from tests.cli.conftest import run_command
from tests.recall.record import record
from tests.recall.subjects import Subject, subject

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(each) for each in ("java", "javac", "mvn")), reason="needs a JDK and Maven"
    ),
]


@pytest.fixture(scope="module", name="recorded", params=["antlr2", "checkstyle", "hsqldb", "xalan"])
def recorded_program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jdk: Jdk
) -> tuple[Subject, Path]:
    folder = tmp_path_factory.mktemp("recorded")
    try:
        program = subject(request.param, jdk, folder)
    except Unavailable as missing:
        pytest.skip(str(missing))
    record(program, jdk, folder / "calls.tsv", folder)
    return program, folder / "calls.tsv"


@pytest.mark.parametrize("mode", ["points-to", "casts"])
def test_no_resolved_call_had_another_target(
    recorded: tuple[Subject, Path], mode: str, tmp_path: Path, jdk: Jdk
) -> None:
    program, observed = recorded
    run = tmp_path / "run"
    options = ("--jdk", jdk.home, "--mode", mode, "--out", run, "--quiet")
    assert run_command("analyze", *program.analysis(), *options).code == 0
    found = json.loads(run_command("recall", "--run", run, "--observed", observed, "--format", "json").output)
    reflective = [each for each in found["categories"] if each["category"].startswith("reflective calls")]
    assert sum(each["found"] for each in reflective) > 0
    assert [each for each in found["missing"] if each["cause"] == REFLECTION_RESOLVED] == []
