"""Members that the JDK's modules keep to themselves: what is reported of calls that would use them, and opening them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks import jdk as jdks
from tests.cli.conftest import run_command

PROGRAM = """
import java.lang.reflect.*;
import java.util.Comparator;

public class Main {
    public static void main(String[] arguments) throws Exception {
        Thread thread = new Thread(() -> System.out.print("task "));
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


def reasons(classes: Path, *options: str) -> dict[str, tuple[str, str]]:
    """Status and reason, by API, of the calls that use members."""
    run = classes.parent / "run"
    done = run_command("analyze", classes, "--scope", "application", "--out", run, "-q", *options)
    assert done.code == 0, done.errors
    listed = json.loads(run_command("sites", "--run", run, "--format", "json").output)
    return {each["api"]: (each["status"], each["reason"]) for each in listed if each["api"] in USING}


def test_only_the_jdk_uses_what_its_modules_keep_to_themselves(classes: Path) -> None:
    assert subprocess.run(["java", "-cp", classes, "Main"], capture_output=True, check=False).returncode == 1
    assert reasons(classes) == dict.fromkeys(USING, ("resolved", "inaccessible"))


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
