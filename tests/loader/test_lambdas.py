"""What `invokedynamic` call sites stand for: lambdas, method references, concatenation, records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cypher.program import ABSTRACT, ACC_STATIC, APPLICATION, PRIVATE, PUBLIC, SYNTHETIC
from cypher.schema import Argument, ArrayStore, Assign, Cast, Initialises, Invoke, Load, New, Store
from engine.jvm import MODELS
from loader.bootstrap import SHARING
from loader.link import LinkedProgram
from loader.unit import CLASS, METHOD_HANDLE, METHOD_TYPE, NUMBER, STRING
from tests.loader.reading import KINDS, facts, listed, method, program_of, written
from tests.loader.units import Class, Method, interface

META = ("java/lang/invoke/LambdaMetafactory", "metafactory", "()V")
ALT_META = ("java/lang/invoke/LambdaMetafactory", "altMetafactory", "()V")
CONCAT = ("java/lang/invoke/StringConcatFactory", "makeConcatWithConstants", "()V")
RECORD = ("java/lang/runtime/ObjectMethods", "bootstrap", "()V")
BOX = Class("java/lang/Integer", methods=(Method("valueOf", "(I)Ljava/lang/Integer;", PUBLIC | ACC_STATIC),))
SAM = "(Ljava/lang/Object;)Ljava/lang/Object;"
FUNCTION = interface("F", methods=(Method("apply", SAM, PUBLIC | ABSTRACT),))


def lambda_program(
    handle: tuple[int, tuple[str, str, str]],
    *classes: Class,
    captured: str = "",
    sam: str = SAM,
    instantiated: str = SAM,
    arguments: tuple[int, ...] = (),
    bootstrap: tuple[str, str, str] = META,
    extra: tuple[tuple[int, Any], ...] = (),
) -> LinkedProgram:
    """Returns a program whose `M.main` makes one lambda of the interface F at offset 7, into variable 3."""
    static = ((METHOD_TYPE, sam), (METHOD_HANDLE, handle), (METHOD_TYPE, instantiated), *extra)
    rows = (
        ("dynamic", 7, 0, ("apply", f"({captured})LF;"), 3, 2),
        *(("dynamic_argument", 0, position, 10 + position) for position in arguments),
    )
    host = Class(
        "M",
        methods=(
            Method("main", rows=rows, variables=20, lines=((0, 40), (6, 41), (8, 42))),
            Method("impl", SAM, PUBLIC | ACC_STATIC),
            Method("<clinit>", flags=ACC_STATIC),
        ),
        bootstraps=((6, bootstrap, static),),
    )
    return program_of(
        host, FUNCTION, *classes, library=(BOX, *(interface(each) for each in ("java/Mark", "java/Other")))
    )


def made_type(program: LinkedProgram) -> int:
    (type_,) = facts(program, "M.main")[New].type.tolist()
    return int(type_)


def body_of(program: LinkedProgram, descriptor: str = SAM) -> dict[Any, Any]:
    """Returns the facts of the lambda's method, variables from 0."""
    found = program.method_of(made_type(program), "apply", descriptor)
    assert found >= 0
    return program.facts_of(np.array([found], np.int32), np.zeros(1, np.int32), 0)


def calls_of(program: LinkedProgram, body: dict[Any, Any]) -> list[tuple[str, str, list[tuple[int, int]]]]:
    """Returns (kind, callee, arguments) of the calls in a body."""
    arguments = listed(body, Argument, "site", "position", "variable")
    return [
        (KINDS[kind], written(program, callee), [(row[1], row[2]) for row in arguments if row[0] == site])
        for site, kind, callee in listed(body, Invoke, "site", "kind", "callee")
    ]


STATIC_IMPL = (6, ("M", "impl", SAM))


def test_call_site_makes_an_object_of_a_class_of_its_own_and_stores_what_it_captures() -> None:
    captured = "LA;ILB;"
    program = lambda_program((6, ("M", "impl", SAM)), captured=captured, arguments=(0, 2))
    found = facts(program, "M.main")
    type_ = made_type(program)
    assert listed(found, New, "offset", "target") == [(7, 3)]
    assert program.name_of_type(type_) == "M$$Lambda@main+7"
    assert program.flags_of_type(type_) & SYNTHETIC
    assert program.flags_of_type(type_) & APPLICATION
    assert [program.name_of_type(each) for each in program.interfaces_of(type_)] == ["F"]
    stores = [
        (source, base, *program.name_of_field(field)[1:])
        for source, field, base in listed(found, Store, "source", "field", "base")
    ]
    assert stores == [(10, 3, "cap0", "LA;"), (12, 3, "cap2", "LB;")]
    assert len(found[Invoke]) == 0


