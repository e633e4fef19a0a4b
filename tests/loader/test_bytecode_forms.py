"""What single instructions do to the operand stack and the slots: their places, what is known of them."""

import pytest

from tests.loader.rawclass import RawClass, body, conditional, refused, returned, rows, u2

ALOAD_0, ALOAD_1, ASTORE_2, AASTORE, POP, SWAP, ARETURN = (
    b"\x2a",
    b"\x2b",
    b"\x4d",
    b"\x53",
    b"\x57",
    b"\x5f",
    b"\xb0",
)
ARRAY, ELEMENT = 0, 1
DESCRIPTOR = "([La;La;)La;"


def numbers() -> tuple[RawClass, dict[str, tuple[bytes, int]]]:
    """Returns code that pushes a number that isn't known, and how many places that takes; and the class of it."""
    raw = RawClass()
    pool = raw.pool
    handle = pool.handle(6, pool.method("b/C", "link", "()V"))
    raw.attributes.append(("BootstrapMethods", u2(1) + u2(handle) + u2(0)))
    one, two = pool.field("T", "n", "I"), pool.field("T", "l", "J")
    found = {
        "iconst_m1": (b"\x02", 1), "fconst_0": (b"\x0b", 1), "bipush -128": (b"\x10\x80", 1),
        "sipush -32768": (b"\x11\x80\0", 1), "lconst_0": (b"\x09", 2), "dconst_0": (b"\x0e", 2),
        "iload": (b"\x15\x05", 1), "iload_3": (b"\x1d", 1), "lload": (b"\x16\x05", 2), "lload_3": (b"\x21", 2),
        "iadd": (b"\x03\x04\x60", 1), "ishl": (b"\x04\x04\x78", 1), "ineg": (b"\x03\x74", 1),
        "ladd": (b"\x09\x09\x61", 2), "lshl": (b"\x09\x04\x79", 2), "lneg": (b"\x09\x75", 2),
        "i2b": (b"\x04\x91", 1), "i2f": (b"\x04\x86", 1), "i2l": (b"\x04\x85", 2), "l2i": (b"\x09\x88", 1),
        "l2d": (b"\x09\x8a", 2), "lcmp": (b"\x09\x09\x94", 1), "fcmpl": (b"\x0b\x0b\x95", 1),
        "iaload": (b"\x2a\x03\x2e", 1), "laload": (b"\x2a\x03\x2f", 2), "daload": (b"\x2a\x03\x31", 2),
        "caload": (b"\x2a\x03\x34", 1), "arraylength": (b"\x2a\xbe", 1),
        "instanceof": (b"\x2a\xc1" + u2(pool.type("a")), 1),
        "ldc int": (b"\x13" + u2(pool.integer(3)), 1), "ldc short": (bytes([0x12, pool.integer(4)]), 1),
        "ldc long": (b"\x14" + u2(pool.long(1)), 2),
        "getfield int": (b"\x2a\xb4" + u2(one), 1), "getfield long": (b"\x2a\xb4" + u2(two), 2),
        "getstatic int": (b"\xb2" + u2(one), 1), "getstatic long": (b"\xb2" + u2(two), 2),
        "wide iload": (b"\xc4\x15\0\x05", 1), "wide fload": (b"\xc4\x17\0\x05", 1),
        "wide lload": (b"\xc4\x16\0\x05", 2), "wide dload": (b"\xc4\x18\0\x05", 2),
    }  # fmt: skip
    for kind, size in (("I", 1), ("J", 2)):
        found[f"invokestatic {kind}"] = b"\xb8" + u2(pool.method("b/C", "go", f"(){kind}")), size
        found[f"invokedynamic {kind}"] = b"\xba" + u2(pool.dynamic(18, 0, "go", f"(){kind}")) + b"\0\0", size
    return raw, found


