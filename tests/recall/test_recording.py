"""A recording of a small program, row by row."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cli.observed import read
from tests.benchmarks.jdk import Jdk
from tests.recall.java_agent import compile_java
from tests.recall.record import record
from tests.recall.subjects import Subject

SOURCE = Path(__file__).with_name("Sample.java")
OWN = frozenset(re.findall(r"^(?:public )?(?:class|interface) (\w+)", SOURCE.read_text(), re.MULTILINE))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(each) for each in ("java", "javac", "mvn")), reason="needs a JDK and Maven"
    ),
]

# Who calls whom, without parameters, for calls from or to the program that other rows don't settle.
WITHIN = """
    Base.<init>: Derived.size
    Derived.<init>: Base.<init> Derived.twice
    Lazy.<clinit>: Lazy.first
    Sample.deep: Sample.deeper
    Sample.functions: Named.<init> Sample.lambda$functions$2
    Sample.lambda$functions$0: Sample.see
    Sample.lambda$functions$1: Sample.after
    Sample.lambda$functions$2: Sample.lambda$functions$1
    Sample.main: Derived.<init> Sample.argument Sample.functions Sample.proxy Sample.reflect Sample.swallow
    Sample.main: Sample.unwind Shape.describe Square.<init> Square.area Task.<init>
    Sample.proxy: Handler.<init> Handler.invoke
    Sample.swallow: Sample.after Sample.arguments
    Sample.unwind: Sample.after Sample.deep
    Shape.describe: Square.area
    Task.run: Sample.after
"""
INTO = """
    java.lang.String.valueOf: Named.toString
    java.lang.Thread.run: Task.run
    java.util.ArrayList.forEach: Sample.lambda$functions$0
    java.util.ArrayList.removeIf: Sample.isB
    jdk.internal.reflect.DelegatingMethodAccessorImpl.invoke: Plugin.go
    jdk.internal.reflect.NativeConstructorAccessorImpl.newInstance: Plugin.<init>
    jdk.internal.reflect.NativeMethodAccessorImpl.invoke: Plugin.go
"""
OUT = """
    Base.<init>: java.lang.Object.<init>
    Handler.<init>: java.lang.Object.<init>
    Handler.invoke: java.lang.Integer.valueOf java.lang.reflect.Method.getReturnType
    Named.<init>: java.lang.Object.<init>
    Plugin.<init>: java.lang.Object.<init>
    Sample.deeper: java.lang.IllegalStateException.<init>
    Sample.functions: java.lang.String.valueOf java.util.ArrayList.<init> java.util.ArrayList.forEach
    Sample.functions: java.util.ArrayList.removeIf java.util.ArrayList.size java.util.Arrays.asList
    Sample.isB: java.lang.String.equals
    Sample.main: java.lang.Object.getClass java.lang.Thread.<init> java.lang.Thread.join java.lang.Thread.start
    Sample.proxy: java.lang.Class.getClassLoader java.lang.Integer.intValue java.lang.reflect.Proxy.newProxyInstance
    Sample.reflect: java.lang.Class.forName java.lang.Class.getClassLoader java.lang.Class.getDeclaredConstructor
    Sample.reflect: java.lang.Class.getField java.lang.Class.getMethod java.lang.ClassLoader.loadClass
    Sample.reflect: java.lang.Integer.valueOf java.lang.reflect.Constructor.newInstance
    Sample.reflect: java.lang.reflect.Field.get java.lang.reflect.Method.invoke
    Square.<init>: java.lang.Object.<init>
    Task.<init>: java.lang.Object.<init>
"""
REFLECTIVE = {
    ("forName", "Plugin"), ("getDeclaredConstructor", "Plugin.<init>()V"), ("newInstance", "Plugin.<init>()V"),
    ("getMethod", "Plugin.go(I)V"), ("invoke", "Plugin.go(I)V"), ("getField", "Plugin.seen"),
    ("get", "Plugin.seen"), ("loadClass", "Loaded"),
}  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, jdk: Jdk) -> list[list[str]]:
    folder = tmp_path_factory.mktemp("recording")
    classes, out = folder / "classes", folder / "calls.tsv"
    compile_java(jdk, [SOURCE], classes, [])
    record(Subject("sample", (classes,), (), "Sample", ()), jdk, out, folder)
    assert read(out).pairs
    return [each.split("\t") for each in out.read_text().splitlines() if not each.startswith("#")]


def pairs(text: str) -> set[tuple[str, str]]:
    lines = (each.split(": ") for each in text.strip().splitlines())
    return {(caller.strip(), callee) for caller, callees in lines for callee in callees.split()}


def is_own(method: str) -> bool:
    return method.partition(".")[0] in OWN


def calls(rows: list[list[str]], *, from_own: bool, to_own: bool) -> set[tuple[str, str]]:
    named = ([each.partition("(")[0] for each in row[1:]] for row in rows if row[0] == "call")
    return {
        (caller, callee) for caller, callee in named if (is_own(caller), is_own(callee)) == (from_own, to_own)
    }


def test_calls_within_the_program(rows: list[list[str]]) -> None:
    assert calls(rows, from_own=True, to_own=True) == pairs(WITHIN)


def test_calls_by_the_library_are_of_the_method_below_hidden_ones(rows: list[list[str]]) -> None:
    assert calls(rows, from_own=False, to_own=True) == pairs(INTO)


def test_calls_of_the_library(rows: list[list[str]]) -> None:
    assert calls(rows, from_own=True, to_own=False) == pairs(OUT)


def test_threads_begin_where_they_are_started(rows: list[list[str]]) -> None:
    assert ["call", "java.lang.Thread.start0()V", "java.lang.Thread.run()V"] in rows
    assert ["call", "java.lang.Thread.start()V", "java.lang.Thread.start0()V"] in rows


def test_initialisers_have_the_method_that_triggers_them(rows: list[list[str]]) -> None:
    found = {(caller, callee) for kind, caller, callee, *_ in rows if kind == "init" and is_own(callee)}
    assert found == {("Sample.main([Ljava/lang/String;)V", "Lazy.<clinit>()V")}


def test_what_the_jvm_calls_is_nobody_elses_call(rows: list[list[str]]) -> None:
    called = {callee for kind, caller, callee, *_ in rows if kind == "jvm" and caller == "<jvm>"}
    assert {"Sample.main([Ljava/lang/String;)V", "java.lang.Thread.exit()V"} <= called
    assert "java.lang.ClassLoader.loadClass(Ljava/lang/String;)Ljava/lang/Class;" in called
    assert not {each for each in called if is_own(each)} - {"Sample.main([Ljava/lang/String;)V"}


def test_targets_of_reflective_calls(rows: list[list[str]]) -> None:
    found = [row[1:] for row in rows if row[0] == "reflective" and is_own(row[1])]
    assert {(api.rpartition(".")[2], target) for _, api, target in found} == REFLECTIVE
    lines = SOURCE.read_text().splitlines()
    for place, api, _ in found:
        caller, _, line = place.rpartition(":")
        assert caller == "Sample.reflect()V"
        assert f".{api.rpartition('.')[2]}(" in lines[int(line) - 1]
