"""Specification files: written by `spec`, read by `analyze --spec`, and what modes say of calls that lean on them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from cli.diff import compare
from cli.exits import Failure
from cli.run import Run
from cli.specification import Line, Point, read
from engine.bounded import ASCENDED, LISTED, LISTED_IN_ALL
from engine.reflection.modes import MODES
from engine.report import MOST_UNKNOWN
from tests.cli import tiny_jdk
from tests.cli.conftest import Heliograph, compiled

PROGRAM = """package demo;

public class Main {
    public static void main(String[] arguments) throws Exception {
        Class.forName("demo.First");
        Runnable bounded = (Runnable) Class.forName(arguments[0]).newInstance();
        bounded.run();
        Object free = Class.forName(arguments[1]).newInstance();
        Class.forName(pick(arguments));
        kept(arguments[2]).run();
        Class.forName(arguments[3]).newInstance().getClass();
        Main.class.getMethod(arguments[4], String.class);
    }
    static String pick(String[] arguments) { return arguments[2]; }
    static Runnable kept(String name) throws Exception { return (Runnable) raw(name); }
    static Object raw(String name) throws Exception { return Class.forName(name).newInstance(); }
}

class First implements Runnable {
    public First() {}
    public void run() {}
}

class Second implements Runnable {
    public Second() {}
    public void run() {}
}
"""
LOADING = """package lib;

public class Loading {
    public static Object load(String name) throws Exception {
        return Class.forName(name);
    }
}
"""
USING = """package demo;

