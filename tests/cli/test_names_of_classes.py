"""By which names of classes a call counts as resolved."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.conftest import Heliograph
from tests.cli.test_specification import statuses

PROGRAM = """\
package demo;
public class Main {
    public interface Task { }
    public static class Plain implements Task { }
    public static void main(String[] arguments) throws Exception {
        Class.forName(Plain.class.getName());
        Class.forName(Plain.class.getTypeName());
        Class.forName(Plain[].class.getTypeName());
        Runnable lambda = () -> { };
        Class.forName(lambda.getClass().getName());
        Class<?> cast = Class.forName(arguments[0]);
        Task made = (Task) cast.getConstructor().newInstance();
        Class.forName(cast.getName());
        Class.forName(int.class.getName());
    }
}
"""
STATUSES = {
    "main:6": "resolved",
    "main:7": "resolved",
    "main:8": "unresolved",  # (no class is found by it, which is not known)
    "main:10": "unresolved",
    "main:11": "resolved correct-casts",  # (what is made of it is cast: it is one of the classes that implement Task)
    "main:13": "partial",
    "main:14": "unresolved",
}


def test_a_call_is_resolved_if_the_name_is_that_of_a_known_class(
    tmp_path: Path, javac: str, heliograph: Heliograph
) -> None:
    (tmp_path / "Main.java").write_text(PROGRAM)
    subprocess.run([javac, "-g", "-d", str(tmp_path), str(tmp_path / "Main.java")], check=True)
    done = heliograph("analyze", tmp_path, "--mode", "casts", "--out", tmp_path / "run", "--quiet")
    assert done.code == 0, done.errors
    assert statuses(heliograph, tmp_path / "run") == STATUSES
