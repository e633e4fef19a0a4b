"""Method bodies as constraints: variables, joins, objects."""

import struct
from itertools import pairwise

import pytest

from loader.unit import CLASS, METHOD_HANDLE, METHOD_TYPE, STRING
from tests.loader.rawclass import (
    RawClass,
    body,
    callee,
    conditional,
    returned,
    rows,
    s2,
    text,
    type_name,
    u2,
)

ACONST_NULL, ICONST_0, ALOAD_0, ALOAD_1, ASTORE_2, AALOAD, AASTORE, POP, ARETURN, RETURN, NOP = (
    1,
    3,
    42,
    43,
    77,
    50,
    83,
    87,
    176,
    177,
    0,
)


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
    code = (
        bytes([ALOAD_0, 0xC4, 0x3A])
        + u2(300)
        + b"\xc4\x84"
        + u2(301)
        + u2(5)
        + b"\xc4\x19"
        + u2(300)
        + b"\xb0"
    )
    assert returned(body(code, slots=302)) == {0}


# --- joins


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
    indexes = [
        (b"\x03", 0),
        (b"\x08", 5),
        (b"\x10\x7f", 127),
        (b"\x11\x01\x00", 256),
        (b"\x10\xff", -1),
        (b"\x1c", -1),
    ]
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
    inner = [(later[2], earlier[2]) for earlier, later in pairwise(made)]
    assert [(source, base) for _, source, _, base in rows(unit, "array_store")] == inner
    assert {index for _, _, index, _ in rows(unit, "array_store")} <= {-1}


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
    code = (
        b"".join(b"\x13" + u2(each) + b"\x57" for each in constants)
        + b"\x14"
        + u2(pool.long(1))
        + b"\x58\xb1"
    )
    unit = body(code, "()V", raw)
    found = [(kind, ref) for _, kind, ref, _ in rows(unit, "constant")]
    assert [kind for kind, _ in found] == [STRING, CLASS, CLASS, METHOD_TYPE, METHOD_HANDLE]
    refs = [ref for _, ref in found]
    assert text(unit, refs[0]) == "text"
    assert [type_name(unit, ref) for ref in refs[1:3]] == ["a/B", "[I"]
    assert text(unit, refs[3]) == "(I)V"
    assert unit.handle_kind[refs[4]] == 6
    assert callee(unit, unit.handle_ref[refs[4]]) == "b/C.go"
    loaded = [(signature, target) for _, _, signature, target, _ in rows(unit, "dynamic")]
    texts = [text(unit, unit.signature_descriptor[signature]) for signature, _ in loaded]
    assert texts == ["La/B;", "I"]
    assert [target > 0 for _, target in loaded] == [True, False]


def test_dynamic_constants_count_among_dynamic_calls() -> None:
    raw = RawClass(attributes=[("BootstrapMethods", b"\0\1\0\0\0\0")])
    pool = raw.pool
    handle = pool.handle(6, pool.method("b/C", "go", "()V"))
    wide, constant = pool.dynamic(17, 0, "w", "J"), pool.dynamic(17, 0, "x", "La/B;")
    called = pool.dynamic(18, 0, "go", "(La/B;)V")
    raw.attributes[0] = ("BootstrapMethods", u2(1) + u2(handle) + u2(0))
    code = b"\x14" + u2(wide) + b"\x58\x13" + u2(constant) + b"\xba" + u2(called) + b"\0\0\xb1"
    unit = body(code, "()V", raw)
    found = rows(unit, "dynamic")
    assert [offset for offset, *_ in found] == [0, 4, 7]
    results = [result for *_, result, _ in found]
    assert [result >= 0 for result in results] == [False, True, False]
    assert all(thrown > 0 for *_, thrown in found)
    assert rows(unit, "dynamic_argument") == [(2, 0, results[1])]


def test_what_linking_a_dynamic_constant_throws_goes_to_the_handler() -> None:
    raw = RawClass(attributes=[("BootstrapMethods", b"\0\1\0\0\0\0")])
    handle = raw.pool.handle(6, raw.pool.method("b/C", "go", "()V"))
    constant = raw.pool.dynamic(17, 0, "x", "La/B;")
    raw.attributes[0] = ("BootstrapMethods", u2(1) + u2(handle) + u2(0))
    code = b"\x13" + u2(constant) + b"\x57\xb1\x57\xb1"  # ldc_w, pop, return; the handler: pop, return
    unit = body(code, "()V", raw, handlers=[(0, 4, 5, 0)])
    ((*_, thrown),) = rows(unit, "dynamic")
    assert [source for _, source, *_ in rows(unit, "catch")] == [thrown]
