"""What links calls and constants: the JVM calls it by itself, and so does the machine of the analysis."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from cli.kernel import solver
from cli.observed import JVM, read
from cli.pipeline import Job, _link, _open, _read
from cli.progress import Progress
from engine import machine
from engine.analysis import Options, analyse
from tests.benchmarks import jdk as jdks
from tests.fixture_assembler import assemble
from tests.recall.java_agent import compile_java
from tests.recall.record import record
from tests.recall.subjects import Subject

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(shutil.which(each) for each in ("java", "javac", "mvn")), reason="needs a JDK and Maven"
    ),
]

# No method of a program is called from these: only a recording shows that the JVM calls theirs.
OWNERS = ("MethodHandleNatives", "LambdaMetafactory", "StringConcatFactory")
# A class with what compilers don't make: constants, and a concatenation whose bootstrap method has no recipe.
CONSTANTS = """
class Constants
version 55
bootstrap plain java/lang/invoke/StringConcatFactory.makeConcat (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;
bootstrap none java/lang/invoke/ConstantBootstraps.nullConstant (Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;)Ljava/lang/Object;

method static use ()V
    ldc_w dynamic any Ljava/lang/String; none
    invokedynamic any (Ljava/lang/String;)Ljava/lang/String; plain
    pop
    ldc_w methodtype ()V
    pop
    ldc_w methodhandle invokestatic Constants.used ()V
    invokevirtual java/lang/invoke/MethodHandle.invokeExact ()V
    return

method static used ()V
    return
"""
PROGRAM = """
import java.io.Serializable;

public class Main {
    public static void main(String[] arguments) throws Throwable {
        Runnable plain = () -> {};
        plain.run();
        Runnable marked = (Runnable & Serializable) () -> {};
        marked.run();
        String text = "length " + arguments.length;
        Class.forName("Constants").getDeclaredMethod("use").invoke(null);
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jdk = jdks.find()
    if jdk.feature != 17:
        pytest.skip("other JDKs link in other ways")
    folder = tmp_path_factory.mktemp("linking")
    source, found = folder / "Main.java", folder / "classes"
    source.write_text(PROGRAM)
    compile_java(jdk, [source], found, [])
    for name, content in assemble(CONSTANTS, "Constants.jasm").items():
        (found / f"{name}.class").write_bytes(content)
    return found


@pytest.fixture(scope="module")
def observed(classes: Path) -> set[tuple[str, str]]:
    """Class and name of what the JVM called by itself."""
    out = classes.parent / "calls.tsv"
    record(Subject("linking", (classes,), (), "Main", ()), jdks.find(), out, classes.parent)
    return {each.callee[:2] for each in read(out).pairs if each.kind == JVM}


@pytest.fixture(scope="module")
def computed(classes: Path) -> set[tuple[str, str]]:
    """Class and name of what the JVM calls by itself according to the analysis."""
    job, progress = Job([str(classes)], ["Main"]), Progress(quiet=True)
    program, entries, _ = _link(job, _read(job, progress, *_open(job)))
    types = (program.type_named(f"java/lang/{each}") for each in ("Object", "Class"))
    result = analyse(program, solver(*types), entries, Options("none"))
    called = np.unique(result.call_callee[result.sites.method[result.call_site] < 0]).tolist()
    names = [program.name_of_method(each)[:2] for each in called]
    return {(program.name_of_type(declaring), name) for declaring, name in names}


@pytest.mark.parametrize("name", OWNERS)
def test_what_the_jvm_calls_is_listed_and_nothing_else(
    observed: set[tuple[str, str]], computed: set[tuple[str, str]], name: str
) -> None:
    owner = f"java/lang/invoke/{name}"
    linking = {(owner, method) for method in machine.LINKING[owner]}
    assert {each for each in observed if each[0] == owner} == linking
    assert {each for each in computed if each[0] == owner} == linking