@pytest.mark.parametrize("name", numbers()[1])
def test_a_number_takes_its_places_and_is_not_known(name: str) -> None:
    raw, found = numbers()
    push, size = found[name]
    # What is below is found again, as one of the few places or of many.
    assert returned(body(ALOAD_1 + push + POP * size + ARETURN, DESCRIPTOR, raw)) == {ELEMENT}
    # Each place for itself is no index of an array, and no reference.
    for one in [b""] if size == 1 else [POP, SWAP + POP]:
        raw, _ = numbers()
        code = ALOAD_0 + push + one + ALOAD_1 + AASTORE + push + one + ARETURN
        unit = body(code, DESCRIPTOR, raw)
        assert [row[1:] for row in rows(unit, "array_store")] == [(ELEMENT, -1, ARRAY)]
        assert returned(unit) == set()


@pytest.mark.parametrize("push", [b"\x02", b"\x10\x80", b"\x11\x80\0", b"\x15\x05", b"\x2a\xbe", b"\x09\x88"])
def test_an_array_of_an_unknown_length_is_not_exact(push: bytes) -> None:
    raw = RawClass()
    made = push + b"\xbd" + u2(raw.pool.type("a"))
    code = made + b"\xb8" + u2(raw.pool.method("b/C", "go", "([La;)V")) + b"\x2a\xb0"
    assert rows(body(code, raw=raw), "exact_argument") == []


@pytest.mark.parametrize(
    ("push", "index"), [(b"\x10\x7f", 127), (b"\x11\x7f\xff", 32767), (b"\x11\0\x80", 128), (b"\x08", 5)]
)
def test_constants_are_known_as_indexes(push: bytes, index: int) -> None:
    code = ALOAD_0 + push + b"\x59\x57" + ALOAD_1 + AASTORE + ALOAD_0 + ARETURN
    assert [row[2] for row in rows(body(code, DESCRIPTOR), "array_store")] == [index]


def test_a_constant_that_all_ways_agree_on_is_known() -> None:
    code = ALOAD_0 + b"\x05" + conditional(b"\0", b"\0") + ALOAD_1 + AASTORE + ALOAD_0 + ARETURN
    assert [row[2] for row in rows(body(code, DESCRIPTOR), "array_store")] == [2]


def test_one_that_they_do_not_agree_on_is_not() -> None:
    code = ALOAD_0 + conditional(b"\x03", b"\x04") + ALOAD_1 + AASTORE + ALOAD_0 + ARETURN
    unit = body(code, DESCRIPTOR)
    assert [row[2] for row in rows(unit, "array_store")] == [-1]
    assert all(source >= 0 for _, source, _ in rows(unit, "assign"))


@pytest.mark.parametrize(
    ("opcode", "needs", "result"),
    [
        (0x59, 1, "abcdd"),  # dup
        (0x5A, 2, "abdcd"),  # dup_x1
        (0x5B, 3, "adbcd"),  # dup_x2
        (0x5C, 2, "abcdcd"),  # dup2
        (0x5D, 3, "acdbcd"),  # dup2_x1
        (0x5E, 4, "cdabcd"),  # dup2_x2
        (0x5F, 2, "abdc"),  # swap
    ],
)
def test_shuffles(opcode: int, needs: int, result: str) -> None:
    descriptor = "(La;La;La;La;)La;"
    for dropped, each in enumerate(reversed(result)):
        unit = body(b"\x2a\x2b\x2c\x2d" + bytes([opcode]) + POP * dropped + ARETURN, descriptor)
        assert returned(unit) == {"abcd".index(each)}
        unit = body(b"\x2d\x2a\x2b\x2c\x2d" + bytes([opcode]) + POP * len(result) + ARETURN, descriptor)
        assert returned(unit) == {"abcd".index("d")}
    body(b"\x2a" * needs + bytes([opcode]) + ARETURN)
    assert refused(b"\x2a" * (needs - 1) + bytes([opcode]) + b"\x01\xb0", "(La;)La;") == "CLS-STACK"


# --- slots


@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize("push", [b"", b"\x03\x4d", b"\x02\x4d", b"\x01\x4d"])
def test_slots_without_a_reference_hold_nothing(push: bytes, straight: bool) -> None:
    branch = b"" if straight else conditional(push or b"\0", push or b"\0")
    for load in (b"\x2c", b"\x19\x02", b"\xc4\x19\0\x02"):
        assert returned(body(push + branch + load + ARETURN)) == set()


