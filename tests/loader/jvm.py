"""Asks a real JVM about archives."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

JAVA = shutil.which("java")
ORACLE = Path(__file__).with_name("ZipOracle.java")


def ask(questions: Sequence[str], directory: Path) -> list[str]:
    """Returns the answers of `ZipOracle`, each a line."""
    assert JAVA is not None
    asked, answered = directory / "questions", directory / "answers"
    asked.write_text("".join(f"{each}\n" for each in questions))
    subprocess.run([JAVA, "-Xmx1g", str(ORACLE), str(asked), str(answered)], check=True, timeout=600)
    return answered.read_text().split("\n")[:-1]


def version() -> int:
    """Returns the feature release of the JVM."""
    assert JAVA is not None
    line = [JAVA, "-XshowSettings:properties", "-version"]
    shown = subprocess.run(line, check=True, capture_output=True, text=True).stderr
    text = next(each for each in shown.splitlines() if "java.specification.version =" in each)
    return int(text.split("=")[1].strip().removeprefix("1."))