public class Using {
    public static void main(String[] arguments) throws Exception {
        lib.Loading.load(arguments[0]);
    }
}
"""


def test_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "app.spec"
    file.write_text(
        "# a comment\n\n"
        "loadImpl() @ 43 InetAddress.java:1231 => java.net.Inet4AddressImpl\n"
        "  <init>() @ 0 A.java   =>   -   # no line number, no name\n"
    )
    point = Point("loadImpl", 43, "InetAddress.java", 1231)
    assert read(file) == [
        Line(3, point, "java.net.Inet4AddressImpl"),
        Line(4, Point("<init>", 0, "A.java", -1), "-"),
    ]
    assert str(point) == "loadImpl() @ 43 InetAddress.java:1231"


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("loadImpl @ 43 A.java:1 => B", 1, "the name of a method"),
        ("a() 43 A.java:1 => B", 5, "@ and a bytecode offset"),
        ("a() @ x A.java:1 => B", 5, "@ and a bytecode offset"),
        ("a() @ 1 A.java:x => B", 9, "a source file"),
        ("a() @ 1 => B", 9, "a source file"),
        ("a() @ 1 A.java:1 -> B", 18, "=>"),
        ("a() @ 1 A.java:1 =>", 20, "a name"),
        ("a() @ 1 A.java:1 => # none", 21, "a name"),
        ("a() @ 1 A.java:1 => B C", 23, "the end of the line"),
    ],
)
def test_h07_bad_lines_are_named(tmp_path: Path, line: str, column: int, expected: str) -> None:
    file = tmp_path / "app.spec"
    file.write_text(f"# first\n{line}\n")
    with pytest.raises(Failure) as failure:
        read(file)
    assert f"app.spec, line 2, column {column}: expected {expected}" in str(failure.value)


def test_h07_lines_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "app.spec"
    file.write_text("a() @ 1 A.java:1 => B\n\na() @ 1 A.java:1 => -\n")
    with pytest.raises(Failure, match=r"line 3: says of a\(\) @ 1 A.java:1 what line 1 contradicts"):
        read(file)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> Path:
    return compiled(tmp_path_factory.mktemp("specified"), jdk, javac, Main=PROGRAM)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, program: Path, jdk: Path, heliograph: Heliograph) -> Path:
    """A folder with a run in each mode, by its name."""
    place = tmp_path_factory.mktemp("runs")
    for mode in MODES:
        done = heliograph("analyze", program, "--jdk", jdk, "--mode", mode, "--out", place / mode, "-q")
        assert done.code == 0, done.errors
    return place


def statuses(heliograph: Heliograph, run: Path) -> dict[str, str]:
    """Returns the status of each call of Class.forName, with what it leans on, by caller and line."""
    return {
        f"{each['caller'].rpartition('.')[2]}:{each['line']}": " ".join([each["status"], *each["assumes"]])
        for each in reflective_calls(heliograph, run)
        if each["api"] == "java.lang.Class.forName"
    }


def test_modes_resolve_more_and_more(runs: Path, heliograph: Heliograph) -> None:
    calls = ("main:5", "main:6", "main:8", "raw:16")
    found = {mode: [statuses(heliograph, runs / mode)[each] for each in calls] for mode in MODES}
    assert found["none"] == ["unresolved"] * 4
    assert found["local"] == ["resolved"] + ["unresolved"] * 3 == found["points-to"]
    assert found["casts"] == ["resolved", "resolved correct-casts"] + ["unresolved"] * 2 == found["sound"]


def test_each_mode_has_what_the_one_before_has(runs: Path) -> None:
    for before, after in zip(MODES, [*MODES][1:], strict=False):
        found = compare(Run(runs / before), Run(runs / after), everything=True)
        lost = [each for each in found.sites if each.lost]
        assert (before, found.methods_lost, found.edges_lost, lost) == (before, [], [], [])


def test_the_file_that_is_written_can_be_filled_in(
    tmp_path: Path, runs: Path, program: Path, jdk: Path, heliograph: Heliograph
) -> None:
    file = tmp_path / "app.spec"
    assert heliograph("spec", "--run", runs / "casts", "--out", file).code == 0
    text = file.read_text()
    assert "main:6" not in text
    # What a caller casts is suggested, and counts unless it is struck out.
    names = {str(line.point).split()[0]: line.name for line in read(file)}
    assert set(names) == {"raw()"}
    assert "cast in other methods only" in text
    assert "# From argument: a string that the JVM or an unknown caller passes in" in text
    open_points = [line for line in text.splitlines() if line.startswith("# ") and line.endswith(" =>")]
    assert any(line.startswith("# main() @ ") and line.endswith("Main.java:8 =>") for line in open_points)

    filled = [f"{each.removeprefix('# ')} demo.Second" for each in open_points if not each.endswith(":12 =>")]
    file.write_text(
        "\n".join([*filled, "# main() @ 99 Main.java:12 => x", "gone() @ 1 Main.java:1 => demo.First"])
    )
    done = heliograph("analyze", program, "--jdk", jdk, "--spec", file, "--out", tmp_path / "run")
    assert done.code == 0
    assert "SPEC-UNMATCHED" in done.errors
    assert "gone() @ 1 Main.java:1 (line" in done.errors
    found = statuses(heliograph, tmp_path / "run")
    assert found["main:8"] == "resolved specification"
    assert set(found.values()) <= {"resolved", "resolved specification", "resolved correct-casts"}
    explained = heliograph("sites", "--run", tmp_path / "run").output
    assert "→ demo.Second.<init>()V" in explained
    # What is specified comes in when all else is done: so no limit of a search makes the mode find less.
    before, after = (Run(each).result.derived for each in (runs / "casts", tmp_path / "run"))
    assert before == after[: len(before)] != after


def test_a_report_reads_a_specification(
    tmp_path: Path, runs: Path, program: Path, jdk: Path, heliograph: Heliograph
) -> None:
    file = tmp_path / "app.spec"
    heliograph("spec", "--run", runs / "casts", "--out", file)
    lines = [line.removeprefix("# ") for line in file.read_text().splitlines()]
    file.write_text("\n".join(f"{line} demo.Second" for line in lines if line.endswith(" =>")))
    modes = ("--mode", "casts", "--mode", "sound")
    done = heliograph(
        "report", "livshits", program, "--jdk", jdk, *modes, "--spec", file, "--format", "json", "-q"
    )
    assert done.code == 0, done.errors
    figures = json.loads(done.output)["figures"]
    found = {each["mode"]: each for each in figures if each["code"] == "application"}
    assert found["sound"]["fully"] > found["casts"]["fully"]
    assert found["sound"]["unresolved"] == 0 < found["casts"]["unresolved"]


def test_points_of_libraries_are_written_on_demand(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph
) -> None:
    classes, library = compiled(tmp_path, jdk, javac, Loading=LOADING, Using=USING), tmp_path / "library"
    library.mkdir()
    (classes / "lib").rename(library / "lib")
    run, file = tmp_path / "run", tmp_path / "app.spec"
    done = heliograph("analyze", classes, "--classpath", library, "--jdk", jdk, "--out", run, "-q")
    assert done.code == 0, done.errors

    def points(*options: str) -> list[str]:
        assert heliograph("spec", "--run", run, "--out", file, *options).code == 0
        lines = file.read_text().splitlines()
        return [line.removeprefix("# ").removesuffix(" =>") for line in lines if line.endswith(" =>")]

    assert points() == []
    assert points("--all") == ["load() @ 1 Loading.java:5"]


def test_a_specification_belongs_to_mode_sound(
    tmp_path: Path, program: Path, jdk: Path, heliograph: Heliograph
) -> None:
    file = tmp_path / "app.spec"
    file.write_text("")
    done = heliograph("analyze", program, "--jdk", jdk, "--mode", "casts", "--spec", file)
    assert (done.code, "--spec is for mode sound" in done.errors) == (2, True)
    done = heliograph("analyze", program, "--jdk", jdk, "--spec", tmp_path / "absent.spec")
    assert (done.code, "absent.spec: No such file" in done.errors) == (2, True)


def open_calls(heliograph: Heliograph, run: Path) -> dict[str, tuple[str, list[str]]]:
    """Returns the calls that are open, by caller, line and method: their status and causes."""
    return {
        f"{each['caller'].rpartition('.')[2]}:{each['line']} {each['api'].rpartition('.')[2]}": (
            each["status"],
            each["causes"],
        )
        for each in reflective_calls(heliograph, run)
        if each["status"] != "resolved"
    }


def reflective_calls(heliograph: Heliograph, run: Path) -> list[dict[str, Any]]:
    """Returns what `sites` tells of the calls of a run."""
    found: list[dict[str, Any]] = json.loads(heliograph("sites", "--run", run, "--format", "json").output)
    return found


@pytest.mark.parametrize(
    ("mode", "causes"),
    [
        ("none", {"main:6 forName": [], "main:8 forName": []}),
        (
            "points-to",
            {"main:6 forName": ["casts-not-asked", "only-input"], "main:12 getMethod": ["only-input"]},
        ),
        (
            "casts",
            {
                "main:8 forName": ["no-cast", "only-input"],
                "main:8 newInstance": ["open-call"],
                "main:9 forName": ["no-instance", "only-input"],
                "raw:16 forName": ["cast-in-caller", "only-input"],
                "main:12 getMethod": ["only-input"],
            },
        ),
    ],
)
def test_open_calls_say_why(
    mode: str, causes: dict[str, list[str]], runs: Path, heliograph: Heliograph
) -> None:
    found = open_calls(heliograph, runs / mode)
    assert {name: found[name][1] for name in causes} == causes


PLUGINS = """public class Plugins implements Runnable {
    public void run() {}
    public static Runnable load(String name) throws Exception { return (Runnable) Class.forName(name).newInstance(); }
}
"""
HOST = """package demo;