def test_class_of_a_lambda_has_no_name_to_look_up_and_no_place_among_the_subtypes() -> None:
    program = lambda_program(STATIC_IMPL)
    type_ = made_type(program)
    assert program.type_named(program.name_of_type(type_)) == -1
    assert program.concrete_subtypes_of(program.type_named("F")) == []
    assert program.archive_of_type(type_) == ""


def test_call_of_the_interface_selects_the_made_method() -> None:
    program = lambda_program(STATIC_IMPL)
    type_ = made_type(program)
    rows, methods = program.new_rows()
    (own,) = program.methods_of(type_)
    place = type_ - rows.first
    assert rows.declared_method[rows.declared_at[place] : rows.declared_at[place + 1]].tolist() == [own]
    assert program.signature_of(own) == program.signature_of(method(program, "F.apply" + SAM))
    assert (methods.parameters[own], methods.flags[own] & SYNTHETIC) == (2, SYNTHETIC)


def test_static_implementation_gets_captured_values_then_parameters() -> None:
    descriptor = "(LA;ILjava/lang/Object;)Ljava/lang/Object;"
    program = lambda_program(
        (6, ("H", "impl", descriptor)),
        Class(
            "H",
            methods=(Method("impl", descriptor, PUBLIC | ACC_STATIC), Method("<clinit>", flags=ACC_STATIC)),
        ),
        captured="LA;I",
        arguments=(0,),
    )
    body = body_of(program)
    ((base, field, loaded),) = listed(body, Load, "base", "field", "target")
    assert (base, program.name_of_field(field)[1]) == (0, "cap0")
    assert calls_of(program, body) == [("STATIC", "H.impl" + descriptor, [(0, loaded), (2, 1)])]
    assert [program.name_of_type(each) for each in body[Initialises].type.tolist()] == ["H"]
    ((result, thrown),) = listed(body, Invoke, "result", "thrown")
    assert thrown == 3
    assert listed(body, Assign, "source", "target") == [(result, 2)]


@pytest.mark.parametrize(
    ("kind", "owner", "expected"),
    [(5, "A", ("VIRTUAL", "A.run" + SAM)), (9, "I", ("VIRTUAL", "I.run" + SAM))],
)
def test_bound_receiver_is_a_captured_value(kind: int, owner: str, expected: tuple[str, str]) -> None:
    program = lambda_program(
        (kind, (owner, "run", SAM)),
        Class("A", methods=(Method("run", SAM),)),
        interface("I", methods=(Method("run", SAM, PUBLIC | ABSTRACT),)),
        captured=f"L{owner};",
        arguments=(0,),
    )
    body = body_of(program)
    ((_, _, loaded),) = listed(body, Load, "base", "field", "target")
    assert calls_of(program, body) == [(*expected, [(0, loaded), (1, 1)])]
    assert len(body[Initialises]) == 0


def test_private_implementation_is_called_without_dispatch() -> None:
    program = lambda_program(
        (7, ("A", "run", SAM)),
        Class("A", methods=(Method("run", SAM, PRIVATE),)),
        captured="LA;",
        arguments=(0,),
    )
    ((kind, callee, _),) = calls_of(program, body_of(program))
    assert (kind, callee) == ("SPECIAL", "A.run" + SAM)


def test_super_implementation_is_selected_from_the_superclass_of_the_host() -> None:
    run = ("A", "run", SAM)
    static = ((METHOD_TYPE, SAM), (METHOD_HANDLE, (7, run)), (METHOD_TYPE, SAM))
    rows = (("dynamic", 7, 0, ("apply", "(LC;)LF;"), 3, 2), ("dynamic_argument", 0, 0, 0))
    program = program_of(
        Class("A", methods=(Method("run", SAM),)),
        Class("B", "A", methods=(Method("run", SAM),)),
        Class("C", "B", methods=(Method("main", rows=rows),), bootstraps=((6, META, static),)),
        FUNCTION,
    )
    (type_,) = facts(program, "C.main")[New].type.tolist()
    body = program.facts_of(np.array(program.methods_of(type_), np.int32), np.zeros(1, np.int32), 0)
    assert [call[:2] for call in calls_of(program, body)] == [("SPECIAL", "B.run" + SAM)]


