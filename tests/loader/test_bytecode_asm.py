"""The operand stacks of whole archives beside those that ASM's analyzer computes."""

import os
import shutil
from pathlib import Path

import pytest

from loader import jdk, maven
from loader.containers import LIBRARY, Opener
from loader.source import Limits
from tests.loader.stack_oracle import ask, digest, origins_of

# One class in so many is compared; 1 compares them all, which takes minutes.
STEP = int(os.environ.get("ORACLE_STEP", "60"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(each) for each in ("java", "javac", "mvn")), reason="needs a JDK and Maven"
    ),
]


def contents(path: Path, step: int) -> list[bytes]:
    """Returns one class file in `step` of the archive."""
    archives = Opener(Limits(), 17, []).open(path, str(path), LIBRARY)
    classes = (each for archive in archives for each in archive.classes())
    return [content for name, content in classes if not name.endswith("module-info.class")][::step]


def differences(classes: list[bytes], directory: Path) -> list[str]:
    """Returns the methods on which the two interpretations differ; there have to be some to compare."""
    answers = ask(classes, directory)
    compared, differing = 0, []
    for content in classes:
        for method, origins in origins_of(content):
            answer = answers[method]
            if answer == "LONG":
                continue
            compared += 1
            if answer != digest(origins):
                differing.append(method)
    assert compared > len(classes) // 2
    return differing


def test_every_so_many_classes_of_the_jdk(tmp_path: Path) -> None:
    classes = [each for file in jdk.find_jdk().files for each in contents(Path(file), STEP)]
    assert differences(classes, tmp_path) == []


@pytest.mark.parametrize(
    ("coordinates", "step"),
    [
        ("org.hsqldb:hsqldb:2.7.3", 10),
        ("org.jetbrains.kotlin:kotlin-stdlib:2.0.0", 20),
        ("org.apache.groovy:groovy:4.0.18", 30),
    ],
)
def test_other_compilers_and_older_class_files(coordinates: str, step: int, tmp_path: Path) -> None:
    classes = contents(maven.resolve(coordinates).file, min(step, STEP))
    assert differences(classes, tmp_path) == []
