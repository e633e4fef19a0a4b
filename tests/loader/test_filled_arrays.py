"""Arrays that are filled with constants, which the interpreter takes in one go."""

import pytest

from tests.loader.rawclass import RawClass, body, returned, rows, s2, text, u2

ALOAD_0, ALOAD_1, POP, AASTORE, DUP, ARETURN, RETURN, IFNULL = 42, 43, 87, 83, 89, 176, 177, 198
ASTORE_0 = 75


def filling(*elements: tuple[bytes, bytes]) -> bytes:
    """Returns code that stores to elements of argument 0, given (index, value)."""
    stores = b"".join(bytes([DUP]) + index + value + bytes([AASTORE]) for index, value in elements)
    return bytes([ALOAD_0]) + stores + bytes([POP, RETURN])


@pytest.mark.parametrize("wide", [False, True])
def test_indexes_of_all_forms(wide: bool) -> None:
    raw = RawClass()
    number = raw.pool.string("text")
    load = b"\x13" + u2(number) if wide else bytes([0x12, number])
    indexes = {b"\x03": 0, b"\x08": 5, b"\x10\x7f": 127, b"\x11\x01\x00": 256, b"\x10\xff": -1, b"\x02": -1}
    code = filling(*((index, load) for index in indexes))
    unit = body(code, "([La;)V", raw=raw)
    assert [row[2] for row in rows(unit, "array_store")] == list(indexes.values())
    assert [code[row[0]] for row in rows(unit, "array_store")] == [AASTORE] * len(indexes)
    assert [code[row[0]] for row in rows(unit, "constant")] == [0x13 if wide else 0x12] * len(indexes)
    assert [row[1] for row in rows(unit, "array_store")] == [row[3] for row in rows(unit, "constant")]


def test_a_block_may_begin_within_an_element() -> None:
    raw = RawClass()
    load = bytes([0x12, raw.pool.string("text")])
    # dup, iconst_0, then one of two ways to the aastore
    code = bytes([ALOAD_0, DUP, 3, ALOAD_1, IFNULL]) + s2(7) + bytes([ALOAD_1, 167]) + s2(5) + load
    unit = body(code + bytes([AASTORE, POP, RETURN]), "([La;La;)V", raw=raw)
    assert len(rows(unit, "array_store")) == 1
    assert len(rows(unit, "assign")) == 2


def test_a_branch_to_the_store_ends_the_table() -> None:
    raw = RawClass()
    load = bytes([0x12, raw.pool.string("text")])
    # the null that argument 1 is and the string meet at the aastore
    code = bytes([ALOAD_0, DUP, 3, ALOAD_1, ALOAD_1, IFNULL]) + s2(10) + bytes([POP, POP, POP, DUP, 3]) + load
    unit = body(code + bytes([AASTORE, POP, RETURN]), "([La;La;)V", raw=raw)
    sources = {source for _, source, _ in rows(unit, "assign")}
    assert sources == {1, rows(unit, "constant")[0][3]}
    assert [row[2] for row in rows(unit, "array_store")] == [0]


def test_null_is_not_filled_and_numbers_are_no_elements() -> None:
    raw = RawClass()
    load = bytes([0x12, raw.pool.string("text")])
    code = bytes([1, DUP, 3]) + load + bytes([AASTORE, POP, RETURN])
    assert rows(body(code, "()V", raw=raw), "array_store") == []
    raw = RawClass()
    number = bytes([0x12, raw.pool.put(b"\x03\0\0\0\7")])
    assert rows(body(filling((b"\x03", number)), "([La;)V", raw=raw), "array_store") == []


def test_constants_of_a_large_pool() -> None:
    raw = RawClass()
    strings = [raw.pool.string(f"text {number}") for number in range(300)]
    chosen = [7, 135, 263, 299]
    code = filling(*((bytes([3 + at]), b"\x13" + u2(strings[each])) for at, each in enumerate(chosen)))
    unit = body(code, "([La;)V", raw=raw)
    assert [text(unit, row[2]) for row in rows(unit, "constant")] == [f"text {each}" for each in chosen]


def test_what_is_below_stays_and_what_follows_is_done() -> None:
    raw = RawClass()
    load = bytes([0x12, raw.pool.string("text")])
    filled = bytes([DUP, 3]) + load + bytes([AASTORE])
    # argument 1 is below the array, which goes to the slot of argument 0: aload_1, aload_0, filled, astore_0
    code = bytes([ALOAD_1, ALOAD_0]) + filled + bytes([ASTORE_0, ARETURN])
    unit = body(code, "([La;La;)La;", raw=raw)
    assert [row[3] for row in rows(unit, "array_store")] == [0]
    assert returned(unit) == {1}
