"""Programs that use one feature of the library more often than calls are followed: all that runs is found, as in a small one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from engine.kernel.paths import MOST_CALLS
from tests.executed import executed, needs_jdk, reached

NUMBER, PART = MOST_CALLS + 10, 50
HIT = """
class Hit {
    static void here() {
        StackTraceElement caller = new Throwable().getStackTrace()[1];
        System.out.println(caller.getClassName() + "." + caller.getMethodName());
    }
}
"""
COPY = """
static Object copy(Object value) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ObjectOutputStream out = new ObjectOutputStream(bytes);
    out.writeObject(value);
    out.flush();
    return new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
}
"""
GO = "class C# { void go() { Hit.here(); } }"


class Feature(NamedTuple):
    """Declarations and statements for a number `#`, and members of the class with the statements."""

    declarations: str
    statements: str
    members: str = ""


FEATURES = {
    "copyOf": Feature(GO, "C#[] a# = Arrays.copyOf(new C#[] {new C#()}, 2); a#[0].go();"),
    "toArray": Feature(
        GO, "List<C#> l# = new ArrayList<>(); l#.add(new C#()); C#[] a# = l#.toArray(new C#[0]); a#[0].go();"
    ),
    "updater": Feature(
        GO + " class H# { volatile C# f = new C#(); }",
        'AtomicReferenceFieldUpdater.newUpdater(H#.class, C#.class, "f").get(new H#()).go();',
    ),
    "proxy": Feature(
        "interface I# { void go(); } class C# implements I# { public void go() { Hit.here(); } }",
        "((I#) proxy(I#.class, new C#())).go();",
        "static Object proxy(Class<?> type, Object target) {"
        " return Proxy.newProxyInstance(Main.class.getClassLoader(), new Class<?>[] {type},"
        " (made, method, values) -> method.invoke(target, values)); }",
    ),
    "annotation": Feature(
        "@Retention(RetentionPolicy.RUNTIME) @interface A# { Class<?> value(); }"
        " class T# { static { Hit.here(); } } @A#(T#.class) class C# { }",
        "C#.class.getAnnotation(A#.class).value().getDeclaredConstructor().newInstance();",
    ),
    "record": Feature(
        'class C# { public String toString() { Hit.here(); return ""; } } record R#(C# c) { }',
        "new R#(new C#()).toString();",
    ),
    "enum map": Feature(
        "enum E# { A { void go() { Hit.here(); } }; abstract void go(); }",
        "EnumMap<E#, String> m# = new EnumMap<>(E#.class); m#.put(E#.A, null); for (E# e : m#.keySet()) e.go();",
    ),
    "factory": Feature(
        "class C# { public C#() { Hit.here(); } }",
        'create("C#");',
        "static Object create(String name) throws Exception {"
        " return Class.forName(name).getDeclaredConstructor().newInstance(); }",
    ),
    "class of an object": Feature(
        "class C# { public void go() { Hit.here(); } }",
        "call(new C#());",
        "static void call(Object receiver) throws Exception {"
        ' receiver.getClass().getMethod("go").invoke(receiver); }',
    ),
    "readResolve": Feature(
        "class C# implements Serializable { private Object readResolve() { Hit.here(); return this; } }",
        "copy(new C#());",
        COPY,
    ),
    "serialized field": Feature(
        "class V# implements Serializable { void go() { Hit.here(); } }"
        " class C# implements Serializable { V# f = new V#(); }",
        "((C#) copy(new C#())).f.go();",
        COPY,
    ),
    "handle": Feature(
        GO,
        'MethodHandles.lookup().findVirtual(C#.class, "go", MethodType.methodType(void.class)).invoke(new C#());',
    ),
}
IMPORTS = "".join(
    f"import {each}.*;\n"
    for each in (
        "java.io", "java.lang.annotation", "java.lang.invoke", "java.lang.reflect", "java.util",
        "java.util.concurrent.atomic",
    )
)  # fmt: skip

pytestmark = [pytest.mark.slow, needs_jdk]


def source(feature: Feature) -> str:
    """Returns a program that uses a feature once for each number."""
    parts = [range(first, min(first + PART, NUMBER)) for first in range(0, NUMBER, PART)]
    methods = (
        f"static void part{part.start}() throws Throwable {{ {_each(feature.statements, part)} }}"
        for part in parts
    )
    calls = " ".join(f"part{part.start}();" for part in parts)
    main = f"public static void main(String[] arguments) throws Throwable {{ {calls} }}"
    body = "\n".join((*methods, feature.members, main))
    return f"{IMPORTS}class Main {{ {body} }}\n{_each(feature.declarations, range(NUMBER))}{HIT}"


def _each(text: str, numbers: range) -> str:
    return "\n".join(text.replace("#", str(number)) for number in numbers)


@pytest.mark.parametrize("name", FEATURES)
def test_all_that_runs_is_found(tmp_path: Path, name: str) -> None:
    classes, ran = executed(tmp_path, source(FEATURES[name]))
    assert len(set(ran)) == NUMBER
    found = {each.partition("(")[0] for each in reached(classes, tmp_path / "run")}
    assert set(ran) - found == set()
