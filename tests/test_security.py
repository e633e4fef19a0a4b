"""What untrusted input can't do: run code, write files, reach the network, control a terminal, take for ever."""

from __future__ import annotations

import ast
import json
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from cli import text
from cli.exits import Exit, Failure
from cli.export.dot_format import escaped
from cli.folders import private
from loader import jdk as jdks
from loader import names
from tests.badinputs.hostile import write_hostile
from tests.cli import tiny_jdk
from tests.test_project import PACKAGES, ROOT, tool, unsafe

# --- what runs


# Reads the archives that are named, all of them, with a hook that nothing can take back; prints what it saw.
WATCHED = """
import json, sys
from cli.entries import Wanted, entries_of
from cli.exits import Failure
from cli.text import shown
from engine.analysis import Options, analyse
from engine.reference import ReferenceSolver
from loader import cache
from loader.archives import open_inputs
from loader.link import link
from loader.translate import translate
from pathlib import Path

paths, home, root = sys.argv[1:-2], Path(sys.argv[-2]), Path(sys.argv[-1])
own = {"cli", "cypher", "engine", "loader", "jawa", "numpy"} | sys.stdlib_module_names
seen, ran = [], set()

def hook(event, arguments):
    ran.add(event)
    if event == "import" and arguments[0].partition(".")[0] not in own:
        seen.append([event, arguments[0]])
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        if arguments[2] & 0o3103:  # to write, create, append or truncate
            seen.append([event, str(arguments[0])])
    elif event.startswith(("subprocess.", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "os.system", "pty.",
            "ctypes.", "socket.", "urllib.", "http.", "ftplib.", "code.__new__", "pickle.", "marshal.load",
            "os.link", "os.symlink", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod",
            "os.putenv", "shutil.", "tempfile.", "webbrowser.")):
        if event != "marshal.loads":  # of Python's own modules
            seen.append([event, str(arguments[0]) if arguments else ""])

sys.addaudithook(hook)
inputs = open_inputs(paths, jdk=home)
units = []
for archive in inputs.archives:
    archive.resources()
    [archive.read(name) for name in archive.resources()]
    unit = cache.load(root, archive.digest)
    if unit is None:
        unit = translate(archive.classes(), archive.label)
        cache.store(root, archive.digest, unit)
    units.append((unit, archive.role, archive.label))
program = link(units)
application = [unit for unit, role, _ in units if role == "application"]
found, _ = entries_of(program, application, Wanted((), True, (), None), 17)
solver = ReferenceSolver(program.type_named("java/lang/Object"), program.type_named("java/lang/Class"))
result = analyse(program, solver, found, Options("points-to"))
codes = sorted({each.code for each in inputs.diagnostics})
print(json.dumps({"seen": seen, "ran": sorted(ran), "codes": codes, "reached": len(result.reached)}))
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process did that read, cached, linked and analysed the hostile archives."""
    folder = tmp_path_factory.mktemp("hostile")
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("needs javac on the path")
    home = tiny_jdk.build(tmp_path_factory.mktemp("jdk"), javac)
    root = tmp_path_factory.mktemp("cache") / "heliograph"
    before = content(folder.parent)
    paths = write_hostile(folder)
    command = [sys.executable, "-c", WATCHED, *map(str, paths), str(home), str(root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    written = content(folder.parent) - before - set(paths) - {folder, root, *root.rglob("*")}
    return found | {"written": sorted(map(str, written)), "root": str(root)}


def content(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_s1_nothing_that_is_read_runs(watched: dict[str, Any]) -> None:
    assert watched["reached"]
    assert "open" in watched["ran"], "the hook sees nothing"
    # The cache is made, and a unit written beside its place and renamed.
    allowed = {"open", "os.rename", "os.mkdir"}
    assert [each for each in watched["seen"] if each[0] not in allowed] == []
    assert {"ARC-BUDGET", "ARC-CLASSPATH", "ARC-NAME", "ARC-NEST", "ARC-SYMLINK"} <= set(
        map(str, watched["codes"])
    )


def test_s2_nothing_is_written_but_the_cache(watched: dict[str, Any]) -> None:
    assert watched["written"] == []
    units = Path(str(watched["root"])) / "units"
    named = {
        event: {Path(name) for each, name in watched["seen"] if each == event} for event, _ in watched["seen"]
    }
    assert {each.parent for each in named["open"]} == {each.parent for each in named["os.rename"]} == {units}
    assert named["os.mkdir"] <= {units, *units.parents}


def test_s2_no_path_is_made_from_the_name_of_an_entry() -> None:
    code = "import zipfile\ndef f(z: zipfile.ZipFile) -> None:\n    z.extractall('x')\n"
    assert "TID251" in linted(code)
    assert len(list(unsafe(ast.parse(code)))) == 1


UNSAFE = {
    "import pickle": "TID251",
    "import marshal": "TID251",
    "import shelve": "TID251",
    "import dill": "TID251",
    "from pickle import loads": "TID251",
    "import yaml\n\nx = yaml.load('')": "S506",
    "x = eval('1')": "S307",
    "exec('1')": "S102",
    "import subprocess\n\nsubprocess.run('x', shell=True)": "S602",
    "import os\n\nos.system('x')": "S605",
}


def linted(code: str) -> str:
    """Returns what the linter says of `code` as a module of the loader."""
    command = [tool("ruff"), "check", "--stdin-filename", "loader/new.py", "--no-cache", "-"]
    done = subprocess.run(
        [*map(str, command)], cwd=ROOT, input=code, capture_output=True, text=True, check=False
    )
    return done.stdout


@pytest.mark.parametrize("code", UNSAFE)
def test_s3_code_that_runs_data_is_refused(code: str) -> None:
    assert UNSAFE[code] in linted(code + "\n")


@pytest.mark.parametrize(
    "code", ["numpy.load(file, allow_pickle=True)", "import joblib", "import cloudpickle"]
)
def test_s3_what_the_linter_does_not_know_is_refused_by_a_test(code: str) -> None:
    assert len(list(unsafe(ast.parse(code)))) == 1


# --- what is printed


@pytest.mark.parametrize(
    "bad", ["\x1b[31m", "\x9b31m", "\u202e", "\u2066", "\r", "\x07", "\x00", "\u2028", "\ud800"]
)
def test_s9_text_is_escaped(bad: str) -> None:
    found = text.shown(f"a{bad}b")
    assert not set(bad) & set(found) - set("[31m")
    assert found.startswith("a\\")
    assert found.isprintable()
    assert escaped(f'"{bad}').isprintable()
    for sign in "=+-@":
        assert text.spreadsheet_cell(f"{sign}1{bad}").startswith("'")


# --- what others may see


def test_s10_folders_are_private_and_no_links(tmp_path: Path) -> None:
    made = private(tmp_path / "new")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    made.chmod(0o777)
    assert stat.S_IMODE(private(made).stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to(made)
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        with pytest.raises(Failure) as refused:
            private(tmp_path / name)
        assert refused.value.code == Exit.NO_INPUT


# --- what takes time


def modules() -> Iterator[ModuleType]:
    """Yields the modules of the program that may be imported without the compiler."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if not name.endswith("__init__") and ".kernel" not in name:
                yield import_module(name)


class Expression(NamedTuple):
    """A regular expression of the program, and the ways in which it is used (`search`, `fullmatch`, …)."""

    pattern: re.Pattern[Any]
    ways: frozenset[str]


def expressions() -> dict[str, Expression]:
    """Returns the regular expressions of all modules, those that are written where they are used included."""
    found = {}
    for module in modules():
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        for name, value in vars(module).items():
            pattern = getattr(value, "__self__", value)
            if isinstance(pattern, re.Pattern):
                ways = re.findall(rf"\b{name}\.(\w+)\(", source) if pattern is value else [value.__name__]
                found[f"{module.__name__}.{name}"] = Expression(pattern, frozenset(ways))
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=way),
                    args=[ast.Constant(value=written), *_],
                ) if way != "compile":
                    found[f"{module.__name__}:{node.lineno}"] = Expression(
                        re.compile(written), frozenset({way})
                    )
    return found


PARTS = (
    "a", "L", "[", "[L", "La;", "(", "(L", ")", ".", "/", "../", "a/", "//", ":", "a:", " ", "\n", "\r\n ", "\t",
    "0", "9.", "-", " -- module ", ":compile:", "a:b:", "META-INF/versions/9/", "\\", "\x1b[", "\u202e", ";", "=",
    '"', "JAVA_VERSION=", ".class", "CLASS/", "\x59\x03\x12", "\x59\x10\x10", "\x2a\x4c", "\xf0", "\xed", "x: y",
)  # fmt: skip
SIZE = 100_000
# Applied only to what an expression for all of it has matched.
CHECKED = {"loader.symbols._PARAMETER"}


def is_slow(expression: Expression, part: str, end: str) -> bool:
    """Returns whether the expression takes longer than it may on many of `part`; tries with a few first."""
    for size in (SIZE // 10, SIZE):
        subject = part * (size // len(part)) + end
        content = (
            subject if isinstance(expression.pattern.pattern, str) else subject.encode("latin-1", "replace")
        )
        for way in expression.ways:
            apply = getattr(expression.pattern, "findall" if way in {"sub", "split"} else way)
            tries = []
            for _ in range(2):
                began = time.process_time()
                apply(content)
                tries.append(time.process_time() - began)
            if min(tries) > (0.1 if size == SIZE else 0.02):
                return True
    return False


@pytest.fixture(scope="module")
def all_expressions() -> dict[str, Expression]:
    return expressions()


def test_s13_expressions_are_found(all_expressions: dict[str, Expression]) -> None:
    assert all_expressions["loader.views._CLASS"].ways == {"fullmatch"}
    assert all_expressions["loader.flow._skip"].ways == {"match"}
    assert all_expressions.keys() >= CHECKED
    assert len(all_expressions) > 20
    assert [name for name, each in all_expressions.items() if not each.ways] == []


def test_s13_expressions_take_linear_time(all_expressions: dict[str, Expression]) -> None:
    slow = {
        (name, part)
        for name, expression in all_expressions.items()
        if name not in CHECKED
        for part in PARTS
        for end in ("", "!", "\n", ";")
        if is_slow(expression, part, end)
    }
    assert slow == set()


def test_s13_slow_expressions_are_noticed() -> None:
    slow = Expression(re.compile(r"\[L([^;\n]+);"), frozenset({"findall"}))
    assert any(is_slow(slow, part, "") for part in PARTS)


@pytest.mark.parametrize(
    "descriptor", [part * (SIZE // len(part)) for part in ("[", "L", "[L", "(L", "La;", "I")]
)
@pytest.mark.parametrize("function", [names.parameters, text.parameter_descriptors])
def test_s13_descriptors_are_taken_apart_in_linear_time(function, descriptor: str) -> None:  # type: ignore[no-untyped-def]
    began = time.process_time()
    found = function(f"({descriptor})V")
    assert time.process_time() - began < 0.1
    assert len(found) in (0, SIZE // 3, SIZE)


def test_s13_names_with_stars_take_linear_time() -> None:
    began = time.process_time()
    assert not text.pattern_of("*a" * 60 + "*b").match("a" * SIZE)
    assert not text.pattern_of("*ab" * 60 + "*").match("a" * SIZE)
    assert time.process_time() - began < 0.1
    assert text.pattern_of("a*[?]*c").match("a.b[x]\nc")
    assert not text.pattern_of("a*b").match("abc")


# --- what is read whole


def test_s14_the_description_of_a_jdk_is_read_up_to_a_size(tmp_path: Path) -> None:
    with (tmp_path / "release").open("wb") as file:
        file.write(b'JAVA_VERSION="17"\n')
        file.truncate(1 << 40)
    assert len(jdks.release_text(tmp_path)) == 1 << 16


def test_s14_nothing_else_that_users_write_is_parsed() -> None:
    parsers = {"tomllib", "yaml", "configparser", "xml", "csv", "plistlib"}
    reading = {
        f"{path.relative_to(ROOT)}: {name}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if name in parsers
    }
    # (which write, or read a file of our own)
    assert reading == {
        "cli/export/csv_format.py: csv",
        "cli/graph_formats.py: csv",
        "cli/graph_formats.py: xml",
        "cli/report/paper.py: csv",
        "cli/report/plot.py: xml",
        "cli/report/writing.py: csv",
    }