@pytest.mark.parametrize("load", [b"\x2a", b"\x19\0", b"\xc4\x19\0\0"])
def test_the_first_slot_where_ways_first_meet(load: bytes) -> None:
    assert returned(body(conditional(b"\x2b\x4b", b"\0") + load + ARETURN)) == {0, 1}
    assert returned(body(conditional(b"\x2b\x4b", b"\0") + conditional(b"\0", b"\0") + load + ARETURN)) == {
        0,
        1,
    }


def test_wide_slots_are_told_apart() -> None:
    def store(slot: int) -> bytes:
        return b"\xc4\x3a" + u2(slot)

    def load(slot: int) -> bytes:
        return b"\xc4\x19" + u2(slot)

    slots = [0x12C, 0x22C, 0x12D, 0xAC, 0x2C]
    for low, high in [(low, high) for low in slots for high in slots if low != high]:
        code = ALOAD_0 + store(low) + ALOAD_1 + store(high)
        assert returned(body(code + load(low) + ARETURN, slots=0x230)) == {0}
        assert returned(body(code + load(high) + ARETURN, slots=0x230)) == {1}
        merged = conditional(ALOAD_0 + store(low), ALOAD_1 + store(low))
        assert returned(body(code + merged + load(high) + ARETURN, slots=0x230)) == {1}
        assert returned(body(code + merged + load(low) + ARETURN, slots=0x230)) == {0, 1}


def test_wide_and_other_instructions_mean_the_same_slots() -> None:
    assert returned(body(ALOAD_0 + b"\xc4\x3a\0\x02" + b"\x2c\xb0")) == {0}
    assert returned(body(ALOAD_0 + b"\x3a\x05" + b"\xc4\x19\0\x05\xb0")) == {0}
    assert returned(body(ALOAD_0 + b"\x4d" + b"\x19\x02\xb0")) == {0}


@pytest.mark.parametrize(
    "store", [b"\x4d", b"\x3a\x02", b"\xc4\x3a\0\x02"], ids=["astore_2", "astore", "wide astore"]
)
def test_what_is_stored_on_two_ways_or_in_a_loop_merges(store: bytes) -> None:
    code = conditional(ALOAD_0 + store, ALOAD_1 + store) + b"\x2c\xb0"
    assert returned(body(code)) == {0, 1}
    begin = ALOAD_0 + store
    again = ALOAD_1 + store
    # aload_2 ifnull (behind the loop); store another; back
    loop = b"\x2c\xc6" + u2(6 + len(again))
    back = (len(begin) - len(begin + loop + again)) & 0xFFFF
    assert returned(body(begin + loop + again + b"\xa7" + u2(back) + b"\x2c\xb0")) == {0, 1}


@pytest.mark.parametrize("wide", [b"\xc4\x84\0\x05\0\x11", b"\xc4\x15\0\x05\x57", b"\x84\x05\x57"])
def test_what_is_in_front_of_a_loop_goes_on_into_it(wide: bytes) -> None:
    begin = ALOAD_0 + ASTORE_2 + wide
    loop = b"\x2c\xc6" + u2(8) + ALOAD_1 + ASTORE_2 + b"\xa7" + u2(-6 & 0xFFFF)
    assert returned(body(begin + loop + b"\x2c\xb0")) == {0, 1}


@pytest.mark.parametrize("opcode", [0x36, 0x37, 0x38, 0x39])
def test_wide_stores_of_numbers(opcode: int) -> None:
    push, size = (b"\x09", 2) if opcode in {0x37, 0x39} else (b"\x03", 1)
    store = b"\xc4" + bytes([opcode]) + u2(4)
    assert returned(body(ALOAD_0 + push + store + ARETURN)) == {0}
    body(push + store + b"\xb1", "()V")
    assert refused(b"\x03" * (size - 1) + store + b"\xb1") == "CLS-STACK"