def test_unbound_receiver_is_the_first_parameter_cast_to_its_type() -> None:
    program = lambda_program(
        (5, ("A", "get", "()LB;")),
        Class("A", methods=(Method("get", "()LB;"),)),
        instantiated="(LA;)LB;",
    )
    body = body_of(program)
    ((source, type_, cast),) = listed(body, Cast, "source", "type", "target")
    assert (source, program.name_of_type(type_)) == (1, "A")
    assert calls_of(program, body) == [("VIRTUAL", "A.get()LB;", [(0, cast)])]


def test_constructor_reference_makes_initialises_and_returns_an_object() -> None:
    program = lambda_program(
        (8, ("A", "<init>", "(Ljava/lang/Object;)V")),
        Class("A", methods=(Method("<init>", "(Ljava/lang/Object;)V"), Method("<clinit>", flags=ACC_STATIC))),
        instantiated="(Ljava/lang/Object;)LA;",
    )
    body = body_of(program)
    ((type_, created),) = listed(body, New, "type", "target")
    assert program.name_of_type(type_) == "A"
    assert body[Initialises].type.tolist() == [type_]
    assert calls_of(program, body) == [("SPECIAL", "A.<init>(Ljava/lang/Object;)V", [(0, created), (1, 1)])]
    assert listed(body, Assign, "source", "target") == [(created, 2)]
    assert body[Invoke].result.tolist() == [-1]


def test_primitive_values_are_boxed_on_their_way_in_and_out() -> None:
    program = lambda_program(
        (6, ("M", "impl", SAM)), captured="I", sam="()Ljava/lang/Object;", instantiated="()Ljava/lang/Object;"
    )
    body = body_of(program, "()Ljava/lang/Object;")
    boxing, call = calls_of(program, body)
    assert boxing[:2] == ("STATIC", "java/lang/Integer.valueOf(I)Ljava/lang/Integer;")
    (boxed, _) = body[Invoke].result.tolist()
    assert call == ("STATIC", "M.impl" + SAM, [(0, boxed)])

    program = lambda_program(
        (6, ("H", "count", "()I")),
        Class("H", methods=(Method("count", "()I", PUBLIC | ACC_STATIC),)),
        sam="()Ljava/lang/Object;",
        instantiated="()Ljava/lang/Integer;",
    )
    body = body_of(program, "()Ljava/lang/Object;")
    assert [callee for _, callee, _ in calls_of(program, body)] == [
        "H.count()I",
        "java/lang/Integer.valueOf(I)Ljava/lang/Integer;",
    ]
    assert body[Invoke].result.tolist() == [-1, 1]


def test_result_is_cast_to_what_the_call_site_instantiates() -> None:
    program = lambda_program(STATIC_IMPL, Class("B"), instantiated="(Ljava/lang/Object;)LB;")
    body = body_of(program)
    (result,) = body[Invoke].result.tolist()
    assert listed(body, Cast, "source", "type", "target") == [(result, program.type_named("B"), 2)]


def test_result_of_a_void_method_goes_nowhere() -> None:
    void = "(Ljava/lang/Object;)V"
    program = lambda_program(STATIC_IMPL, sam=void, instantiated=void)
    body = body_of(program, void)
    assert body[Invoke].result.tolist() == [-1]
    assert len(body[Assign]) == 0


def test_variables_of_a_made_method_fit_what_the_rows_say() -> None:
    program = lambda_program(
        (8, ("A", "<init>", "(LB;ILjava/lang/Object;LB;)V")),
        Class("A", methods=(Method("<init>", "(LB;ILjava/lang/Object;LB;)V"),)),
        captured="LB;II",
        arguments=(0,),
        sam="(Ljava/lang/Object;)Ljava/lang/Object;",
        instantiated="(LB;)LA;",
    )
    (own,) = program.methods_of(made_type(program))
    body = body_of(program)
    _, rows = program.new_rows()
    used = [
        variable
        for relation, names in (
            (Load, ("target",)),
            (Cast, ("target",)),
            (New, ("target",)),
            (Argument, ("variable",)),
        )
        for row in listed(body, relation, *names)
        for variable in row
    ]
    assert max(used) < rows.variables[own]


