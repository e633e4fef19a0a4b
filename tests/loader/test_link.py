"""Resolution, selection, initialisation and the facts of bodies in a linked program."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cypher.program import ABSTRACT, ACC_STATIC, FINAL, NATIVE, PHANTOM, PRIVATE, PROTECTED, PUBLIC, Program
from cypher.schema import (
    Argument,
    Assign,
    Cast,
    ClassConstant,
    Diagnostic,
    ExactArgument,
    HandleConstant,
    Initialises,
    Invoke,
    Load,
    New,
    ResultCast,
    StaticLoad,
    StaticStore,
    Store,
    StringConstant,
)
from loader.link import LinkedProgram, link
from loader.unit import CLASS, METHOD_HANDLE, METHOD_TYPE, STRING, Unit
from tests.loader.rawclass import RawClass
from tests.loader.rawclass import unit_of as raw_unit_of
from tests.loader.reading import calls, facts, listed, method, program_of, selected, written
from tests.loader.units import (
    INTERFACE_CALL,
    OBJECT,
    SPECIAL_CALL,
    STATIC_CALL,
    VIRTUAL_CALL,
    Class,
    Method,
    interface,
    jdk,
    unit_of,
)

STATIC_CLINIT = Method("<clinit>", flags=ACC_STATIC)


def call(
    opcode: int, owner: str, name: str = "m", descriptor: str = "()V", offset: int = 0
) -> tuple[object, ...]:
    return ("invoke", offset, opcode, (owner, name, descriptor), -1, 2)


def main(*rows: tuple[object, ...], name: str = "main", variables: int = 10) -> Method:
    return Method(name, rows=rows, variables=variables)


def abstract(name: str = "m") -> Method:
    return Method(name, flags=PUBLIC | ABSTRACT)


def test_linked_program_is_a_program() -> None:
    program: Program = program_of(Class("A"))
    assert program.name_of_type(program.type_named("A")) == "A"


# --- resolution
@pytest.mark.parametrize("opcode", [VIRTUAL_CALL, STATIC_CALL])
def test_class_method_resolves_in_class_then_superclasses(opcode: int) -> None:
    flags = PUBLIC | ACC_STATIC if opcode == STATIC_CALL else PUBLIC
    program = program_of(
        Class("A", methods=(Method("m", flags=flags), Method("n", flags=flags))),
        Class("B", "A", methods=(Method("n", flags=flags), main(call(opcode, "B"), call(opcode, "B", "n")))),
    )
    kind = "STATIC" if opcode == STATIC_CALL else "VIRTUAL"
    assert calls(program, "B.main") == [(kind, "A.m"), (kind, "B.n")]


def test_class_method_resolves_in_superclass_before_superinterface() -> None:
    program = program_of(
        interface("I", methods=(Method("m"),)),
        Class("A", methods=(abstract(),), flags=PUBLIC | ABSTRACT),
        Class("B", "A", ("I",), methods=(main(call(VIRTUAL_CALL, "B")),)),
    )
    assert calls(program, "B.main") == [("VIRTUAL", "A.m")]


def test_class_method_resolves_to_the_one_concrete_maximally_specific_method() -> None:
    program = program_of(
        interface("I", methods=(Method("m"),)),
        interface("J", "I", methods=(Method("m"),)),
        interface("A", methods=(abstract(),)),
        interface("K", methods=(abstract(),)),
        Class("B", OBJECT, ("I", "J", "A", "K"), methods=(main(call(VIRTUAL_CALL, "B")),)),
    )
    assert calls(program, "B.main") == [("VIRTUAL", "J.m")]


def test_interface_method_resolves_to_public_methods_of_object_only() -> None:
    program = program_of(
        interface("I"),
        Class(
            "B",
            methods=(
                main(
                    call(INTERFACE_CALL, "I", "hashCode", "()I"),
                    call(INTERFACE_CALL, "I", "clone", "()Ljava/lang/Object;"),
                ),
            ),
        ),
    )
    assert calls(program, "B.main") == [("VIRTUAL", "java/lang/Object.hashCode()I"), ("VIRTUAL", "")]


def test_static_and_private_methods_of_superinterfaces_are_not_inherited() -> None:
    program = program_of(
        interface("I", methods=(Method("s", flags=PUBLIC | ACC_STATIC), Method("p", flags=PRIVATE))),
        Class("A", OBJECT, ("I",)),
        Class(
            "B",
            methods=(
                main(call(STATIC_CALL, "A", "s"), call(VIRTUAL_CALL, "A", "p"), call(STATIC_CALL, "I", "s")),
            ),
        ),
    )
    assert calls(program, "B.main") == [("STATIC", ""), ("VIRTUAL", ""), ("STATIC", "I.s")]


def test_method_of_an_array_type_is_that_of_object() -> None:
    clone = call(VIRTUAL_CALL, "[I", "clone", "()Ljava/lang/Object;")
    program = program_of(Class("A", methods=(main(clone),)))
    assert calls(program, "A.main") == [("VIRTUAL", "java/lang/Object.clone()Ljava/lang/Object;")]
    (declared,) = facts(program, "A.main")[Invoke].declared.tolist()
    assert program.name_of_type(declared) == "[I"


@pytest.mark.parametrize(("opcode", "owner"), [(VIRTUAL_CALL, "A"), (INTERFACE_CALL, "I")])
def test_call_of_a_private_method_does_not_dispatch(opcode: int, owner: str) -> None:
    program = program_of(
        Class("A", methods=(Method("m", flags=PRIVATE),)),
        interface("I", methods=(Method("m", flags=PRIVATE),)),
        Class("B", methods=(main(call(opcode, owner)),)),
    )
    assert calls(program, "B.main") == [("SPECIAL", f"{owner}.m")]


def test_signature_polymorphic_method_is_found_under_any_descriptor() -> None:
    native = PUBLIC | FINAL | NATIVE
    program = program_of(
        Class("B", methods=(
            main(
                call(VIRTUAL_CALL, "java/lang/invoke/MethodHandle", "invokeExact", "(I)J"),
                call(VIRTUAL_CALL, "java/lang/invoke/MethodHandle", "other", "(I)J"),
            ),
        )),
        library=(Class("java/lang/invoke/MethodHandle", methods=(
            Method("invokeExact", "([Ljava/lang/Object;)Ljava/lang/Object;", native | 0x80),
            Method("other", "([Ljava/lang/Object;)Ljava/lang/Object;", native),
        )),),
    )  # fmt: skip
    found = "java/lang/invoke/MethodHandle.invokeExact([Ljava/lang/Object;)Ljava/lang/Object;"
    assert calls(program, "B.main") == [("VIRTUAL", found), ("VIRTUAL", "")]


@pytest.mark.parametrize(
    ("opcode", "flags"),
    [(STATIC_CALL, PUBLIC), (VIRTUAL_CALL, PUBLIC | ACC_STATIC), (SPECIAL_CALL, PUBLIC | ACC_STATIC)],
)
def test_call_of_a_method_of_the_other_kind_has_no_callee(opcode: int, flags: int) -> None:
    program = program_of(Class("A", methods=(Method("m", flags=flags), main(call(opcode, "A")))))
    assert [callee for _, callee in calls(program, "A.main")] == [""]
    assert any(each.code == "HIE-PHANTOM" for each in program.diagnostics)


def test_constructor_of_a_superclass_is_none_of_the_class() -> None:
    program = program_of(
        Class("A", methods=(Method("<init>", "(I)V"),)),
        Class(
            "B",
            "A",
            methods=(
                main(call(SPECIAL_CALL, "B", "<init>", "(I)V"), call(SPECIAL_CALL, "A", "<init>", "(I)V")),
            ),
        ),
    )
    assert calls(program, "B.main") == [("SPECIAL", ""), ("SPECIAL", "A.<init>(I)V")]


def test_call_on_a_missing_class_stays_with_its_plain_signature() -> None:
    program = program_of(
        Class("A", "gone/P", methods=(Method("m"), main(call(VIRTUAL_CALL, "gone/P"), call(VIRTUAL_CALL, "A", "n"), call(STATIC_CALL, "gone/P", "s"))))
    )  # fmt: skip
    rows = listed(facts(program, "A.main"), Invoke, "kind", "callee", "signature")
    assert [row[:2] for row in rows] == [(2, -1), (2, -1), (0, -1)]
    assert rows[0][2] == program.signature_of(method(program, "A.m"))
    assert not [each for each in program.diagnostics if "references" in each.text]


def test_resolve_method_answers_as_a_call_does() -> None:
    program = program_of(Class("A", methods=(Method("m"),)), Class("B", "A"))
    assert written(program, program.resolve_method(program.type_named("B"), "m", "()V")) == "A.m"
    assert program.resolve_method(program.type_named("B"), "m", "(I)V") == -1
    assert program.method_of(program.type_named("B"), "m", "()V") == -1


# --- invokespecial
def test_super_call_starts_at_the_direct_superclass_of_the_caller() -> None:
    program = program_of(
        Class("A", methods=(Method("m"),)),
        Class("B", "A", methods=(Method("m"),)),
        Class("C", "B", methods=(Method("m"), main(call(SPECIAL_CALL, "A")))),
        Class("D", "A", methods=(main(call(SPECIAL_CALL, "A")),)),
    )
    assert calls(program, "C.main", "D.main") == [("SPECIAL", "B.m"), ("SPECIAL", "A.m")]


def test_super_call_of_a_default_method_names_the_interface() -> None:
    program = program_of(
        interface("I", methods=(Method("m"),)),
        interface("J", "I"),
        Class("A", OBJECT, ("J",), methods=(Method("m"), main(call(SPECIAL_CALL, "J")))),
    )
    assert calls(program, "A.main") == [("SPECIAL", "I.m")]


def test_special_call_of_the_own_class_stays_there() -> None:
    program = program_of(
        Class(
            "A",
            methods=(
                Method("m"),
                Method("p", flags=PRIVATE),
                main(call(SPECIAL_CALL, "A"), call(SPECIAL_CALL, "A", "p")),
            ),
        ),
        Class("B", "A", methods=(Method("m"),)),
    )
    assert calls(program, "A.main") == [("SPECIAL", "A.m"), ("SPECIAL", "A.p")]


def test_special_call_of_an_interface_finds_public_methods_of_object() -> None:
    rows = (
        call(SPECIAL_CALL, "I", "hashCode", "()I"),
        call(SPECIAL_CALL, "I", "clone", "()Ljava/lang/Object;"),
    )
    program = program_of(interface("I"), Class("A", OBJECT, ("I",), methods=(main(*rows),)))
    assert calls(program, "A.main") == [("SPECIAL", "java/lang/Object.hashCode()I"), ("SPECIAL", "")]


def test_super_call_finds_a_default_method_above_the_superclass() -> None:
    program = program_of(
        interface("I", methods=(Method("m"),)),
        Class("A", OBJECT, ("I",)),
        Class("B", "A", methods=(Method("m"), main(call(SPECIAL_CALL, "A")))),
    )
    assert calls(program, "B.main") == [("SPECIAL", "I.m")]


# --- selection
def test_selection_prefers_classes_and_then_the_maximally_specific_default() -> None:
    classes = (
        interface("I", methods=(Method("m"),)),
        interface("J", "I", methods=(Method("m"),)),
        Class("A", OBJECT, ("J",)),
        Class("B", "A", ("I",)),
        Class("C", "B", methods=(Method("m"),)),
    )
    expected = {"A": "J.m", "B": "J.m", "C": "C.m"}
    for receiver, found in expected.items():
        program = program_of(*classes)
        program.type_named(receiver)
        assert selected(program, receiver, "I.m") == found


PACKAGE_PRIVATE = (
    Class("p/A", methods=(Method("m", flags=0),)),
    Class("q/B", "p/A", methods=(Method("m"),)),
    Class("p/C", "q/B", methods=(Method("m"),)),
    Class("q/D", "p/C", methods=(Method("m", flags=PROTECTED),)),
    Class("q/E", "q/B"),
    Class("p/F", "p/A", methods=(Method("m", flags=0),)),
    Class("q/G", "p/F", methods=(Method("m"),)),
    Class("p/H", "p/A", methods=(Method("m"),)),
    Class("q/K", "p/H", methods=(Method("m", flags=0),)),
)


@pytest.mark.parametrize(
    ("resolved", "receiver", "expected"),
    [
        ("p/A.m", "q/B", "p/A.m"),  # of another package: no override
        ("q/B.m", "q/B", "q/B.m"),
        ("p/A.m", "q/E", "p/A.m"),
        ("q/B.m", "q/E", "q/B.m"),
        ("p/A.m", "p/C", "p/C.m"),  # of the same package, though a class between them isn't
        ("q/B.m", "p/C", "p/C.m"),
        ("p/A.m", "q/D", "q/D.m"),  # it overrides C's, which overrides A's
        ("p/A.m", "p/F", "p/F.m"),
        ("p/A.m", "q/G", "p/F.m"),  # F's is package-private too
        ("q/G.m", "q/G", "q/G.m"),
        ("p/A.m", "q/K", "q/K.m"),  # it overrides H's, which is public and overrides A's
        ("p/H.m", "q/K", "q/K.m"),
    ],
)
def test_package_private_methods_are_overridden_as_the_specification_says(
    resolved: str, receiver: str, expected: str
) -> None:
    program = program_of(*PACKAGE_PRIVATE)
    program.type_named(receiver)
    method(program, resolved)
    assert selected(program, receiver, resolved) == expected


def test_selection_does_not_depend_on_when_types_were_asked_for() -> None:
    program = program_of(*PACKAGE_PRIVATE)
    for name in ("p/A", "q/B", "q/D"):
        program.type_named(name)
        program.signature_of(method(program, name + ".m"))
    assert selected(program, "q/D", "p/A.m") == "q/D.m"


def test_same_package_counts_across_archives() -> None:
    program = link(
        [
            (jdk(), "jdk", "jdk"),
            (unit_of(Class("p/B", "p/A", methods=(Method("m"),))), "application", "app.jar"),
            (unit_of(Class("p/A", methods=(Method("m", flags=0),))), "library", "lib.jar"),
        ]
    )
    program.type_named("p/B")
    assert selected(program, "p/B", "p/A.m") == "p/B.m"


def test_virtual_call_selects_by_the_signature_of_what_it_resolves_to() -> None:
    program = program_of(
        Class(
            "p/A", methods=(Method("m", flags=0), main(call(VIRTUAL_CALL, "p/A"), call(VIRTUAL_CALL, "q/B")))
        ),
        Class("q/B", methods=(Method("m"),)),
    )
    signatures = facts(program, "p/A.main")[Invoke].signature.tolist()
    assert signatures == [program.signature_of(method(program, each)) for each in ("p/A.m", "q/B.m")]
    assert signatures[0] != signatures[1]


# --- initialisation
def test_initialisers_run_superclasses_then_default_interfaces_then_the_class() -> None:
    default, clinit = Method("d"), STATIC_CLINIT
    program = program_of(
        interface("I", methods=(default, clinit)),
        interface("J", "I", methods=(default, clinit)),
        interface("K", methods=(abstract(), clinit)),
        Class("A", OBJECT, ("K",), methods=(clinit,)),
        Class("B", "A", ("J",), methods=(Method("m"),)),
        Class("C", "B", methods=(clinit,)),
    )

    def run(name: str) -> list[str]:
        found = program.initialisers_of(program.type_named(name))
        assert all(program.name_of_method(clinit_)[0] == type_ for type_, clinit_ in found)
        return [program.name_of_type(type_) for type_, _ in found]

    assert run("C") == ["A", "I", "J", "C"]
    assert run("B") == ["A", "I", "J"]
    assert run("J") == ["J"]
    assert run("K") == ["K"]
    assert run("[LC;") == []
    assert run(OBJECT) == []


def test_interfaces_are_initialised_in_the_order_of_the_class_file() -> None:
    methods = (Method("d"), STATIC_CLINIT)
    program = program_of(
        interface("Z", methods=methods),
        interface("Y", methods=methods),
        interface("X", "Z", "Y", methods=methods),
        interface("W", methods=methods),
        Class("A", OBJECT, ("X", "W")),
        Class("B", OBJECT, ("W", "X")),
    )
    found = {
        name: [program.name_of_type(type_) for type_, _ in program.initialisers_of(program.type_named(name))]
        for name in "AB"
    }
    assert found == {"A": ["Z", "Y", "X", "W"], "B": ["W", "Z", "Y", "X"]}


def test_initialises_follows_new_static_access_and_static_calls() -> None:
    clinit = STATIC_CLINIT
    static = PUBLIC | ACC_STATIC
    program = program_of(
        Class("A", methods=(clinit, Method("<init>"), Method("s", flags=static)), fields=(("f", "LA;", static), ("n", "I", static))),
        Class("B", "A", methods=(clinit,)),
        Class("Calm", methods=(Method("s", flags=static),), fields=(("f", "LA;", static),)),
        Class("Heir", "A"),
        interface("I", methods=(clinit,)),
        Class("M", methods=(
            main(("new", 5, "B", 3), ("new", 3, "B", 4), ("new", 7, "[LB;", 5), name="create"),
            main(("static_load", 2, ("B", "f", "LA;"), 3), name="read"),
            main(("static_load", 2, ("A", "n", "I"), -1), name="number"),
            main(("static_store", 2, 3, ("A", "f", "LA;")), name="write"),
            main(call(STATIC_CALL, "B", "s", offset=9), name="call"),
            main(("new", 0, "Calm", 3), call(STATIC_CALL, "Calm", "s"), ("static_load", 2, ("Calm", "f", "LA;"), 3), name="calm"),
            main(("new", 0, "Heir", 3), name="inherit"),
            main(("new", 8, "Heir", 3), ("new", 4, "B", 4), ("new", 6, "A", 5), ("new", 2, "B", 5), name="several"),
            main(call(SPECIAL_CALL, "A", "<init>"), ("cast", 1, 3, "A", 4), ("constant", 2, CLASS, "A", 3), name="quiet"),
        )),
    )  # fmt: skip

    def triggered(name: str) -> list[tuple[int, str]]:
        found = listed(facts(program, "M." + name), Initialises, "offset", "type")
        return [(offset, program.name_of_type(type_)) for offset, type_ in found]

    assert triggered("create") == [(3, "B")]
    assert triggered("read") == [(2, "A")]
    assert triggered("number") == [(2, "A")]
    assert triggered("write") == [(2, "A")]
    assert triggered("call") == [(9, "A")]
    assert triggered("calm") == []
    assert triggered("inherit") == [(0, "Heir")]
    assert sorted(triggered("several")) == [(2, "B"), (6, "A"), (8, "Heir")]
    assert triggered("quiet") == []


# --- fields
def test_field_resolves_in_class_then_superinterfaces_then_superclass() -> None:
    program = program_of(
        interface("I"),
        Class("Ihas", OBJECT, (), PUBLIC | 0x600, fields=(("f", "LA;", PUBLIC | ACC_STATIC), ("g", "LA;", PUBLIC | ACC_STATIC))),
        Class("A", fields=(("f", "LA;", PUBLIC), ("h", "LA;", PUBLIC), ("h", "I", PUBLIC))),
        Class("B", "A", ("Ihas",), fields=(("g", "LA;", PUBLIC),), methods=(
            main(*(("load", 0, 0, ("B", name, "LA;"), 3) for name in ("f", "g", "h"))),
        )),
    )  # fmt: skip
    found = [program.name_of_field(each) for each in facts(program, "B.main")[Load].field.tolist()]
    assert [(program.name_of_type(type_), *rest) for type_, *rest in found] == [
        ("Ihas", "f", "LA;"),
        ("B", "g", "LA;"),
        ("A", "h", "LA;"),
    ]


def test_field_that_no_class_has_is_a_phantom_of_the_named_class() -> None:
    rows = [("store", 0, 3, ("gone/A", "f", "LB;"), 4), ("load", 0, 4, ("gone/A", "f", "LB;"), 3)]
    program = program_of(Class("B", methods=(main(*rows, ("load", 0, 4, ("B", "f", "LB;"), 3)),)))
    found = facts(program, "B.main")
    (stored,), (loaded, other) = found[Store].field.tolist(), found[Load].field.tolist()
    assert stored == loaded != other
    assert program.flags_of_field(stored) == PHANTOM
    assert program.name_of_type(program.name_of_field(stored)[0]) == "gone/A"
    assert [each.text for each in program.diagnostics if "members" in each.text] == [
        "missing members that the program refers to (1): B.f:LB;"
    ]


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        ((52, 60, 61), ""),
        (
            (61, 62, 65),
            "2 class files need a newer Java (up to 21) than the JDK's (17), whose JVM refuses them",
        ),
        (
            (65, 64, 63),
            "3 class files need a newer Java (up to 21) than the JDK's (17), whose JVM refuses them",
        ),
    ],
)
def test_c04_class_files_that_are_newer_than_the_jdk(versions: tuple[int, ...], text: str) -> None:
    new, old, library = unit_of(Class("A"), Class("B"), Class("C")), unit_of(Class("D")), jdk()
    library.class_version[0] = 52  # not all of a JDK need be of its version
    new.class_version[:] = versions
    units = [(library, "jdk", "jdk"), (old, "application", "old.jar"), (new, "library", "new.jar")]
    expected = [Diagnostic("CLS-NEWER", "warning", text, "none", "new.jar")] if text else []
    assert link(units).diagnostics == expected
    # Nobody knows what runs them.
    assert "CLS-NEWER" not in [each.code for each in link(units[1:]).diagnostics]


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (20, ""), (21, " and 1 more"), (1900, " and 1,880 more")]
)
def test_missing_members_are_named_by_the_archive_that_lacks_them(count: int, more: str) -> None:
    calls = [call(VIRTUAL_CALL, "p/A", f"m{each:04}") for each in range(count - 1)]
    rows = (*calls, ("load", 0, 4, ("p/A", "a", "LB;"), 3), call(STATIC_CALL, OBJECT, "of", "()I"))
    program = program_of(Class("p/A", methods=(main(*rows),)))
    facts(program, "p/A.main")
    own, of_jdk = (each for each in program.diagnostics if "members" in each.text)
    assert (own.code, own.severity, own.effect) == ("HIE-PHANTOM", "warning", "soundness")
    names = ["p.A.a:LB;", *(f"p.A.m{each:04}()V" for each in range(count - 1))]
    what = "missing members that the program refers to"
    assert (own.archive, own.text) == ("app.jar", f"{what} ({count:,}): {', '.join(names[:20])}{more}")
    assert (of_jdk.archive, of_jdk.text) == ("jdk", f"{what} (1): java.lang.Object.of()I")


def test_fields_of_a_type_are_in_the_order_of_the_class_file() -> None:
    fields = (("b", "I", PUBLIC), ("a", "LA;", PRIVATE | ACC_STATIC))
    program = program_of(Class("A", fields=fields), Class("B", fields=(("c", "I", 0),)))
    for name in ("B", "A"):
        program.fields_of(program.type_named(name))
    type_ = program.type_named("A")
    assert [
        (*program.name_of_field(each)[1:], program.flags_of_field(each)) for each in program.fields_of(type_)
    ] == [*fields]
    assert {program.name_of_field(each)[0] for each in program.fields_of(type_)} == {type_}


# --- bodies
def test_variables_and_sites_are_renumbered_and_none_stays() -> None:
    rows = (
        ("assign", 1, 0, 3),
        ("cast", 2, 3, "A", 4),
        ("invoke", 3, VIRTUAL_CALL, ("A", "m", "(ILjava/lang/Object;)V"), -1, 2),
        ("invoke", 5, VIRTUAL_CALL, ("A", "m", "(ILjava/lang/Object;)V"), 4, 2),
        ("argument", 0, 0, 3),
        ("argument", 0, 2, 0),
        ("argument", 1, 0, 0),
        ("exact_argument", 1, 2, 1, 0, -1),
        ("result_cast", 1, "A"),
    )
    program = program_of(
        Class("A", methods=(Method("m", "(ILjava/lang/Object;)V", rows=rows, variables=9), main(*rows))),
        library=(Class("java/B", methods=(main(*rows),)),),
    )
    chosen = [method(program, each) for each in ("A.m(ILjava/lang/Object;)V", "java/B.main", "A.main")]
    found = program.facts_of(np.array(chosen, np.int32), np.array([100, 200, 300], np.int32), 50)
    assert sorted(listed(found, Assign, "method", "source", "target")) == sorted(
        zip(chosen, (100, 200, 300), (103, 203, 303), strict=True)
    )
    assert {each for (each,) in listed(found, Cast, "type")} == {program.type_named("A")}
    assert found[Invoke].site.tolist() == list(range(50, 56))
    base = {
        site: [100, 200, 300][chosen.index(owner)] for site, owner in listed(found, Invoke, "site", "method")
    }
    for site, offset, result, thrown in listed(found, Invoke, "site", "offset", "result", "thrown"):
        assert (result, thrown) == (-1 if offset == 3 else base[site] + 4, base[site] + 2)
        arguments = [
            row[1:] for row in listed(found, Argument, "site", "position", "variable") if row[0] == site
        ]
        assert arguments == ([(0, base[site] + 3), (2, base[site])] if offset == 3 else [(0, base[site])])
    keys = listed(found, Argument, "site", "position")
    assert keys == sorted(keys)
    exact = listed(found, ExactArgument, "site", "position", "length", "index", "variable")
    second = [site for site, offset in listed(found, Invoke, "site", "offset") if offset == 5]
    assert sorted(exact) == [(site, 2, 1, 0, -1) for site in second]
    casts = listed(found, ResultCast, "site", "type")
    assert sorted(casts) == [(site, program.type_named("A")) for site in second]


def test_arguments_come_by_site_and_position_whatever_the_order_of_the_unit() -> None:
    callee = ("A", "m", "(ILjava/lang/Object;)V")
    rows = (
        ("invoke", 3, VIRTUAL_CALL, callee, -1, 2),
        ("invoke", 5, VIRTUAL_CALL, callee, -1, 2),
        ("argument", 1, 0, 3),
        ("argument", 0, 2, 4),
        ("argument", 0, 0, 5),
    )
    program = program_of(Class("A", methods=(main(*rows),)))
    found = listed(facts(program, "A.main"), Argument, "site", "position", "variable")
    assert found == [(0, 0, 5), (0, 2, 4), (1, 0, 3)]


def test_static_access_of_a_primitive_field_is_no_flow() -> None:
    field, number = ("A", "f", "LA;"), ("A", "n", "I")
    rows = (
        ("static_load", 0, field, 3),
        ("static_load", 1, number, -1),
        ("static_store", 2, 3, field),
        ("static_store", 3, -1, number),
    )
    fields = (("f", "LA;", ACC_STATIC), ("n", "I", ACC_STATIC))
    program = program_of(Class("A", methods=(main(*rows),), fields=fields))
    found = facts(program, "A.main")
    (declared, _) = program.fields_of(program.type_named("A"))
    assert listed(found, StaticLoad, "offset", "field", "target") == [(0, declared, 3)]
    assert listed(found, StaticStore, "offset", "source", "field") == [(2, 3, declared)]


def test_constants_by_kind() -> None:
    rows = (
        ("constant", 0, STRING, "héllo \ud800", 3),
        ("constant", 1, CLASS, "[LA;", 4),
        ("constant", 2, METHOD_TYPE, "(I)V", 5),
        ("constant", 3, METHOD_HANDLE, (5, ("A", "main", "()V")), 6),
        ("dynamic", 4, 9, ("no bootstrap method", "LA;"), 7, 2),
        ("dynamic", 5, 9, ("no bootstrap method", "LI;"), 8, 2),
        ("constant", 6, STRING, "héllo \ud800", 9),
    )
    program = program_of(Class("A", methods=(main(*rows),)), interface("I"))
    found = facts(program, "A.main")
    (first, second) = found[StringConstant].text.tolist()
    assert first == second
    assert program.text(first) == "héllo \ud800"
    assert found[ClassConstant].type.tolist() == [program.type_named("[LA;")]
    made = [(offset, program.name_of_type(type_)) for offset, type_ in listed(found, New, "offset", "type")]
    assert made == [(2, "java/lang/invoke/MethodType"), (4, "A")]
    main_method = program.method_of(program.type_named("A"), "main", "()V")
    assert listed(found, HandleConstant, "offset", "kind", "callee", "field") == [(3, 5, main_method, -1)]
    unknown = [each for each in program.diagnostics if each.code == "CLS-INDY"]
    assert [(each.method, each.offset, each.effect) for each in unknown] == [
        ("A.main()V", 4, "soundness"),
        ("A.main()V", 5, "soundness"),
    ]


def test_batches_give_what_single_questions_do() -> None:
    rows = (("new", 0, "A", 3), call(SPECIAL_CALL, "A", "<init>"), ("argument", 0, 0, 3))
    names = ["A.<init>", "A.one", "B.two", "B.empty"]
    classes = (
        Class("A", methods=(Method("<init>"), main(*rows, name="one"))),
        Class("B", methods=(main(*rows, name="two"), Method("empty"))),
    )
    together = facts(program_of(*classes), *names)
    program = program_of(*classes)
    methods = [method(program, each) for each in names]
    for relation, rows_ in together.items():
        single = [
            program.facts_of(np.array([each], np.int32), np.array([at * 1000], np.int32), 0)[relation]
            for at, each in enumerate(methods)
        ]
        assert len(rows_) == sum(map(len, single))
        if relation in (New, Assign):
            assert [each.tolist() for each in rows_] == [
                np.concatenate(columns).tolist() for columns in zip(*single, strict=True)
            ]


def test_no_methods_have_no_facts() -> None:
    program = program_of(Class("A"))
    nothing = program.facts_of(np.empty(0, np.int32), np.empty(0, np.int32), 0)
    assert all(len(rows) == 0 for rows in nothing.values())


# --- texts and lines
def test_may_name_knows_classes_and_members_of_every_archive() -> None:
    strings = ["p.A", "p/A", "[Lp.A;", "[[I", "[Lp.B;", "go", "size", "p.B", "", "["]
    rows = tuple(("constant", number, STRING, each, 3) for number, each in enumerate(strings))
    program = program_of(
        Class("p/A", methods=(main(*rows),), fields=(("size", "I", 0),)),
        library=(Class("java/B", methods=(Method("go"),)),),
    )
    texts = facts(program, "p/A.main")[StringConstant].text.tolist()
    assert [program.may_name(each) for each in texts] == [True] * 4 + [False, True, True, False, False, False]


def test_arrays_are_named_by_instructions_and_descriptors_but_not_by_string_constants() -> None:
    rows = (
        ("new", 0, "[Lp/New;", 3),
        ("constant", 1, STRING, "[Lp/Text;", 3),
        call(STATIC_CALL, "p/Main", "with", "([[Lp/Passed;)V", offset=2),
    )
    names = ("p/New", "p/Text", "p/Passed", "p/Held", "p/Plain")
    fields = (("held", "[Lp/Held;", 0), ("plain", "Lp/Plain;", 0))
    program = program_of(Class("p/Main", methods=(main(*rows),), fields=fields), *map(Class, names))
    found = [each for each in names if program.names_array_of(program.type_named(each))]
    assert found == ["p/New", "p/Passed", "p/Held"]
    arrays = ("[Lp/Passed;", "[Lp/New;", "[[Lp/Passed;")
    assert [program.names_array_of(program.type_named(each)) for each in arrays] == [True, False, False]


def test_lines_are_those_of_the_nearest_entry_before() -> None:
    program = program_of(
        Class(
            "A",
            methods=(
                Method("m", lines=((8, 12), (0, 10), (4, 11))),
                Method("n", lines=((2, 30),)),
                Method("none"),
            ),
        )
    )
    chosen = [("m", 0), ("m", 3), ("m", 4), ("m", 100), ("n", 1), ("n", 2), ("none", 0), ("m", 9)]
    methods = np.array([method(program, f"A.{name}") for name, _ in chosen], np.int32)
    offsets = np.array([offset for _, offset in chosen], np.int32)
    assert program.lines_of(methods, offsets).tolist() == [10, 10, 11, 12, -1, 30, -1, 12]


def test_types_of_parameters_are_without_receiver_and_none_if_primitive() -> None:
    program = program_of(Class("A", methods=(Method("m", "(I[JLA;Lgone/B;)V"),)))
    found = program.parameter_types(method(program, "A.m(I[JLA;Lgone/B;)V"))
    assert [program.name_of_type(each) if each >= 0 else "" for each in found] == ["", "[J", "A", "gone/B"]


def test_source_of_a_type_is_what_the_class_file_says() -> None:
    program = program_of(Class("A", source="A.java"), Class("B"))
    assert [program.source_of_type(program.type_named(each)) for each in ("A", "B", "[I")] == [
        "A.java",
        "",
        "",
    ]


# --- determinism and combination
def everything(program: LinkedProgram) -> str:
    program.concrete_subtypes_of(program.type_named(OBJECT))
    found = facts(program, "A.one", "B.two", "q/D.m")
    types, methods = program.new_rows()
    columns = [each.tolist() for rows in found.values() for each in rows]
    return repr(columns + [np.asarray(each).tolist() for each in (*types, *methods)])


def program_of_many() -> LinkedProgram:
    rows = (
        ("new", 0, "q/D", 3),
        ("invoke", 1, VIRTUAL_CALL, ("p/A", "m", "()V"), -1, 2),
        ("constant", 1, STRING, "text", 3),
    )
    classes = (Class("A", methods=(main(*rows, name="one"),)), Class("B", methods=(main(*rows, name="two"),)))
    return link(
        [
            (jdk(), "jdk", "jdk"),
            (unit_of(classes[0]), "application", "a.jar"),
            (unit_of(classes[1]), "library", "b.jar"),
            (unit_of(*PACKAGE_PRIVATE), "library", "c.jar"),
        ]
    )


def test_ids_do_not_depend_on_hash_seeds() -> None:
    code = "from tests.loader.test_link import *; print(everything(program_of_many()))"
    root = Path(__file__).parents[2]
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert len(found.pop()) > 1000


def test_archives_put_together_are_as_one_archive() -> None:
    rows = (
        ("new", 0, "q/D", 3),
        ("constant", 1, STRING, "text", 3),
        ("static_load", 2, ("q/D", "f", "LA;"), 3),
    )
    classes = (
        Class("A", methods=(main(*rows, name="one"),), source="A.java"),
        Class("B", "A", methods=(main(*rows, call(STATIC_CALL, "A", "gone"), name="two"),)),
        Class("q/D", methods=(Method("m", lines=((0, 7),)),), fields=(("f", "LA;", ACC_STATIC),)),
    )
    one = program_of(*classes)
    apart = link([(jdk(), "jdk", "jdk"), *((unit_of(each), "application", each.name) for each in classes)])
    assert everything(one) == everything(apart)
    assert apart.source_of_type(apart.type_named("A")) == "A.java"
    last = np.array([method(apart, "q/D.m")], np.int32)
    assert apart.lines_of(last, np.zeros(1, np.int32)).tolist() == [7]


# --- what is declared beside code
def annotated(name: str, annotation: str, attribute: str = "RuntimeVisibleAnnotations") -> Unit:
    """Returns the unit of a class with an annotation, and of the annotation's type."""
    raw = RawClass(name)
    raw.attributes.append((attribute, struct.pack(">HHH", 1, raw.pool.utf8(f"L{annotation};"), 0)))
    return raw_unit_of(raw, RawClass(annotation))