public class Host {
    public static void main(String[] arguments) throws Exception { java.util.Plugins.load(arguments[0]).run(); }
}

class Own implements Runnable {
    public Own() {}
    public void run() {}
}
"""


def test_a_cast_by_the_jdk_finds_classes_outside_and_leaves_the_call_open(
    tmp_path: Path, javac: str, heliograph: Heliograph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tiny_jdk.SOURCES, "java.util.Plugins", PLUGINS)
    home = tiny_jdk.build(tmp_path / "jdk", javac)
    host = compiled(tmp_path, home, javac, Host=HOST)
    done = heliograph("analyze", host, "--jdk", home, "--mode", "casts", "--out", tmp_path / "run", "-q")
    assert done.code == 0, done.errors
    calls = json.loads(heliograph("sites", "--all", "--run", tmp_path / "run", "--format", "json").output)
    found = {each["api"]: each for each in calls if each["caller"] == "java.util.Plugins.load"}
    names, makes = found["java.lang.Class.forName"], found["java.lang.Class.newInstance"]
    # (the JDK's own class passes the cast as well, and is not shown)
    assert (names["status"], names["targets"]) == ("partial", ["demo.Own"])
    assert (names["causes"], names["assumes"]) == (["in-jdk", "input"], [])
    assert (makes["status"], makes["targets"]) == ("partial", ["demo.Own.<init>()V"])


def test_explanations_say_why_a_call_is_open(runs: Path, heliograph: Heliograph) -> None:
    listed = heliograph("sites", "--run", runs / "casts").output
    assert "open: what is made of the class is cast in other methods only; nothing comes to it" in listed
    told = heliograph("explain", "--run", runs / "casts", "demo.Main.raw:16").output
    assert "but what enters the program or is computed (argument)" in told
    assert "open:" not in heliograph("explain", "--run", runs / "casts", "demo.Main.main:5").output
    document = json.loads(
        heliograph("explain", "--run", runs / "casts", "demo.Main.raw:16", "--format", "json").output
    )
    assert (document[0]["causes"], document[0]["inputs"]) == (["cast-in-caller", "only-input"], ["argument"])


LISTED_CONSTRUCTORS = f"""package demo;

