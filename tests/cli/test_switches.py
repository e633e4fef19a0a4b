"""Every feature that can be switched off makes a difference."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from cli.run import Run
from engine import heap
from engine.analysis import SWITCHES
from tests.cli import tiny_jdk
from tests.cli.conftest import Heliograph, compiled

TABLE = "".join(f"        use(new Object[{number}]);\n" for number in range(40))
SOURCE = f"""package demo;

public class Main {{
    static class A {{ void go() {{}} }}
    static class B {{ void go() {{}} }}
    static Object same(Object value) {{ return value; }}
    static void use(Object value) {{}}
    static void fill() {{
{TABLE}    }}

    public static void main(String[] arguments) {{
        ((A) same(new A())).go();
        ((B) same(new B())).go();
        Object[] left = new A[1], right = new B[1];
        Object[] both = arguments.length == 0 ? left : right;
        both[0] = arguments.length == 0 ? new A() : (Object) new B();
        use(left[0].toString());
        use("the first of two strings");
        use("the second of two strings");
        use(new StringBuilder());
        use(new StringBuilder());
        use(new RuntimeException());
        use(new RuntimeException());
        fill();
    }}
}}
"""
# These are about the code of a whole JDK: see the fixtures LibraryFallback and CollectionsApart, and test_many_classes.
OF_JDK = ("confined-jdk", "told-collections", "bounded-lists")
FEATURES = [each for each in SWITCHES if each not in OF_JDK]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str) -> Path:
    return compiled(tmp_path_factory.mktemp("switches"), jdk, javac, Main=SOURCE)


def sizes(heliograph: Heliograph, program: Path, jdk: Path, out: Path, *options: str) -> tuple[int, int]:
    """Returns how many objects there are, and how many pairs of a pointer and an object."""
    done = heliograph("analyze", program, "--jdk", jdk, "--out", out, "--format", "json", *options)
    assert done.code == 0, done.errors
    return Run(out).result.statistics.objects, json.loads(done.output)["pointsToPairs"]


@pytest.mark.parametrize("feature", FEATURES)
def test_without_a_feature_more_is_told_apart_or_let_through(
    heliograph: Heliograph, program: Path, jdk: Path, tmp_path: Path, feature: str
) -> None:
    objects, pairs = sizes(heliograph, program, jdk, tmp_path / "with")
    more_objects, more_pairs = sizes(heliograph, program, jdk, tmp_path / "without", "--without", feature)
    assert (more_objects > objects) == feature.startswith("merged-")
    assert more_objects > objects or more_pairs > pairs


def test_arrays_of_strings_that_the_jdk_makes_are_one_object(
    heliograph: Heliograph, javac: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = "public static String[] first() { return new String[1]; } public static String[] second() { return new String[2]; }"
    monkeypatch.setitem(tiny_jdk.SOURCES, "java.util.Lists", f"public class Lists {{ {lists} }}")
    jdk = tiny_jdk.build(tmp_path / "jdk", javac)
    lines = (
        "Object[] own = {new String[1], new String[2], java.util.Lists.first(), java.util.Lists.second()};"
    )
    source = f"package demo; public class Main {{ public static void main(String[] a) {{ {lines} }} }}"
    program = compiled(tmp_path, jdk, javac, Main=source)
    sizes(heliograph, program, jdk, tmp_path / "with")
    sizes(heliograph, program, jdk, tmp_path / "without", "--without", "merged-tables")
    assert kinds(tmp_path / "with", "[Ljava/lang/String;") == {heap.ALLOCATED: 2, heap.MERGED: 1}
    assert kinds(tmp_path / "without", "[Ljava/lang/String;") == {heap.ALLOCATED: 4}


def kinds(run: Path, name: str) -> dict[int, int]:
    """Returns how many objects of a type are allocated, and how many stand for several."""
    found = Run(run)
    objects = found.result.objects
    counts = Counter(objects.kind[objects.type == found.names.type_ids[name]].tolist())
    return {each: counts[each] for each in (heap.ALLOCATED, heap.MERGED) if counts[each]}


def test_help_names_every_feature(heliograph: Heliograph) -> None:
    # The columns of the help break words at hyphens.
    text = "".join(heliograph("analyze", "--help").output.split())
    assert all(each in text for each in SWITCHES)


def test_an_unknown_feature_ends_with_2_and_names_those_there_are(
    heliograph: Heliograph, program: Path
) -> None:
    done = heliograph("analyze", program, "--without", "nothing")
    assert done.code == 2
    assert all(each in done.errors for each in SWITCHES)
