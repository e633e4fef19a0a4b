"""What reflective calls need, for GraalVM and for ProGuard: on a small program, and read by those tools."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cli.export import native_image_format, proguard_format
from cli.run import Run
from loader import maven
from tests.cli.conftest import Heliograph

JAVA = shutil.which("java")
needs_maven = pytest.mark.skipif(shutil.which("mvn") is None or JAVA is None, reason="needs a JDK and Maven")

SOURCE = """package demo;

import java.io.*;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ResourceBundle;
import java.util.ServiceLoader;

public class Main {
    static class Found { Found() { System.out.println("found"); } }
    static class Known { public Known() {} public void hello(int number) { System.out.println("hello " + number); } }
    static class Heir extends Known {}
    static class Kept { public String text = "text"; int other; }
    static class Unused { Unused() {} void unused() {} }
    enum Colour { RED, GREEN }
    interface Greeter { String greet(String name); }

    // (ProGuard sees names that are written where they are used.)
    static String named(String name) { return name; }
    static String prefix(String name) { return "demo.Main$" + name; }
    static Class<?> load(String name) throws Exception { return Class.forName(name); } // @load

    public static void main(String[] arguments) throws Throwable {
        Class.forName(named("demo.Main$Found")).getDeclaredConstructor().newInstance(); // @found
        Method method = Heir.class.getMethod(named("hello"), int.class); // @method
        method.invoke(new Heir(), 42); // @invoke
        System.out.println(Kept.class.getField(named("text")).get(new Kept())); // @field
        System.out.println(Colour.valueOf(Colour.class, "GREEN")); // @enum
        Greeter greeter = (Greeter) java.lang.reflect.Proxy.newProxyInstance(
            Main.class.getClassLoader(), new Class<?>[] {Greeter.class}, (proxy, called, values) -> "dear " + values[0]);
        System.out.println(greeter.greet("you"));
        System.out.println(Main.class.getResource("words.txt") != null); // @resource
        more();
        if (arguments.length > 0) {
            load(System.getProperty("a.name")); // @property
            Class.forName(prefix(arguments[0])).newInstance(); // @argument
        }
    }

    static class Saved implements java.io.Serializable { String text = "saved"; }
    static class Bare { int number = 7; }
    public static class Words extends java.util.ListResourceBundle {
        protected Object[][] getContents() { return new Object[][] {{"word", "worded"}}; }
    }
    public interface Service { String serve(); }
    public static class Provided implements Service { public String serve() { return "served"; } }
    static int twice(int number) { return 2 * number; }
    static class Outer {
        static class Inner implements Runnable { Inner() {} public void run() { System.out.println("inner"); } }
    }

