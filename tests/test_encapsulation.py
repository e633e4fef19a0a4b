"""Members that the JDK's modules keep to themselves: what is reported of calls that would use them, and opening them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import jdk as jdks
from tests.cli.conftest import run_command

PROGRAM = """
import java.lang.reflect.*;
import java.util.Comparator;

public class Main {
    public static void main(String[] arguments) throws Exception {
        Thread thread = new Thread();
        Field field = Thread.class.getDeclaredField("name");
        field.setAccessible(true);
        System.out.print(field.get(thread) != null ? "name " : "");
        Method method = Thread.class.getDeclaredMethod("dispatchUncaughtException", Throwable.class);
        method.setAccessible(true);
        thread.setUncaughtExceptionHandler((where, what) -> System.out.print("handler "));
        method.invoke(thread, new Error());
        Constructor<?> made = Class.forName("java.util.Collections$ReverseComparator").getDeclaredConstructor();
        made.setAccessible(true);
        System.out.print(((Comparator<Integer>) made.newInstance()).compare(1, 2));
        try {
            Class.forName("java.util.Collections$EmptySet").newInstance();
        } catch (IllegalAccessException refused) {
            System.out.println();
        }
    }
}
"""
CALLS = ["Field.get", "Method.invoke", "Constructor.newInstance", "Class.newInstance"]
# What each uses, as one writes it in a specification.
USED = [
    "java.lang.Thread.name",
    "java.lang.Thread.dispatchUncaughtException",
    "java.util.Collections$ReverseComparator",
    "java.util.Collections$EmptySet",
]
USING = [f"java.lang.{'' if each.startswith('Class') else 'reflect.'}{each}" for each in CALLS]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not all(map(shutil.which, ("java", "javac"))), reason="needs a JDK"),
]


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if jdks.find().feature < 16:
        pytest.skip("before JDK 16, other code may use all members")
    folder = tmp_path_factory.mktemp("encapsulated")
    (folder / "Main.java").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["javac", "-nowarn", "Main.java", "-d", "classes"], cwd=folder, check=True)
    return folder / "classes"


def calls(classes: Path, *options: str | Path) -> dict[str, dict[str, Any]]:
    """The calls that use members, by API."""
    run = classes.parent / "run"
    done = run_command("analyze", classes, "--scope", "application", "--out", run, "-q", *options)
    assert done.code == 0, done.errors
    listed = json.loads(run_command("sites", "--run", run, "--format", "json").output)
    return {each["api"]: each for each in listed if each["api"] in USING}


def reasons(classes: Path, *options: str | Path) -> dict[str, tuple[str, str]]:
    """Status and reason, by API, of the calls that use members."""
    return {api: (each["status"], each["reason"]) for api, each in calls(classes, *options).items()}


def test_only_the_jdk_uses_what_its_modules_keep_to_themselves(classes: Path) -> None:
    assert subprocess.run(["java", "-cp", classes, "Main"], capture_output=True, check=False).returncode == 1
    assert reasons(classes) == dict.fromkeys(USING, ("resolved", "inaccessible"))


def test_what_is_refused_is_explained(classes: Path) -> None:
    for each, used in zip(calls(classes).values(), USED, strict=True):
        done = run_command(
            "explain",
            f"{each['caller']}@{each['offset']}",
            "--run",
            classes.parent / "run",
            "--format",
            "json",
        )
        (explained,) = json.loads(done.output)
        (answer,) = explained["answers"]
        assert (explained["reason"], answer["kind"]) == ("inaccessible", "refused")
        assert used in answer["title"]
        assert "which this call can do nothing" in answer["title"]
        assert answer["steps"][-1]["method"] == explained["caller"]


def test_packages_are_opened(classes: Path) -> None:
    packages = ("java.base/java.lang=ALL-UNNAMED", "java.base/java.util=ALL-UNNAMED")
    opened = [word for each in packages for word in ("--add-opens", each)]
    done = subprocess.run(
        ["java", *opened, "-cp", classes, "Main"], capture_output=True, check=True, text=True
    )
    assert done.stdout == "name handler 1\n"
    found = reasons(classes, *opened)
    # (`Class.newInstance` is refused here as well: who may use a class that isn't public is not looked at)
    assert found == dict.fromkeys(USING, ("resolved", ""))


def test_what_a_user_specifies_is_used(classes: Path) -> None:
    found = calls(classes)
    specification = classes.parent / "app.spec"
    with specification.open("w") as file:
        for api, used in zip(USING, USED, strict=True):
            print(f"main() @ {found[api]['offset']} Main.java:{found[api]['line']} => {used}", file=file)
    found = calls(classes, "--mode", "sound", "--spec", specification)
    assert {api: len(each["targets"]) for api, each in found.items()} == dict.fromkeys(USING, 1)


@pytest.mark.parametrize("opened", ["java.lang", "java.base/", "java.base/java.lang=", "/java.lang"])
def test_what_is_no_package_of_a_module_is_refused(classes: Path, opened: str) -> None:
    done = run_command("analyze", classes, "--add-opens", opened)
    assert (done.code, done.output) == (2, "")
    assert "MODULE/PACKAGE" in done.errors


def test_a_package_without_classes_is_told(classes: Path) -> None:
    done = run_command(
        "analyze", classes, "--scope", "application", "--out", classes.parent / "other", "--format", "json", "-q",
        "--add-opens", "java.base/java.lan",
    )  # fmt: skip
    assert done.code == 0, done.errors
    assert "there is no class in package java.lan, which is to be opened" in done.errors + done.output
