"""What other compilers, obfuscators and instrumenters write, and what compilers wrote long ago, is read."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from cypher.schema import Diagnostic
from loader.archives import open_inputs
from loader.translate import translate
from tests.benchmarks.workloads import Unavailable, fetch_jars, jar_name

JARS = {
    "Kotlin": ("org.jetbrains.kotlin:kotlin-stdlib:2.0.21", 900),
    "Scala 2": ("org.scala-lang:scala-library:2.13.15", 2500),
    "Scala 3": ("org.scala-lang:scala3-library_3:3.5.2", 300),
    "Groovy": ("org.apache.groovy:groovy:4.0.24", 3000),
    "Clojure": ("org.clojure:clojure:1.12.0", 3000),
    "JDK 1.1": ("xerces:xercesImpl:2.0.2", 600),
}  # fmt: skip
PROGUARD, JACOCO = "com.guardsquare:proguard-base:7.6.0", "org.jacoco:org.jacoco.cli:0.8.12"
SUBJECT = "org.apache.commons:commons-lang3:3.17.0"


def jars(coordinates: str) -> list[Path]:
    try:
        return fetch_jars((coordinates,))
    except Unavailable as missing:
        pytest.skip(str(missing))


def jar(coordinates: str) -> Path:
    (found,) = (each for each in jars(coordinates) if each.name == jar_name(coordinates))
    return found


def read(path: Path, least: int) -> Counter[int]:
    """Asserts that all classes of an archive are read, without errors; returns how many there are by version."""
    inputs = open_inputs([str(path)], release=25)
    found: list[Diagnostic] = list(inputs.diagnostics)
    versions: Counter[int] = Counter()
    for archive in inputs.archives:
        unit = translate(archive.classes(), archive.label)
        found += archive.diagnostics + unit.diagnostics
        versions.update(unit.class_version.tolist())
        assert unit.method_code.tolist().count(2) == 0, unit.diagnostics
        modules = sum(name.endswith("module-info.class") for name in archive.class_names())
        assert len(unit.class_type) == len(archive.class_names()) - modules
    assert [each for each in found if each.severity == "error" or each.effect == "soundness"] == []
    assert versions.total() >= least
    return versions


@pytest.mark.slow
@pytest.mark.parametrize("compiler", JARS)
def test_c24_other_compilers(compiler: str) -> None:
    coordinates, least = JARS[compiler]
    versions = read(jar(coordinates), least)
    if compiler == "JDK 1.1":
        assert versions.keys() == {45}


def java(*arguments: str | Path) -> None:
    command = shutil.which("java")
    if command is None:
        pytest.skip("needs java on the path")
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_c24_an_obfuscator(tmp_path: Path) -> None:
    line = os.pathsep.join(map(str, jars(PROGUARD)))
    subject, out = jar(SUBJECT), tmp_path / "obfuscated.jar"
    options = ["-dontwarn", "-ignorewarnings", "-dontnote", "-optimizationpasses", "3", "-overloadaggressively",
               "-useuniqueclassmembernames", "-allowaccessmodification", "-repackageclasses", "",
               "-keep", "public class org.apache.commons.lang3.StringUtils { public *; }"]  # fmt: skip
    java(
        "-cp",
        line,
        "proguard.ProGuard",
        "-injars",
        subject,
        "-outjars",
        out,
        "-libraryjars",
        _library(),
        *options,
    )
    assert out.stat().st_size < subject.stat().st_size
    read(out, 10)


def _library() -> str:
    home = Path(os.path.realpath(shutil.which("java") or "")).parent.parent
    return f"{home}/jmods/java.base.jmod(!**.jar;!module-info.class)"


@pytest.mark.slow
def test_c24_an_instrumenter(tmp_path: Path) -> None:
    line = os.pathsep.join(map(str, jars(JACOCO)))
    subject = jar(SUBJECT)
    java("-cp", line, "org.jacoco.cli.internal.Main", "instrument", subject, "--dest", tmp_path)
    (instrumented,) = tmp_path.iterdir()
    assert instrumented.stat().st_size > subject.stat().st_size
    read(instrumented, 300)