@pytest.mark.parametrize("opcode", [0x14, 0x1A, 0x35, 0x3B, 0x83, 0x85, 0xA8, 0xAA])
def test_what_cannot_be_wide(opcode: int) -> None:
    # The operands, should they be read as instructions, are harmless.
    assert refused(b"\x2a\x2a\xc4" + bytes([opcode]) + b"\0\0\0\0\xb1", "(La;)V") == "CLS-CODE"


# --- null


def test_members_and_elements_of_null_are_null() -> None:
    raw = RawClass()
    field = u2(raw.pool.field("T", "f", "La;"))
    code = ALOAD_0 + b"\x01\xb4" + field + POP + ARETURN
    assert returned(unit := body(code, raw=raw)) == {0}
    assert rows(unit, "load") == []
    assert returned(body(b"\x2a\x01\x5f\xb4" + field + POP + ARETURN, raw=RawClass(pool=raw.pool))) == set()
    for get in (b"\x01\xb4" + field, b"\x01\x03\x32", b"\x01\xc0" + u2(raw.pool.type("a"))):
        raw.methods.clear()
        assert returned(body(ALOAD_0 + get + POP + ARETURN, raw=raw)) == {0}
        raw.methods.clear()
        unit = body(ALOAD_0 + get + ARETURN, raw=raw)
        assert returned(unit) == set()
        assert not any(rows(unit, relation) for relation in ("load", "array_load", "cast", "new"))


def test_what_is_stored_into_null_is_stored_nowhere() -> None:
    raw = RawClass()
    field = u2(raw.pool.field("T", "f", "La;"))
    code = (
        b"\x01\x2a\xb5"
        + field
        + b"\x01\x03\x2a\x53"
        + b"\x2b\x03\x01\x53"
        + b"\x2b\x01\xb5"
        + field
        + b"\x2a\xb0"
    )
    unit = body(code, raw=raw)
    assert rows(unit, "store") == rows(unit, "array_store") == []
    assert rows(body(b"\x01\xbf"), "assign") == []
    assert rows(body(b"\x2b\x01\xbf"), "assign") == []
    assert [row[1] for row in rows(body(b"\x2b\x2a\xbf"), "assign")] == [0]


# --- objects, among others on the stack


def test_what_is_made_is_on_top_and_what_is_below_stays() -> None:
    raw = RawClass()
    pool = raw.pool
    type_, array = u2(pool.type("a")), u2(pool.type("[[La;"))
    field, static = u2(pool.field("T", "f", "La;")), u2(pool.field("T", "s", "La;"))
    method = u2(pool.method("b/C", "go", "()La;"))
    makes = {
        b"\xbb" + type_: "new", b"\x03\xbc\x0a": "new", b"\x03\xbd" + type_: "new", b"\x03\x03\xc5" + array + b"\x02": "new",
        b"\x2b\xb4" + field: "load", b"\xb2" + static: "static_load", b"\x2b\x03\x32": "array_load",
        b"\x2b\xc0" + type_: "cast", b"\x13" + u2(pool.string("x")): "constant", b"\x2b\xb6" + method: "invoke",
        b"\xb8" + method: "invoke",
    }  # fmt: skip
    for code, relation in makes.items():
        raw.methods.clear()
        unit = body(ALOAD_0 * 3 + code + ARETURN, raw=raw)
        column = {"load": 3, "cast": 3, "constant": 3, "invoke": 3}.get(relation, 2)
        assert returned(unit) == {rows(unit, relation)[0][column]}
        raw.methods.clear()
        assert returned(body(ALOAD_0 + code + POP + ARETURN, raw=raw)) == {0}
    for code, relation in ((b"\xb4" + field, "load"), (b"\x03\x32", "array_load"), (b"\xc0" + type_, "cast")):
        for base in (0, 1):
            raw.methods.clear()
            unit = body(b"\x2b\x2a" + bytes([0x2A + base]) + code + ARETURN, raw=raw)
            assert [row[1] for row in rows(unit, relation)] == [base]


