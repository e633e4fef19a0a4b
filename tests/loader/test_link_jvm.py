"""Selection, initialisation and method references of real class files, as a JVM does them."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cypher.schema import Invoke, New
from loader.link import LinkedProgram, link
from loader.translate import translate
from tests.loader.reading import Selection, facts, method, written
from tests.loader.units import jdk

pytestmark = pytest.mark.skipif(
    not (shutil.which("javac") and shutil.which("java")), reason="needs a JDK on the path"
)

HIERARCHIES = 12
DEPTH = 6

ORDER = """
import java.net.*;
import java.nio.file.*;
public class Order {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            URL[] here = { Path.of(System.getProperty("java.class.path")).toUri().toURL() };
            ClassLoader loader = new URLClassLoader(here, ClassLoader.getPlatformClassLoader());
            Class.forName(name, true, loader);
            Object log = loader.loadClass("Log").getField("text").get(null);
            System.out.println(name + log);
        }
    }
}
"""
LOG = """
public class Log {
    public static final StringBuilder text = new StringBuilder();
    public static Object add(String name) { text.append(" " + name); return text; }
}
"""


def compiled(folder: Path, sources: dict[str, str]) -> Path:
    """Returns the folder with the class files of `sources` (file name and text)."""
    for name, text in sources.items():
        file = folder / "source" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    classes = folder / "classes"
    files = [str(folder / "source" / name) for name in sources]
    subprocess.run(["javac", "-Xlint:none", "-nowarn", "--release", "17", "-d", classes, *files], check=True)
    return classes


def run(classes: Path, main: str, *arguments: str) -> list[str]:
    command = ["java", "-cp", str(classes), main, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def program_of(classes: Path) -> LinkedProgram:
    files = sorted(classes.rglob("*.class"))
    contents = [(file.relative_to(classes).as_posix(), file.read_bytes()) for file in files]
    return link([(jdk(), "jdk", "jdk"), (translate(contents, "classes"), "application", "classes")])


# --- selection
def hierarchy(number: int, chance: random.Random) -> tuple[dict[str, str], list[str], list[str]]:
    """Returns sources of a chain of classes in two packages, the classes that declare `m`, and all of them."""
    sources: dict[str, str] = {}
    declaring: list[str] = []
    names: list[str] = []
    public = False
    for depth in range(DEPTH):
        package, name = f"{chance.choice('pq')}{number}", f"C{depth}"
        body = ""
        if depth == 0 or chance.random() < 0.7:
            public = public or (depth > 0 and chance.random() < 0.4)
            body = f'{"public " if public else ""}String m() {{ return "{package}/{name}"; }}'
            declaring.append(f"{package}.{name}")
        above = f" extends {names[-1]}" if names else ""
        names.append(f"{package}.{name}")
        sources[f"{package}/{name}.java"] = f"package {package}; public class {name}{above} {{ {body} }}\n"
        if body:
            call = f"public static String m({name} x) {{ return x.m(); }}"
            sources[f"{package}/On{name}.java"] = f"package {package}; public class On{name} {{ {call} }}\n"
    return sources, declaring, names


def test_selection_is_that_of_the_jvm_for_every_receiver(tmp_path: Path) -> None:
    chance = random.Random(17)
    sources: dict[str, str] = {}
    lines: list[str] = []
    cases: list[tuple[str, str]] = []
    for number in range(HIERARCHIES):
        more, declaring, names = hierarchy(number, chance)
        sources |= more
        for static in declaring:
            for receiver in names[names.index(static) :]:
                package, _, name = static.rpartition(".")
                lines.append(f"System.out.println({package}.On{name}.m(new {receiver}()));")
                cases.append((static.replace(".", "/"), receiver.replace(".", "/")))
    body = "\n".join(lines)
    sources["Main.java"] = f"public class Main {{ public static void main(String[] a) {{ {body} }} }}"
    classes = compiled(tmp_path, sources)
    observed = run(classes, "Main")
    program = program_of(classes)
    text = "()Ljava/lang/String;"
    for static, receiver in cases:
        program.type_named(receiver)
        method(program, f"{static}.m{text}")
    selection = Selection(program)
    computed = []
    for static, receiver in cases:
        signature = program.signature_of(method(program, f"{static}.m{text}"))
        computed.append(written(program, selection.select(program.type_named(receiver), signature)))
    assert computed == [f"{each}.m{text}" for each in observed]
    assert len(set(observed)) > HIERARCHIES


# --- initialisation
def test_initialisers_run_in_the_order_of_the_jvm(tmp_path: Path) -> None:
    chance = random.Random(4)
    sources = {"Order.java": ORDER, "Log.java": LOG}
    interfaces: list[str] = []
    for number in range(14):
        above = chance.sample(interfaces, min(len(interfaces), chance.randrange(3)))
        field = f'Object f = Log.add("I{number}");' if chance.random() < 0.8 else ""
        default = f"default void d{number}() {{ }}" if chance.random() < 0.5 else ""
        extends = f" extends {', '.join(above)}" if above else ""
        sources[f"I{number}.java"] = f"public interface I{number}{extends} {{ {field} {default} }}"
        interfaces.append(f"I{number}")
    classes: list[str] = []
    for number in range(14):
        superclass = f" extends {chance.choice(classes)}" if classes and chance.random() < 0.7 else ""
        above = chance.sample(interfaces, chance.randrange(4))
        implements = f" implements {', '.join(above)}" if above else ""
        block = f'static {{ Log.add("C{number}"); }}' if chance.random() < 0.6 else ""
        sources[f"C{number}.java"] = f"public class C{number}{superclass}{implements} {{ {block} }}"
        classes.append(f"C{number}")
    folder = compiled(tmp_path, sources)
    observed = run(folder, "Order", *classes, *interfaces)
    program = program_of(folder)
    computed = []
    for name in (*classes, *interfaces):
        found = program.initialisers_of(program.type_named(name))
        computed.append(" ".join((name, *(program.name_of_type(type_) for type_, _ in found))))
    assert computed == observed
    assert max(map(len, map(str.split, observed))) > 5


# --- method references
REFERENCES = """
import java.util.function.*;
public class R extends S {
    R() { }
    R(String s) { }
    static Object s(Object o) { return o; }
    Object v(Object o) { return o; }
    private Object p(Object o) { return o; }
    Object o(Object o) { return o; }
    <T extends R & Runnable> Object two(T t) { Function<T, Object> f = R::self; return f; }
    Object self() { return this; }
    Function<Object, Object> staticOne() { return R::s; }
    Function<Object, Object> bound() { return this::v; }
    Function<Object, Object> boundPrivate() { return this::p; }
    Function<Object, Object> ofSuper() { return super::o; }
    Function<R, Object> unbound() { return R::self; }
    Supplier<R> constructor() { return R::new; }
    Function<String, R> constructorWith() { return R::new; }
    IntFunction<Object[]> array() { return Object[]::new; }
    Runnable lambda(Object o) { return () -> s(o); }
    Function<Runnable, Runnable> onInterface() { return R::go; }
    static Runnable go(Runnable r) { Runnable s = r::run; return s; }
}
class S { Object o(Object o) { return o; } }
"""


@pytest.mark.parametrize(
    ("site", "kind", "callee"),
    [
        ("R.staticOne()Ljava/util/function/Function;", 0, "R.s(Ljava/lang/Object;)Ljava/lang/Object;"),
        ("R.bound()Ljava/util/function/Function;", 2, "R.v(Ljava/lang/Object;)Ljava/lang/Object;"),
        ("R.boundPrivate()Ljava/util/function/Function;", 1, "R.p(Ljava/lang/Object;)Ljava/lang/Object;"),
        ("R.unbound()Ljava/util/function/Function;", 2, "R.self()Ljava/lang/Object;"),
        ("R.constructor()Ljava/util/function/Supplier;", 1, "R.<init>"),
        ("R.constructorWith()Ljava/util/function/Function;", 1, "R.<init>(Ljava/lang/String;)V"),
        ("R.go(Ljava/lang/Runnable;)Ljava/lang/Runnable;", 2, ""),
    ],
)
def test_method_reference_calls_what_it_names(
    references: LinkedProgram, site: str, kind: int, callee: str
) -> None:
    assert implementation(references, site) == (kind, callee)


@pytest.mark.parametrize(
    "site",
    ["R.ofSuper()Ljava/util/function/Function;", "R.array()Ljava/util/function/IntFunction;", "R.lambda(Ljava/lang/Object;)Ljava/lang/Runnable;"],
)  # fmt: skip
def test_lambda_calls_the_method_that_javac_made_of_it(references: LinkedProgram, site: str) -> None:
    _, callee = implementation(references, site)
    assert callee.startswith("R.lambda$")


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> LinkedProgram:
    return program_of(compiled(tmp_path_factory.mktemp("references"), {"R.java": REFERENCES}))


def implementation(program: LinkedProgram, site: str) -> tuple[int, str]:
    """Returns (kind, callee) of the last call in the body of the lambda that `site` makes."""
    (type_,) = facts(program, site)[New].type.tolist()
    methods = np.array(program.methods_of(type_), np.int32)
    body = program.facts_of(methods, np.zeros(len(methods), np.int32), 0)
    calls = body[Invoke]
    return int(calls.kind[-1]), written(program, int(calls.callee[-1]))
