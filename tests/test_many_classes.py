"""Programs with more classes than calls are followed, or list the members of: what is found of them, and what is reported."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.run import Run
from engine.bounded import LISTED_IN_ALL
from engine.kernel.paths import MOST_CALLS
from engine.reflection.modes import MODES
from tests.cli.conftest import run_command

JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
NUMBER = max(MOST_CALLS, LISTED_IN_ALL) + 10
LINE = "\n"


def go(name: str) -> str:
    """Returns a method that prints a name."""
    return f'public void go() {{ System.out.println("{name}"); }}'


ENUMS = f"""
import java.util.EnumSet;

class Main {{
    public static void main(String[] arguments) {{
        {LINE.join(f"E{each}.valueOf(arguments[0]).go();" for each in range(NUMBER))}
        {LINE.join(f"for (S{each} one : EnumSet.of(S{each}.A)) {{ one.go(); }}" for each in range(NUMBER))}
    }}
}}
{LINE.join(f"enum E{each} {{ A {{ {go(f'E{each}')} }}; abstract void go(); }}" for each in range(NUMBER))}
{LINE.join(f"enum S{each} {{ A {{ {go(f'S{each}')} }}; abstract void go(); }}" for each in range(NUMBER))}
"""
LISTED = f"""
class Main {{
    static void call(Object receiver) throws Exception {{
        receiver.getClass().getDeclaredMethods()[0].invoke(receiver);
    }}

    public static void main(String[] arguments) throws Exception {{
        {LINE.join(f"call(new C{each}());" for each in range(NUMBER))}
    }}
}}
{LINE.join(f"class C{each} {{ {go(f'C{each}')} }}" for each in range(NUMBER))}
"""

pytestmark = pytest.mark.skipif(not (JAVA and JAVAC), reason="needs a JDK")


def compiled(folder: Path, source: str) -> tuple[Path, list[str]]:
    """Compiles a program; returns the folder of class files, and what the program prints."""
    (folder / "Main.java").write_text(source)
    classes = folder / "classes"
    subprocess.run([str(JAVAC), "-d", classes, folder / "Main.java"], check=True)
    command = [str(JAVA), "-cp", str(classes), "Main", "A"]
    return classes, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture(scope="module")
def enums(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    return compiled(tmp_path_factory.mktemp("enums"), ENUMS)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    return compiled(tmp_path_factory.mktemp("listed"), LISTED)


def reached(classes: Path, out: Path, *options: str) -> set[str]:
    """Returns the methods that an analysis reaches."""
    done = run_command("analyze", classes, "--main", "Main", "--out", out, "--quiet", *options)
    assert done.code == 0, done.errors
    run = Run(out)
    return {str(run.names.method(method)) for method in run.result.reached.tolist()}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "sound"])
def test_each_enum_is_asked_for_its_constants(
    enums: tuple[Path, list[str]], tmp_path: Path, mode: str
) -> None:
    classes, told = enums
    found = reached(classes, tmp_path / "run", "--mode", mode)
    assert len(told) == 2 * NUMBER
    assert [each for each in told if f"{each}$1.go()V" not in found] == []
    assert [each for each in told if f"{each}.values()[L{each};" not in found] == []


def test_a_call_that_lists_members_of_many_classes_is_open(
    listed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    classes, told = listed
    found = reached(classes, tmp_path / "run")
    assert not [each for each in told if f"{each}.go()V" in found]
    sites = json.loads(run_command("sites", "--run", tmp_path / "run", "--format", "json").output)
    (lists,) = (each for each in sites if each["api"].endswith("getDeclaredMethods"))
    assert (lists["status"], lists["causes"]) == ("unresolved", ["many-classes"])


def test_without_bounded_lists_it_lists_those_of_all(listed: tuple[Path, list[str]], tmp_path: Path) -> None:
    classes, told = listed
    found = reached(classes, tmp_path / "run", "--without", "bounded-lists")
    assert len(told) == NUMBER
    assert [each for each in told if f"{each}.go()V" not in found] == []
