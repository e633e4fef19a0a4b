"""`heliograph recall` on a small program, with a row of each cause and what is found in its place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from cli.causes import EXPLANATIONS
from cli.exits import Failure
from cli.observed import Observed, read
from tests.cli import tiny_jdk
from tests.cli.conftest import Heliograph, compiled, run_command

# What lambdas and `doPrivileged` need, besides the classes that all tests of commands have.
LIBRARY = {
    "java.security.PrivilegedAction": "public interface PrivilegedAction<T> { T run(); }",
    "java.security.AccessController": """public final class AccessController {
    public static <T> T doPrivileged(PrivilegedAction<T> action) { return executePrivileged(null); }
    private static <T> T executePrivileged(PrivilegedAction<T> action) { return action.run(); } }""",
    "java.lang.invoke.MethodType": "public final class MethodType {}",
    "java.lang.invoke.MethodHandle": "public abstract class MethodHandle {"
    " @PolymorphicSignature public final native Object invokeExact(Object... arguments) throws Throwable;"
    " @interface PolymorphicSignature {} }",
    "java.lang.invoke.CallSite": "public abstract class CallSite {}",
    "java.lang.invoke.SerializedLambda": "public final class SerializedLambda {}",
    "java.lang.invoke.MethodHandles": "public class MethodHandles { public static final class Lookup {} }",
    "java.lang.invoke.LambdaMetafactory": "public final class LambdaMetafactory {"
    " public static CallSite metafactory(MethodHandles.Lookup lookup, String name, MethodType type,"
    " MethodType erased, MethodHandle body, MethodType actual) { return null; } }",
    "java.lang.FunctionalInterface": "public @interface FunctionalInterface {}",
}
PROGRAM = """package demo;

import java.lang.invoke.MethodHandle;
import java.security.AccessController;

public class Main {
    static MethodHandle handle;
    static Main none;

    public static void main(String[] arguments) throws Throwable {
        Helper.help();
        square(new Square());
        circle(new Circle());
        unmade(new Square());
        Class<?> type = Class.forName("demo.Plugin");
        type.newInstance();
        type.getMethod("greet").invoke(null);
        Class.forName(arguments[0]).newInstance();
        Class.forName(arguments.length > 1 ? "demo.Plugin" : arguments[0]);
        AccessController.doPrivileged(new Action());
        new Thread(() -> Helper.inLambda()).start();
        natively();
        none.secret();
        proxied();
        handle.invokeExact();
        System.getProperty("java.home");
    }

    static void square(Shape shape) { shape.area(); }
    static void circle(Shape shape) { shape.area(); }
    static void unmade(Shape shape) { shape.area(); if (shape instanceof Triangle) ((Triangle) shape).area(); }
    static native void natively();
    static void proxied() { ((Lazy) null).late(); }
    private void secret() {}
}

