"""Calls as constraints, and the arrays that are made for them."""

import pytest

from tests.loader.rawclass import (
    Pool,
    RawClass,
    body,
    callee,
    codes,
    conditional,
    returned,
    rows,
    s2,
    text,
    u2,
    unit_of,
)

ACONST_NULL, ALOAD_0, ALOAD_1 = 1, 42, 43
# The variable of a static method with two parameters: what it throws.
THROWN = 3


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


@pytest.mark.parametrize(("kind", "pop"), [("V", b""), ("I", b"\x57"), ("J", b"\x58"), ("La;", b"\x57")])
def test_dynamic_calls_have_their_own_arguments_and_results(kind: str, pop: bytes) -> None:
    raw = RawClass()
    handle = raw.pool.handle(6, raw.pool.method("b/C", "link", "()V"))
    raw.attributes.append(("BootstrapMethods", u2(1) + u2(handle) + u2(0)))
    call = b"\xba" + u2(raw.pool.dynamic(18, 0, "go", f"(La;La;){kind}")) + b"\0\0"
    code = b"\x2a\x2a\x2b" + call + pop + b"\x2b\x01" + call + pop + b"\xb0"
    unit = body(code, raw=raw)
    assert rows(unit, "dynamic_argument") == [(0, 0, 0), (0, 1, 1), (1, 0, 1)]
    results = [result for *_, result, _ in rows(unit, "dynamic")]
    assert results == ([4, 5] if kind == "La;" else [-1, -1])
    assert returned(unit) == {0}


@pytest.mark.parametrize("opcode", [182, 183, 184, 185])
def test_calls_of_all_kinds_go_on_behind_themselves(opcode: int) -> None:
    raw = RawClass()
    ref = raw.pool.member(11, "b/C", "go", "()V") if opcode == 185 else raw.pool.method("b/C", "go", "()V")
    code = b"\x2a\x2b\x2b" + bytes([opcode]) + u2(ref) + (b"\x57\x57" if opcode == 185 else b"")
    unit = body(code + b"\x57" * (2 if opcode == 184 else 1) + b"\xb0", raw=raw)
    assert returned(unit) == {0}


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
    assert rows(body(code, raw=raw), "exact_argument") == [
        (0, 0, 3, 0, 1),
        (0, 0, 3, 1, -1),
        (0, 0, 3, 2, -1),
    ]


def test_an_empty_array_is_exact() -> None:
    raw = RawClass()
    code = array(raw.pool, b"\x03", []) + go(raw.pool) + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == [(0, 0, 0, -1, -1)]


def test_an_array_in_a_slot_and_with_a_choice_for_an_element_is_exact() -> None:
    raw = RawClass()
    element = conditional(bytes([ALOAD_0]), bytes([ALOAD_1]))
    code = (
        array(raw.pool, b"\x04", [])
        + b"\x4d\x2c\x03\x2b\x53"
        + element
        + b"\x57\x2c"
        + go(raw.pool)
        + b"\x2a\xb0"
    )
    assert rows(body(code, raw=raw), "exact_argument") == [(0, 0, 1, 0, 1)]


@pytest.mark.parametrize(
    "spoil",
    [
        b"\x59\x03\x2a\x53",  # another store at the index
        b"\x59\x1b\x2a\x53",  # a store somewhere
        b"\x59\x08\x2a\x53",  # a store outside
        b"\x59\x04\x2a\x53",  # just outside
        b"\x59\xb3\0\x01",  # kept in a static field
        b"\x59\x2a\x5f\xb5\0\x02",  # kept in a field
        b"\x59\xb8\0\x03",  # seen by another call
        b"\x59\x2a\x5f\x03\x5f\x53",  # kept in an array
        b"\x59\xc0\0\x04\x57",  # cast, which makes another variable
        b"\x59\xba\0\x05\0\0",  # handed to a dynamic call
        b"\x59\x2a\x5f\xba\0\x06\0\0",  # as its second argument
    ],
)
def test_an_array_that_others_see_is_not_exact(spoil: bytes) -> None:
    raw = RawClass()
    pool = raw.pool
    indexes = [
        pool.field("T", "s", "[La;"), pool.field("a", "f", "[La;"), pool.method("b/C", "other", "([La;)V"),
        pool.type("[Ljava/lang/Object;"), pool.dynamic(18, 0, "go", "([La;)V"),
        pool.dynamic(18, 0, "go", "(La;[La;)V"),
    ]  # fmt: skip
    raw.attributes.append(("BootstrapMethods", u2(1) + u2(pool.handle(6, indexes[2])) + u2(0)))
    for number, index in enumerate(indexes, 1):
        if bytes([0, number]) in spoil:
            spoil = spoil.replace(bytes([0, number]), u2(index))
            break
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


