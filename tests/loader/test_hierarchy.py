"""Types of a linked program: supertypes, what is missing, what contradicts itself."""

from __future__ import annotations

import time

import numpy as np
import pytest

from cypher.program import ABSTRACT, APPLICATION, FINAL, INTERFACE, PHANTOM, PUBLIC
from loader import hierarchy
from loader.link import LinkedProgram, link
from tests.loader.reading import Selection, facts, program_of
from tests.loader.units import OBJECT, Class, Method, interface, jdk, unit_of


def names(program: LinkedProgram, type_: int) -> set[str]:
    return {program.name_of_type(each) for each in program.supertypes_of(type_)}


def codes(program: LinkedProgram) -> list[str]:
    return [each.code for each in program.diagnostics]


def test_supertypes_are_those_of_superclass_and_all_superinterfaces() -> None:
    program = program_of(
        interface("I"),
        interface("J", "I"),
        Class("A", OBJECT, ("J",)),
        Class("B", "A", ("java/lang/Cloneable",)),
    )
    type_ = program.type_named("B")
    assert names(program, type_) == {"B", "A", "J", "I", OBJECT, "java/lang/Cloneable"}
    assert program.name_of_type(program.superclass_of(type_)) == "A"
    assert [program.name_of_type(each) for each in program.interfaces_of(type_)] == ["java/lang/Cloneable"]
    assert program.superclass_of(program.type_named(OBJECT)) == -1


def test_supertypes_of_reported_rows_are_sorted_and_smaller_than_the_type() -> None:
    program = program_of(interface("I"), Class("A", "B", ("I",)), Class("B"))
    program.array_of(program.type_named("A"))
    rows, _ = program.new_rows()
    for number in range(len(rows.superclass)):
        own = rows.supertypes[rows.supertypes_at[number] : rows.supertypes_at[number + 1]].tolist()
        assert own == sorted(own)
        assert own[-1] == rows.first + number
        assert set(own) == program.supertypes_of(rows.first + number)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        ("[I", {"[I", OBJECT, "java/lang/Cloneable", "java/io/Serializable"}),
        (
            "[LA;",
            {"[LA;", "[LI;", "[Ljava/lang/Object;", OBJECT, "java/lang/Cloneable", "java/io/Serializable"},
        ),
        (
            "[[I",
            {
                *("[[I", "[Ljava/lang/Object;", "[Ljava/lang/Cloneable;", "[Ljava/io/Serializable;"),
                *(OBJECT, "java/lang/Cloneable", "java/io/Serializable"),
            },
        ),
    ],
)
def test_arrays_are_covariant_and_implement_two_interfaces(array: str, expected: set[str]) -> None:
    program = program_of(interface("I"), Class("A", OBJECT, ("I",)))
    type_ = program.type_named(array)
    assert names(program, type_) == expected
    assert program.name_of_type(program.superclass_of(type_)) == OBJECT


def test_element_of_an_array_is_registered_unless_it_is_primitive() -> None:
    program = program_of(Class("A"))
    types = [program.type_named(each) for each in ("[LA;", "[I", "[[I")]
    rows, _ = program.new_rows()
    elements = rows.element[np.array(types)].tolist()
    assert elements == [program.type_named("A"), -1, program.type_named("[I")]


def test_array_of_is_the_array_of_class_array_and_primitive() -> None:
    program = program_of(Class("A"))
    made = [program.array_of(program.type_named(each)) for each in ("A", "[I", "int")]
    assert [program.name_of_type(each) for each in made] == ["[LA;", "[[I", "[I"]


def test_type_of_no_class_file_has_no_name() -> None:
    program = program_of(Class("A"))
    assert [program.type_named(each) for each in ("gone/B", "[Lgone/B;", "[Q", "[", "", "[LA", "[V")] == [
        -1
    ] * 7


def test_class_called_like_a_primitive_type_is_the_class() -> None:
    program = program_of(Class("int"))
    assert program.flags_of_type(program.type_named("int")) & APPLICATION


def test_h01_missing_superclass_becomes_a_phantom_below_object() -> None:
    program = program_of(Class("A", "gone/B", ("gone/I",)))
    superclass = program.superclass_of(program.type_named("A"))
    assert program.name_of_type(superclass) == "gone/B"
    assert program.flags_of_type(superclass) & PHANTOM
    assert names(program, program.type_named("A")) == {"A", "gone/B", "gone/I", OBJECT}
    assert program.flags_of_type(program.array_of(superclass)) & PHANTOM
    (found,) = program.diagnostics
    assert (found.code, found.effect) == ("HIE-PHANTOM", "soundness")
    assert "gone.B" in found.text
    assert "gone.I" in found.text


def test_application_flag_is_on_types_and_methods_of_the_application() -> None:
    program = program_of(
        Class("A", methods=(Method("m"),)), library=(Class("java/B", methods=(Method("m"),)),)
    )
    mine, other = program.type_named("A"), program.type_named("java/B")
    assert [bool(program.flags_of_type(each) & APPLICATION) for each in (mine, other)] == [True, False]
    owned = [program.methods_of(each)[0] for each in (mine, other)]
    assert [bool(program.flags_of_method(each) & APPLICATION) for each in owned] == [True, False]


