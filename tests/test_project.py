"""What the project promises about itself: its layers, its documents, what it refuses to do."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from cli.exits import Exit
from cypher import schema
from cypher.docs import holds_if, relation_table

ROOT = Path(__file__).parents[1]
PACKAGES = ("cli", "cypher", "engine", "loader")
RELATIONS = schema.FACTS + schema.DERIVED

# What turns data into code, or an entry's name into a file's.
UNSAFE_MODULES = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
UNSAFE_CALLS = {"eval", "exec", "extract", "extractall", "unpack_archive"}


def run(*command: str | Path) -> str:
    """Returns what the command prints; fails with it if the command does."""
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}:\n{done.stdout}{done.stderr}"
    return done.stdout


def tool(name: str) -> Path:
    """Returns a program of the environment that runs the tests."""
    return Path(sys.executable).parent / name


def sources() -> list[Path]:
    return [path for name in (*PACKAGES, "tests") for path in sorted((ROOT / name).rglob("*.py"))]


def relation_classes() -> list[type[tuple[Any, ...]]]:
    """Returns the relations that the schema's module defines, listed or not."""
    classes = [each for _, each in inspect.getmembers(schema, inspect.isclass)]
    return [each for each in classes if issubclass(each, tuple) and each.__module__ == schema.__name__]


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.__name__)
def test_relation_is_documented_and_refers_to_entities(relation: type[tuple[Any, ...]]) -> None:
    assert holds_if(relation).endswith(".")
    named = {word for word in re.findall(r"`(\w+)`", relation.__doc__ or "") if word.islower()}
    assert named & set(schema.columns(relation)), "the definition names none of its columns"
    kinds = set(get_type_hints(relation).values())
    assert kinds <= {int, *schema.ENTITIES}
    assert kinds & set(schema.ENTITIES)


def test_every_relation_is_a_fact_or_derived_but_not_both() -> None:
    assert len(set(RELATIONS)) == len(RELATIONS)
    assert set(relation_classes()) == set(RELATIONS)


def test_relationship_types_are_distinct_and_spelt_like_neo4j_wants() -> None:
    names = [schema.type_name(relation) for relation in RELATIONS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Z]+(_[A-Z]+)*", name) for name in names)


def test_a_relation_without_its_definition_is_refused() -> None:
    class Undefined(tuple[int, ...]):
        """Says nothing."""

        __slots__ = ()

    with pytest.raises(ValueError, match="Undefined must begin with 'Holds if'"):
        relation_table([Undefined])


def test_layers_and_libraries_keep_to_their_folders() -> None:
    run(tool("lint-imports"), "--no-cache")


@pytest.fixture
def copy_of_sources(tmp_path: Path) -> Path:
    """The packages in a folder of their own, to be spoilt."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "line"),
    [
        ("loader", "import engine"),
        ("engine", "import loader"),
        ("cypher", "import cli"),
        ("engine", "import jawa"),
        ("loader", "import jawa"),
        ("loader", "import numba"),
        ("cli", "import pyroaring"),
        ("loader", "import rich"),
        ("cli", "import neo4j"),
        ("engine", "import os"),
        ("engine", "import time"),
    ],
)
def test_layer_contracts_notice_a_violation(copy_of_sources: Path, folder: str, line: str) -> None:
    (copy_of_sources / folder / "violation.py").write_text(line + "\n")
    command = [str(tool("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=copy_of_sources, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{folder}.violation" in done.stdout


def unsafe(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields (line, what) of imports and calls that nothing here may contain."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, each.name) for each in names if each.name in UNSAFE_MODULES)
            case ast.ImportFrom(module=str(name)) if name in UNSAFE_MODULES:
                yield node.lineno, name
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in UNSAFE_CALLS:
                yield node.lineno, name
            case ast.keyword(arg="allow_pickle", value=value) if ast.unparse(value) != "False":
                yield node.value.lineno, "allow_pickle"
            case ast.keyword(arg="shell", value=value) if ast.unparse(value) != "False":
                yield node.value.lineno, "shell"


def test_no_module_runs_data_or_unpacks_archives() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in sources()
        for line, what in unsafe(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from marshal import loads",
        "eval(text)",
        "archive.extractall(folder)",
        "numpy.load(file, allow_pickle=True)",
        "numpy.load(file, allow_pickle=trusted)",
        "subprocess.run(line, shell=True)",
    ],
)
def test_unsafe_code_is_noticed(code: str) -> None:
    assert len(list(unsafe(ast.parse(code)))) == 1


def test_generated_parts_of_the_readme_are_up_to_date() -> None:
    run(tool("cog"), "--check", "--diff", "README.md")


def test_readme_names_files_and_targets_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [
        name for name in re.findall(r"\]\((?!https?:|#)([^)#]+)", text) if not (ROOT / name).exists()
    ] == []
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:`|\$ )make ([a-z-]+)", text)) <= targets


def test_readme_lists_the_exit_codes() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| exit code | meaning |\n| --- | --- |\n")
    rows = table.partition("\n\n")[0].splitlines()
    assert [int(row.split("|")[1]) for row in rows] == sorted(Exit)


def test_git_holds_no_generated_files() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    assert "pyproject.toml" in names
    generated = (".class", ".jar", ".war", ".jmod", ".pyc", ".npy", ".nbc", ".nbi")
    assert [name for name in names if name.endswith(generated)] == []


def test_lock_file_pins_every_dependency_with_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9-]+)==\S+(?: ; [^\\\n]*)? \\\n    --hash=(\w+):", text, re.MULTILINE))
    assert set(pinned.values()) == {"sha256"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    assert {re.split(r"[<>=]", each)[0].lower() for each in wanted} <= set(pinned)
    assert len(pinned) == len(re.findall(r"^[a-z0-9-]+==", text, re.MULTILINE))


@pytest.mark.slow
def test_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES).splitlines()
    copy = tmp_path / "copy"
    for name in [*names, "pyproject.toml", "README.md", "LICENSE"]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, copy)
    (wheel,) = tmp_path.glob("heliograph-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        (entry_points,) = (name for name in held if name.endswith("entry_points.txt"))
        assert "heliograph = cli.main:main" in archive.read(entry_points).decode()
    assert {name for name in held if ".dist-info/" not in name} == set(names)
