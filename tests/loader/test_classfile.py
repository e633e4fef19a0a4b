"""Class files, right and wrong: what is read, and which diagnostic the rest costs."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.classfile import MalformedClass, read_class, text_of
from loader.translate import translate
from tests.loader.rawclass import STATIC, Pool, RawClass, codes, rows, text, unit_of

RETURN = b"\xb1"


def modified(text: str) -> bytes:
    """Modified UTF-8, from its definition (JVMS 4.4.7)."""
    units = text.encode("utf-16-be", "surrogatepass")
    encoded = b""
    for at in range(0, len(units), 2):
        unit = units[at] << 8 | units[at + 1]
        if 0 < unit < 0x80:
            encoded += bytes([unit])
        elif unit < 0x800:
            encoded += bytes([0xC0 | unit >> 6, 0x80 | unit & 0x3F])
        else:
            encoded += bytes([0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F])
    return encoded


@given(st.text(st.characters(exclude_categories=[]) | st.sampled_from("\0\ud800\udc00\U00010000")))
def test_c15_modified_utf8_is_read_back_exactly(written: str) -> None:
    # A high surrogate before a low one is one character, in Java as in modified UTF-8.
    joined = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    assert text_of(modified(written)) == joined


@pytest.mark.parametrize("wrong", [b"\xf0\x9f\x98\x80", b"\xc3", b"a\x80", b"\xe2\x82"])
def test_c15_what_is_no_modified_utf8_is_refused(wrong: bytes) -> None:
    with pytest.raises(MalformedClass) as caught:
        text_of(wrong)
    assert caught.value.code == "CLS-UTF8"


def test_longer_forms_than_need_be_are_read() -> None:
    assert text_of(b"\xc1\x81\xe0\x81\x81\xe0\x83\xa4") == "AA\u00e4"


def test_two_encodings_of_a_text_are_one_text() -> None:
    raw = RawClass()
    first, second = raw.pool.string(b"\xc0\x80"), raw.pool.string(b"\0")
    raw.method(bytes([18, first, 87, 18, second, 87, 177]))
    unit = unit_of(raw)
    refs = {ref for _, _, ref, _ in rows(unit, "constant")}
    assert [text(unit, ref) for ref in refs] == ["\0"]


def example() -> RawClass:
    raw = RawClass(attributes=[("SourceFile", b"\0\1"), ("Unknown", b"12345")])
    raw.pool.utf8("T.java")  # constant 1
    raw.fields.append(raw.member(STATIC, "f", "Ljava/lang/String;"))
    raw.fields.append(
        raw.member(STATIC, "g", "J", raw.attribute("ConstantValue", struct.pack(">H", raw.pool.long(7))))
    )
    call = raw.pool.method("T", "m", "()V")
    raw.method(
        b"\xb8" + struct.pack(">H", call) + RETURN + b"\xbf",
        handlers=[(0, 3, 4, raw.pool.type("java/lang/Error"))],
    )
    return raw


def test_c02_a_class_cut_off_anywhere_costs_one_diagnostic() -> None:
    whole = example().encoded()
    assert codes(translate([("T.class", whole)], "test")) == []
    for size in range(len(whole)):
        unit = translate([("T.class", whole[:size])], "test")
        assert codes(unit) == ["CLS-TRUNC"], size
        assert len(unit.class_type) == 0


@given(st.data())
def test_no_changed_byte_raises_anything_but_a_diagnostic(data: st.DataObject) -> None:
    changed = bytearray(example().encoded())
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    unit = translate([("T.class", bytes(changed))], "test")
    assert len(unit.class_type) == 1 or unit.diagnostics


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_malformed_class(content: bytes) -> None:
    for prefix in (b"", b"\xca\xfe\xba\xbe\0\0\0\x3d"):
        with pytest.raises(MalformedClass):
            read_class(prefix + content)


def test_c03_other_magic() -> None:
    assert codes(translate([("T.class", b"\xde\xad\xbe\xef" + bytes(100))], "test")) == ["CLS-MAGIC"]


def test_c22_bytes_behind_the_class_are_reported_and_the_class_is_read() -> None:
    unit = translate([("T.class", example().encoded() + b"xy")], "test")
    assert (codes(unit), len(unit.class_type)) == (["CLS-EXTRA"], 1)


@pytest.mark.parametrize(
    ("major", "minor", "expected"),
    [
        (45, 3, []),
        (45, 0, []),
        (69, 0, []),
        (61, 65535, ["CLS-VERSION"]),
        (99, 0, ["CLS-VERSION"]),
        (44, 0, ["CLS-VERSION"]),
    ],
)
def test_c04_versions(major: int, minor: int, expected: list[str]) -> None:
    unit = unit_of(RawClass(major=major, minor=minor))
    assert (codes(unit), len(unit.class_type)) == (expected, 1)


def test_code_before_version_45_3_has_short_sizes() -> None:
    raw = RawClass(major=45, minor=2)
    body = b"\x2a\xb0"  # aload_0, areturn
    attribute = raw.attribute("Code", struct.pack(">BBH", 1, 1, len(body)) + body + bytes(4))
    raw.methods.append(raw.member(STATIC, "m", "(La;)La;", attribute))
    assert rows(unit_of(raw), "assign") == [(1, 0, 1)]


@pytest.mark.parametrize(
    "pool",
    [
        b"\0\0",  # no entries
        b"\0\2\2\0\0",  # no such tag
        b"\0\2\5" + bytes(8),  # a long in the last index
        b"\0\3\7\0\1\7\0\1",  # a class that names itself
        b"\0\4\1\0\1T\7\0\1\5" + bytes(8),  # only half of a long
    ],
)
def test_c05_c06_constant_pools_that_are_none(pool: bytes) -> None:
    rest = struct.pack(">HHHHHHH", 0x21, 2, 0, 0, 0, 0, 0)
    content = b"\xca\xfe\xba\xbe\0\0\0\x3d" + pool + rest
    assert codes(translate([("T.class", content)], "test")) == ["CLS-CP"]


@pytest.mark.parametrize("index", [0, 2, 3, 999])
def test_c06_a_wrong_index_in_a_body_costs_the_body(index: int) -> None:
    raw = RawClass()
    assert raw.pool.long(1) == 1  # 2 is its second half
    raw.pool.utf8("text")
    raw.method(b"\xb8" + struct.pack(">H", index) + RETURN)
    raw.method(RETURN, name="other")
    unit = unit_of(raw)
    assert codes(unit) == ["CLS-CP"]
    assert unit.diagnostics[0].method == "T.m()V"
    assert unit.method_code.tolist() == [2, 1]


def test_c06_a_wrong_superclass_costs_the_class() -> None:
    content = RawClass().encoded()
    wrong = content.replace(struct.pack(">HHHH", 0x21, 2, 4, 0), struct.pack(">HHHH", 0x21, 2, 3, 0))
    assert wrong != content
    unit = translate([("T.class", wrong)], "test")
    assert (codes(unit), len(unit.class_type)) == (["CLS-CP"], 0)


@pytest.mark.parametrize("length", [1, 0x7FFFFFFF])
def test_an_attribute_longer_than_the_file(length: int) -> None:
    raw = RawClass(attributes=[("A", b"")])
    content = raw.encoded()[:-4] + struct.pack(">I", length)
    assert codes(translate([("T.class", content)], "test")) == ["CLS-TRUNC"]


@pytest.mark.parametrize("change", [-1, 1])
def test_c08_a_code_attribute_of_another_length_costs_the_body(change: int) -> None:
    raw = RawClass()
    content = struct.pack(">HHI", 0, 0, 1) + RETURN + bytes(4)
    padded = content[:change] if change < 0 else content + bytes(change)
    raw.methods.append(raw.member(STATIC, "m", "()V", raw.attribute("Code", padded)))
    unit = unit_of(raw)
    assert (codes(unit), unit.method_code.tolist()) == (["CLS-ATTR"], [2])


def test_a_method_without_code_and_an_abstract_one_with_code() -> None:
    raw = RawClass()
    raw.methods.append(raw.member(STATIC, "m", "()V"))
    raw.method(RETURN, name="n", flags=0x400)
    assert codes(unit_of(raw)) == ["CLS-CODE", "CLS-CODE"]


def test_pool_of_the_builder_counts_a_long_twice() -> None:
    pool = Pool()
    assert (pool.long(1), pool.utf8("a")) == (1, 3)