def test_stores_take_what_they_store() -> None:
    raw = RawClass()
    pool = raw.pool
    stores = [
        (b"\x2b\x2b\xb5", "La;"), (b"\x2b\x03\xb5", "I"), (b"\x2b\x09\xb5", "J"), (b"\x2b\xb3", "La;"), (b"\x03\xb3", "I"),
        (b"\x09\xb3", "J"), (b"\x0e\xb3", "D"),
    ]  # fmt: skip
    for code, descriptor in stores:
        raw.methods.clear()
        field = u2(pool.field("T", "f", descriptor))
        assert returned(body(ALOAD_0 + code + field + ARETURN, raw=raw)) == {0}
    for source in (0, 1):
        raw.methods.clear()
        code = bytes([0x2A + source]) + b"\xb5" + u2(pool.field("T", "f", "La;"))
        assert [row[1:] for row in rows(body(ALOAD_0 + code + ALOAD_0 + ARETURN, raw=raw), "store")] == [
            (source, 0, 0)
        ]
    raw.methods.clear()
    unit = body(
        b"\x05\xb3"
        + u2(pool.field("T", "f", "I"))
        + b"\x2a\xb3"
        + u2(pool.field("T", "f", "La;"))
        + b"\x2a\xb0",
        raw=raw,
    )
    assert [row[1] for row in rows(unit, "static_store")] == [-1, 0]


def test_members_of_a_large_pool() -> None:
    raw = RawClass()
    for number in range(400):
        raw.pool.string(f"text {number}")
    fields = [raw.pool.field("T", f"f{number}", "La;" if number % 2 else "I") for number in range(300)]
    assert len({place & 0xFF for place in fields}) < len(fields)
    for number in (0, 100, 101, 201):
        raw.methods.clear()
        unit = body(b"\xb2" + u2(fields[number]) + ARETURN, raw=raw)
        assert (returned(unit) == set()) == (number % 2 == 0)
    methods = [
        raw.pool.method("b/C", f"m{number}", "()La;" if number % 2 else "()V") for number in range(300)
    ]
    for number in (0, 100, 101, 201):
        raw.methods.clear()
        code = ALOAD_0 + b"\xb8" + u2(methods[number]) + ARETURN
        assert (returned(body(code, raw=raw)) == {0}) == (number % 2 == 0)
    strings = [raw.pool.string(f"more {number}") for number in range(300)]
    found = []
    for number in (0, 64, 128, 200):
        raw.methods.clear()
        unit = body(b"\x13" + u2(strings[number]) + ARETURN, raw=raw)
        ((_, _, ref, _),) = rows(unit, "constant")
        found.append(bytes(unit.text_bytes[unit.text_at[ref] : unit.text_at[ref + 1]]).decode())
    assert found == ["more 0", "more 64", "more 128", "more 200"]


@pytest.mark.parametrize("opcode", [*range(0x99, 0xA7), 0xC6, 0xC7])
def test_branches_take_what_they_compare_and_go_both_ways(opcode: int) -> None:
    push = b"\x03" if opcode < 0xA5 else b"\x01"
    compared = push * (2 if 0x9F <= opcode <= 0xA6 else 1)
    assert returned(body(ALOAD_0 + ALOAD_1 + compared + bytes([opcode]) + u2(4) + SWAP + ARETURN)) == {0, 1}
    # What is behind it is the start of a loop, too: aload_1 ifnull 9, aload_1 astore_2 goto 0 | 9 aload_2 areturn
    loop = b"\x2b\xc6" + u2(8) + b"\x2b\x4d\xa7" + u2(-6 & 0xFFFF) + b"\x2c\xb0"
    code = ALOAD_0 + ASTORE_2 + compared + bytes([opcode]) + u2(3 + len(loop)) + loop + b"\x01\xb0"
    assert returned(body(code)) == {0, 1}


def test_a_long_way_back() -> None:
    # 0 aload_0 astore_2, 2 aload_1 ifnull 13, 6 aload_1 astore_2 goto_w 2, 13 aload_2 areturn
    code = b"\x2a\x4d\x2b\xc6" + u2(10) + b"\x2b\x4d\xc8\xff\xff\xff\xfa" + b"\x2c\xb0"
    assert returned(body(code)) == {0, 1}


