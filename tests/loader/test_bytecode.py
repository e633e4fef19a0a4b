"""Method bodies as constraints, instruction by instruction."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader import frame
from loader.unit import CLASS, DYNAMIC, METHOD_HANDLE, METHOD_TYPE, STRING, Unit
from tests.loader.rawclass import Pool, RawClass, callee, codes, rows, text, type_name, unit_of

ACONST_NULL, ICONST_0, ALOAD_0, ALOAD_1, ASTORE_1, ASTORE_2, AALOAD = 1, 3, 42, 43, 76, 77, 50
AASTORE, POP, DUP, SWAP, ARETURN, RETURN, ATHROW, NOP = 83, 87, 89, 95, 176, 177, 191, 0
TWO_REFERENCES = "(La;La;)La;"
# Variables of a static method with two parameters: what it returns and throws.
RETURNED, THROWN = 2, 3


def u2(value: int) -> bytes:
    return struct.pack(">H", value)


def s2(value: int) -> bytes:
    return struct.pack(">h", value)


def body(code: bytes, descriptor: str = TWO_REFERENCES, raw: RawClass | None = None, **options: object) -> Unit:
    """Returns the unit of a class whose first method has this body, which has to be translated."""
    unit = unit_of((raw or RawClass()).method(code, descriptor, **options))  # type: ignore[arg-type]
    assert unit.diagnostics == []
    return unit


def refused(code: bytes, descriptor: str = "()V", raw: RawClass | None = None, **options: object) -> str:
    """Returns the code of the one diagnostic that the body costs."""
    unit = unit_of((raw or RawClass()).method(code, descriptor, **options))  # type: ignore[arg-type]
    assert len(unit.diagnostics) == 1, unit.diagnostics
    assert unit.method_code.tolist() == [2]
    assert not any(len(column) for columns in unit.body.values() for column in columns.values())
    return codes(unit)[0]


def returned(unit: Unit) -> set[int]:
    """Returns the variables that the first method returns, through copies."""
    parameters = int(unit.method_parameters[0])
    sources: dict[int, set[int]] = {}
    for _, source, target in rows(unit, "assign"):
        sources.setdefault(target, set()).add(source)
    seen, waiting = set(), list(sources.get(parameters, ()))
    while waiting:
        variable = waiting.pop()
        if variable not in seen:
            seen.add(variable)
            waiting.extend(sources.get(variable, ()))
    return {variable for variable in seen if variable not in sources}


# --- layout


def test_parameters_are_numbered_by_position_not_by_slot() -> None:
    # aload 5 is the second reference: behind a long (slots 1, 2), a reference (3) and an int (4)
    unit = body(b"\x19\x05\xb0", "(JLa;ILb;)Lb;", flags=0)
    assert unit.method_parameters.tolist() == [5]
    assert rows(unit, "assign") == [(2, 4, 5)]
    assert unit.method_variables.tolist() == [7]


def test_no_number_of_a_variable_is_unused() -> None:
    raw = RawClass()
    field = raw.pool.field("T", "f", "La;")
    # the value of the first load is dropped in the merge that follows a branch
    code = bytes([ALOAD_0, 180]) + u2(field) + bytes([POP, ALOAD_0, 180]) + u2(field) + bytes([ARETURN])
    unit = body(code, raw=raw)
    used = {value for name, columns in unit.body.items() for column in ("target", "source", "base", "thrown")
            for value in columns.get(column, ())}  # fmt: skip
    assert set(range(4, unit.method_variables[0])) <= used


@pytest.mark.parametrize(
    ("shuffle", "expected"),
    [
        (b"\x59\x57", {1}),  # dup pop
        (b"\x5f", {0}),  # swap
        (b"\x5a\x57\x57", {1}),  # dup_x1 pop pop
        (b"\x5a\x57", {0}),
        (b"\x5c\x57", {0}),  # dup2 pop
        (b"\x5c\x58", {1}),  # dup2 pop2
        (b"\x01\x5b\x58", {0}),  # aconst_null dup_x2 pop2
        (b"\x01\x5b\x57\x57\x57", set()),
        (b"\x01\x5f\x5d\x58\x57", {1}),  # null under the second; dup2_x1 copies both below the first
        (b"\x03\x03\x5e\x58\x57", {0}),  # dup2_x2
    ],
)
def test_stack_forms(shuffle: bytes, expected: set[int]) -> None:
    assert returned(body(bytes([ALOAD_0, ALOAD_1]) + shuffle + bytes([ARETURN]))) == expected


def test_a_long_takes_two_places_and_its_arithmetic_leaves_them() -> None:
    # aload_0; lconst_0; lconst_1; ladd; l2i; pop; areturn
    assert returned(body(b"\x2a\x09\x0a\x61\x88\x57\xb0")) == {0}
    # aload_0; lconst_0; lconst_1; lcmp; i2d; dconst_0; dcmpg; pop
    assert returned(body(b"\x2a\x09\x0a\x94\x87\x0e\x98\x57\xb0")) == {0}
    # aload_0; lconst_0; iconst_1; lshl; pop2
    assert returned(body(b"\x2a\x09\x04\x79\x58\xb0")) == {0}


def test_wide_loads_and_stores() -> None:
    code = bytes([ALOAD_0, 0xC4, 0x3A]) + u2(300) + b"\xc4\x84" + u2(301) + u2(5) + b"\xc4\x19" + u2(300) + b"\xb0"
    assert returned(body(code, slots=302)) == {0}


# --- joins


def conditional(first: bytes, second: bytes) -> bytes:
    """Returns code that branches on whether argument 1 is null to the one or the other."""
    start = bytes([ALOAD_1, 198]) + s2(3 + len(first) + 3) + first
    return start + b"\xa7" + s2(3 + len(second)) + second


def test_ways_that_meet_give_both_values() -> None:
    code = conditional(bytes([ALOAD_0]), bytes([ALOAD_1])) + bytes([ARETURN])
    assert returned(body(code)) == {0, 1}


def test_slots_that_meet_give_both_values() -> None:
    code = conditional(bytes([ALOAD_0, ASTORE_2]), bytes([ALOAD_1, ASTORE_2])) + b"\x2c\xb0"
    assert returned(body(code)) == {0, 1}


def test_a_slot_with_one_value_on_both_ways_needs_no_variable() -> None:
    code = bytes([ALOAD_0, ASTORE_2]) + conditional(bytes([NOP]), bytes([ALOAD_0, ASTORE_2])) + b"\x2c\xb0"
    unit = body(code)
    assert (returned(unit), int(unit.method_variables[0])) == ({0}, 4)


def test_a_store_is_seen_by_the_next_round_of_a_loop() -> None:
    # 0 aload_0, 1 astore_2, 2 aload_2, 3 ifnull 12, 6 aload_1, 7 astore_2, 8 goto 2, 11 nop, 12 aload_2, 13 areturn
    code = b"\x2a\x4d\x2c\xc6" + s2(9) + bytes([ALOAD_1, ASTORE_2, 167]) + s2(-6) + b"\0\x2c\xb0"
    assert returned(body(code)) == {0, 1}


def test_a_block_above_that_only_a_jump_back_reaches() -> None:
    # 0 goto 5; 3 aload_2 areturn; 5 aload_1 astore_2 goto 3
    assert returned(body(b"\xa7" + s2(5) + b"\x2c\xb0" + bytes([ALOAD_1, ASTORE_2, 167]) + s2(-4))) == {1}


def test_a_branch_to_the_start_merges_with_the_entry() -> None:
    # 0 aload_0 areturn on the second way: 0 aload_0, 1 ifnonnull 8, 4 aload_1, 5 astore_0, 6.. goto 0
    code = b"\x2a\xc7" + s2(8) + b"\x2b\x4b\xa7" + s2(-6) + b"\x2a\xb0"
    assert returned(body(code)) == {0, 1}


def test_unreached_code_says_nothing() -> None:
    raw = RawClass()
    new = b"\xbb" + u2(raw.pool.type("a")) + b"\x57"
    unit = body(b"\xb1" + new + b"\xb1", "()V", raw)
    assert rows(unit, "new") == []


def test_switches_reach_all_their_targets() -> None:
    # 0 iconst_0, 1 tableswitch (aligned at 4): default 28, 0: 24, 1: 26
    table = b"\x03\xaa\0\0" + struct.pack(">iiiii", 27, 0, 1, 23, 25) + b"\x2a\xb0\x2b\xb0\x01\xb0"
    assert returned(body(table)) == {0, 1}
    lookup = b"\x03\xab\0\0" + struct.pack(">iiii", 21, 1, 7, 19) + b"\x2a\xb0\x2b\xb0"
    assert returned(body(lookup)) == {0, 1}


# --- objects


def test_field_access() -> None:
    raw = RawClass()
    reference, number = raw.pool.field("T", "f", "La;"), raw.pool.field("T", "n", "J")
    code = bytes([ALOAD_0, ALOAD_1, 181]) + u2(reference)  # a.f = b
    code += bytes([ALOAD_0, 9, 181]) + u2(number)  # a.n = 0L
    code += bytes([ALOAD_0, 180]) + u2(number) + b"\x58"  # a.n
    code += bytes([ALOAD_0, ACONST_NULL, 181]) + u2(reference)  # a.f = null
    code += bytes([ALOAD_1, 180]) + u2(reference) + b"\xb0"
    unit = body(code, raw=raw)
    assert rows(unit, "store") == [(2, 1, 0, 0)]
    assert rows(unit, "load") == [(len(code) - 4, 1, 0, 4)]
    assert returned(unit) == {4}


def test_static_access_is_there_for_numbers_too() -> None:
    raw = RawClass()
    reference, number = raw.pool.field("T", "f", "La;"), raw.pool.field("T", "n", "D")
    code = b"\xb2" + u2(reference) + b"\xb3" + u2(reference)
    code += b"\xb2" + u2(number) + b"\xb3" + u2(number) + b"\x01\xb3" + u2(reference) + b"\xb1"
    unit = body(code, "()V", raw)
    assert rows(unit, "static_load") == [(0, 0, 2), (6, 1, -1)]
    assert rows(unit, "static_store") == [(3, 2, 0), (9, -1, 1), (13, -1, 0)]


def test_array_elements_have_their_constant_index() -> None:
    indexes = [(b"\x03", 0), (b"\x08", 5), (b"\x10\x7f", 127), (b"\x11\x01\x00", 256), (b"\x10\xff", -1), (b"\x1c", -1)]
    code = b"".join(bytes([ALOAD_0]) + push + bytes([ALOAD_1, AASTORE]) for push, _ in indexes)
    code += bytes([ALOAD_0, ICONST_0, AALOAD, ARETURN])
    unit = body(code, "([La;La;)La;")
    assert [row[1:] for row in rows(unit, "array_store")] == [(1, index, 0) for _, index in indexes]
    assert rows(unit, "array_load") == [(len(code) - 2, 0, 4)]


def test_arithmetic_makes_a_constant_unknown() -> None:
    code = bytes([ALOAD_0, 4, 4, 0x60, ALOAD_1, AASTORE, ALOAD_0, 4, 0x74, ALOAD_1, AASTORE, RETURN])
    assert [row[2] for row in rows(body(code, "([La;La;)V"), "array_store")] == [-1, -1]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (b"\x03\xbc\x0a\x57\xb1", ["[I"]),
        (b"\x03\xbd%s\x57\xb1" % u2(2), ["[La/B;"]),
        (b"\x03\xbd%s\x57\xb1" % u2(4), ["[[[J"]),
        (b"\x03\x03\xc5%s\x02\x57\xb1" % u2(4), ["[[J", "[J"]),
        (b"\x03\xc5%s\x01\x57\xb1" % u2(4), ["[[J"]),
    ],
)
def test_new_arrays(code: bytes, names: list[str]) -> None:
    raw = RawClass()
    assert (raw.pool.type("a/B"), raw.pool.type("[[J")) == (2, 4)
    unit = body(code, "()V", raw)
    made = rows(unit, "new")
    assert [type_name(unit, ref) for _, ref, _ in made] == names
    # each is an element of the one before
    inner = [(later[2], earlier[2]) for earlier, later in zip(made, made[1:], strict=False)]
    assert [(source, base) for _, source, _, base in rows(unit, "array_store")] == inner


def test_casts_filter_and_null_passes() -> None:
    raw = RawClass()
    type_ = u2(raw.pool.type("[La/B;"))
    unit = body(bytes([ACONST_NULL, 192]) + type_ + bytes([POP, ALOAD_0, 192]) + type_ + b"\xb0", raw=raw)
    assert [(source, type_name(unit, ref)) for _, source, ref, _ in rows(unit, "cast")] == [(0, "[La/B;")]
    assert returned(unit) == {4}


def test_constants() -> None:
    raw = RawClass(attributes=[("BootstrapMethods", b"\0\1\0\0\0\0")])
    pool = raw.pool
    handle = pool.handle(6, pool.method("b/C", "go", "()V"))
    constants = [
        pool.string("text"), pool.type("a/B"), pool.type("[I"), pool.put(b"\x10" + u2(pool.utf8("(I)V"))), handle,
        pool.dynamic(17, 0, "x", "La/B;"), pool.integer(3), pool.dynamic(17, 0, "y", "I"),
    ]  # fmt: skip
    raw.attributes[0] = ("BootstrapMethods", u2(1) + u2(handle) + u2(0))
    code = b"".join(b"\x13" + u2(each) + b"\x57" for each in constants) + b"\x14" + u2(pool.long(1)) + b"\x58\xb1"
    unit = body(code, "()V", raw)
    found = [(kind, ref) for _, kind, ref, _ in rows(unit, "constant")]
    assert [kind for kind, _ in found] == [STRING, CLASS, CLASS, METHOD_TYPE, METHOD_HANDLE, DYNAMIC]
    refs = [ref for _, ref in found]
    assert text(unit, refs[0]) == "text"
    assert [type_name(unit, ref) for ref in refs[1:3]] == ["a/B", "[I"]
    assert text(unit, refs[3]) == "(I)V"
    assert unit.handle_kind[refs[4]] == 6
    assert callee(unit, unit.handle_ref[refs[4]]) == "b/C.go"
    assert text(unit, refs[5]) == "La/B;"


# --- calls


def test_arguments_are_references_only_and_null_has_no_row() -> None:
    raw = RawClass()
    descriptor = "(JLa;ILa;D)La;"
    method = u2(raw.pool.method("b/C", "go", descriptor))
    interface = u2(raw.pool.member(11, "b/C", "go", descriptor))
    pushes = bytes([9, ALOAD_1, 3, ACONST_NULL, 14])
    code = pushes + b"\xb8" + method + b"\x57"
    code += b"\x2a" + pushes + b"\xb6" + method + b"\x57"
    code += b"\x2a" + pushes + b"\xb9" + interface + b"\x08\0\x57"
    code += b"\x01" + pushes + b"\xb7" + method + b"\xb0"
    unit = body(code, raw=raw)
    calls = rows(unit, "invoke")
    assert [opcode for _, opcode, _, _, _ in calls] == [184, 182, 185, 183]
    assert {callee(unit, ref) for _, _, ref, _, _ in calls} == {"b/C.go"}
    assert [thrown for *_, thrown in calls] == [THROWN] * 4
    assert len({result for *_, result, _ in calls}) == 4
    assert rows(unit, "argument") == [(0, 1, 1), (1, 0, 0), (1, 2, 1), (2, 0, 0), (2, 2, 1), (3, 2, 1)]
    assert returned(unit) == {calls[3][3]}


@pytest.mark.parametrize(("kind", "pop"), [("V", b""), ("I", b"\x57"), ("J", b"\x58")])
def test_other_results_have_no_variable(kind: str, pop: bytes) -> None:
    raw = RawClass()
    code = bytes([ALOAD_0, 184]) + u2(raw.pool.method("b/C", "go", f"(){kind}")) + pop + b"\xb0"
    unit = body(code, raw=raw)
    assert [row[3] for row in rows(unit, "invoke")] == [-1]
    assert returned(unit) == {0}


def test_dynamic_calls() -> None:
    raw = RawClass()
    handle = raw.pool.handle(6, raw.pool.method("b/C", "link", "()V"))
    raw.attributes.append(("BootstrapMethods", u2(2) + (u2(handle) + u2(0)) * 2))
    code = bytes([ALOAD_0, ALOAD_1, 9, 186]) + u2(raw.pool.dynamic(18, 1, "go", "(La;La;J)La;")) + b"\0\0\xb0"
    unit = body(code, raw=raw)
    ((_, bootstrap, signature, result, thrown),) = rows(unit, "dynamic")
    assert (bootstrap, thrown) == (1, THROWN)
    assert text(unit, unit.signature_name[signature]) == "go"
    assert rows(unit, "dynamic_argument") == [(0, 0, 0), (0, 1, 1)]
    assert returned(unit) == {result}


def test_a_dynamic_call_of_no_bootstrap_method_is_kept() -> None:
    raw = RawClass()
    unit = unit_of(raw.method(b"\xba" + u2(raw.pool.dynamic(18, 0, "go", "()V")) + b"\0\0\xb1"))
    assert codes(unit) == ["CLS-INDY"]
    assert [row[1] for row in rows(unit, "dynamic")] == [-1]


# --- exact arguments


def array(pool: Pool, length: bytes, elements: list[bytes]) -> bytes:
    """Returns code that makes and fills an array as javac does for a variable number of arguments."""
    made = length + b"\xbd" + u2(pool.type("a"))
    return made + b"".join(b"\x59" + element + b"\x53" for element in elements)


def go(pool: Pool, owner: str = "b/C") -> bytes:
    return b"\xb8" + u2(pool.method(owner, "go", "([La;)V"))


def test_an_array_made_for_a_call_is_exact() -> None:
    raw = RawClass()
    code = array(raw.pool, b"\x06", [b"\x03\x2b", b"\x05\x01"]) + go(raw.pool) + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == [(0, 0, 3, 0, 1), (0, 0, 3, 1, -1), (0, 0, 3, 2, -1)]


def test_an_empty_array_is_exact() -> None:
    raw = RawClass()
    code = array(raw.pool, b"\x03", []) + go(raw.pool) + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == [(0, 0, 0, -1, -1)]


def test_an_array_in_a_slot_and_with_a_choice_for_an_element_is_exact() -> None:
    raw = RawClass()
    element = conditional(bytes([ALOAD_0]), bytes([ALOAD_1]))
    code = array(raw.pool, b"\x04", []) + b"\x4d\x2c\x03\x2b\x53" + element + b"\x57\x2c" + go(raw.pool) + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == [(0, 0, 1, 0, 1)]


@pytest.mark.parametrize(
    "spoil",
    [
        b"\x59\x03\x2a\x53",  # another store at the index
        b"\x59\x1b\x2a\x53",  # a store somewhere
        b"\x59\x08\x2a\x53",  # a store outside
        b"\x59\xb3\0\x01",  # kept in a static field
        b"\x59\x2a\x5f\xb5\0\x02",  # kept in a field
        b"\x59\xb8\0\x03",  # seen by another call
        b"\x59\x2a\x5f\x03\x5f\x53",  # kept in an array
        b"\x59\xc0\0\x04\x57",  # cast, which makes another variable
    ],
)
def test_an_array_that_others_see_is_not_exact(spoil: bytes) -> None:
    raw = RawClass()
    pool = raw.pool
    indexes = [
        pool.field("T", "s", "[La;"), pool.field("a", "f", "[La;"), pool.method("b/C", "other", "([La;)V"),
        pool.type("[Ljava/lang/Object;"),
    ]  # fmt: skip
    for number, index in enumerate(indexes, 1):
        spoil = spoil.replace(bytes([0, number]), u2(index))
    code = array(pool, b"\x04", [b"\x03\x2b"]) + spoil + go(pool) + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == []


def test_reflection_may_see_an_array_twice() -> None:
    raw = RawClass()
    reflect = go(raw.pool, "java/lang/Class")
    code = array(raw.pool, b"\x04", [b"\x03\x2b"]) + b"\x59" + reflect + reflect + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == [(0, 0, 1, 0, 1), (1, 0, 1, 0, 1)]


def test_an_array_that_may_be_another_is_not_exact() -> None:
    raw = RawClass()
    made = array(raw.pool, b"\x04", [b"\x03\x2b"])
    code = conditional(made, bytes([ALOAD_0])) + go(raw.pool) + b"\x01\xb0"
    assert rows(body(code, "([La;La;)La;", raw), "exact_argument") == []


# --- exceptions


def throwing(raw: RawClass, **options: object) -> tuple[bytes, bytes]:
    """Returns a call, and the code of a handler that returns what it caught."""
    return b"\xb8" + u2(raw.pool.method("b/C", "go", "()V")), b"\xb0"


def test_what_a_call_throws_goes_through_the_handlers_in_order() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    first, second = raw.pool.type("e/First"), raw.pool.type("e/Second")
    # 0 call; 3 aconst_null areturn; 5 areturn (both handlers: 5 and 6); 7 call outside
    code = call + b"\x01\xb0\xb0\xb0"
    unit = body(code, raw=raw, handlers=[(0, 3, 5, first), (0, 3, 6, second)])
    ((*_, thrown),) = rows(unit, "invoke")
    caught, passed = rows(unit, "catch"), rows(unit, "uncaught")
    assert [(source, type_name(unit, ref)) for _, source, ref, _ in caught][0] == (thrown, "e/First")
    assert passed[0][:2] == (5, thrown)
    onward = passed[0][3]
    assert (caught[1][1], type_name(unit, caught[1][2])) == (onward, "e/Second")
    assert passed[1][1] == onward
    assert passed[1][3] == THROWN
    assert returned(unit) == {caught[0][3], caught[1][3]}


@pytest.mark.parametrize("name", ["", "java/lang/Throwable"])
def test_what_catches_everything_lets_nothing_on(name: str) -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    type_ = raw.pool.type(name) if name else 0
    unit = body(call + b"\x01\xb0\xb0", raw=raw, handlers=[(0, 3, 5, type_), (0, 3, 5, raw.pool.type("e/E"))])
    assert [type_name(unit, ref) for _, _, ref, _ in rows(unit, "catch")] == ["java/lang/Throwable"]
    assert rows(unit, "uncaught") == []


def test_calls_outside_of_handlers_throw_to_the_caller() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    unit = body(call + call + b"\x01\xb0\xb0", raw=raw, handlers=[(3, 6, 8, 0)])
    assert [thrown == THROWN for *_, thrown in rows(unit, "invoke")] == [True, False]


def test_regions_without_calls_have_no_rows() -> None:
    unit = body(b"\0\x01\xb0\xb0", handlers=[(0, 1, 3, 0)])
    assert rows(unit, "catch") == rows(unit, "uncaught") == []


def test_nested_regions_share_the_outer_handlers() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    inner, outer = raw.pool.type("e/Inner"), raw.pool.type("e/Outer")
    unit = body(call + call + b"\x01\xb0\xb0\xb0", raw=raw, handlers=[(0, 3, 8, inner), (0, 6, 9, outer)])
    assert len(rows(unit, "catch")) == len(rows(unit, "uncaught")) == 2
    second = rows(unit, "invoke")[1][4]
    first = rows(unit, "invoke")[0][4]
    assert [target for _, source, _, target in rows(unit, "uncaught") if source == first] == [second]


def test_athrow_assigns_to_its_region() -> None:
    unit = body(b"\x2a\xbf")
    assert rows(unit, "assign") == [(1, 0, THROWN)]
    unit = body(b"\x2a\xbf\xb0", handlers=[(0, 2, 2, 0)])
    assert [source for _, source, _, _ in rows(unit, "catch")] == [0]


def test_a_handler_sees_each_value_that_a_slot_had_in_its_range() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    # aload_0 astore_2 | call, aload_1 astore_2, call | aconst_null areturn; handler: pop aload_2 areturn
    code = b"\x2a\x4d" + call + b"\x2b\x4d" + call + b"\x01\xb0\x57\x2c\xb0"
    assert returned(body(code, raw=raw, handlers=[(2, 10, 12, 0)])) == {0, 1}


def test_a_handler_does_not_see_a_value_that_a_slot_gets_at_the_end_of_its_range() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    code = b"\x2a\x4d" + call + b"\x2b\x4d" + call + b"\x01\xb0\x57\x2c\xb0"
    assert returned(body(code, raw=raw, handlers=[(2, 7, 12, 0)])) == {0}


def test_a_handler_that_covers_itself_loops() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    unit = body(call + b"\x01\xb0\x57" + call + b"\x01\xb0", raw=raw, handlers=[(0, 9, 5, 0)])
    first, second = (thrown for *_, thrown in rows(unit, "invoke"))
    assert first == second


def test_a_handler_that_is_a_block_already() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    # 0 goto 4; 3 areturn (the handler, and a block); 4 aload_1; 5 ifnull 12; 8 aload_0; 9 goto 3; 12 nop; 13 call …
    code = b"\xa7" + s2(4) + b"\xb0" + b"\x2b\xc6" + s2(7) + b"\x2a\xa7" + s2(-6) + b"\0" + call + b"\x01\xb0"
    start = code.index(call)
    unit = body(code, raw=raw, handlers=[(start, start + 3, 3, 0)])
    handler = rows(unit, "catch")[0][3]
    assert {row[1:] for row in rows(unit, "assign")} == {(0, handler), (handler, RETURNED)}


# --- subroutines


def test_a_subroutine_returns_to_all_its_callers() -> None:
    raw = RawClass()
    call, _ = throwing(raw)
    # 0 aload_0 astore_2 jsr 14 | 5 aload_1 astore_2 jsr 14 | 10 call, goto 17 … 14: astore_3 call(..) ret 3
    code = b"\x2a\x4d\xa8" + s2(10) + b"\x2b\x4d\xa8" + s2(5) + b"\x2c\xb0" + b"\x4e" + call + b"\xa9\x03"
    unit = body(code, raw=raw)
    assert len(rows(unit, "invoke")) == 1
    assert 1 in returned(unit)


def test_nested_subroutines_return_to_their_own_callers() -> None:
    # 0 jsr 5, 3 aload_0 areturn, 5 astore_2 jsr 11, 9 ret 2, 11 astore_3 ret 3
    code = b"\xa8" + s2(5) + b"\x2a\xb0" + b"\x4d\xa8" + s2(5) + b"\xa9\x02" + b"\x4e\xa9\x03"
    assert returned(body(code)) == {0}


def test_wide_ret() -> None:
    code = b"\xa8" + s2(5) + b"\x2a\xb0" + b"\xc4\x3a" + u2(300) + b"\xc4\xa9" + u2(300)
    assert returned(body(code, slots=301)) == {0}


def test_a_subroutine_may_never_return() -> None:
    # 0 jsr 5; 3 aload_0 areturn (unreached); 5 pop aload_1 areturn
    assert returned(body(b"\xa8" + s2(5) + b"\x2a\xb0\x57\x2b\xb0")) == {1}


@pytest.mark.parametrize("code", [b"\x03\x4b\xa9\0", b"\xa8" + s2(4) + b"\xb1\0\x4c\xa9\x01"])
def test_a_ret_of_no_subroutine(code: bytes) -> None:
    assert refused(code) == "CLS-JSR"


# --- what is no code


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (b"", "CLS-CODE"),
        (bytes(65536), "CLS-CODE"),
        (b"\xcb", "CLS-CODE"),  # no such instruction
        (b"\x00", "CLS-CODE"),  # falls off the end
        (b"\xa7\x00\x01\xb1", "CLS-CODE"),  # a branch into itself
        (b"\xa7\x7f\xff", "CLS-CODE"),
        (b"\xa7\xff\xff\xb1", "CLS-CODE"),
        (b"\x03\x99\x00\x04\x10\xb1", "CLS-CODE"),  # into an operand
        (b"\xa7\x00\x05\x11\x00\xb1\xb1", "CLS-CODE"),  # into one of an instruction that isn't reached
        (b"\xb1\x10\xb1\xa7\xff\xff\xb1", "CLS-CODE"),  # from one that isn't reached
        (b"\x03\xaa\x00\x00" + struct.pack(">iii", 12, 5, 4), "CLS-CODE"),
        (b"\x03\xaa\x00\x00" + struct.pack(">iii", 12, -(1 << 31), (1 << 31) - 1), "CLS-CODE"),
        (b"\x03\xab\x00\x00" + struct.pack(">ii", 12, 1 << 30), "CLS-CODE"),
        (b"\x03\xab\x00\x00" + struct.pack(">ii", 12, -1), "CLS-CODE"),
        (b"\x57\xb1", "CLS-STACK"),
        (b"\x58\xb1", "CLS-STACK"),
        (b"\x03\x5f\xb1", "CLS-STACK"),
        (b"\x03\x5a\xb1", "CLS-STACK"),
        (b"\x03\x4f\xb1", "CLS-STACK"),
        (b"\xbf", "CLS-STACK"),
        (b"\x2a\x03\x53\xb1", "CLS-STACK"),
        (b"\x2a\xb1", ""),
        (b"\x19\x63\xb1", "CLS-STACK"),  # a slot that isn't there
        (b"\x03\x99\x00\x04\x03\xb1", "CLS-STACK"),  # meets with another depth
        (b"\x03\xa7\xff\xff", "CLS-STACK"),  # a loop that pushes
        (b"\x03\xbc\x03\xb1", "CLS-CODE"),  # an array of no type
        (b"\xc4\x00\x00\x00\xb1", "CLS-CODE"),
    ],
)
def test_code_that_is_none(code: bytes, expected: str) -> None:
    if expected:
        assert refused(code) == expected
    else:
        body(code, "()V")


@pytest.mark.parametrize("row", [(2, 2, 0, 0), (2, 1, 0, 0), (0, 99, 0, 0), (0, 1, 0xFFFF, 0)])
def test_exception_tables_out_of_range(row: tuple[int, int, int, int]) -> None:
    assert refused(b"\0\0\xb1", handlers=[row]) == "CLS-CODE"


def test_parameters_that_take_more_than_255_words_or_than_there_are_slots() -> None:
    assert refused(b"\xb1", f"({'J' * 128})V", slots=300) == "CLS-CODE"
    assert refused(b"\xb1", "(JJ)V", slots=3) == "CLS-CODE"


@pytest.mark.parametrize("descriptor", ["", "()", "V", "(V)V", "(L;)V", "(La)V", "([)V", "()VV", "(Q)V"])
def test_descriptors_that_are_none(descriptor: str) -> None:
    assert refused(b"\xb1", descriptor) == "CLS-CP"


def test_a_body_that_would_cost_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "LIMIT", 1000)
    code = b"\x2a\x4c" * 2 + b"".join(b"\x2a\xc6\0\x03" for _ in range(100)) + b"\xb1"
    body(code, "(La;)V", slots=2)
    assert refused(code, "(La;)V", slots=100) == "CLS-LIMIT"


def test_one_body_that_is_none_costs_only_itself() -> None:
    raw = RawClass()
    call = b"\xb8" + u2(raw.pool.method("b/C", "go", "()V"))
    raw.method(call + b"\x57\xb1", name="bad").method(call + b"\xb1", name="good")
    unit = unit_of(raw)
    assert unit.method_code.tolist() == [2, 1]
    assert [len(rows(unit, "invoke", method)) for method in (0, 1)] == [0, 1]
    assert unit.diagnostics[0].effect == "soundness"


@given(st.lists(st.sampled_from(range(0xCB)), min_size=1, max_size=12), st.binary(min_size=24, max_size=24))
def test_no_code_raises_anything_but_a_diagnostic(opcodes: list[int], operands: bytes) -> None:
    raw = RawClass()
    raw.pool.method("b/C", "go", "(La;)La;")
    code = b"".join(bytes([opcode, 0, operands[2 * at] % 12]) for at, opcode in enumerate(opcodes)) + b"\xb1"
    unit = unit_of(raw.method(code, "(La;La;)V", handlers=[(0, len(code), 0, 0)]))
    assert unit.method_code.tolist() == [2 if unit.diagnostics else 1]