def test_reflection_and_another_call_may_not() -> None:
    for owners in (("java/lang/Class", "b/C"), ("b/C", "java/lang/Class")):
        raw = RawClass()
        first, second = (go(raw.pool, owner) for owner in owners)
        code = go(raw.pool) + array(raw.pool, b"\x04", [b"\x03\x2b"]) + b"\x59" + first + second + b"\x2a\xb0"
        unit = body(b"\x2a" + code, "([La;La;)La;", raw=raw)
        assert rows(unit, "exact_argument") == []


def test_reflection_may_see_an_array_behind_other_calls() -> None:
    raw = RawClass()
    reflect, other = go(raw.pool, "java/lang/Class"), b"\xb8" + u2(raw.pool.method("b/C", "no", "()V"))
    code = other + array(raw.pool, b"\x04", [b"\x03\x2b"]) + b"\x59" + reflect + other + reflect + other
    code += b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == [(1, 0, 1, 0, 1), (3, 0, 1, 0, 1)]


def test_only_short_arrays_are_exact() -> None:
    for length, count in ((255, 255), (256, 0)):
        raw = RawClass()
        code = b"\x2a" + array(raw.pool, b"\x11" + u2(length), [b"\x03\x2b"]) + go(raw.pool) + b"\x2a\xb0"
        assert len(rows(body(code, raw=raw), "exact_argument")) == count


@pytest.mark.parametrize("end", [b"\xb0", b"\xbf"])
def test_an_array_that_the_caller_sees_is_not_exact(end: bytes) -> None:
    raw = RawClass()
    code = array(raw.pool, b"\x04", [b"\x03\x2b"]) + b"\x59" + go(raw.pool) + end
    assert rows(body(code, raw=raw), "exact_argument") == []


def test_an_array_that_goes_through_a_loop_is_exact() -> None:
    raw = RawClass()
    made = array(raw.pool, b"\x04", [b"\x03\x2b"])
    # aload_1 ifnull (behind the goto), goto aload_1; the array is on the stack all the time
    loop = b"\x2b\xc6" + s2(6) + b"\xa7" + s2(-4)
    unit = body(made + loop + go(raw.pool) + b"\x2a\xb0", raw=raw)
    assert rows(unit, "exact_argument") == [(0, 0, 1, 0, 1)]
    raw.methods.clear()
    unit = body(made + loop + loop + loop + go(raw.pool) + b"\x2a\xb0", raw=raw)
    assert rows(unit, "exact_argument") == [(0, 0, 1, 0, 1)]
    # The first variable of the method is what is on the stack in the loop: null, or the array.
    raw.methods.clear()
    code = b"\x01\x57" + made + b"\x59" + go(raw.pool)
    unit = body(code + b"\xa7" + s2(1 - len(code)), raw=raw)
    assert rows(unit, "exact_argument") == [(0, 0, 1, 0, 1)]


def test_an_array_in_a_slot_that_loops_store_to_is_exact() -> None:
    raw = RawClass()
    made = array(raw.pool, b"\x04", [b"\x03\x2b"])
    # aload_1 ifnull (behind the goto), aload_2 astore_2, goto aload_1
    loop = b"\x2b\xc6" + s2(8) + b"\x2c\x4d\xa7" + s2(-6)
    unit = body(made + b"\x4d" + loop * 3 + b"\x2c" + go(raw.pool) + b"\x2a\xb0", raw=raw)
    assert rows(unit, "exact_argument") == [(0, 0, 1, 0, 1)]


def test_two_arrays_that_meet_are_not_exact() -> None:
    raw = RawClass()
    first, second = (array(raw.pool, b"\x04", [b"\x03" + element]) for element in (b"\x2a", b"\x2b"))
    unit = body(conditional(first, second) + go(raw.pool) + b"\x2a\xb0", raw=raw)
    assert rows(unit, "exact_argument") == []
    # Each is handed to a call of its own, too.
    for other in (first + b"\x59" + go(raw.pool), first):
        for ways in ((other, second), (second, other)):
            raw.methods.clear()
            code = conditional(*ways) + b"\x2b\xc6" + s2(6) + b"\xa7" + s2(-4) + go(raw.pool) + b"\x2a\xb0"
            assert rows(body(code, raw=raw), "exact_argument") == []


def test_two_arrays_that_meet_in_a_loop_are_not_exact() -> None:
    raw = RawClass()
    first, second = (array(raw.pool, b"\x04", [b"\x03" + element]) for element in (b"\x2a", b"\x2b"))
    wait = b"\x2b\xc6" + s2(6) + b"\xa7" + s2(-4)
    # The loop hands over what it has, then has another, which is only the same after a wait.
    inner = b"\x59" + go(raw.pool) + b"\x57" + second + wait
    code = first + inner
    unit = body(code + b"\xa7" + s2(len(first) - len(code)), raw=raw)
    assert rows(unit, "exact_argument") == []
    for mine in (first, second):
        raw.methods.clear()
        code = mine + b"\x59" + go(raw.pool) + b"\x57" + mine + wait + b"\x59" + go(raw.pool, "b/D")
        unit = body(code + b"\xa7" + s2(len(mine) - len(code)), raw=raw)
        assert rows(unit, "exact_argument") == []