@pytest.mark.parametrize("target", [b"\x00\0", b"\x10\0\0", b"\x11\0\0", b"\x13", b"\x16\0", b"\x17\0\0"])
@pytest.mark.parametrize("path", [b"\0", b"\2\0\0\3\1"], ids=["itself", "within"])
def test_annotations_of_types_are_read_wherever_they_stand(target: bytes, path: bytes) -> None:
    raw = RawClass("a/App")
    content = b"\0\1" + target + path + struct.pack(">HH", raw.pool.utf8("La/OfType;"), 0)
    raw.attributes.append(("RuntimeVisibleTypeAnnotations", content))
    program = link([(raw_unit_of(raw, RawClass("a/OfType")), "application", "app.jar")])
    assert [program.name_of_type(each) for each in program.annotation_types()] == ["a/OfType"]


def test_annotations_at_run_time_are_those_outside_the_jdk() -> None:
    units = [
        (annotated("java/lang/Object", "a/OfJdk"), "jdk", "rt.jar"),
        (annotated("a/More", "a/OfMore"), "jdk", "jce.jar"),
        (annotated("a/Lib", "a/OfLib"), "library", "lib.jar"),
        (annotated("a/App", "a/OfApp"), "application", "app.jar"),
        (annotated("a/Other", "a/Forgotten", "RuntimeInvisibleAnnotations"), "application", "other.jar"),
    ]
    program = link(units)
    found = {program.name_of_type(each) for each in program.annotation_types()}
    assert found >= {"a/OfLib", "a/OfApp"}
    assert found.isdisjoint({"a/OfJdk", "a/Forgotten"})