interface Shape { int area(); }
class Square implements Shape { public int area() { return 4; } }
class Circle implements Shape { public int area() { return 3; } }
class Triangle implements Shape { public int area() { return 2; } }
class Action implements java.security.PrivilegedAction<Object> { public Object run() { return null; } }
class Plugin { public Plugin() {} public static void greet() {} }
class Other { public Other() { more(); } void more() {} }
class Unnamed { static void first() { second(); } static void second() {} }
class Lazy { static Object made = new Object(); void late() {} }
class Helper {
    static Object made = new Object();
    static void help() {}
    static void inLambda() {}
    static void other() {}
}
"""
MAIN = "demo.Main.main([Ljava/lang/String;)V"
LINES = {line.strip(): number for number, line in enumerate(PROGRAM.splitlines(), 1)}
INVOKER = "jdk.internal.reflect.NativeMethodAccessorImpl.invoke(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;"
MAKER = (
    "jdk.internal.reflect.NativeConstructorAccessorImpl.newInstance([Ljava/lang/Object;)Ljava/lang/Object;"
)
METHOD_INVOKE = "java.lang.reflect.Method.invoke(Ljava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;"
PRIVILEGED = (
    "java.security.AccessController.executePrivileged(Ljava/security/PrivilegedAction;)Ljava/lang/Object;"
)
HANDLER = "invoke(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;"


def at(code: str) -> str:
    """Returns the place of a reflective call, by the text of its line."""
    return f"{MAIN}:{LINES[code]}"


RESOLVED = at('Class<?> type = Class.forName("demo.Plugin");')
MADE = at("type.newInstance();")
INVOKED = at('type.getMethod("greet").invoke(null);')
UNRESOLVED = at("Class.forName(arguments[0]).newInstance();")
PARTIAL = at('Class.forName(arguments.length > 1 ? "demo.Plugin" : arguments[0]);')
FOR_NAME, NEW, INVOKE = (
    "java.lang.Class.forName",
    "java.lang.Class.newInstance",
    "java.lang.reflect.Method.invoke",
)

# All true: what the run has.
HELD = [
    ("call", MAIN, "demo.Helper.help()V"),
    ("call", "demo.Main.square(Ldemo/Shape;)V", "demo.Square.area()I"),
    ("call", "demo.Main.circle(Ldemo/Shape;)V", "demo.Circle.area()I"),
    ("call", MAIN, "demo.Main.natively()V"),
    ("call", "java.lang.Thread.start0()V", "java.lang.Thread.run()V"),
    ("call", "java.lang.Thread.run()V", "demo.Main.lambda$main$0()V"),
    ("call", "demo.Main.lambda$main$0()V", "demo.Helper.inLambda()V"),
    ("call", PRIVILEGED, "demo.Action.run()Ljava/lang/Object;"),
    ("call", INVOKER, "demo.Plugin.greet()V"),
    ("call", MAKER, "demo.Plugin.<init>()V"),
    ("call", MAIN, "java.lang.Thread.start()V"),
    ("init", MAIN, "demo.Helper.<clinit>()V"),
    ("jvm", "<jvm>", MAIN),
    ("reflective", RESOLVED, FOR_NAME, "demo.Plugin"),
    ("reflective", MADE, NEW, "demo.Plugin.<init>()V"),
    ("reflective", INVOKED, INVOKE, "demo.Plugin.greet()V"),
    ("reflective", PARTIAL, FOR_NAME, "demo.Plugin"),
]
# What the run lacks: the row and its cause.
LACKED = [
    (("reflective", UNRESOLVED, FOR_NAME, "demo.Other"), "reflective-unresolved"),
    (("reflective", PARTIAL, FOR_NAME, "demo.Square"), "reflective-partial"),
    (("reflective", RESOLVED, FOR_NAME, "demo.Circle"), "reflective-resolved"),
    (("reflective", at("Helper.help();"), FOR_NAME, "demo.Plugin"), "reflective-no-site"),
    (("call", MAIN, "demo.Generated.go()V"), "absent-class"),
    (("call", MAIN, "demo.Unnamed.second()V"), "unnamed-class"),
    (("jvm", "<jvm>", "demo.Helper.other()V"), "jvm-call"),
    (("call", "demo.Main.natively()V", "demo.Helper.help()V"), "native-caller"),
    (("call", "demo.Main.proxied()V", f"demo.Helper.{HANDLER}"), "hidden-code"),
    (("call", MAIN, "demo.Circle.area()I"), "hidden-code"),
    (("call", "demo.Main.unmade(Ldemo/Shape;)V", "demo.Triangle.area()I"), "no-instance"),
    (("call", "demo.Main.square(Ldemo/Shape;)V", "demo.Circle.area()I"), "no-receiver"),
    (("call", "demo.Main.square(Ldemo/Shape;)V", "demo.Main.lambda$main$0()V"), "no-receiver"),
    (("call", MAIN, "demo.Main.secret()V"), "no-target"),
    (("call", "demo.Main.square(Ldemo/Shape;)V", "demo.Helper.help()V"), "no-site"),
    (("call", "demo.Helper.<clinit>()V", "demo.Triangle.<init>()V"), "no-site"),
    (("call", METHOD_INVOKE, "demo.Helper.help()V"), "hidden-code"),
    (("init", MAIN, "demo.Lazy.<clinit>()V"), "not-initialised"),
    (("call", "demo.Unnamed.first()V", "demo.Helper.help()V"), "unobserved-caller"),
]  # fmt: skip
# What follows from the first of LACKED, in this order.
FOLLOWING = [
    ("reflective", UNRESOLVED, NEW, "demo.Other.<init>()V"),
    ("call", MAKER, "demo.Other.<init>()V"),
    ("init", "java.lang.Class.forName(Ljava/lang/String;)Ljava/lang/Class;", "demo.Other.<clinit>()V"),
    ("call", "demo.Other.<init>()V", "demo.Other.more()V"),
    ("call", "demo.Other.more()V", "java.lang.Object.toString()Ljava/lang/String;"),
    ("call", "demo.Main.square(Ldemo/Shape;)V", "demo.Other.area()I"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, javac: str) -> tuple[Path, Path]:
    """The class files, and the home of the class library."""
    with patch.dict(tiny_jdk.SOURCES, LIBRARY):
        home = tiny_jdk.build(tmp_path_factory.mktemp("jdk"), javac)
    return compiled(tmp_path_factory.mktemp("program"), home, javac, Main=PROGRAM), home


@pytest.fixture(scope="module")
def recalled(program: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run."""
    return analysed(program, tmp_path_factory.mktemp("recalled") / "run")


