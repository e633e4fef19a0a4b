"""A small program, a small class library, and runs of the command line on them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.run import Run
from tests.cli import tiny_jdk

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-c", "from cli.main import main; main()")

PROGRAM = """package demo;

import java.lang.reflect.Method;

public class Main {
    static String chosen = "demo.Plugin";

    public static void main(String[] arguments) throws Exception {
        Class<?> type = Class.forName(chosen);
        Runnable plugin = (Runnable) type.newInstance();
        plugin.run();
        Method method = type.getMethod("greet", String.class);
        method.invoke(plugin, "x");
        Class.forName(arguments[0]).newInstance();
        Class.forName("demo.Missing");
        new Thread(plugin).start();
    }

    public void unused(String name) throws Exception {
        Class.forName("demo.Plugin").getConstructor().newInstance();
    }
}

class Plugin implements Runnable {
    public Plugin() {}
    public void run() { helper(); }
    public void greet(String whom) { helper(); }
    private void helper() {}
}
"""
SECOND = """package other;

public class Second {
    public static void main(String[] arguments) {}
}
"""


class Done(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    output: str
    errors: str


Heliograph = Callable[..., Done]


def run_command(*arguments: str | Path) -> Done:
    """Runs `heliograph` with the arguments."""
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def heliograph() -> Heliograph:
    return run_command


@pytest.fixture(scope="session")
def javac() -> str:
    found = shutil.which("javac")
    if found is None:
        pytest.skip("needs javac on the path")
    return found


@pytest.fixture(scope="module")
def run_of(
    tmp_path_factory: pytest.TempPathFactory, javac: str, heliograph: Heliograph
) -> Callable[..., Path]:
    """Compiles `demo.Main` from its source and analyses it with the machine's JDK; returns the run's folder."""

    def analysed(source: str, *options: str) -> Path:
        folder = tmp_path_factory.mktemp("program")
        (folder / "Main.java").write_text(source)
        subprocess.run([javac, "-g", "-d", str(folder), str(folder / "Main.java")], check=True)
        done = heliograph("analyze", folder, *options, "--out", folder / "run", "--quiet")
        assert done.code == 0, done.errors
        return folder / "run"

    return analysed


@pytest.fixture(scope="session")
def jdk(tmp_path_factory: pytest.TempPathFactory, javac: str) -> Path:
    """The home of a class library of a few classes."""
    return tiny_jdk.build(tmp_path_factory.mktemp("jdk"), javac)


def compiled(folder: Path, jdk: Path, javac: str, **sources: str) -> Path:
    """Compiles classes of the default package's sources by file name; returns the folder of class files."""
    for name, text in sources.items():
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "src" / f"{name}.java").write_text(text)
    tiny_jdk.compile_java(javac, folder / "src", folder / "classes", str(jdk / "lib" / "rt.jar"))
    return folder / "classes"


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> Path:
    return compiled(tmp_path_factory.mktemp("program"), jdk, javac, Main=PROGRAM)


@pytest.fixture(scope="session")
def two_mains(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> Path:
    return compiled(tmp_path_factory.mktemp("two"), jdk, javac, Main=PROGRAM, Second=SECOND)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, classes: Path, jdk: Path) -> Path:
    """The directory of a run of the program."""
    place = tmp_path_factory.mktemp("run") / "points-to"
    done = run_command("analyze", classes, "--jdk", jdk, "--out", place, "--quiet")
    assert done.code == 0, done.errors
    return place


@pytest.fixture
def run(folder: Path) -> Run:
    return Run(folder)


@pytest.fixture(scope="session")
def without_reflection(tmp_path_factory: pytest.TempPathFactory, classes: Path, jdk: Path) -> Path:
    """The directory of a run in mode `none`."""
    place = tmp_path_factory.mktemp("run") / "none"
    done = run_command("analyze", classes, "--jdk", jdk, "--out", place, "--mode", "none", "--quiet")
    assert done.code == 0, done.errors
    return place


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Path(os.environ["XDG_STATE_HOME"]) / "heliograph" / "runs"
