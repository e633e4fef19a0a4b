"""Exceptions and subroutines as constraints."""

import pytest

from tests.loader.rawclass import (
    RawClass,
    body,
    calling,
    refused,
    returned,
    rows,
    s2,
    type_name,
    u2,
)

# Variables of a static method with two parameters: what it returns and what it throws.
RETURNED, THROWN = 2, 3


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


def test_regions_without_calls_have_no_rows() -> None:
    unit = body(b"\0\x01\xb0\xb0", handlers=[(0, 1, 3, 0)])
    assert rows(unit, "catch") == rows(unit, "uncaught") == []


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


def test_a_subroutine_returns_to_all_its_callers() -> None:
    raw = RawClass()
    call = calling(raw)
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
