"""Why calls have no targets: a program in which each line is a call of another reason, run on a JVM as well."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run_command

# (the comment of a line: its reason, and what a JVM throws there)
PROGRAM = """
import java.lang.invoke.*;
import java.lang.reflect.*;

public class Main {
    public static abstract class Shape {
        public static String named;
        public static void draw(String how) { }
        public static Object unit() { return "unit"; }
    }

    interface Call { Object make() throws Throwable; }

    static void run(Call call) {
        try {
            System.out.println(call.make());
        } catch (Throwable thrown) {
            System.out.println(thrown.getClass().getSimpleName());
        }
    }

    static String never;
    static Method none;

    public static void main(String[] arguments) throws Exception {
        String name = arguments[0];
        Class<?> given = Class.forName(name); // unknown-name
        run(() -> given.newInstance()); // unknown-class InstantiationException
        Constructor<?> constructor = given.getConstructors()[0]; // unknown-class
        run(() -> constructor.newInstance()); // unknown-constructor InstantiationException
        Method method = given.getMethod("draw", String.class); // unknown-class
        run(() -> method.invoke(null)); // unknown-method IllegalArgumentException
        Field field = given.getField("named"); // unknown-class
        run(() -> field.get(null)); // unknown-field null
        Method unit = given.getMethod("unit"); // unknown-class
        Object made = unit.invoke(null); // unknown-method
        run(() -> made.getClass().getMethod("erase")); // unknown-class NoSuchMethodException
        run(() -> Class.forName("Absent")); // class-absent ClassNotFoundException
        run(() -> Shape.class.getMethod("erase")); // member-absent NoSuchMethodException
        run(() -> Shape.class.newInstance()); // nothing-to-act-on InstantiationException
        Method draw = Shape.class.getMethod("draw", String.class);
        run(() -> draw.invoke(null, "thick", "black")); // argument-count IllegalArgumentException
        run(() -> Shape.class.getMethod(arguments[1])); // unknown-name NoSuchMethodException
        run(() -> Class.forName(never)); // no-name-arrives NullPointerException
        run(() -> none.invoke(null)); // no-subject-arrives NullPointerException
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle handle = lookup.unreflect(method); // unknown-member
        run(() -> handle.invokeWithArguments()); // unknown-handle WrongMethodTypeException
        MethodHandle filtered = MethodHandles.dropReturn(handle);
        run(() -> filtered.invokeWithArguments()); // unknown-handle WrongMethodTypeException
        MethodType type = MethodType.methodType(void.class);
        run(() -> lookup.findStatic(Shape.class, "erase", type)); // member-absent NoSuchMethodException
        run(() -> lookup.findStatic(Shape.class, arguments[1], type)); // unknown-name NoSuchMethodException
        MethodHandle making = lookup.findConstructor(given, type); // unknown-class
    }
}
"""
LINES = PROGRAM.splitlines()
REASONS = {
    number: comment[1].split()
    for number, line in enumerate(LINES, 1)
    if (comment := re.search(r"// ([a-z-]+( \w+)?)$", line))
}

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("java", "javac"))), reason="needs a JDK")


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reasons")
    (folder / "Main.java").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["javac", "-nowarn", "Main.java", "-d", "classes"], cwd=folder, check=True)
    run = folder / "run"
    done = run_command("analyze", folder / "classes", "--scope", "application", "--out", run, "-q")
    assert done.code == 0, done.errors
    return folder / "classes"


def sites(classes: Path) -> list[dict[str, Any]]:
    listed = run_command("sites", "--run", classes.parent / "run", "--format", "json").output
    return [each for each in json.loads(listed) if each["line"] in REASONS]


def test_a_jvm_finds_no_target_either(classes: Path) -> None:
    command = ["java", "-cp", str(classes), "Main", "Main$Shape", "nothing"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.stdout.split() == [thrown[1] for _, thrown in sorted(REASONS.items()) if thrown[1:]]


def test_each_call_has_its_reason(classes: Path) -> None:
    found = {each["line"]: (each["reason"], each["targets"]) for each in sites(classes)}
    assert found == {line: (reason[0], []) for line, reason in REASONS.items()}


def test_what_the_method_does_not_make_itself_is_not_followed_in_mode_local(classes: Path) -> None:
    run = classes.parent / "local"
    arguments = ("--scope", "application", "--mode", "local", "--out", run, "-q")
    assert run_command("analyze", classes, *arguments).code == 0
    listed = json.loads(run_command("sites", "--run", run, "--format", "json").output)
    found = {each["line"]: (each["status"], each["reason"]) for each in listed}
    line_of = {reason[0]: line for line, reason in REASONS.items()}
    assert found[line_of["no-name-arrives"]] == ("unresolved", "not-local")  # (its name is in a static field)
    assert found[line_of["class-absent"]] == ("resolved", "class-absent")
    assert found[line_of["argument-count"]] == ("unresolved", "mode-ignores-reflection")


def test_each_reason_is_explained(classes: Path) -> None:
    for each in sites(classes):
        wanted = f"{each['caller']}@{each['offset']}"
        done = run_command("explain", wanted, "--run", classes.parent / "run", "--format", "json")
        explained = json.loads(done.output)
        assert [len(one["answers"]) > 0 for one in explained] == [True], LINES[each["line"] - 1]


def test_an_unknown_class_is_explained_by_the_open_call(classes: Path) -> None:
    asking = next(number for number, line in enumerate(LINES, 1) if "made.getClass()" in line)
    opening = next(number for number, line in enumerate(LINES, 1) if "unit.invoke(null)" in line)
    (site,) = (each for each in sites(classes) if each["line"] == asking)
    done = run_command("explain", f"{site['caller']}@{site['offset']}", "--run", classes.parent / "run")
    assert f"the class of what an open call in line {opening} of Main.main returns" in done.output
