"""Exceptions and subroutines as constraints."""

import pytest

from tests.loader.rawclass import (
    RawClass,
    body,
    calling,
    conditional,
    refused,
    returned,
    rows,
    s2,
    type_name,
    u2,
)

# Variables of a static method with two parameters: what it returns and what it throws.
RETURNED, THROWN = 2, 3
PARAMETERS = {0, 1}


# --- exceptions


def test_what_a_call_throws_goes_through_the_handlers_in_order() -> None:
    raw = RawClass()
    call = calling(raw)
    first, second = raw.pool.type("e/First"), raw.pool.type("e/Second")
    # 0 call; 3 aconst_null areturn; 5 areturn (both handlers: 5 and 6); 7 call outside
    code = call + b"\x01\xb0\xb0\xb0"
    unit = body(code, raw=raw, handlers=[(0, 3, 5, first), (0, 3, 6, second)])
    ((*_, thrown),) = rows(unit, "invoke")
    caught, passed = rows(unit, "catch"), rows(unit, "uncaught")
    assert next((source, type_name(unit, ref)) for _, source, ref, _ in caught) == (thrown, "e/First")
    assert passed[0][:2] == (5, thrown)
    onward = passed[0][3]
    assert (caught[1][1], type_name(unit, caught[1][2])) == (onward, "e/Second")
    assert passed[1][1] == onward
    assert passed[1][3] == THROWN
    assert returned(unit) == {caught[0][3], caught[1][3]}


@pytest.mark.parametrize("name", ["", "java/lang/Throwable"])
def test_what_catches_everything_lets_nothing_on(name: str) -> None:
    raw = RawClass()
    call = calling(raw)
    type_ = raw.pool.type(name) if name else 0
    unit = body(call + b"\x01\xb0\xb0", raw=raw, handlers=[(0, 3, 5, type_), (0, 3, 5, raw.pool.type("e/E"))])
    assert [type_name(unit, ref) for _, _, ref, _ in rows(unit, "catch")] == ["java/lang/Throwable"]
    assert rows(unit, "uncaught") == []


def test_calls_outside_of_handlers_throw_to_the_caller() -> None:
    raw = RawClass()
    call = calling(raw)
    unit = body(call + call + b"\x01\xb0\xb0", raw=raw, handlers=[(3, 6, 8, 0)])
    assert [thrown == THROWN for *_, thrown in rows(unit, "invoke")] == [True, False]


def test_regions_without_calls_have_handlers_for_what_the_jvm_throws() -> None:
    unit = body(b"\0\x01\xb0\xb0", handlers=[(0, 1, 3, 0)])
    assert [(offset, type_ref) for offset, _, type_ref, _ in rows(unit, "catch")] == [(3, 1)]
    assert rows(unit, "uncaught") == []


def test_nested_regions_share_the_outer_handlers() -> None:
    raw = RawClass()
    call = calling(raw)
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
    call = calling(raw)
    # aload_0 astore_2 | call, aload_1 astore_2, call | aconst_null areturn; handler: pop aload_2 areturn
    code = b"\x2a\x4d" + call + b"\x2b\x4d" + call + b"\x01\xb0\x57\x2c\xb0"
    assert returned(body(code, raw=raw, handlers=[(2, 10, 12, 0)])) == {0, 1}


def test_a_handler_does_not_see_a_value_that_a_slot_gets_at_the_end_of_its_range() -> None:
    raw = RawClass()
    call = calling(raw)
    code = b"\x2a\x4d" + call + b"\x2b\x4d" + call + b"\x01\xb0\x57\x2c\xb0"
    assert returned(body(code, raw=raw, handlers=[(2, 7, 12, 0)])) == {0}


def test_a_handler_that_covers_itself_loops() -> None:
    raw = RawClass()
    call = calling(raw)
    unit = body(call + b"\x01\xb0\x57" + call + b"\x01\xb0", raw=raw, handlers=[(0, 9, 5, 0)])
    first, second = (thrown for *_, thrown in rows(unit, "invoke"))
    assert first == second