@pytest.mark.parametrize(
    "classes",
    [
        (Class("A", "A"),),
        (Class("A", "B"), Class("B", "A")),
        (interface("A", "B"), interface("B", "C"), interface("C", "A")),
        (Class("A", "B"), Class("B", OBJECT, ("A",))),
        (Class("A", OBJECT, ("A",)),),
    ],
)
def test_h02_cycle_is_cut_and_both_classes_stay(classes: tuple[Class, ...]) -> None:
    program = program_of(*classes)
    for each in classes:
        type_ = program.type_named(each.name)
        assert type_ >= 0
        assert program.type_named(OBJECT) in program.supertypes_of(type_)
    assert codes(program)[:1] == ["HIE-CYCLE"]


@pytest.mark.parametrize(
    ("wrong", "superclass", "interfaces"),
    [
        (Class("A", "I"), OBJECT, []),
        (Class("A", OBJECT, ("B",)), OBJECT, []),
        (Class("A", "F"), "F", []),
        (Class("A", "[I", ("[LA;",)), OBJECT, []),
        (Class("A", None), OBJECT, []),
    ],
)
def test_h03_supertype_of_the_wrong_kind_is_reported(
    wrong: Class, superclass: str, interfaces: list[str]
) -> None:
    program = program_of(wrong, interface("I"), Class("B"), Class("F", flags=PUBLIC | FINAL))
    type_ = program.type_named("A")
    assert program.name_of_type(program.superclass_of(type_)) == superclass
    assert [program.name_of_type(each) for each in program.interfaces_of(type_)] == interfaces
    assert set(codes(program)) == {"HIE-KIND"}
    assert program.diagnostics[0].archive == "app.jar"
    assert program.diagnostics[0].entry == "A.class"


def test_h04_object_with_superclass_or_absent_is_reported() -> None:
    strange = link([(unit_of(Class(OBJECT, "A"), Class("A")), "jdk", "jdk")])
    assert codes(strange) == ["HIE-KIND"]
    assert strange.superclass_of(strange.type_named(OBJECT)) == -1
    nothing = link([(unit_of(Class("A", methods=(Method("m"),))), "application", "app.jar")])
    assert nothing.type_named("A") >= 0
    assert "HIE-NO-OBJECT" in codes(nothing)


def test_c20_first_class_of_a_name_wins_and_the_other_is_reported() -> None:
    program = link(
        [
            (jdk(Class("java/A", methods=(Method("first"),))), "jdk", "jdk"),
            (unit_of(Class("java/A", methods=(Method("second"),)), Class("B", methods=(Method("first"),))), "application", "app.jar"),
            (unit_of(Class("B", methods=(Method("second"),)), Class("C")), "library", "lib.jar"),
        ]
    )  # fmt: skip
    for name in ("java/A", "B"):
        (found,) = program.methods_of(program.type_named(name))
        assert program.name_of_method(found)[1] == "first"
    duplicates = [(each.code, each.archive, each.entry) for each in program.diagnostics]
    assert duplicates == [("HIE-DUP", "app.jar", "java/A.class"), ("HIE-DUP", "lib.jar", "B.class")]
    assert program.archive_of_type(program.type_named("C")) == "lib.jar"
    assert not program.flags_of_type(program.type_named("C")) & APPLICATION


def test_c23_module_declarations_are_no_classes_and_package_infos_no_duplicates() -> None:
    module = Class("module-info", None, flags=0x8000)
    package = Class("p/package-info", flags=0x1600)
    program = link(
        [
            (jdk(module), "jdk", "jdk"),
            (unit_of(module, package, Class("A")), "application", "app.jar"),
            (unit_of(module, package, Class("B", "A")), "library", "lib.jar"),
        ]
    )
    assert program.type_named("module-info") == -1
    assert program.diagnostics == []
    assert program.concrete_subtypes_of(program.type_named("A")) == [
        program.type_named(each) for each in "AB"
    ]


def test_h05_deep_hierarchy_needs_no_recursion() -> None:
    depth = 5000
    program = program_of(
        *(Class(f"C{number}", f"C{number + 1}" if number < depth else OBJECT) for number in range(depth + 1))
    )
    assert len(program.supertypes_of(program.type_named("C0"))) == depth + 2


def test_h05_very_wide_hierarchy() -> None:
    subclasses = [Class(f"C{number}", "R") for number in range(50_000)]
    program = program_of(Class("R"), *subclasses)
    began = time.process_time()
    concrete = program.concrete_subtypes_of(program.type_named("R"))
    assert time.process_time() - began < 60
    assert len(concrete) == 50_001


def test_h05_a_hierarchy_that_would_take_too_much_memory_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchy, "_MOST_SUPERTYPES", 5000)
    program = program_of(
        *(Class(f"C{number}", f"C{number + 1}" if number < 200 else OBJECT) for number in range(201))
    )
    type_ = program.type_named("C0")
    assert [(each.code, each.effect) for each in program.diagnostics] == [("HIE-LIMIT", "soundness")]
    assert program.superclass_of(type_) in program.supertypes_of(type_)
    rows, _ = program.new_rows()
    assert len(rows.supertypes) <= 5000 + 2 * 201