public class Maker {{
    public static void main(String[] arguments) throws Exception {{
        Object one = (Few) Class.forName(arguments[0]).getConstructors()[0].newInstance();
        Object two = (Many) Class.forName(arguments[1]).getConstructors()[0].newInstance();
    }}
}}
interface Few {{}}
interface Many {{}}
class Own implements Few, Many {{ public Own() {{}} }}
{" ".join(f"class C{each} implements Many {{ public C{each}() {{}} }}" for each in range(LISTED_IN_ALL))}
"""


def test_casts_of_what_listed_constructors_make_tell_a_few_classes_or_leave_the_call_open(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph
) -> None:
    program, run = compiled(tmp_path, jdk, javac, Maker=LISTED_CONSTRUCTORS), tmp_path / "run"
    done = heliograph("analyze", program, "--jdk", jdk, "--mode", "casts", "--out", run, "-q")
    assert done.code == 0, done.errors
    found = {each["line"]: each for each in reflective_calls(heliograph, run) if "forName" in each["api"]}
    assert (found[5]["status"], found[5]["targets"]) == ("resolved", ["demo.Own"])
    assert (found[6]["status"], found[6]["targets"]) == ("unresolved", [])
    assert found[6]["causes"] == ["cast-too-wide", "only-input"]


LISTER = f"""package demo;

public class Lister {{
    public static void main(String[] arguments) {{
        few(new C0());
        {" ".join(f"many(new C{each}());" for each in range(LISTED + 1))}
    }}
    static void few(Object any) {{ any.getClass().getMethods(); }}
    static void many(Object any) {{ any.getClass().getMethods(); }}
}}
{" ".join(f"class C{each} {{}}" for each in range(LISTED + 1))}
"""


def as_library(program: Path, classes: Iterable[str]) -> Path:
    """Moves classes of a program into a library beside it, which is returned."""
    library = program.parent / "library"
    (library / "demo").mkdir(parents=True)
    for each in classes:
        (program / f"demo/{each}.class").rename(library / f"demo/{each}.class")
    return library


def test_members_of_too_many_classes_are_not_listed(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph
) -> None:
    program = compiled(tmp_path, jdk, javac, Lister=LISTER)
    library, run = as_library(program, (f"C{each}" for each in range(LISTED + 1))), tmp_path / "run"
    arguments = ("--classpath", library, "--main", "demo.Lister", "--jdk", jdk, "--out", run)
    assert heliograph("analyze", program, *arguments).code == 0
    assert open_calls(heliograph, run) == {"many:9 getMethods": ("unresolved", ["many-classes"])}
    told = heliograph("explain", "--run", run, "demo.Lister.many:9").output
    assert "open: it lists the members of too many classes" in told
    assert "the class is that of an object, say a new demo.C0" in told


MANY_CALLS = MOST_UNKNOWN + 1


def test_a_call_is_told_to_take_many_classes_however_many_bring_them(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph
) -> None:
    calls = " ".join("list(any.getClass());" for _ in range(MANY_CALLS))
    many = (
        f"static void many(Object any) {{ {calls} }} static void list(Class<?> any) {{ any.getMethods(); }}"
    )
    source = LISTER.replace("static void many(Object any) { any.getClass().getMethods(); }", many)
    assert many in source
    program, run = compiled(tmp_path, jdk, javac, Lister=source), tmp_path / "run"
    library = as_library(program, (f"C{each}" for each in range(LISTED + 1)))
    arguments = ("--classpath", library, "--main", "demo.Lister", "--jdk", jdk, "--out", run)
    assert heliograph("analyze", program, *arguments).code == 0
    assert open_calls(heliograph, run) == {"list:9 getMethods": ("unresolved", ["many-classes"])}


def listing(number: int) -> str:
    """Returns a program that lists the methods of so many classes, which it names."""
    return f"""package demo;