def test_a_handler_that_is_a_block_already() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 goto 4; 3 areturn (the handler, and a block); 4 aload_1; 5 ifnull 12; 8 aload_0; 9 goto 3; 12 nop; 13 call …
    code = b"\xa7" + s2(4) + b"\xb0" + b"\x2b\xc6" + s2(7) + b"\x2a\xa7" + s2(-6) + b"\0" + call + b"\x01\xb0"
    start = code.index(call)
    unit = body(code, raw=raw, handlers=[(start, start + 3, 3, 0)])
    handler = rows(unit, "catch")[0][3]
    assert {row[1:] for row in rows(unit, "assign")} == {(0, handler), (handler, RETURNED)}


# --- subroutines


def test_c13_a_subroutine_returns_to_all_its_callers() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 aload_0 astore_2 jsr 14 | 5 aload_1 astore_2 jsr 14 | 10 call, goto 17 … 14: astore_3 call(..) ret 3
    code = b"\x2a\x4d\xa8" + s2(10) + b"\x2b\x4d\xa8" + s2(5) + b"\x2c\xb0" + b"\x4e" + call + b"\xa9\x03"
    unit = body(code, raw=raw)
    assert len(rows(unit, "invoke")) == 1
    assert 1 in returned(unit)


def test_c13_nested_subroutines_return_to_their_own_callers() -> None:
    # 0 jsr 5, 3 aload_0 areturn, 5 astore_2 jsr 11, 9 ret 2, 11 astore_3 ret 3
    code = b"\xa8" + s2(5) + b"\x2a\xb0" + b"\x4d\xa8" + s2(5) + b"\xa9\x02" + b"\x4e\xa9\x03"
    assert returned(body(code)) == {0}


def test_c13_wide_ret() -> None:
    code = b"\xa8" + s2(5) + b"\x2a\xb0" + b"\xc4\x3a" + u2(300) + b"\xc4\xa9" + u2(300)
    assert returned(body(code, slots=301)) == {0}


def test_a_ret_of_a_slot_with_the_number_of_astore() -> None:
    code = b"\xa8" + s2(5) + b"\x2a\xb0" + b"\x3a\x3a" + b"\xa9\x3a"
    assert returned(body(code, slots=0x3B)) == {0}


def test_c13_a_subroutine_may_never_return() -> None:
    # 0 jsr 5; 3 aload_0 areturn (unreached); 5 pop aload_1 areturn
    assert returned(body(b"\xa8" + s2(5) + b"\x2a\xb0\x57\x2b\xb0")) == {1}


@pytest.mark.parametrize("code", [b"\x03\x4b\xa9\0", b"\xa8" + s2(4) + b"\xb1\0\x4c\xa9\x01"])
def test_c13_a_ret_of_no_subroutine(code: bytes) -> None:
    assert refused(code) == "CLS-JSR"


# --- blocks in another order than control takes


def test_a_block_that_several_ways_reach_has_the_slots_of_those_ways() -> None:
    # 0 aload_0 ifnull 17 | 4 aload_0 astore_2 (once), aload_1 astore_3, aload_1 ifnull 19 | 12 aload_0 astore_3 goto 19
    # 17 aload_1 areturn | 19 aload_2 areturn
    code = b"\x2a\xc6" + s2(16) + b"\x2a\x4d\x2b\x4e\x2b\xc6" + s2(10) + b"\x2a\x4e\xa7" + s2(5)
    assert returned(body(code + b"\x2b\xb0\x2c\xb0")) == {0, 1}


def test_a_slot_that_is_stored_to_between_two_meetings() -> None:
    unit = body(conditional(b"\0", b"\0") + b"\x2a\x4d" + conditional(b"\0", b"\0") + b"\x2c\xb0")
    assert returned(unit) == {0}


