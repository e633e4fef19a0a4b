"""The whole class library of a JDK, linked: every type, every method body."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cypher.program import PROTECTED, STRING_CONCAT
from cypher.schema import Invoke
from loader.link import LinkedProgram, link
from loader.manifest import Manifest
from loader.translate import translate
from loader.unit import Unit
from tests.loader.library import library

_BATCH = 2000
_OVER_JAVA_BASE = """
import java.lang.invoke.MethodType;
import java.lang.reflect.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Stream;

public class Telling {
    static String name(Class<?> type) { return type == null ? "-" : type.getName().replace('.', '/'); }

    public static void main(String[] arguments) throws Exception {
        Path base = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base");
        try (Stream<Path> files = Files.walk(base)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String entry = base.relativize(file).toString();
                if (entry.endsWith(".class") && !entry.endsWith("-info.class")) {
                    tell(Class.forName(entry.replace(".class", "").replace('/', '.'), false, null));
                }
            }
        }
    }
"""
_NESTING = """
    static void tell(Class<?> type) {
        System.out.println(String.join(" ", name(type), name(type.getDeclaringClass()),
            name(type.getEnclosingClass()), name(type.getNestHost()), names(type.getDeclaredClasses()),
            names(type.getNestMembers()), names(type.getPermittedSubclasses()), names(thrown(type))));
    }

    static String names(Class<?>... types) {
        TreeSet<String> names = new TreeSet<>();
        for (Class<?> each : types == null ? new Class<?>[0] : types) {
            names.add(name(each));
        }
        return String.join(",", names);
    }

    static Class<?>[] thrown(Class<?> type) {
        Stream<Executable> members = Stream.of(type.getDeclaredMethods(), type.getDeclaredConstructors()).flatMap(Stream::of);
        return members.flatMap(each -> Stream.of(each.getExceptionTypes())).toArray(Class<?>[]::new);
    }
}
"""
_USING = """
    static void tell(Class<?> type) {
        if (type == Class.class) {
            return; // (nobody may use its constructor)
        }
        for (Method each : type.getDeclaredMethods()) {
            MethodType shape = MethodType.methodType(each.getReturnType(), each.getParameterTypes());
            tell(type, "method", each.getName(), shape.toMethodDescriptorString(), each);
        }
        for (Constructor<?> each : type.getDeclaredConstructors()) {
            MethodType shape = MethodType.methodType(void.class, each.getParameterTypes());
            tell(type, "method", "<init>", shape.toMethodDescriptorString(), each);
        }
        for (Field each : type.getDeclaredFields()) {
            tell(type, "field", each.getName(), each.getType().descriptorString(), each);
        }
    }

    static void tell(Class<?> type, String kind, String name, String descriptor, AccessibleObject member) {
        System.out.println(String.join(" ", name(type), kind, name, descriptor, String.valueOf(member.trySetAccessible())));
    }
}
"""
_MAKING = """
import java.lang.reflect.*;
import java.net.URI;
import java.nio.file.*;
import java.util.stream.Stream;

public class Making {
    static Constructor<?> open(Class<?> type) {
        for (Constructor<?> each : type.getDeclaredConstructors()) {
            if (Modifier.isPublic(each.getModifiers())) {
                return each;
            }
        }
        return null;
    }