public class Listing {{
    public static void main(String[] arguments) throws Exception {{
        {" ".join(f"list(C{each}.class);" for each in range(number))}
    }}
    static void list(Class<?> any) throws Exception {{ any.getMethods()[0].invoke(any.newInstance()); }}
}}
{" ".join(f"class C{each} {{ public void go() {{}} }}" for each in range(number))}
"""


@pytest.mark.parametrize(
    ("number", "status", "causes", "listed"),
    [(LISTED_IN_ALL, "resolved", [], LISTED_IN_ALL), (LISTED_IN_ALL + 1, "unresolved", ["many-classes"], 0)],
)
def test_members_of_too_many_classes_that_are_named_are_not_listed(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph, number: int, status: str, causes: list[str], listed: int
) -> None:  # fmt: skip
    program, run = compiled(tmp_path, jdk, javac, Listing=listing(number)), tmp_path / "run"
    assert heliograph("analyze", program, "--main", "demo.Listing", "--jdk", jdk, "--out", run).code == 0
    sites = {each["api"].rpartition(".")[2]: each for each in reflective_calls(heliograph, run)}
    lists, invokes, makes = sites["getMethods"], sites["invoke"], sites["newInstance"]
    assert (lists["status"], lists["causes"], invokes["status"]) == (status, causes, status)
    assert sum(each.startswith("demo.C") for each in invokes["targets"]) == listed
    assert (makes["status"], len(makes["targets"])) == ("resolved", number)


def test_of_too_many_classes_those_of_the_application_are_listed(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph
) -> None:
    program = compiled(tmp_path, jdk, javac, Listing=listing(LISTED_IN_ALL + 1))
    library, run = as_library(program, (f"C{each}" for each in range(3, LISTED_IN_ALL + 1))), tmp_path / "run"
    arguments = ("--classpath", library, "--main", "demo.Listing", "--jdk", jdk, "--out", run)
    assert heliograph("analyze", program, *arguments).code == 0
    sites = {each["api"].rpartition(".")[2]: each for each in reflective_calls(heliograph, run)}
    lists, invokes = sites["getMethods"], sites["invoke"]
    assert (lists["status"], lists["causes"], invokes["status"]) == ("partial", ["many-classes"], "partial")
    assert [each for each in invokes["targets"] if each.startswith("demo.")] == [
        f"demo.C{each}.go()V" for each in range(3)
    ]


@pytest.mark.parametrize(
    ("of_library", "status", "causes"), [(1, "partial", ["many-classes"]), (0, "resolved", [])]
)
def test_of_objects_of_too_many_classes_those_of_the_application_are_listed(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph, of_library: int, status: str, causes: list[str]
) -> None:  # fmt: skip
    program, run = compiled(tmp_path, jdk, javac, Lister=LISTER), tmp_path / "run"
    library = as_library(program, (f"C{each}" for each in range(1, 1 + of_library)))
    arguments = ("--classpath", library, "--main", "demo.Lister", "--jdk", jdk, "--out", run)
    assert heliograph("analyze", program, *arguments).code == 0
    (many,) = (each for each in reflective_calls(heliograph, run) if each["line"] == 9)
    assert (many["status"], many["causes"]) == (status, causes)


def ascending(number: int) -> str:
    """Returns a program that asks objects of so many classes for the superclass of theirs."""
    return f"""package demo;

