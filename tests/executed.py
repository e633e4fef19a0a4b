"""Programs of one source file that are compiled, run on a JVM, and analysed: what ran is to be found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.run import Run
from tests.cli.conftest import run_command

JAVA, JAVAC = shutil.which("java"), shutil.which("javac")
needs_jdk = pytest.mark.skipif(not (JAVA and JAVAC), reason="needs a JDK")


def executed(folder: Path, source: str, *arguments: str) -> tuple[Path, list[str]]:
    """Compiles a program whose class `Main` is of no package; returns the folder of class files, and the words it prints."""
    (folder / "Main.java").write_text(source)
    classes = folder / "classes"
    subprocess.run([str(JAVAC), "-d", classes, folder / "Main.java"], check=True)
    command = [str(JAVA), "-cp", str(classes), "Main", *arguments]
    return classes, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def reached(classes: Path, out: Path, *options: str) -> set[str]:
    """Returns the methods that an analysis of such a program reaches, with parameters and result; the run is in `out`."""
    done = run_command("analyze", classes, "--main", "Main", "--out", out, "--quiet", *options)
    assert done.code == 0, done.errors
    run = Run(out)
    return {str(run.names.method(method)) for method in run.result.reached.tolist()}
