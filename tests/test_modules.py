"""Fixtures in named modules: a folder of modules each, of which `app` has the main class."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fixture_analysis import computed, heliograph, parse
from tests.fixture_harness import (
    FIXTURES,
    MODES,
    RELEASE,
    SUPPORT,
    Fixture,
    covered,
    expectations,
    header,
    observe,
    wrong_at_run_time,
    wrong_in_mode,
)

MODULES = Path(__file__).parent / "modules"
PROGRAMS = sorted(path.parent for path in MODULES.glob("*/app"))
JAVAC, JAVA = shutil.which("javac"), shutil.which("java")

needs_jdk = pytest.mark.skipif(JAVAC is None or JAVA is None, reason="needs javac and java on the path")


def _fixture(program: Path) -> Fixture:
    """Returns the program, whose classes bear distinct names in all modules."""
    sources = {
        str(path.relative_to(module).with_suffix("")): path
        for module in program.iterdir()
        for path in sorted(module.rglob("*.java"))
        if path.name != "module-info.java"
    }
    return Fixture("app/Main", sources)


def _compile(*arguments: str | Path) -> None:
    options = ("--release", str(RELEASE), "-g", "-Xlint:none", "-proc:none")
    subprocess.run([str(JAVAC), *options, *map(str, arguments)], check=True)


@pytest.fixture(scope="module", params=PROGRAMS, ids=[each.name for each in PROGRAMS])
def program(request: pytest.FixtureRequest) -> Path:
    """Returns the folder of each program in turn."""
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module")
def modules(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with a folder of class files and resources for each module of the program."""
    built = tmp_path_factory.mktemp("modules") / "built"
    support = (FIXTURES / SUPPORT).glob("*.java")
    _compile("-d", built / SUPPORT, MODULES / SUPPORT / "module-info.java", *support)
    names = ",".join(each.name for each in program.iterdir())
    _compile("-p", built, "-d", built, "--module-source-path", program, "-m", names)
    for path in program.rglob("META-INF/services/*"):
        copy = built / path.relative_to(program)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
    return built


def test_header_says_what_it_shows(program: Path) -> None:
    fixture = _fixture(program)
    assert header(fixture).split("Covers:")[0].strip()
    assert covered(fixture)


@needs_jdk
def test_expectations_hold_at_run_time(program: Path, modules: Path) -> None:
    fixture = _fixture(program)
    observer = f"{SUPPORT}/{SUPPORT}.Observer"
    command = [str(JAVA), "-p", str(modules), "--add-modules", "app", "-m", observer]
    observed = observe(command, [fixture])[fixture.name]
    assert wrong_at_run_time(expectations(fixture), observed) == []


@needs_jdk
@pytest.mark.parametrize("mode", MODES)
def test_analysis_finds_what_is_expected(program: Path, modules: Path, mode: str) -> None:
    fixture = _fixture(program)
    inputs = sorted(str(each) for each in modules.iterdir())
    run, exported = modules.parent / mode, modules.parent / f"{mode}.json"
    heliograph("analyze", *inputs, "--main", "app.Main", "--mode", mode, "--out", str(run))
    heliograph("export", "callgraph", "--run", str(run), "--format", "jcg", "--out", str(exported))
    found = computed(parse(json.loads(exported.read_text())), fixture)
    assert wrong_in_mode(mode, expectations(fixture), found) == []
