"""Method bodies that the JVM would not run, and what they cost."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader import flow, frame
from tests.loader.rawclass import (
    RawClass,
    body,
    refused,
    rows,
    s2,
    u2,
    unit_of,
)


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
        (b"\x03\xaa\x00\x00" + struct.pack(">iii", 15, 5, 4) + b"\xb1", "CLS-CODE"),  # no case
        (
            b"\x03\xab\x00\x00" + struct.pack(">iiii", 19, 3, 7, 19) + b"\xb1",
            "CLS-CODE",
        ),  # more than there are
        (b"\x03\xab\x00\x00" + struct.pack(">iii", 12, 1, 7) + b"\x00\x00\xb1", "CLS-CODE"),
        (b"\x03\xab\x00\x00\x00", "CLS-CODE"),
        (b"\x03\xaa\x00\x00" + struct.pack(">ii", 12, 0), "CLS-CODE"),
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
        (b"\xa7\x00\x07\xa7\x00\x03\x10\xb1", "CLS-CODE"),  # into one that only what isn't reached leads to
        (b"\x03\x99\x00\x03\x00", "CLS-CODE"),  # falls off the end, behind a branch
        (b"\x03\x99\x00\x04\xb1\x00", "CLS-CODE"),
        (b"\xa7\x00\x03", "CLS-CODE"),  # a branch to the end
        (b"\x03\x99\x00\x05\xb1", "CLS-CODE"),
        (b"\x03\x99\x00\x04\xb1\xb1\x11\x00", "CLS-CODE"),  # cut off where it isn't reached
        (b"\xb1\xa7\x00\x03\x11\x00", "CLS-CODE"),
        (b"\xb1\xc8\x00\x00", "CLS-CODE"),
        (b"\x03\xab\x00\x00" + struct.pack(">iiii", 19, 1, 0, -2) + b"\xb1", "CLS-CODE"),  # one case leaves
        (b"\x03\xab\x00\x00" + struct.pack(">iiii", 19, 1, 0, 20) + b"\xb1", "CLS-CODE"),
    ],
)
def test_c09_c10_c11_c12_code_that_is_none(code: bytes, expected: str) -> None:
    if expected:
        assert refused(code) == expected
    else:
        body(code, "()V")


@pytest.mark.parametrize("row", [(2, 2, 0, 0), (2, 1, 0, 0), (0, 99, 0, 0), (0, 1, 0xFFFF, 0)])
def test_c14_exception_tables_out_of_range(row: tuple[int, int, int, int]) -> None:
    assert refused(b"\0\0\xb1", handlers=[row]) == "CLS-CODE"


def test_c19_parameters_that_take_more_than_255_words_or_than_there_are_slots() -> None:
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


STORED_TWICE = b"\x2a\x4c" * 2


def many_ways() -> bytes:
    """Branches fifty times to one place."""
    return b"".join(b"\x2a\xc6" + u2(4 * (50 - each) - 1) for each in range(50)) + b"\xb1"


def test_ways_cost_something_though_they_take_no_value_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "LIMIT", 1000)
    body(many_ways(), "(La;)V")
    monkeypatch.setattr(frame, "LIMIT", 40)
    assert refused(many_ways(), "(La;)V") == "CLS-LIMIT"


def many_slots() -> bytes:
    """Stores often to each of 40 slots; what begins with `pop` reads them all."""
    stores = b"".join(b"\x2a\x3a" + bytes([slot]) for slot in range(1, 41))
    return stores * 4 + b"\xb1\x57" + b"".join(b"\x19" + bytes([slot]) for slot in range(1, 41)) + b"\xb1"


@pytest.mark.parametrize("cheap", [True, False])
@pytest.mark.parametrize(
    ("code", "slots", "handlers"),
    [
        # Slots and values at each of many branches.
        (STORED_TWICE + many_ways(), 100, 0),
        (b"\x03" * 100 + many_ways(), 1, 0),
        # Handlers that begin at many places; with slots that merge, too.
        (bytes(40) + b"\xb1\x57\xb1", 1, 40),
        (STORED_TWICE + bytes(40) + b"\xb1\x57\xb1", 300, 5),
        # Stores that handlers see, for many ranges and for many slots.
        (STORED_TWICE * 50 + b"\xb1\x57\x2b\xb1", 2, 24),
        (many_slots(), 50, 1),
    ],
)
def test_what_costs_much_is_refused(
    monkeypatch: pytest.MonkeyPatch, code: bytes, slots: int, handlers: int, cheap: bool
) -> None:
    target = code.rfind(b"\x57")
    table = [(each, target - 1, target, 0) for each in range(handlers)]
    monkeypatch.setattr(frame, "LIMIT", 20_000 if cheap else 1000)
    if cheap:
        body(code, "(La;)V", slots=slots, handlers=table)
    else:
        assert refused(code, "(La;)V", slots=slots, handlers=table) == "CLS-LIMIT"


def test_c13_many_long_subroutines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each of 20 goes on into the same hundred instructions.
    calls = b"".join(b"\xa8" + s2(60 - 3 * each + 4 * each) for each in range(20))
    entries = b"".join(b"\x4c\xa7" + s2(79 - 4 * each) for each in range(20))
    code = calls + entries + bytes(100) + b"\xb1"
    body(code)
    monkeypatch.setattr(flow, "_LIMIT", 1000)
    assert refused(code) == "CLS-LIMIT"


def test_c12_one_body_that_is_none_costs_only_itself() -> None:
    raw = RawClass()
    call = b"\xb8" + u2(raw.pool.method("b/C", "go", "()V"))
    raw.method(call + b"\x57\xb1", name="bad").method(call + b"\xb1", name="good")
    unit = unit_of(raw)
    assert unit.method_code.tolist() == [2, 1]
    assert [len(rows(unit, "invoke", method)) for method in (0, 1)] == [0, 1]
    (told,) = unit.diagnostics
    assert (told.effect, told.method) == ("soundness", "T.bad()V")
    assert told.text.endswith("; the method is taken to return anything and to do nothing else")


@given(st.lists(st.sampled_from(range(0xCB)), min_size=1, max_size=12), st.binary(min_size=24, max_size=24))
def test_no_code_raises_anything_but_a_diagnostic(opcodes: list[int], operands: bytes) -> None:
    raw = RawClass()
    raw.pool.method("b/C", "go", "(La;)La;")
    code = b"".join(bytes([opcode, 0, operands[2 * at] % 12]) for at, opcode in enumerate(opcodes)) + b"\xb1"
    unit = unit_of(raw.method(code, "(La;La;)V", handlers=[(0, len(code), 0, 0)]))
    assert unit.method_code.tolist() == [2 if unit.diagnostics else 1]