public class Ascending {{
    public static void main(String[] arguments) throws Exception {{
        {" ".join(f"up(new C{each}());" for each in range(number))}
    }}
    static void up(Object any) throws Exception {{ any.getClass().getSuperclass().getField("x").get(any); }}
}}
class Base {{ public Object x = new Object(); }}
{" ".join(f"class C{each} extends Base {{}}" for each in range(number))}
"""


@pytest.mark.parametrize(("number", "status"), [(ASCENDED, "resolved"), (ASCENDED + 1, "unresolved")])
def test_superclasses_of_too_many_classes_are_not_found(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph, number: int, status: str
) -> None:
    program, run = compiled(tmp_path, jdk, javac, Ascending=ascending(number)), tmp_path / "run"
    assert heliograph("analyze", program, "--main", "demo.Ascending", "--jdk", jdk, "--out", run).code == 0
    listed = reflective_calls(heliograph, run)
    assert {each["api"].rpartition(".")[2]: each["status"] for each in listed}["getField"] == status


FINDER = """package found;

public class Finder extends ClassLoader {
    public Class<?> find(String name) throws Exception { return Class.forName(name); }
    public Class<?> loadClass(String name) throws ClassNotFoundException { return Class.forName(name); }
}
"""
LIBRARY = """package demo;

import found.Finder;

public class Library {
    public Object found(String name) throws Exception { return new Finder().find(name).newInstance(); }
    public Object loaded(String name) throws Exception { return new Finder().loadClass(name).newInstance(); }
    public Object given(Class<?> type) throws Exception { return type.newInstance(); }
    public Object called(Class<?> type, String name, Object on) throws Exception {
        return type.getMethod(name).invoke(on);
    }
    public void read(java.lang.reflect.Field field) throws Exception { field.get(null); }
    public Runnable cast(Class<?> type) throws Exception { return (Runnable) type.newInstance(); }
    public Object known() throws Exception { return Class.forName("demo.First").newInstance(); }
}

class First implements Runnable {
    static Object kept;
    public First() {}
    public void run() {}
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> list[str | Path]:
    """The arguments for a library that finds classes by way of another, whose loader asks for what it is asked for."""
    place = tmp_path_factory.mktemp("library")
    both = compiled(place, jdk, javac, Library=LIBRARY, Finder=FINDER)
    (place / "other").mkdir()
    (both / "found").rename(place / "other" / "found")
    return [both, "--classpath", place / "other", "--library", "--jdk", jdk]


def test_a_filled_in_file_leaves_no_call_open(
    tmp_path: Path, library: list[str | Path], heliograph: Heliograph
) -> None:
    before, after, file = tmp_path / "before", tmp_path / "after", tmp_path / "app.spec"
    assert heliograph("analyze", *library, "--mode", "sound", "--out", before).code == 0
    unresolved = open_calls(heliograph, before)
    assert "found:6 newInstance" in unresolved
    assert not any(name.startswith("known:") for name in unresolved)

    blocks = heliograph("spec", "--run", before).output.strip().split("\n\n")[1:]
    assert any("\ncast() @ " in block and "=> demo.First\n" in block for block in blocks)
    answers = {"class": "demo.First", "a.b.C.name": "demo.First.run", "field": "demo.First.kept"}
    filled = []
    for head, *_, line in (block.splitlines() for block in blocks):
        wanted = head.partition(" is needed")[0].rpartition(" ")[2]
        filled.append(f"{line.removeprefix('# ')} {answers[wanted]}")
    assert any(line.startswith("find() @ ") for line in filled)
    file.write_text("\n".join(filled))
    done = heliograph("analyze", *library, "--spec", file, "--out", after)
    assert (done.code, "SPEC-" in done.errors) == (0, False)
    assert open_calls(heliograph, after) == {}


def test_names_that_the_program_lacks_are_warned_of(
    tmp_path: Path, program: Path, jdk: Path, heliograph: Heliograph
) -> None:
    file = tmp_path / "app.spec"
    file.write_text("raw() @ 1 Main.java:16 => demo.Gone\nraw() @ 1 Main.java:16 => demo.First\n")
    done = heliograph("analyze", program, "--jdk", jdk, "--spec", file, "--out", tmp_path / "run")
    assert "SPEC-ABSENT" in done.errors
    assert "no class or member of the program (1): demo.Gone (line 1)" in done.errors
