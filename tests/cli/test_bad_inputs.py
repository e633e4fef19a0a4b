"""What the command says, and how it ends, when its input is bad, a limit is reached or the disk is full."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from tests.badinputs.zips import Item, build, class_file, jar
from tests.cli import tiny_jdk
from tests.cli.conftest import COMMAND, ROOT, Done, Heliograph
from tests.loader.rawclass import RawClass, u2

MAIN = "([Ljava/lang/String;)V"


def program(raw: RawClass | None = None, code: bytes = b"\xb1", name: str = "T") -> bytes:
    """Returns a class whose `main` has this code."""
    raw = raw or RawClass()
    raw.name = name
    return raw.method(code, MAIN, name="main", flags=9).encoded()


def archive(path: Path, *items: Item) -> Path:
    path.write_bytes(build(items))
    return path


# --- archives


def test_a23_c17_s9_no_name_controls_the_terminal(heliograph: Heliograph, jdk: Path, tmp_path: Path) -> None:
    names = [
        "a\x1bcb",
        "a\u202eb",
        "a`b",
        "x') DETACH DELETE n --",
        "class",
        "Il1",
        "=1+1",
        '<b>&"',
        "y" * 9999,
    ]
    raw = RawClass()
    calls = b"".join(b"\xb8" + u2(raw.pool.method(each, "m", "()V")) for each in names)
    missing = b"\xb8" + u2(raw.pool.method("gone\x1b]0;x\x07", "m", "()V"))
    items = [
        Item(b"T.class", program(raw, calls + missing + b"\xb1")),
        Item(b"bad\x1bc.class", b"\xca\xfe\xba\xbe"),
        *(
            Item(f"{each}.class".encode(), RawClass(name=each).method(b"\xb1", name="m").encoded())
            for each in names
        ),
    ]
    run = tmp_path / "run"
    commands = [
        ("analyze", archive(tmp_path / "x.jar", *items), "--jdk", jdk, "--out", run),
        ("analyze", tmp_path / "x.jar", "--jdk", jdk, "--main", "no\x1b[31m"),
        ("callgraph", "--from", "T.main", "--run", run),
        ("export", "callgraph", "--format", "csv", "--run", run),
    ]
    printed = []
    for command in commands:
        done = heliograph(*command)
        for text in (done.output, done.errors):
            unsafe = {each for each in text if unicodedata.category(each) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
            assert unsafe <= {"\n"}, command
        printed.append(done)
    assert [done.code for done in printed] == [0, 3, 0, 0]
    assert r"a\x1bcb" in printed[2].output
    assert r"bad\x1bc.class" in printed[0].errors
    assert r"gone\x1b]0;x\x07" in printed[0].errors
    assert "'=1+1.m()V" in printed[3].output
    exported = json.loads(heliograph("export", "callgraph", "--format", "json", "--run", run).output)
    assert {each["class"] for each in exported["methods"]} >= set(names)


@pytest.mark.parametrize("change", ["content", "gone"])
def test_a32_a_file_that_changes_while_it_is_read(jdk: Path, tmp_path: Path, change: str) -> None:
    changes = {"content": "path.write_bytes(path.read_bytes()[:-1] + b'x')", "gone": "path.unlink()"}
    path = archive(tmp_path / "x.jar", Item(b"T.class", program()), Item(b"U.class", class_file("U")))
    code = f"""
import pathlib, sys, loader.zipread
path, read = pathlib.Path(sys.argv[2]), loader.zipread.Zip.read
def changing(self, name):
    if name == "U.class" and path.exists():
        {changes[change]}
    return read(self, name)