def analysed(program: tuple[Path, Path], place: Path) -> Path:
    classes, home = program
    done = run_command("analyze", classes, "--main", "demo.Main", "--jdk", home, "--out", place, "--quiet")
    assert done.code == 0, done.errors
    return place


def written(folder: Path, *rows: tuple[str, ...]) -> Path:
    """Returns a recording of the rows."""
    file = folder / "observed.tsv"
    file.write_text("# a comment\n\n" + "".join("\t".join(row) + "\n" for row in rows))
    return file


def answer(run: Path, observed: Path) -> Any:
    done = run_command("recall", "--run", run, "--observed", observed, "--format", "json")
    assert done.code == 0, done.errors
    return json.loads(done.output)


def test_what_the_run_has_is_found(recalled: Path, tmp_path: Path) -> None:
    found = answer(recalled, written(tmp_path, *HELD))
    assert found["missing"] == []
    assert {each["category"]: (each["observed"], each["found"]) for each in found["categories"]} == {
        "application → application": (6, 6),
        "application → library": (1, 1),
        "library → application": (4, 4),
        "library → library": (1, 1),
        "called by the JVM": (1, 1),
        "reflective calls of the application": (4, 4),
    }


@pytest.mark.parametrize(("row", "cause"), LACKED, ids=lambda each: each if isinstance(each, str) else None)
def test_what_the_run_lacks_has_a_cause(
    recalled: Path, tmp_path: Path, row: tuple[str, ...], cause: str
) -> None:
    found = answer(recalled, written(tmp_path, *HELD, row))
    assert [(each["caller"], each["callee"], each["cause"]) for each in found["missing"]] == [
        (row[1], row[-1], cause)
    ]


def test_each_cause_has_an_example() -> None:
    assert {cause for _, cause in LACKED} | {"follows"} == EXPLANATIONS.keys()


def test_what_follows_is_told_from_its_root(recalled: Path, tmp_path: Path) -> None:
    root = LACKED[0][0]
    found = answer(recalled, written(tmp_path, *HELD, *FOLLOWING, root))
    first, *others = found["missing"]
    assert (first["cause"], first["caller"]) == ("reflective-unresolved", root[1])
    assert first["following"] == len(FOLLOWING)
    assert "(unknown-name)" in first["detail"]
    assert {(each["caller"], each["callee"]) for each in others} == {
        (each[1], each[-1]) for each in FOLLOWING
    }
    assert {(each["cause"], each["root"]) for each in others} == {("follows", f"{root[1]} → demo.Other")}


def test_a_receiver_follows_from_what_would_have_made_it(recalled: Path, tmp_path: Path) -> None:
    rows = [
        ("call", "demo.Main.unmade(Ldemo/Shape;)V", "demo.Triangle.area()I"),
        ("call", "demo.Unnamed.first()V", "demo.Triangle.<init>()V"),
        ("call", MAIN, "demo.Unnamed.first()V"),
    ]
    causes = {each["callee"]: each["cause"] for each in answer(recalled, written(tmp_path, *rows))["missing"]}
    assert causes == {
        "demo.Unnamed.first()V": "unnamed-class",
        "demo.Triangle.<init>()V": "follows",
        "demo.Triangle.area()I": "follows",
    }


def test_an_override_follows_from_the_call_of_what_it_overrides(recalled: Path, tmp_path: Path) -> None:
    rows = [("call", INVOKER, "demo.Triangle.area()I"), ("reflective", INVOKED, INVOKE, "demo.Shape.area()I")]
    found = answer(recalled, written(tmp_path, *rows))["missing"]
    assert [(each["cause"], each["callee"], each["following"]) for each in found] == [
        ("reflective-resolved", "demo.Shape.area()I", 1),
        ("follows", "demo.Triangle.area()I", 0),
    ]


def test_methods_are_counted(recalled: Path, tmp_path: Path) -> None:
    rows = [("call", MAIN, "demo.Generated.go()V"), ("call", MAIN, "demo.Helper.help()V")]
    found = answer(recalled, written(tmp_path, *rows, *rows))
    assert found["methods"] == {"observed": 3, "unknown": 1, "unreached": 1}
    assert sum(each["observed"] for each in found["categories"]) == 2