def test_a_merged_slot_that_is_read_on_two_ways() -> None:
    # 13 aload_1 ifnull 19 | 17 aload_2 areturn | 19 aload_2 athrow
    code = conditional(b"\x2a\x4d", b"\x2b\x4d") + b"\x2b\xc6" + s2(5) + b"\x2c\xb0\x2c\xbf"
    unit = body(code)
    assert returned(unit) == {0, 1}
    merged = {source for _, source, target in rows(unit, "assign") if target == RETURNED}
    assert merged == {source for _, source, target in rows(unit, "assign") if target == THROWN}


def test_blocks_that_were_jumped_over() -> None:
    # 0 aload_1 ifnull 7 | 4 goto 10 | 7 goto 12 | 10 aload_0 areturn | 12 aload_1 areturn
    code = b"\x2b\xc6" + s2(6) + b"\xa7" + s2(6) + b"\xa7" + s2(5) + b"\x2a\xb0\x2b\xb0"
    assert returned(body(code)) == {0, 1}
    raw = RawClass()
    # 0 aload_1 ifnull 9 | 4 call, aconst_null areturn | 9 aload_0 areturn | 11 the handler: pop aload_1 areturn
    code = b"\x2b\xc6" + s2(8) + calling(raw) + b"\x01\xb0\x2a\xb0\x57\x2b\xb0"
    assert returned(body(code, raw=raw, handlers=[(4, 7, 11, 0)])) == {0, 1}


@pytest.mark.parametrize(
    ("first", "again", "expected"),
    [
        (b"\x2a", b"\x57\x2b", {0, 1}),
        (b"\x2b", b"\x57\x2a", {0, 1}),
        (b"\x01", b"\x57\x2a", {0}),
        (b"\x2a", b"\x57\x01", {0}),
        (b"\x2a", b"\x57\x03", {0}),
        (b"\x2a", b"\0\0", {0}),
        (b"\x01", b"\x57\x01", set()),
    ],
)
def test_a_stack_that_a_loop_changes(first: bytes, again: bytes, expected: set[int]) -> None:
    # 0 push, 1 aload_1, 2 ifnull 10, 5 pop and push, 7 goto 1, 10 areturn
    unit = body(first + b"\x2b\xc6" + s2(8) + again + b"\xa7" + s2(-6) + b"\xb0")
    assert returned(unit) & PARAMETERS == expected
    assert all(source >= 0 and source != target for _, source, target in rows(unit, "assign"))
    # The same in a slot.
    code = first + b"\x4d" + b"\x2b\xc6" + s2(10) + b"\x2c" + again + b"\x4d\xa7" + s2(-8) + b"\x2c\xb0"
    unit = body(code)
    assert returned(unit) & PARAMETERS == expected
    assert all(source >= 0 and source != target for _, source, target in rows(unit, "assign"))


def test_ways_that_return_are_no_ways_on() -> None:
    # Were they, a constant would not be known: 0 aload_0 iconst_2, aload_1 ifnull 14 …
    for end in (b"\xb1", b"\x2a\xb0", b"\x2a\xbf", b"\xa7\0\0", b"\xc8\0\0\0\0"):
        code = b"\x2a\x05\x2b\xc6" + s2(3 + len(end)) + end + b"\x2b\x53\xb1"
        assert [row[2] for row in rows(body(code, "([La;La;)V"), "array_store")] == [2]


@pytest.mark.parametrize("way", ["a7 0003", "c8 00000005", "03 ab 00000009 00000000"])
def test_a_way_counts_once(way: str) -> None:
    # Were there others, a constant would not be known.
    code = b"\x2a\x05" + bytes.fromhex(way) + b"\x2b\x53\xb1"
    assert [row[2] for row in rows(body(code, "([La;La;)V"), "array_store")] == [2]


@pytest.mark.parametrize("ret", [b"\xa9\x02", b"\xc4\xa9\0\x02"])
def test_the_end_of_a_subroutine_is_no_way_on(ret: bytes) -> None:
    # 0 jsr 4, 3 return | 4 astore_2, aload_0 iconst_2, aload_1 ifnull (behind the ret), ret; aload_1 aastore return
    code = b"\xa8" + s2(4) + b"\xb1\x4d\x2a\x05\x2b\xc6" + s2(3 + len(ret)) + ret + b"\x2b\x53\xb1"
    assert [row[2] for row in rows(body(code, "([La;La;)V"), "array_store")] == [2]