def test_alt_metafactory_adds_markers_and_bridges() -> None:
    bridge = "(LB;)Ljava/lang/Object;"
    extra = (
        (NUMBER, 7),
        (NUMBER, 2),
        (CLASS, "java/Mark"),
        (CLASS, "java/Other"),
        (NUMBER, 1),
        (METHOD_TYPE, bridge),
    )
    program = lambda_program(STATIC_IMPL, bootstrap=ALT_META, extra=extra)
    type_ = made_type(program)
    interfaces = [program.name_of_type(each) for each in program.interfaces_of(type_)]
    assert interfaces == ["F", "java/io/Serializable", "java/Mark", "java/Other"]
    assert [program.name_of_method(each)[1:] for each in program.methods_of(type_)] == [
        ("apply", SAM),
        ("apply", bridge),
        ("writeReplace", "()Ljava/lang/Object;"),
    ]
    ((kind, callee, _),) = calls_of(program, body_of(program, bridge))
    assert (kind, callee) == ("STATIC", "M.impl" + SAM)


BRIDGE = "(LB;)Ljava/lang/Object;"


@pytest.mark.parametrize(
    ("extra", "interfaces", "methods"),
    [
        (((NUMBER, 1),), ["F", "java/io/Serializable"], 2),
        (((NUMBER, 2), (NUMBER, 1), (CLASS, "java/Mark")), ["F", "java/Mark"], 1),
        (((NUMBER, 4), (NUMBER, 1), (METHOD_TYPE, BRIDGE)), ["F"], 2),
        (((NUMBER, 6), (NUMBER, 0), (NUMBER, 1), (METHOD_TYPE, BRIDGE)), ["F"], 2),
        (((NUMBER, 4), (NUMBER, 1), (METHOD_TYPE, SAM)), ["F"], 1),
        (((NUMBER, 2),), ["F"], 1),
        (((NUMBER, 4),), ["F"], 1),
        (((STRING, "odd"),), ["F"], 1),
        ((), ["F"], 1),
    ],
)
def test_alt_metafactory_reads_its_arguments_by_its_flags(
    extra: tuple[tuple[int, Any], ...], interfaces: list[str], methods: int
) -> None:
    program = lambda_program(STATIC_IMPL, bootstrap=ALT_META, extra=extra)
    type_ = made_type(program)
    assert [program.name_of_type(each) for each in program.interfaces_of(type_)] == interfaces
    assert len(program.methods_of(type_)) == methods


def test_primitive_parameter_is_boxed_where_the_implementation_wants_an_object() -> None:
    program = lambda_program(STATIC_IMPL, sam="(I)V", instantiated="(I)V")
    body = body_of(program, "(I)V")
    boxing, call = calls_of(program, body)
    assert boxing == ("STATIC", "java/lang/Integer.valueOf(I)Ljava/lang/Integer;", [])
    assert call[2] == [(0, body[Invoke].result[0])]
    assert body[Invoke].thrown.tolist() == [3, 3]


def test_implementation_that_is_missing_is_an_unresolved_call() -> None:
    program = lambda_program((6, ("M", "gone", SAM)))
    body = body_of(program)
    assert calls_of(program, body) == [("STATIC", "", [(0, 1)])]
    assert len(body[Initialises]) == 0


def test_library_lambda_is_none_of_the_application() -> None:
    handle = (6, ("java/L", "impl", SAM))
    static = ((METHOD_TYPE, SAM), (METHOD_HANDLE, handle), (METHOD_TYPE, SAM))
    rows = (("dynamic", 7, 0, ("apply", "()LF;"), 3, 2),)
    library = Class(
        "java/L", methods=(Method("main", rows=rows, variables=4),), bootstraps=((6, META, static),)
    )
    program = program_of(FUNCTION, library=(library,))
    (type_,) = facts(program, "java/L.main")[New].type.tolist()
    assert not program.flags_of_type(type_) & APPLICATION