def test_the_table_shows_a_few_of_each_cause(heliograph: Heliograph, recalled: Path, tmp_path: Path) -> None:
    rows = [("call", MAIN, f"demo.Generated.go{number}()V") for number in range(7)]
    file = written(tmp_path, *HELD, *rows, ("call", "demo.Generated.go1()V", "demo.Generated.go2()V"))
    done = heliograph("recall", "--run", recalled, "--observed", file)
    assert "7 absent-class (from them follow 1 more)" in done.output
    assert "2 more; --all shows all" in done.output
    assert "demo.Generated.go6" not in done.output
    everything = heliograph("recall", "--run", recalled, "--observed", file, "--all").output
    assert "demo.Generated.go6" in everything
    assert "1 follows" in everything


def test_logs_of_tamiflex_are_compared(recalled: Path, tmp_path: Path) -> None:
    line = LINES['type.getMethod("greet").invoke(null);']
    log = tmp_path / "refl.log"
    log.write_text(
        f"Method.invoke;<demo.Plugin: void greet()>;demo.Main.main;{line};;\n"
        "Class.newInstance;demo.Other;demo.Main.main;18;;\n"
        "Class.getDeclaredMethods;demo.Plugin;demo.Main.main;1;;\n"
    )
    found = answer(recalled, log)
    assert found["skippedLines"] == 1
    assert [(each["callee"], each["cause"]) for each in found["missing"]] == [
        ("demo.Other.<init>()V", "reflective-unresolved"),
    ]


def test_what_is_exported_is_recalled(heliograph: Heliograph, recalled: Path, tmp_path: Path) -> None:
    log = tmp_path / "refl.log"
    assert heliograph("export", "tamiflex", "--all", "--run", recalled, "--out", log).code == 0
    found = answer(recalled, log)
    assert found["missing"] == []
    assert found["categories"][0]["observed"] >= 4


@pytest.mark.parametrize(
    "line",
    [
        "call\tdemo.Main.main\tdemo.Helper.help()V",
        "call\tdemo.Main.main()V",
        "call\tdemo.Main.main()V\tdemo.Helper.help(Q)V",
        "calls\tdemo.Main.main()V\tdemo.Helper.help()V",
        "jvm\tdemo.Main.main()V\tdemo.Helper.help()V",
        "reflective\tdemo.Main.main()V:x\tjava.lang.Class.forName\tdemo.Plugin",
        "reflective\tdemo.Main.main()V:1\tjava.lang.Class.forName",
        "Class.forName;demo.Plugin;demo.Main.main;1;;",
        "call\tdemo.Main.main()V\tdemo.Helper.\udcff()V",
    ],
)
def test_a_bad_line_is_named(heliograph: Heliograph, recalled: Path, tmp_path: Path, line: str) -> None:
    file = written(tmp_path, HELD[0])
    with file.open("ab") as out:
        out.write(line.encode(errors="surrogateescape") + b"\n")
    done = heliograph("recall", "--run", recalled, "--observed", file)
    assert done.code == 2
    assert done.errors.startswith(f"heliograph: {file}:4: expected ")


@pytest.mark.parametrize(
    "line",
    [
        "no log",
        "Class;demo.Plugin;demo.Main.main;1;;",
        "Class.forName;demo.Plugin",
        "Class.forName;demo.Plugin;main;1;;",
        "Class.forName;;demo.Main.main;1;;",
        "Class.forName;demo.Plugin;demo.Main.main;one;;",
        "Method.invoke;<demo.Plugin void greet()>;demo.Main.main;1;;",
    ],
)
def test_a_bad_line_of_a_log_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "refl.log"
    file.write_text(f"Class.forName;demo.Plugin;demo.Main.main;1;;\n{line}\n")
    with pytest.raises(Failure, match=r"refl\.log:2: expected ") as failure:
        read(file)
    assert failure.value.code == 2


def test_an_empty_recording_is_no_error(recalled: Path, tmp_path: Path) -> None:
    assert read(written(tmp_path)) == Observed((), (), 0)
    assert answer(recalled, written(tmp_path))["categories"] == []


def test_a_file_that_is_not_there(heliograph: Heliograph, recalled: Path, tmp_path: Path) -> None:
    done = heliograph("recall", "--run", recalled, "--observed", tmp_path / "nothing")
    assert (done.code, "can't be read" in done.errors) == (3, True)


def test_inputs_that_are_gone_are_said_to_be(
    heliograph: Heliograph, program: tuple[Path, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(program[0], copy)
    run = analysed((copy, program[1]), tmp_path / "run")
    shutil.rmtree(copy)
    file = written(tmp_path, HELD[0], ("call", MAIN, "demo.Unnamed.second()V"))
    found = answer(run, file)
    assert found["unreadInputs"] == [str(copy)]
    assert [each["cause"] for each in found["missing"]] == ["absent-class"]
    assert "can't be read any more" in heliograph("recall", "--run", run, "--observed", file).output