    static void more() throws Throwable {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(new Saved()); // @write
        Object read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        System.out.println(((Saved) read).text);
        System.out.println(ResourceBundle.getBundle("demo.Main$Words").getString("word")); // @bundle
        for (Service each : ServiceLoader.load(Service.class)) { // @service
            System.out.println(each.serve());
        }
        MethodType type = MethodType.methodType(int.class, int.class);
        System.out.println((int) MethodHandles.lookup().findStatic(Main.class, named("twice"), type).invoke(2)); // @handle
        Field field = sun.misc.Unsafe.class.getDeclaredField(named("theUnsafe"));
        field.setAccessible(true);
        System.out.println(((Bare) ((sun.misc.Unsafe) field.get(null)).allocateInstance(Bare.class)).number); // @allocate
        Class<?> inner = Class.forName(named("demo.Main$Outer")).getDeclaredClasses()[0]; // @nested
        ((Runnable) inner.getDeclaredConstructor().newInstance()).run();
    }
}
"""
OUTPUT = [
    "found",
    "hello 42",
    "text",
    "GREEN",
    "dear you",
    "true",
    "saved",
    "worded",
    "served",
    "4",
    "0",
    "inner",
]
LINES = {
    line.partition("// @")[2]: number for number, line in enumerate(SOURCE.splitlines(), 1) if "// @" in line
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, javac: str) -> Path:
    """The folder of class files of the program."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "Main.java").write_text(SOURCE)
    options = (
        "-nowarn",
        "-g",
        "-source",
        "8",
        "-target",
        "8",
        "-Xlint:-options",
        "-XDenableSunApiLintControl",
    )
    command = [javac, *options, "-d", str(folder / "classes"), str(folder / "Main.java")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    services = folder / "classes" / "META-INF" / "services"
    services.mkdir(parents=True)
    (services / "demo.Main$Service").write_text("demo.Main$Provided\n")
    (folder / "classes" / "demo" / "words.txt").write_text("words")
    return folder / "classes"


@pytest.fixture(scope="module")
def tools(program: Path, heliograph: Heliograph) -> Path:
    """The directory of a run of the program on this machine's JDK."""
    done = heliograph("analyze", program, "--main", "demo.Main", "--out", program.parent / "run", "--quiet")
    assert done.code == 0, done.errors
    return program.parent / "run"


def metadata(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("".join(native_image_format.lines(Run(folder))))
    return found


def entry(found: dict[str, Any], type_: Any, condition: str = "demo.Main") -> dict[str, Any]:
    """Returns the only entry of a type under a condition."""
    (only,) = [
        each for each in found["reflection"]
        if each["type"] == type_ and each["condition"] == {"typeReached": condition}
    ]  # fmt: skip
    return dict(only)


# --- GraalVM Native Image
@pytest.mark.slow
def test_metadata_has_what_each_call_reaches(tools: Path) -> None:
    found = metadata(tools)
    assert entry(found, "demo.Main$Found")["methods"] == [{"name": "<init>", "parameterTypes": []}]
    assert entry(found, "demo.Main$Known")["methods"] == [{"name": "hello", "parameterTypes": ["int"]}]
    assert entry(found, "demo.Main$Kept")["fields"] == [{"name": "text"}]
    assert "methods" not in entry(found, "demo.Main$Heir")  # it is asked for a method that it inherits
    assert entry(found, {"proxy": ["demo.Main$Greeter"]})
    globs = [each["glob"] for each in found["resources"] if "glob" in each]
    assert globs == ["demo/words.txt"]
    assert not [each for each in found["reflection"] if "Unused" in json.dumps(each)]


@pytest.mark.slow
def test_metadata_has_what_the_library_finds(tools: Path) -> None:
    found = metadata(tools)
    assert entry(found, "demo.Main$Saved")["serializable"] is True
    assert entry(found, "demo.Main$Bare")["unsafeAllocated"] is True
    assert entry(found, "demo.Main")["methods"] == [{"name": "twice", "parameterTypes": ["int"]}]
    assert entry(found, "sun.misc.Unsafe")["fields"] == [
        {"name": "theUnsafe"}
    ]  # of the JDK, but asked for here
    bundles = [each["bundle"] for each in found["resources"] if "bundle" in each]
    assert bundles == ["demo.Main$Words"]
    conditions = {
        each["condition"]["typeReached"] for each in found["reflection"] if each["type"] == "java.lang.Object"
    }
    assert not any(each.startswith("java.") for each in conditions)


@pytest.mark.slow
def test_metadata_says_why(tools: Path) -> None:
    reasons = entry(metadata(tools), "demo.Main$Found")["reason"]
    line = LINES["found"]
    place = f"demo.Main.main (Main.java:{line})"
    assert f'{place} calls Class.forName [classObjects]: constant "demo.Main$Found" in {place}' in reasons
    assert len(reasons) == 3  # the class, its constructor, the object


@pytest.mark.slow
def test_metadata_is_as_its_grammar_says_and_in_order(tools: Path) -> None:
    found = metadata(tools)
    check_metadata(found)
    keys = [(json.dumps(each["type"]), each["condition"]["typeReached"]) for each in found["reflection"]]
    # Names may be in quotes or, for proxies, in braces; within each the order is that of the text.
    assert keys == sorted(set(keys), key=lambda each: (json.dumps({"type": json.loads(each[0])}), each[1]))
    assert "".join(native_image_format.lines(Run(tools))) == "".join(native_image_format.lines(Run(tools)))


_TYPE_NAME = re.compile(r"[^\s/;\[\]]+(?:\[\])*")
_MEMBER = {"name", "parameterTypes"}
_ENTRY = {"type", "condition", "reason", "methods", "fields", "unsafeAllocated", "serializable"}


def check_metadata(found: dict[str, Any]) -> None:
    """Fails if something isn't as the documented grammar of version 1.2 has it, of what is written here."""
    assert found.keys() == {"comment", "reflection", "resources"}
    for each in found["reflection"]:
        assert {"type", "condition", "reason"} <= each.keys() <= _ENTRY
        names = each["type"]["proxy"] if isinstance(each["type"], dict) else [each["type"]]
        assert names
        for method in each.get("methods", ()):
            assert method.keys() == _MEMBER
            assert method["name"] == "<init>" or not re.search(r"[.;\[/<>]", method["name"])
            names = [*names, *method["parameterTypes"]]
        assert all(field.keys() == {"name"} for field in each.get("fields", ()))
        assert all(_TYPE_NAME.fullmatch(name) for name in (*names, each["condition"]["typeReached"]))
        assert all(each.get(flag, True) is True for flag in ("unsafeAllocated", "serializable"))
        check_reason(each["reason"])
    for each in found["resources"]:
        assert each.keys() in ({"glob", "condition", "reason"}, {"bundle", "condition", "reason"})
        check_reason(each["reason"])


def check_reason(reason: str | list[str]) -> None:
    reasons = [reason] if isinstance(reason, str) else reason
    assert reasons
    assert all(" calls " in each and "\n" not in each for each in reasons)


@pytest.mark.slow
def test_the_check_of_the_grammar_can_fail(tools: Path) -> None:
    for change in (
        {"type": "a/b/C"},
        {"type": "[La.B;"},
        {"fields": [{"nome": "f"}]},
        {"more": 1},
        {"reason": "no"},
    ):
        found = metadata(tools)
        found["reflection"][0].update(change)
        with pytest.raises(AssertionError):
            check_metadata(found)


def newer_java() -> Path | None:
    """Returns a `java` of version 21 or newer: that on the path, or of a JDK beside it."""
    assert JAVA is not None
    homes = Path(JAVA).resolve().parents[2]
    for java in (Path(JAVA), *sorted(homes.glob("*/bin/java"))):
        release = java.resolve().parents[1] / "release"
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text()) if release.is_file() else None
        if version and int(version[1]) >= 21:
            return java
    return None


@needs_maven
@pytest.mark.slow
def test_metadata_is_read_by_the_tool_of_graalvm(tools: Path, tmp_path: Path) -> None:
    java = newer_java()
    if java is None:
        pytest.skip("needs a JDK of version 21 or newer")
    # This version takes all of the grammar but reasons, which are newer, and merges what it reads.
    found = metadata(tools)
    for each in (*found["reflection"], *found["resources"]):
        del each["reason"]
    del found["comment"]
    read = read_by_graalvm(java, found, tmp_path)
    (known,) = [each for each in read["reflection"] if each["type"] == "demo.Main$Kept"]
    assert known["fields"] == [{"name": "text"}]
    assert {json.dumps(each["type"]) for each in read["reflection"]} == {
        json.dumps(each["type"]) for each in found["reflection"]
    }
    assert {each.get("glob", each.get("bundle")) for each in read["resources"]} == {
        each.get("glob", each.get("bundle")) for each in found["resources"]
    }
    # Methods are checked, but not written again.
    entry(found, "demo.Main$Known")["methods"][0]["name"] = None
    with pytest.raises(AssertionError, match="for element 'name'"):
        read_by_graalvm(java, found, tmp_path)


def read_by_graalvm(java: Path, found: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Returns what `native-image-configure` writes for metadata that it has read. Fails if it refuses it."""
    artifact = maven.resolve("org.graalvm.nativeimage:svm-configure:25.0.0")
    path = ":".join(map(str, (artifact.file, *artifact.runtime)))
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "reachability-metadata.json").write_text(json.dumps(found))
    command = [str(java), "-cp", path, "com.oracle.svm.configure.ConfigurationTool", "generate"]
    done = subprocess.run(
        [*command, f"--input-dir={folder / 'in'}", f"--output-dir={folder / 'out'}"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads((folder / "out" / "reachability-metadata.json").read_text())
    return read


# --- ProGuard
def rules(folder: Path) -> dict[str, list[str]]:
    """Returns the rules by the class that they are for."""
    found: dict[str, list[str]] = {}
    for line in "".join(proguard_format.lines(Run(folder))).splitlines():
        if line and not line.startswith("#"):
            name = re.match(r"-keep\S* (?:class|enum|interface) (\S+)", line)
            found.setdefault(name[1] if name else line, []).append(line)
    return found


@pytest.mark.slow
def test_rules_keep_names_where_names_count(tools: Path) -> None:
    found = rules(tools)
    assert found["demo.Main$Found"] == ["-keep class demo.Main$Found { <init>(); }"]
    assert found["demo.Main$Known"] == ["-keepclassmembers class demo.Main$Known { void hello(int); }"]
    assert found["demo.Main$Kept"] == ["-keepclassmembers class demo.Main$Kept { java.lang.String text; }"]
    assert "demo.Main$Colour[] values();" in found["demo.Main$Colour"][0]
    assert found["demo.Main$Greeter"] == ["-keep,allowobfuscation interface demo.Main$Greeter { <methods>; }"]
    assert not any(each.startswith(("java.", "jdk.", "sun.")) for each in found)
    assert "demo.Main$Unused" not in found
    assert found["demo.Main$Provided"] == ["-keep class demo.Main$Provided { <init>(); }"]
    assert found["demo.Main$Service"] == ["-keepnames interface demo.Main$Service"]
    assert found["demo.Main$Words"] == ["-keep class demo.Main$Words { <init>(); }"]
    assert found["demo.Main$Bare"] == ["-keep,allowobfuscation class demo.Main$Bare"]
    assert found["demo.Main"] == ["-keepclassmembers class demo.Main { int twice(int); }"]
    assert found["demo.Main$Outer"] == ["-keep class demo.Main$Outer"]
    kept = sorted(found["demo.Main$Outer$Inner"])
    assert kept == [
        "-keep,allowobfuscation class demo.Main$Outer$Inner",
        "-keepclassmembers class demo.Main$Outer$Inner { <init>(); }",
    ]
    members, names = found["demo.Main$Saved"]
    assert "static final long serialVersionUID;" in members
    assert names == "-keepnames class demo.Main$Saved"


@pytest.mark.slow
def test_rules_stand_below_the_calls_that_need_them(tools: Path) -> None:
    text = "".join(proguard_format.lines(Run(tools)))
    (paragraph,) = [each for each in text.split("\n\n") if "\n-keep class demo.Main$Found " in each]
    comments = [each for each in paragraph.splitlines() if each.startswith("# ")]
    assert len(comments) == 3
    assert all(f"(Main.java:{LINES['found']})" in each for each in comments)


@pytest.mark.slow
def test_what_may_be_missing_is_said(tools: Path) -> None:
    wanted = f"  demo.Main.load (Main.java:{LINES['load']}) calls Class.forName: unknown-name"
    assert f"# {wanted}\n" in "".join(proguard_format.lines(Run(tools)))
    assert wanted in metadata(tools)["comment"].splitlines()


def test_a_run_that_was_stopped_says_so(tools: Path, tmp_path: Path) -> None:
    stopped = shutil.copytree(tools, tmp_path / "stopped")
    manifest = json.loads((stopped / "manifest.json").read_text())
    (stopped / "manifest.json").write_text(json.dumps(manifest | {"complete": False}))
    said = "The analysis was stopped before it was done: there are more."
    for lines in (proguard_format.lines, native_image_format.lines):
        assert said in "".join(lines(Run(stopped)))
        assert said not in "".join(lines(Run(tools)))


def shrunk(program: Path, folder: Path, keep: str) -> Path:
    """Returns the program after ProGuard has shrunk and renamed it, with these rules and the main class kept."""
    assert JAVA is not None
    artifact = maven.resolve("com.guardsquare:proguard-base:7.6.1")
    path = ":".join(map(str, (artifact.file, *artifact.runtime)))
    home = Path(JAVA).resolve().parents[1]
    (folder / "rules.pro").write_text(keep)
    (folder / "main.pro").write_text(
        f"-injars {program}\n-outjars {folder / 'out.jar'}\n"
        f"-libraryjars {home / 'jmods' / 'java.base.jmod'}(!**.jar;!module-info.class)\n"
        "-keep class demo.Main { public static void main(java.lang.String[]); }\n-dontoptimize\n-dontnote\n-dontwarn sun.misc.**,java.lang.invoke.MethodHandle\n"
        f"-include {folder / 'rules.pro'}\n"
    )
    command = [JAVA, "-cp", path, "proguard.ProGuard", f"@{folder / 'main.pro'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out.jar"


def output(path: Path) -> list[str]:
    assert JAVA is not None
    done = subprocess.run(
        [JAVA, "-cp", path, "demo.Main"], capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout.splitlines()


@needs_maven
@pytest.mark.slow
def test_the_shrunk_program_still_runs(tools: Path, program: Path, tmp_path: Path) -> None:
    assert output(program) == OUTPUT
    jar = shrunk(program, tmp_path, "".join(proguard_format.lines(Run(tools))))
    assert output(jar) == OUTPUT
    classes = {each for each in zipfile.ZipFile(jar).namelist() if each.endswith(".class")}
    assert "demo/Main$Found.class" in classes
    assert "demo/Main$Known.class" not in classes  # renamed: only its member counts
    (tmp_path / "without").mkdir()
    assert output(shrunk(program, tmp_path / "without", "")) != OUTPUT


@needs_maven
@pytest.mark.slow
@pytest.mark.parametrize("name", ["Found", "Known", "Kept", "Provided", "Words", "Outer", "Outer$Inner", ""])
def test_each_rule_is_needed(tools: Path, program: Path, tmp_path: Path, name: str) -> None:
    without = f"demo.Main${name}" if name else "demo.Main"
    kept = [line for each, lines in rules(tools).items() if each != without for line in lines]
    assert output(shrunk(program, tmp_path, "\n".join(kept))) != OUTPUT


def test_odd_names_become_wildcards() -> None:
    assert proguard_format._named("a.odd name,*$B[]") == "a.odd?name??$B[]"
    assert proguard_format._named("a.Größe$1") == "a.Größe$1"