@pytest.mark.parametrize(("end", "depth"), [(b"\xb0", 1), (b"\xbf", 1), (b"\xb1", 0)])
def test_what_ends_a_block_need_not_look_back(end: bytes, depth: int) -> None:
    # The operand of what is before looks like a longer instruction.
    code = (b"\x19\x11" if depth else b"\x3a\x11") + end
    code = b"\x2a" * (1 - depth) + code
    assert returned(body(code + b"\x57\x2a\xb0", slots=20, handlers=[(0, len(code), len(code), 0)])) == {0}


def test_what_follows_a_switch_is_not_reached() -> None:
    # 0 aload_0, 1 iconst_0, 2 lookupswitch (aligned at 4): default 20, 1: 22; 20 nop: not a target
    code = b"\x2a\x03\xab\0" + bytes.fromhex("00000014 00000001 00000007 00000014") + b"\x2b\xb0\x2a\xb0"
    assert code[22] == 0x2A
    assert returned(body(code)) == {0}


# --- handlers in another order, and what they see


def test_a_handler_before_what_it_covers() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 goto 5; 3 areturn (a handler), 4 areturn (another); 5 call, aconst_null areturn
    code = b"\xa7" + s2(5) + b"\xb0\xb0" + call + b"\x01\xb0"
    unit = body(code, raw=raw, handlers=[(5, 8, 4, raw.pool.type("e/E")), (5, 8, 3, 0)])
    assert returned(unit) == {row[3] for row in rows(unit, "catch")}
    assert len(rows(unit, "catch")) == 2


def test_a_handler_to_which_a_branch_leads_before_it_is_reached() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 call; 3 aload_0 goto 9; 7 nops; 9 areturn, the handler
    code = call + b"\x2a\xa7" + s2(5) + b"\0\0" + b"\xb0"
    unit = body(code, raw=raw, handlers=[(0, 3, 9, 0)])
    ((_, _, _, caught),) = rows(unit, "catch")
    assert {row[1:] for row in rows(unit, "assign")} == {(0, caught), (caught, RETURNED)}


@pytest.mark.parametrize("push", [b"", b"\x2a\x2a"])
def test_a_block_of_another_depth_is_no_handler(push: bytes) -> None:
    raw = RawClass()
    call = calling(raw)
    # push, then a loop at `target` that lasts while argument 1 is null; the call behind it is covered
    target = len(push)
    code = push + b"\0\x2b\xc6" + s2(-2) + call + b"\x2b\xb0"
    at = code.index(call)
    assert refused(code, "(La;La;)La;", raw, handlers=[(at, at + 3, target, 0)]) == "CLS-STACK"


STORES = pytest.mark.parametrize(
    "store", [b"\x4d", b"\x3a\x02", b"\xc4\x3a\0\x02"], ids=["astore_2", "astore", "wide astore"]
)


@STORES
def test_a_handler_sees_a_store_from_the_next_instruction_on(store: bytes) -> None:
    raw = RawClass()
    call = calling(raw)
    # aload_0, store | call, aload_1, store, nop | aconst_null areturn; handler: pop aload_2 areturn
    before = b"\x2a" + store
    stored = before + call + b"\x2b" + store
    code = stored + b"\0\x01\xb0\x57\x2c\xb0"
    target = code.index(b"\x57\x2c\xb0")
    for end, expected in ((len(stored), {0}), (len(stored) + 1, {0, 1})):
        raw.methods.clear()
        assert returned(body(code, raw=raw, handlers=[(len(before), end, target, 0)])) == expected
    for start in (len(before), len(stored) - len(store)):
        raw.methods.clear()
        unit = body(code, raw=raw, handlers=[(start, len(stored) + 1, target, 0)])
        assert returned(unit) == {0, 1}
    raw.methods.clear()
    assert returned(body(code, raw=raw, handlers=[(len(stored), len(stored) + 1, target, 0)])) == {1}