def test_method_that_the_jvm_makes_has_the_line_of_the_call_site() -> None:
    program = lambda_program(STATIC_IMPL)
    (own,) = program.methods_of(made_type(program))
    assert program.lines_of(np.array([own], np.int32), np.zeros(1, np.int32)).tolist() == [41]


def test_asking_again_makes_no_second_class() -> None:
    program = lambda_program(STATIC_IMPL)
    assert made_type(program) == made_type(program)


def test_call_sites_of_overloaded_methods_have_names_of_their_own() -> None:
    static = ((METHOD_TYPE, SAM), (METHOD_HANDLE, STATIC_IMPL), (METHOD_TYPE, SAM))
    rows = (("dynamic", 7, 0, ("apply", "()LF;"), 3, 2), ("dynamic", 9, 0, ("apply", "()LF;"), 3, 2))
    host = Class(
        "M",
        methods=(Method("m", "(I)V", rows=rows), Method("other"), Method("m", rows=rows[:1])),
        bootstraps=((6, META, static),),
    )
    program = program_of(host, FUNCTION)
    types = facts(program, "M.m", "M.m(I)V")[New].type.tolist()
    assert sorted(program.name_of_type(each) for each in types) == [
        "M$$Lambda@m+7",
        "M$$Lambda@m+9",
        "M$$Lambda@m~2+7",
    ]


# --- other bootstrap methods
def dynamic_program(
    bootstrap: tuple[str, str, str],
    static: tuple[tuple[int, Any], ...],
    name: str,
    descriptor: str,
    *classes: Class,
) -> LinkedProgram:
    rows = (
        ("dynamic", 5, 0, (name, descriptor), 3, 2),
        *(("dynamic_argument", 0, position, 10 + position) for position in (0, 1)),
    )
    host = Class(
        "M", methods=(Method("main", rows=rows, variables=20),), bootstraps=((6, bootstrap, static),)
    )
    return program_of(host, *classes)


def test_concatenation_makes_a_string_and_asks_its_arguments_for_theirs() -> None:
    program = dynamic_program(
        CONCAT,
        ((STRING, "\1\1"),),
        "makeConcatWithConstants",
        "(Ljava/lang/String;LA;)Ljava/lang/String;",
        Class("A", methods=(Method("toString", "()Ljava/lang/String;"),)),
    )
    found = facts(program, "M.main")
    assert [
        (program.name_of_type(type_), target) for type_, target in listed(found, New, "type", "target")
    ] == [("java/lang/String", 3)]
    (joined, asked) = calls_of(program, found)
    assert joined == ("STATIC", "", [(0, 10), (1, 11)])
    assert asked == ("VIRTUAL", "A.toString()Ljava/lang/String;", [(0, 11)])
    assert listed(found, Invoke, "result", "thrown", "offset") == [(3, -1, 5), (-1, 2, 5)]
    assert program.name_of_type(int(found[Invoke].declared[0])) == CONCAT[0]


@pytest.mark.parametrize(
    ("name", "descriptor", "callee", "loads"),
    [
        ("toString", "(LR;)Ljava/lang/String;", "A.toString()Ljava/lang/String;", 1),
        ("hashCode", "(LR;)I", "java/lang/Object.hashCode()I", 1),
        ("equals", "(LR;Ljava/lang/Object;)Z", "java/lang/Object.equals(Ljava/lang/Object;)Z", 2),
    ],
)
def test_record_method_calls_that_of_each_component(
    name: str, descriptor: str, callee: str, loads: int
) -> None:
    getters = tuple((METHOD_HANDLE, (1, ("R", each, text))) for each, text in (("a", "LA;"), ("n", "I")))
    program = dynamic_program(
        RECORD,
        ((CLASS, "R"), (STRING, "a;n"), *getters),
        name,
        descriptor,
        Class("R", fields=(("a", "LA;", PRIVATE), ("n", "I", PRIVATE))),
        Class("A", methods=(Method("toString", "()Ljava/lang/String;"),)),
    )
    ((kind, made, arguments),) = calls_of(program, facts(program, "M.main"))
    assert (kind, arguments) == ("STATIC", [(0, 10), (1, 11)])
    (own,) = facts(program, "M.main")[Invoke].callee.tolist()
    assert made.endswith(f".{name}{descriptor}")
    body = program.facts_of(np.array([own], np.int32), np.zeros(1, np.int32), 0)
    ((kind, called, passed),) = calls_of(program, body)
    assert (kind, called) == ("VIRTUAL", callee)
    assert {program.name_of_field(each)[1] for each in body[Load].field.tolist()} == {"a"}
    assert [variable for _, variable in passed] == body[Load].target.tolist()
    assert len(body[Load]) == loads
    assert len(body[New]) == (name == "toString")
    _, rows = program.new_rows()
    assert max(body[Load].target.tolist()) < rows.variables[own]


