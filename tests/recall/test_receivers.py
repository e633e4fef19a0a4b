"""What a program stores by names that it reads: recorded while it ran, and told as the cause of what the run lacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.benchmarks import jdk as jdks
from tests.cli.conftest import run_command
from tests.recall.java_agent import compile_java
from tests.recall.record import record
from tests.recall.subjects import Subject

SOURCE = Path(__file__).with_name("Bean.java")
LINES = SOURCE.read_text().splitlines()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(each) for each in ("java", "javac", "mvn")), reason="needs a JDK and Maven"
    ),
]


@pytest.fixture(scope="module")
def missing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, str]]:
    """Cause, detail and root of the calls of `Item.use` that the run lacks, by caller."""
    jdk = jdks.find()
    folder = tmp_path_factory.mktemp("beans")
    classes, out, names = folder / "classes", folder / "calls.tsv", folder / "names.properties"
    names.write_text("setter=setItem\nadder=addPart\nfield=chosen\n")
    compile_java(jdk, [SOURCE], classes, [])
    subject = Subject("beans", (classes,), (), "Bean", (str(names),))
    record(subject, jdk, out, folder)
    run = folder / "run"
    assert run_command("analyze", *subject.analysis(), "--jdk", jdk.home, "--out", run, "-q").code == 0
    done = run_command("recall", "--run", run, "--observed", out, "--format", "json")
    assert done.code == 0, done.errors
    return {
        each["caller"].partition("(")[0]: (each["cause"], each["detail"], each["root"])
        for each in json.loads(done.output)["missing"]
        if each["callee"] == "Item.use()V"
    }


def place(code: str) -> str:
    """Returns the place of a reflective call by a part of its line."""
    (line,) = (number for number, text in enumerate(LINES, 1) if code in text)
    return f"Bean.main([Ljava/lang/String;)V:{line}"


@pytest.mark.parametrize(
    ("caller", "code", "target", "does"),
    [
        ("useItem", '"setter"', "Bean.setItem(LItem;)V", "stores to Bean.item"),
        ("useParts", '"adder"', "Bean.addPart(LItem;)V", "adds to Bean.parts"),
    ],
)
def test_a_setter_whose_name_is_read_is_the_cause(
    missing: dict[str, tuple[str, str, str]], caller: str, code: str, target: str, does: str
) -> None:
    assert missing[f"Bean.{caller}"] == ("follows", f"{target} {does}", f"{place(code)} → {target}")


def test_a_field_whose_name_is_read_is_the_cause(missing: dict[str, tuple[str, str, str]]) -> None:
    at = place('"field"')
    told = f"set at Bean.main:{at.rpartition(':')[2]} stores to Bean.chosen"
    assert missing["Bean.useChosen"] == ("follows", told, f"{at} → Bean.chosen")