def test_handlers_see_what_slots_held_in_their_own_ranges() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 aload_0 astore_2, 2 aload_1 astore_3 | 4 call | 7 aload_1 astore_2, 9 aload_0 astore_3 | 11 call | 14 aconst_null
    # astore_2, 16 aload_0 astore_2 | 18 call, aconst_null areturn | 23 pop aload_2 areturn | 26 pop aload_3 areturn
    code = b"\x2a\x4d\x2b\x4e" + call + b"\x2b\x4d\x2a\x4e" + call + b"\x01\x4d\x2a\x4d" + call + b"\x01\xb0"
    code += b"\x57\x2c\xb0" + b"\x57\x2d\xb0"
    nowhere = (0, 0)
    for ranges, second, expected in [
        ([(4, 7)], nowhere, {0}),
        ([(4, 11)], nowhere, {0, 1}),
        ([(11, 14)], nowhere, {1}),
        ([(11, 14), (18, 21)], nowhere, {0, 1}),
        ([(4, 7), (18, 21)], nowhere, {0}),
        ([(4, 11), (18, 21)], nowhere, {0, 1}),
        ([(9, 14)], nowhere, {1}),
        ([(4, 7), (11, 14)], nowhere, {0, 1}),
        ([(4, 7)], (4, 7), {0, 1}),
        ([(4, 7)], (11, 14), {0}),
        ([(11, 14)], (4, 7), {1}),
        ([(4, 9)], (9, 14), {0, 1}),
        ([(4, 8)], (8, 14), {0, 1}),
        ([(4, 7)], (7, 14), {0, 1}),
    ]:
        raw.methods.clear()
        handlers = [(start, end, 23, 0) for start, end in ranges]
        if second != nowhere:
            handlers.append((*second, 26, 0))
        assert returned(body(code, raw=raw, handlers=handlers)) == expected, (ranges, second)


def test_a_handler_of_what_begins_where_another_range_ends() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 aload_0 astore_2 | 2 call, aload_1 astore_2 | 7 call | aconst_null areturn; 12 pop aload_2 areturn; 15 as 10
    code = b"\x2a\x4d" + call + b"\x2b\x4d" + call + b"\x01\xb0\x57\x2c\xb0\x57\x01\xb0"
    assert returned(body(code, raw=raw, handlers=[(2, 7, 12, 0), (7, 10, 15, 0)])) == {0}
    raw.methods.clear()
    assert returned(body(code, raw=raw, handlers=[(2, 7, 15, 0), (7, 10, 12, 0)])) == {1}


def test_calls_behind_a_range_throw_to_the_caller() -> None:
    raw = RawClass()
    call = calling(raw)
    unit = body(call + call + b"\x01\xb0\xb0", raw=raw, handlers=[(0, 3, 8, 0)])
    assert [thrown == THROWN for *_, thrown in rows(unit, "invoke")] == [False, True]
    raw = RawClass()
    handle = raw.pool.handle(6, raw.pool.method("b/C", "link", "()V"))
    raw.attributes.append(("BootstrapMethods", u2(1) + u2(handle) + u2(0)))
    dynamic = b"\xba" + u2(raw.pool.dynamic(18, 0, "go", "()V")) + b"\0\0"
    unit = body(dynamic * 3 + b"\x01\xb0\xb0", raw=raw, handlers=[(0, 10, 17, 0)])
    first, second, third = (thrown for *_, thrown in rows(unit, "dynamic"))
    assert (first == second, third) == (True, THROWN)
    assert [source for _, source, _, _ in rows(unit, "catch")] == [first]


# --- what ends a subroutine, and which

DEEP = b"\x2a\x2b"  # what a caller has on the stack, so that a return to another caller is refused