def test_switch_takes_nothing_anywhere() -> None:
    bootstrap = ("java/lang/runtime/SwitchBootstraps", "typeSwitch", "()V")
    program = dynamic_program(bootstrap, ((CLASS, "A"),), "typeSwitch", "(Ljava/lang/Object;I)I")
    assert all(len(rows) == 0 for rows in facts(program, "M.main").values())
    assert program.diagnostics == []


def test_unknown_bootstrap_method_runs_and_leaves_an_unresolved_call() -> None:
    static = PUBLIC | ACC_STATIC
    program = dynamic_program(
        ("boot/B", "link", "()Ljava/lang/invoke/CallSite;"),
        (),
        "go",
        "(LA;LA;)LA;",
        Class(
            "boot/B",
            methods=(
                Method("link", "()Ljava/lang/invoke/CallSite;", static),
                Method("<clinit>", flags=ACC_STATIC),
            ),
        ),
    )
    found = facts(program, "M.main")
    ((kind, made, arguments),) = calls_of(program, found)
    assert (kind, made, arguments) == ("STATIC", "M$$Linked@main+5.go(LA;LA;)LA;", [(0, 10), (1, 11)])
    assert found[Invoke].result.tolist() == [3]
    linked = program.facts_of(found[Invoke].callee, np.array([20], np.int32), 0)
    assert [each for _, each, _ in calls_of(program, linked)] == [
        "boot/B.link()Ljava/lang/invoke/CallSite;",
        "",  # there is no java.lang.invoke here: its target is asked for, and called
        "",
    ]
    assert [program.name_of_type(each) for each in linked[Initialises].type.tolist()] == ["boot/B"]
    (report,) = (each for each in program.diagnostics if each.code == "CLS-INDY")
    assert (report.code, report.effect, report.method, report.offset) == (
        "CLS-INDY",
        "soundness",
        "M.main()V",
        5,
    )
    assert "missing" not in report.text


@pytest.mark.parametrize(("entries", "shared"), [(SHARING, False), (SHARING + 1, True)])
def test_call_sites_of_a_dynamic_language_share_what_calls_their_targets(entries: int, shared: bool) -> None:
    link, call_site, handle = (
        "(Ljava/lang/String;)Ljava/lang/invoke/CallSite;",
        "java/lang/invoke/CallSite",
        "java/lang/invoke/MethodHandle",
    )
    rows = (
        ("dynamic", 5, 0, ("go", "(ILA;LB;)LA;"), 3, 2),
        *(("dynamic_argument", 0, position, 10 + position) for position in (1, 2)),
    )
    host = Class(
        "M",
        methods=(Method("main", rows=rows, variables=20),),
        bootstraps=((6, ("boot/B", "link", link), ((STRING, "x"),)),) * entries,
    )
    static, by_any = PUBLIC | ACC_STATIC, "([Ljava/lang/Object;)Ljava/lang/Object;"
    library = (
        Class(call_site, methods=(Method("getTarget", f"()L{handle};"),)),
        Class(handle, methods=(Method("invokeWithArguments", by_any),)),
    )
    program = program_of(host, Class("boot/B", methods=(Method("link", link, static),)), library=library)
    (linked,) = facts(program, "M.main")[Invoke].callee.tolist()
    body = program.facts_of(np.array([linked], np.int32), np.zeros(1, np.int32), 0)
    calls = [(kind, made) for kind, made, _ in calls_of(program, body)]
    by_itself = [("VIRTUAL", f"{call_site}.getTarget()L{handle};"), ("VIRTUAL", "")]
    taken = f"boot/B$$Linked@link.call(L{call_site};[Ljava/lang/Object;)Ljava/lang/Object;"
    assert calls == [("STATIC", f"boot/B.link{link}"), *([("STATIC", taken)] if shared else by_itself)]
    # (the references among the arguments go into an array, and what comes back is cast)
    stored = listed(body, ArrayStore, "source", "base")
    assert [source for source, _ in stored] == ([1, 2] if shared else [])
    assert [program.name_of_type(each) for each in body[Cast].type.tolist()] == ["A"]
    if shared:
        ((_, _, (made, array)),) = calls_of(program, body)[1:]
        assert {base for _, base in stored} == {array[1]}
        (common,) = body[Invoke].callee.tolist()[1:]
        inner = program.facts_of(np.array([common], np.int32), np.zeros(1, np.int32), 0)
        assert calls_of(program, inner) == [
            ("VIRTUAL", f"{call_site}.getTarget()L{handle};", [(0, 0)]),
            ("VIRTUAL", f"{handle}.invokeWithArguments{by_any}", [(0, 4), (1, 1)]),
        ]
        assert made[0] == 0