def test_a_long_way_back_to_the_start() -> None:
    # 0 aload_0, 1 ifnull 9, 4 goto_w 0, 9 aload_0 areturn
    assert returned(body(b"\x2a\xc6" + u2(8) + b"\xc8\xff\xff\xff\xfc" + b"\x2a\xb0")) == {0}


def test_the_longest_ways_that_two_bytes_say() -> None:
    # 0 goto 32767 … aload_0 areturn
    assert returned(body(b"\xa7\x7f\xff" + bytes(32764) + b"\x2a\xb0")) == {0}
    # 0 goto_w 32773, 5 aload_0 areturn … goto 5
    assert returned(body(b"\xc8\0\0\x80\x05" + b"\x2a\xb0" + bytes(32766) + b"\xa7\x80\0")) == {0}


# A case that would be a jump, were it an instruction.
JUMP = -0x58808081


@pytest.mark.parametrize("before", range(4))
def test_switches_are_aligned(before: int) -> None:
    place = before + 1
    start = bytes(before) + b"\x03"
    pad = bytes(-(place + 1) % 4)
    first = place + 1 + len(pad)
    for opcode, cases, words in (
        (b"\xaa", [-5, -3], 3),
        (b"\xaa", [5, 5], 1),
        (b"\xab", [JUMP, 9], 4),
        (b"\xab", [9], 2),
    ):
        head = [min(cases), max(cases)] if opcode == b"\xaa" else [len(cases)]
        behind = first + 4 * (1 + len(head) + words) - place
        # By default, what follows; else an instruction behind that; the first case, what is behind that.
        ways = [behind + 4, *[behind + 2] * (len(cases) - 1 if opcode == b"\xab" else words - 1)]
        pairs = (
            [each for pair in zip(cases, ways, strict=False) for each in pair] if opcode == b"\xab" else ways
        )
        words_of = [behind, *head, *pairs]
        table = b"".join(each.to_bytes(4, "big", signed=True) for each in words_of)
        code = start + opcode + pad + table + b"\x2a\xb0" + b"\x01\xb0" + b"\x2b\xb0"
        assert returned(body(code)) == {0, 1}


def test_a_switch_may_be_the_last_instruction() -> None:
    # 0 goto 7, 3 aload_0 areturn, 5 aload_1 areturn, 7 iconst_0, 8 lookupswitch
    table = b"".join(each.to_bytes(4, "big", signed=True) for each in (-5, 1, 3, -3))
    assert returned(body(b"\xa7" + u2(7) + b"\x2a\xb0\x2b\xb0\x03\xab\0\0\0" + table)) == {0, 1}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("03 14 INT b1", "CLS-CP"),  # ldc2_w of an int
        ("03 03 03 c5 TYPE 03 57 b1", "CLS-CODE"),  # more dimensions than the type has
        ("03 c5 TYPE 00 57 b1", "CLS-CODE"),  # none
        ("03 c5 TYPE 02 57 b1", "CLS-STACK"),
        ("b8 METHOD b1", "CLS-STACK"),  # a call without its argument
        ("ba CALL 00 00 b1", "CLS-STACK"),
    ],
)
def test_instructions_that_are_wrong(code: str, expected: str) -> None:
    raw = RawClass()
    pool = raw.pool
    raw.attributes.append(
        ("BootstrapMethods", u2(1) + u2(pool.handle(6, pool.method("b/C", "l", "()V"))) + u2(0))
    )
    operands = {
        "INT": pool.integer(1), "TYPE": pool.type("[[J"), "METHOD": pool.method("b/C", "go", "(I)V"),
        "CALL": pool.dynamic(18, 0, "go", "(I)V"),
    }  # fmt: skip
    for name, index in operands.items():
        code = code.replace(name, u2(index).hex())
    assert refused(bytes.fromhex(code), raw=raw) == expected