def test_a_slot_that_one_caller_of_a_subroutine_stores_to() -> None:
    # 0 goto 8 | 3 jsr 16, 6 aload_2 areturn | 8 jsr 16, 11 aload_0 astore_2 goto 3 | 16 astore_3 ret 3
    code = b"\xa7" + s2(8) + b"\xa8" + s2(13) + b"\x2c\xb0" + b"\xa8" + s2(8) + b"\x2a\x4d\xa7" + s2(-10)
    assert returned(body(code + b"\x4e\xa9\x03")) == {0}


@pytest.mark.parametrize(
    ("store", "ret"),
    [
        (b"\x4b", b"\xa9\0"), (b"\x4d", b"\xa9\x02"), (b"\x3a\x02", b"\xa9\x02"), (b"\xc4\x3a\0\x02", b"\xa9\x02"),
        (b"\x4d", b"\xc4\xa9\0\x02"), (b"\xc4\x3a\x01\x2c", b"\xc4\xa9\x01\x2c"),
    ],
)  # fmt: skip
def test_each_subroutine_returns_to_its_callers_though_they_use_one_slot(store: bytes, ret: bytes) -> None:
    # 0 aload_1 ifnull 9 | 4 aload_1 jsr 16, 8 areturn | 9 two values, jsr the second, pop areturn | first | second
    first = store + ret
    code = b"\x2b\xc6" + s2(8) + b"\x2b\xa8" + s2(11) + b"\xb0"
    code += DEEP + b"\xa8" + s2(5 + len(first)) + b"\x57\xb0"
    assert returned(body(code + first + store + ret, slots=302)) == {0, 1}


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (2, 3),
        (3, 2),
        (0x12C, 0x22C),
        (0x12C, 0x12D),
        (0x22C, 0x12C),
        (0x12C, 0xAC),
        (0xAC, 0x12C),
        (0x12C, 0x2C),
    ],
)
def test_a_subroutine_within_another_returns_there(outer: int, inner: int) -> None:
    # 0 aload_0 jsr 5, 4 areturn | 5 store, aload_1, jsr the inner, pop, ret | store, ret
    def store(slot: int) -> bytes:
        return b"\xc4\x3a" + u2(slot)

    def ret(slot: int) -> bytes:
        return b"\xc4\xa9" + u2(slot)

    begin = store(outer) + b"\x2b\xa8"
    end = b"\x57" + ret(outer)
    code = b"\x2a\xa8" + s2(4) + b"\xb0" + begin + s2(3 + len(end)) + end + store(inner) + ret(inner)
    assert returned(body(code, slots=0x230)) == {0}


@pytest.mark.parametrize(
    "end",
    [
        "2a b0", "b1", "03 ac", "2a bf", "a7 0000", "c8 00000000", "03 ab 00 ffffffff 00000000",
        "03 aa 00 ffffffff 00000000 00000000 ffffffff", "c4 a9 0002", "a9 02",
    ],
)  # fmt: skip
def test_a_subroutine_that_does_not_go_on_into_the_next(end: str) -> None:
    # 0 aload_1 ifnull 9 | 4 aload_0 jsr 16, 8 areturn | 9 two values, jsr the second, pop areturn | first | second
    first = b"\x4d" + bytes.fromhex(end)
    code = b"\x2b\xc6" + s2(8) + b"\x2a\xa8" + s2(11) + b"\xb0"
    code += DEEP + b"\xa8" + s2(5 + len(first)) + b"\x57\xb0" + first + b"\x4d\xa9\x02"
    assert returned(body(code)) == {0}


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("2b c6 0004 00 a9 02", {0}),  # over an instruction or through it
        ("2b c6 0005 2a bf a9 02", {0}),  # by the branch only
        ("2b c7 0005 2a bf a9 02", {0}),
        ("03 99 0005 2a bf a9 02", {0}),
        ("2a 2b a6 0005 2a bf a9 02", {0}),
        ("2b c6 0005 2b b0 a9 02", {0, 1}),
        ("2b c6 0005 a9 02 2a bf", {0}),  # not by the branch
        ("a7 0005 2b b0 a9 02", {0}),
        ("c8 00000007 2b b0 a9 02", {0}),
        ("03 ab 0000000b 00000000 2b b0 00 a9 02", {0}),
        ("a8 0006 a9 02 00 4e a9 03", {0}),  # behind a subroutine
        ("a8 0005 a9 02 57 2a bf", set()),  # which never returns
        ("c4 84 0005 0001 a9 02", {0}),
        ("b8 CALL a9 02", {0}),
    ],
)
def test_ways_to_the_end_of_a_subroutine(way: str, expected: set[int]) -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 aload_0 jsr 5, 4 areturn | 5 astore_2 …
    code = b"\x2a\xa8" + s2(4) + b"\xb0\x4d" + bytes.fromhex(way.replace("b8 CALL", call.hex()))
    assert returned(body(code, raw=raw)) == expected