def test_how_many_entries_call_sites_share_is_told() -> None:
    (modelled,) = (each.effect for each in MODELS if each.name == "bootstrap methods of the program")
    assert f"if more than {SHARING} entries" in " ".join(modelled.split())


def test_bootstrap_method_of_a_class_that_is_missing_is_told_apart() -> None:
    program = dynamic_program(("gone/B", "link", "()V"), (), "go", "()LA;")
    facts(program, "M.main")
    (report,) = (each for each in program.diagnostics if each.code == "CLS-INDY")
    assert report.text == (
        "a call is linked by gone.B.link, whose class is missing: nothing of what it calls is found"
    )


@pytest.mark.parametrize(
    ("bootstrap", "static", "name"),
    [
        (META, ((STRING, "x"),), "apply"),
        (META, (), "apply"),
        (META, ((METHOD_TYPE, SAM), (METHOD_HANDLE, (1, ("M", "f", "LA;"))), (METHOD_TYPE, SAM)), "apply"),
        (
            (META[0], "other", "()V"),
            ((METHOD_TYPE, SAM), (METHOD_HANDLE, STATIC_IMPL), (METHOD_TYPE, SAM)),
            "apply",
        ),
        (RECORD, (), "toText"),
    ],
)
def test_bootstrap_arguments_that_make_no_sense_are_passed_on(
    bootstrap: tuple[str, str, str], static: tuple[tuple[int, Any], ...], name: str
) -> None:
    program = dynamic_program(bootstrap, static, name, "(LA;LA;)LF;")
    call = calls_of(program, facts(program, "M.main"))[0]
    assert call == ("STATIC", f"M$$Linked@main+5.{name}(LA;LA;)LF;", [(0, 10), (1, 11)])
    assert "CLS-INDY" in [each.code for each in program.diagnostics]


def test_bootstrap_method_that_is_missing_leaves_an_unresolved_call() -> None:
    rows = (("dynamic", 5, 3, ("go", "()LA;"), 3, 2),)
    program = program_of(Class("M", methods=(Method("main", rows=rows, variables=5),)))
    assert calls_of(program, facts(program, "M.main")) == [("STATIC", "", [])]
    assert [each.code for each in program.diagnostics] == ["CLS-INDY"]


def test_call_sites_of_bytecode_come_before_those_of_invokedynamic() -> None:
    rows = (
        ("dynamic", 5, 0, ("makeConcat", "(LA;)Ljava/lang/String;"), 3, 2),
        ("dynamic_argument", 0, 0, 4),
        ("invoke", 9, 182, ("A", "m", "()V"), -1, 2),
        ("argument", 0, 0, 3),
    )
    classes = [
        Class(name, methods=(Method("main", rows=rows, variables=6),), bootstraps=((6, CONCAT, ()),))
        for name in "MN"
    ]
    program = program_of(*classes, Class("A", methods=(Method("m"),)))
    found = facts(program, "M.main", "N.main")
    assert found[Invoke].site.tolist() == [0, 1, 2, 3, 4, 5]
    assert found[Invoke].offset.tolist() == [9, 9, 5, 5, 5, 5]
    assert listed(found, Argument, "site", "position", "variable") == [
        (0, 0, 3),
        (1, 0, 1003),
        (2, 0, 4),
        (3, 0, 4),
        (4, 0, 1004),
        (5, 0, 1004),
    ]