loader.zipread.Zip.read = changing
from cli.main import main; main()
"""
    environment = os.environ | {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    command = [sys.executable, "-c", code, "analyze", str(path), "--jdk", str(jdk), "--solver", "reference"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "changed or went away while it was read" in done.stderr
    kept = list((tmp_path / "cache").rglob("*.unit"))
    assert len(kept) == 1, "the JDK, but not what changed"
    assert not list((tmp_path / "state").rglob("manifest.json"))


# --- hierarchy and entries


def test_h04_a_library_without_object(heliograph: Heliograph, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "rt.jar").write_bytes(jar(a__B=class_file("a/B")))
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0"\n')
    done = heliograph("analyze", archive(tmp_path / "x.jar", Item(b"T.class", program())), "--jdk", tmp_path)
    assert done.code == 3
    assert "error HIE-NO-OBJECT: " in done.errors
    assert "--jdk" in done.errors


def test_h06_no_main_class(heliograph: Heliograph, jdk: Path, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.jar", Item(b"A.class", class_file("A")))
    none = heliograph("analyze", path, "--jdk", jdk)
    assert none.code == 2
    assert "--entry" in none.errors
    without = heliograph("analyze", path, "--jdk", jdk, "--main", "A")
    assert (without.code, "A has no main method" in without.errors) == (3, True)


# --- limits


def test_h09_no_memory_at_all_is_told_in_a_sentence() -> None:
    code = (
        "import sys, cli.run, numpy\n"
        "cli.run.find = lambda wanted: numpy.zeros(1 << 50)\n"
        "sys.argv[1:] = ['census']\n"
        "from cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == "heliograph: there is not enough memory\n"


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["kernel", "reference"])
def test_h05_deep_and_wide_hierarchies(
    heliograph: Heliograph, jdk: Path, tmp_path: Path, solver: str
) -> None:
    items = []
    for number in range(5_000):
        above = f"D{number - 1}" if number else "java/lang/Object"
        raw = RawClass(name=f"D{number}", superclass=above)
        items.append(Item(f"D{number}.class".encode(), raw.method(b"\xb1", flags=1).encoded(), level=1))
    width = 50_000
    for number in range(width):
        raw = RawClass(name=f"W{number}", superclass="D0").method(b"\xb1", flags=1)
        items.append(Item(f"W{number}.class".encode(), raw.encoded(), level=1))
    # Each of the makers makes a thousand objects and calls what they override.
    parts = [f"M{number}" for number in range(width // 1000)]
    for number, name in enumerate(parts):
        raw = RawClass(name=name)
        call = b"\xb6" + u2(raw.pool.method("D0", "m", "()V"))
        made = range(1000 * number, 1000 * number + 1000)
        raw.method(b"".join(b"\xbb" + u2(raw.pool.type(f"W{each}")) + call for each in made) + b"\xb1")
        items.append(Item(f"{name}.class".encode(), raw.encoded(), level=1))
    raw = RawClass()
    deep = b"\xbb" + u2(raw.pool.type("D4999")) + b"\xb6" + u2(raw.pool.method("D0", "m", "()V"))
    calls = b"".join(b"\xb8" + u2(raw.pool.method(each, "m", "()V")) for each in parts)
    items.append(Item(b"T.class", program(raw, deep + calls + b"\xb1")))
    path = archive(tmp_path / "x.jar", *items)
    began = time.monotonic()
    done = heliograph(
        "analyze",
        path,
        "--jdk",
        jdk,
        "--out",
        tmp_path / "run",
        "--solver",
        solver,
        "--format",
        "json",
        "--no-cache",
    )
    assert done.code == 0, done.errors
    assert time.monotonic() - began < 120  # sixty on a machine that has nothing else to do
    assert json.loads(done.output)["applicationMethods"] == width + len(parts) + 2


# --- the same again

SOURCES = {
    "Library": "package a; public class Library { static Object kept; public static void go(Runnable r) { r.run(); }"
    " public static void keep(Object o) throws Exception { kept = o;"
    ' Class.forName("a.Worker").getMethod("work").invoke(kept); } }',
    "Worker": "package a; public class Worker implements Runnable { public void run() { work(); }"
    " public void work() { new Runnable() { public void run() {} }.run(); } }",
    "Start": "package a; public class Start { public static void main(String[] a) throws Exception {"
    " Library.keep(new Worker()); Library.go(new Worker()); Class.forName(a[0]); } }",
}


@pytest.fixture(scope="module")
def three_jars(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> list[Path]:
    """A program in three jars."""
    folder = tmp_path_factory.mktemp("jars")
    for name, text in SOURCES.items():
        (folder / "src").mkdir(exist_ok=True)
        (folder / "src" / f"{name}.java").write_text(text)
    tiny_jdk.compile_java(javac, folder / "src", folder / "classes", str(jdk / "lib" / "rt.jar"))
    jars = []
    for name in SOURCES:
        files = sorted((folder / "classes" / "a").glob(f"{name}*.class"))
        items = (Item(f"a/{each.name}".encode(), each.read_bytes()) for each in files)
        jars.append(archive(folder / f"{name}.jar", *items))
    return jars


def exports(run: Path, seed: int) -> dict[str, str]:
    """Returns the exports of a run in all formats."""
    return {
        each: seeded(seed, "export", "callgraph", "--format", each, "--run", run).output
        for each in ("json", "csv", "dot", "jcg")
    }


def seeded(seed: int, *arguments: str | Path) -> Done:
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_h11_order_process_and_hash_seed_make_no_difference(
    three_jars: list[Path], jdk: Path, tmp_path: Path
) -> None:
    first, second, third = three_jars
    orders = [
        (first, second, third), (third, second, first), (second, third, first), (first, third, second),
        (third, first, second),
    ]  # fmt: skip
    found = []
    for number, order in enumerate(orders):
        run = tmp_path / str(number)
        seed, options = number % 3, (["--no-cache"] if number == 1 else [])
        done = seeded(seed, "analyze", *order, "--jdk", jdk, "--out", run, "--quiet", *options)
        assert done.code == 0, done.errors
        found.append(exports(run, seed))
    assert '"work"' in found[0]["json"]
    assert all(each == found[0] for each in found)


def test_h11_two_processes_write_the_same_run(three_jars: list[Path], jdk: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        run = tmp_path / str(seed)
        done = seeded(seed, "analyze", *three_jars, "--jdk", jdk, "--out", run, "--quiet")
        assert done.code == 0, done.errors
    files = {each.name for each in (tmp_path / "1").iterdir()} - {"manifest.json"}
    assert files == {each.name for each in (tmp_path / "2").iterdir()} - {"manifest.json"}
    for each in files:
        assert (tmp_path / "1" / each).read_bytes() == (tmp_path / "2" / each).read_bytes(), each


# --- caches


def environment_of(cache: Path) -> dict[str, str]:
    return os.environ | {"XDG_CACHE_HOME": str(cache)}


def analysed(cache: Path, path: Path, jdk: Path, run: Path) -> Done:
    """Runs `analyze` with a cache of its own, without the compiled solver, which has its own cache."""
    command = [*COMMAND, "analyze", str(path), "--jdk", str(jdk), "--out", str(run), "--solver", "reference"]
    done = subprocess.run(
        [*command, "--verbose"],
        cwd=ROOT,
        env=environment_of(cache),
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def columns(run: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in run.glob("*.npy")}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:9000] + bytes([data[9000] ^ 4]) + data[9001:], id="D01"),
        pytest.param(lambda _: b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94.", id="D02"),
    ],
)
def test_a_damaged_cache_is_rebuilt(jdk: Path, tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    path = archive(tmp_path / "x.jar", Item(b"T.class", program()))
    cold = analysed(tmp_path / "cache", path, jdk, tmp_path / "cold")
    assert (cold.code, "CACHE-BAD" in cold.errors) == (0, False)
    kept = sorted((tmp_path / "cache").rglob("*.unit"))
    assert len(kept) == 2
    for each in kept:
        each.write_bytes(damage(each.read_bytes()))
    rebuilt = analysed(tmp_path / "cache", path, jdk, tmp_path / "rebuilt")
    assert (rebuilt.code, rebuilt.errors.count("note CACHE-BAD")) == (0, 1)
    assert "(and 1 more)" in rebuilt.errors
    warm = analysed(tmp_path / "cache", path, jdk, tmp_path / "warm")
    assert (warm.code, "CACHE-BAD" in warm.errors) == (0, False)
    assert columns(tmp_path / "cold") == columns(tmp_path / "rebuilt") == columns(tmp_path / "warm")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs permissions")
def test_d03_a_cache_that_cannot_be_written(jdk: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "heliograph").write_text("in the way")
    path = archive(tmp_path / "x.jar", Item(b"T.class", program()))
    done = analysed(tmp_path / "cache", path, jdk, tmp_path / "run")
    assert done.code == 0
    assert "warning CACHE-WRITE: " in done.errors


def test_d03_two_runs_on_one_cache(jdk: Path, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.jar", Item(b"T.class", program()))
    command = [*COMMAND, "analyze", str(path), "--jdk", str(jdk), "--solver", "reference", "--quiet", "--out"]
    both = [
        subprocess.Popen([*command, str(tmp_path / name)], cwd=ROOT, env=environment_of(tmp_path / "cache"))
        for name in ("first", "second")
    ]
    assert [each.wait(60) for each in both] == [0, 0]
    assert columns(tmp_path / "first") == columns(tmp_path / "second")
    assert len(list((tmp_path / "cache").rglob("*.unit"))) == 2
    assert list((tmp_path / "cache").rglob("*.part")) == []


@pytest.mark.skipif(shutil.which("mount") is None or os.geteuid() != 0, reason="needs a disk of its own")
def test_d03_a_full_disk_for_the_run(heliograph: Heliograph, jdk: Path, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.jar", Item(b"T.class", program()))
    (tmp_path / "small").mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path / "small")],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("may not mount")
    try:
        done = heliograph("analyze", path, "--jdk", jdk, "--out", tmp_path / "small" / "run")
        assert (done.code, "No space left" in done.errors) == (3, True)
        assert list((tmp_path / "small").iterdir()) == []
    finally:
        subprocess.run(["umount", str(tmp_path / "small")], check=True)


# --- what nothing is known of


def reached(heliograph: Heliograph, run: Path) -> set[str]:
    exported = json.loads(heliograph("export", "callgraph", "--format", "json", "--run", run).output)
    return {f"{each['class']}.{each['name']}" for each in exported["methods"] if each["application"]}


def test_c12_a_body_that_cannot_be_read_returns_any_object(
    heliograph: Heliograph, jdk: Path, tmp_path: Path
) -> None:
    raw = RawClass()
    bad, go = raw.pool.method("T", "bad", "()LU;"), raw.pool.method("U", "go", "()V")
    raw.method(b"\x57\x01\xb0", "()LU;", name="bad", flags=9)  # pop of nothing
    calling = program(raw, b"\xb8" + u2(bad) + b"\xb6" + u2(go) + b"\xb1")
    called = RawClass(name="U").method(b"\xb1", name="go", flags=1).encoded()
    path = archive(tmp_path / "x.jar", Item(b"T.class", calling), Item(b"U.class", called))
    done = heliograph("analyze", path, "--jdk", jdk, "--main", "T", "--out", tmp_path / "run")
    assert done.code == 0, done.errors
    assert "CLS-STACK" in done.errors
    assert reached(heliograph, tmp_path / "run") == {"T.main", "T.bad", "U.go"}


def test_abstract_class_of_a_library_has_a_subclass_somewhere(
    heliograph: Heliograph, jdk: Path, tmp_path: Path
) -> None:
    base = RawClass(name="Base", flags=0x421).method(b"\xb1", name="m", flags=1).encoded()
    path = archive(tmp_path / "x.jar", Item(b"Base.class", base))
    done = heliograph("analyze", path, "--jdk", jdk, "--library", "--out", tmp_path / "run")
    assert done.code == 0, done.errors
    assert reached(heliograph, tmp_path / "run") == {"Base.m"}


def test_native_methods_that_may_run_are_named(heliograph: Heliograph, jdk: Path, tmp_path: Path) -> None:
    raw = RawClass()
    raw.methods += [raw.member(0x109, each, "()V") for each in ("run", "idle")]
    calling = program(raw, b"\xb8" + u2(raw.pool.method("T", "run", "()V")) + b"\xb1")
    path = archive(tmp_path / "x.jar", Item(b"T.class", calling))
    done = heliograph("analyze", path, "--jdk", jdk, "--main", "T", "--out", tmp_path / "run")
    assert done.code == 0, done.errors
    assert "CLS-NATIVE" in done.errors
    assert "(1): T.run\n" in done.errors
