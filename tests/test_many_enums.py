"""A program that asks more enums for their constants than calls are followed by direct flow: all list them, in every mode."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.run import Run
from engine.kernel.paths import MOST_CALLS
from engine.reflection.modes import MODES
from tests.cli.conftest import run_command

JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
NUMBER = MOST_CALLS + 10
LINE = "\n"


def enum(name: str) -> str:
    """Returns the source of an enum whose constant prints the enum's name."""
    return f'enum {name} {{ A {{ void go() {{ System.out.println("{name}"); }} }}; abstract void go(); }}'


SOURCE = f"""
import java.util.EnumSet;

class Main {{
    public static void main(String[] arguments) {{
        {LINE.join(f"E{each}.valueOf(arguments[0]).go();" for each in range(NUMBER))}
        {LINE.join(f"for (S{each} one : EnumSet.of(S{each}.A)) {{ one.go(); }}" for each in range(NUMBER))}
    }}
}}
{LINE.join(enum(f"E{each}") for each in range(NUMBER))}
{LINE.join(enum(f"S{each}") for each in range(NUMBER))}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("enums")
    (folder / "Main.java").write_text(SOURCE)
    subprocess.run([str(JAVAC), "-d", folder / "classes", folder / "Main.java"], check=True)
    return folder / "classes"


@pytest.mark.skipif(not (JAVA and JAVAC), reason="needs a JDK")
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "sound"])
def test_each_enum_is_asked_for_its_constants(classes: Path, tmp_path: Path, mode: str) -> None:
    told = subprocess.run(
        [str(JAVA), "-cp", classes, "Main", "A"], check=True, capture_output=True, text=True
    ).stdout.split()
    done = run_command(
        "analyze", classes, "--main", "Main", "--mode", mode, "--out", tmp_path / "run", "--quiet"
    )
    assert done.code == 0, done.errors
    run = Run(tmp_path / "run")
    reached = {str(run.names.method(method)) for method in run.result.reached.tolist()}
    assert len(told) == 2 * NUMBER
    assert [each for each in told if f"{each}$1.go()V" not in reached] == []
    assert [each for each in told if f"{each}.values()[L{each};" not in reached] == []