    public static void main(String[] arguments) throws Exception {
        Path base = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> files = Files.walk(base)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String entry = file.getNameCount() < 3 ? "" : file.subpath(2, file.getNameCount()).toString();
                if (!entry.endsWith(".class") || entry.endsWith("-info.class")) {
                    continue;
                }
                try {
                    String name = entry.replace(".class", "").replace('/', '.');
                    Class<?> type = Class.forName(name, false, ClassLoader.getSystemClassLoader());
                    Constructor<?> found = open(type);
                    // (of protected ones objects are made, though `trySetAccessible` says no)
                    if (found != null && !Modifier.isProtected(type.getModifiers())) {
                        System.out.println(entry.replace(".class", "") + " " + found.trySetAccessible());
                    }
                } catch (ClassNotFoundException | LinkageError unavailable) {
                }
            }
        }
    }
}
"""


def _told(code: str, folder: Path) -> list[list[str]]:
    """Returns the words of each line that a program in Java prints."""
    source = folder / "Telling.java"
    source.write_text(code, encoding="utf-8")
    done = subprocess.run(["java", source], check=True, capture_output=True, text=True)
    return [line.split(" ") for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", name="library")
def linked_library() -> LinkedProgram:
    return link(library()[1])


@pytest.mark.slow
def test_every_reference_of_the_jdk_resolves(library: LinkedProgram) -> None:
    above = library.type_named("java/lang/Object")
    concrete = library.concrete_subtypes_of(above)
    _, methods = library.new_rows()
    assert len(concrete) > 10_000
    joins = library.type_named(STRING_CONCAT)  # nothing is called where `+` joins strings
    done, end, unresolved = 0, len(methods.declaring), 0
    while done < end:
        batch = np.arange(done, min(end, done + _BATCH), dtype=np.int32)
        found = library.facts_of(batch, batch * 0, 0)
        invokes = found[Invoke]
        unresolved += int(((invokes.callee < 0) & (invokes.declared != joins)).sum())
        done = int(batch[-1]) + 1
        _, more = library.new_rows()
        end += len(more.declaring)
    assert end > len(methods.declaring) >= len(concrete)
    assert unresolved == 0
    assert [each for each in library.diagnostics if each.severity != "note"] == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK on the path")
def test_classes_stand_in_each_other_as_a_jvm_has_it(library: LinkedProgram, tmp_path: Path) -> None:
    rows = _told(_OVER_JAVA_BASE + _NESTING, tmp_path)
    names = {type_: library.type_named(type_) for type_, *_ in rows}
    shown = {id_: name for name, id_ in names.items()} | {-1: "-"}
    assert len(rows) > 5_000
    asked = (library.declaring_class_of, library.enclosing_class_of, library.nest_host_of)
    for type_, *expected in rows:
        id_ = names[type_]
        thrown = (each for method in library.methods_of(id_) for each in library.exceptions_of(method))
        listed = (
            library.member_classes_of(id_),
            library.nest_members_of(id_),
            library.permitted_subclasses_of(id_),
            thrown,
        )
        names_of = (",".join(sorted({library.name_of_type(each) for each in some})) for some in listed)
        assert [*(shown[each(id_)] for each in asked), *names_of] == expected, type_


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK on the path")
def test_objects_are_made_of_the_classes_that_a_jvm_lets_other_code_use(
    library: LinkedProgram, tmp_path: Path
) -> None:
    expected = {name: made != "true" for name, made in _told(_MAKING, tmp_path)}
    found = {name: library.is_encapsulated(library.type_named(name)) for name in expected}
    assert sum(expected.values()) > 1_000 < len(expected) - sum(expected.values())
    assert {name for name in expected if found[name] != expected[name]} == set()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JDK on the path")
def test_members_are_used_that_a_jvm_lets_other_code_use(library: LinkedProgram, tmp_path: Path) -> None:
    seen = {False: 0, True: 0}
    for owner, kind, name, descriptor, usable in _told(_OVER_JAVA_BASE + _USING, tmp_path):
        type_ = library.type_named(owner)
        if kind == "field":
            fields = library.described_fields(type_)
            found = [each[3] for each in fields if each[1:3] == (name, descriptor)]
            if not found:  # (the flight recorder adds some to its events)
                continue
            flags = found[0]
        else:
            flags = library.flags_of_method(library.method_of(type_, name, descriptor))
        inaccessible = library.is_inaccessible(type_, flags)
        # (protected ones may be used by subclasses, which this class isn't)
        assert inaccessible == (usable == "false") or (flags & PROTECTED and not inaccessible), (owner, name)
        seen[inaccessible] += 1
    assert min(seen.values()) > 10_000


def test_a_manifest_opens_the_jdk_and_an_older_one_is_open() -> None:
    hidden, private = "sun/security/x509/X500Name", "java/util/Collections$ReverseComparator"
    version, units = library()
    if version < 16:
        pytest.skip("the modules of this JDK are open")

    def encapsulated(*listed: tuple[Unit, str, str], opened: Sequence[str] = ()) -> list[bool]:
        program = link(listed, opened)
        return [program.is_encapsulated(program.type_named(each)) for each in (hidden, private)]

    def started(attribute: str) -> tuple[Unit, str, str]:
        listed = "java.base/sun.security.x509 java.base/java.util"
        return translate([], "x", manifest=Manifest({attribute: listed})), "application", "x"

    assert encapsulated(*units) == [True, True]
    assert encapsulated(*units, started("Add-Exports")) == [False, True]
    assert encapsulated(*units, started("Add-Opens")) == [False, False]
    assert encapsulated(*units, opened=["java/util"]) == [True, False]
    older = (
        (replace(each, class_version=np.full_like(each.class_version, 59)), role, name)
        for each, role, name in units
    )
    assert encapsulated(*older) == [False, False]