def test_h05_arrays_of_as_many_dimensions_as_can_be() -> None:
    program = program_of(interface("I"), Class("A", OBJECT, ("I",)))
    began = time.process_time()
    type_ = program.type_named("[" * 255 + "LA;")
    assert time.process_time() - began < 5
    assert "[" * 254 + "[LI;" in names(program, type_)
    # Those of A and I, and Object, Cloneable and Serializable with all fewer dimensions, Object with as many.
    assert len(names(program, type_)) == 2 + 3 * 255 + 1


def test_concrete_subtypes_leave_out_what_has_no_instances() -> None:
    program = program_of(
        interface("I"),
        interface("J", "I"),
        Class("A", OBJECT, ("J",), PUBLIC | ABSTRACT),
        Class("B", "A"),
        Class("C", "B"),
        Class("D"),
        library=(Class("java/E", OBJECT, ("java/lang/Cloneable",)), Class("java/F", "gone/G")),
    )

    def below(name: str, *, application: bool = False) -> list[str]:
        found = program.concrete_subtypes_of(program.type_named(name), application)
        return sorted(program.name_of_type(each) for each in found)

    assert below("I") == ["B", "C"]
    assert below("B") == ["B", "C"]
    assert below("java/lang/Cloneable") == ["java/E"]
    assert below("java/lang/Cloneable", application=True) == []
    assert below(OBJECT, application=True) == ["B", "C", "D"]
    program.type_named("java/F")
    phantom = program.superclass_of(program.type_named("java/F"))
    assert [program.name_of_type(each) for each in program.concrete_subtypes_of(phantom)] == ["java/F"]
    assert below("[I") == ["[I"]
    assert below("int") == []


def test_concrete_subtypes_ignore_a_class_that_lost_to_another() -> None:
    program = link(
        [
            (jdk(), "jdk", "jdk"),
            (unit_of(Class("A"), Class("B")), "application", "app.jar"),
            (unit_of(Class("B", "A")), "library", "lib.jar"),
        ]
    )
    assert program.concrete_subtypes_of(program.type_named("A")) == [program.type_named("A")]


def test_new_rows_come_once_and_without_gaps() -> None:
    program = program_of(
        Class("A", methods=(Method("m", rows=(("new", 0, "B", 3),), variables=4),)),
        Class("B", methods=(Method("n"),)),
    )
    program.type_named("A")
    types, methods = program.new_rows()
    assert (types.first, methods.first) == (0, 0)
    facts(program, "A.m")
    more_types, more_methods = program.new_rows()
    assert more_types.first == len(types.superclass)
    assert more_methods.first == len(methods.declaring)
    assert len(more_types.superclass) == 1
    assert more_methods.declaring.tolist() == [program.type_named("B")]
    last_types, last_methods = program.new_rows()
    assert (len(last_types.flags), len(last_methods.flags), len(last_types.supertypes_at)) == (0, 0, 1)


def test_rows_of_methods_say_what_the_class_file_does() -> None:
    method_ = Method("m", "(ILjava/lang/Object;J)V", PUBLIC, variables=9)
    program = program_of(Class("A", methods=(method_, Method("s", "(I)V", 0x9))))
    program.type_named("A")
    _, rows = program.new_rows()
    assert rows.parameters[-2:].tolist() == [4, 1]
    assert rows.variables[-2:].tolist() == [9, 3]
    assert (rows.flags[-2:] & 0xF).tolist() == [PUBLIC, 0x9]


def test_declared_rows_are_instance_methods_that_are_neither_private_nor_constructors() -> None:
    program = program_of(
        Class(
            "A",
            methods=(Method("<init>"), Method("s", flags=0x9), Method("p", flags=0x2), Method("m"), Method("a", flags=0x401)),
        ),
        interface("I", methods=(Method("d"),)),
    )  # fmt: skip
    for name in ("A", "I"):
        program.type_named(name)
    rows, _ = program.new_rows()
    for name, expected in (("A", {"m", "a"}), ("I", {"d"})):
        type_ = program.type_named(name)
        found = rows.declared_method[rows.declared_at[type_] : rows.declared_at[type_ + 1]].tolist()
        assert {program.name_of_method(each)[1] for each in found} == expected
        signatures = rows.declared_signature[rows.declared_at[type_] : rows.declared_at[type_ + 1]].tolist()
        assert signatures == sorted(signatures)


def test_flags_of_a_type_are_those_of_the_class_file() -> None:
    program = program_of(interface("I"))
    assert program.flags_of_type(program.type_named("I")) == PUBLIC | INTERFACE | ABSTRACT | APPLICATION


def test_selection_needs_every_row() -> None:
    program = program_of(Class("A"))
    program.new_rows()
    with pytest.raises(AssertionError):
        Selection(program)