def test_a_subroutine_that_ends_in_a_handler_of_its_own() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 jsr 5, 3 aload_1 areturn | 5 astore_2, 6 call, 9 aconst_null areturn | 11 pop, ret 2
    code = b"\xa8" + s2(5) + b"\x2b\xb0" + b"\x4d" + call + b"\x01\xb0" + b"\x57\xa9\x02"
    for start, end in ((6, 9), (9, 10), (10, 11), (5, 6)):
        raw.methods.clear()
        assert returned(body(code, raw=raw, handlers=[(start, end, 11, 0)])) == {1}


def test_a_handler_of_others_is_no_end_of_a_subroutine() -> None:
    raw = RawClass()
    call = calling(raw)
    # 0 aload_1 ifnull 9 | 4 aload_1 jsr 16, 8 areturn | 9 two values, jsr 19, pop areturn | 16 astore_2, aload_0 areturn |
    # 19 astore_2, 20 call, 23 aconst_null areturn | 25 pop (its handler), aload_0 aload_1 ret 2
    code = b"\x2b\xc6" + s2(8) + b"\x2b\xa8" + s2(11) + b"\xb0" + DEEP + b"\xa8" + s2(8) + b"\x57\xb0"
    code += b"\x4d\x2a\xb0" + b"\x4d" + call + b"\x01\xb0" + b"\x57" + DEEP + b"\xa9\x02"
    for ranges in ([(20, 23)], [(19, 20)], [(19, 23)], [(20, 23), (8, 16)]):
        raw.methods.clear()
        unit = body(code, raw=raw, handlers=[(*each, 25, 0) for each in ranges])
        assert returned(unit) == {0}


def test_a_call_of_a_subroutine_may_be_the_last_instruction() -> None:
    # 0 jsr 6 | 3 pop aload_0 areturn | 6 astore_2, jsr 3
    assert returned(body(b"\xa8" + s2(6) + b"\x57\x2a\xb0" + b"\x4d\xa8" + s2(-4))) == {0}


def test_a_subroutine_that_drops_its_address_may_end_another() -> None:
    # 0 aload_1 jsr 5, 4 areturn | 5 astore_0, aload_1, jsr 14, 10 pop pop aload_1 areturn | 14 pop pop, ret 0
    code = b"\x2b\xa8" + s2(4) + b"\xb0" + b"\x4b\x2b\xa8" + s2(7) + b"\x57\x57\x2b\xb0" + b"\x57\x57\xa9\0"
    assert returned(body(code)) == {1}


def test_a_return_address_is_no_value() -> None:
    assert returned(body(b"\xa8" + s2(3) + b"\x4d\x2c\xb0")) & PARAMETERS == set()


@pytest.mark.parametrize(
    "begin",
    [
        b"\0",
        b"\x2a",
        b"\x2a\xb0",
        b"\x2a\x3a\x02",
        b"\xc4\x19\0\x02",
        b"\x39\x02",
        b"\xc4\x36\0\x02",
        b"\x5a",
        b"\x36\x02",
    ],
)
def test_a_subroutine_that_does_not_keep_its_address(begin: bytes) -> None:
    assert refused(b"\xa8" + s2(4) + b"\xb1" + begin + b"\xb1", "(La;)V") == "CLS-JSR"
