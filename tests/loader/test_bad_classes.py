"""Class files that are wrong, strange or meant to exhaust: each costs its diagnostic and nothing else."""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.reflection.generics import listed, parameterized
from loader.archives import open_inputs
from loader.link import link
from loader.source import MIB
from loader.translate import translate
from loader.unit import Unit
from tests.badinputs.zips import Item, build
from tests.loader.rawclass import STATIC, Pool, RawClass, codes, refused, rows, text, u2
from tests.loader.units import jdk

RETURN = b"\xb1"
# What a class file costs that can't be read, and a method body.
LOST = ("warning", "soundness")


def read(data: bytes, entry: str = "T.class") -> Unit:
    return translate([(entry, data)], "x.jar")


def unit_of(raw: RawClass) -> Unit:
    return read(raw.encoded(), f"{raw.name}.class")


def kinds(unit: Unit) -> list[tuple[str, str]]:
    """Returns severity and effect of the diagnostics."""
    return [(each.severity, each.effect) for each in unit.diagnostics]


# --- the outermost structure


@pytest.mark.parametrize("data", [b"", b"\xca", b"\xca\xfe\xba", b"\xca\xfe\xba\xbe"], ids=len)
def test_c01_a_few_bytes(data: bytes) -> None:
    unit = read(data)
    assert (codes(unit), kinds(unit), len(unit.class_type)) == (["CLS-TRUNC"], [LOST], 0)


def large() -> bytes:
    """Returns a class file of more than two thousand bytes, with all that has a length."""
    raw = RawClass(attributes=[("SourceFile", b"\0\1"), ("Unknown", bytes(1000))])
    raw.pool.utf8("T.java")  # constant 1
    handle = raw.pool.handle(6, raw.pool.method("b/B", "bsm", "()V"))
    raw.attributes.append(("BootstrapMethods", struct.pack(">HHHH", 1, handle, 1, raw.pool.string("x" * 99))))
    call = raw.pool.method("T", "m0", "()V")
    dynamic = raw.pool.dynamic(18, 0, "d", "()V")
    value = raw.attribute("ConstantValue", u2(raw.pool.long(7)))
    for number in range(10):
        raw.fields.append(raw.member(STATIC, f"f{number}", "J", value))
        code = b"\xb8" + u2(call) + b"\xba" + u2(dynamic) + b"\0\0" + RETURN + b"\xbf"
        raw.method(code, name=f"m{number}", handlers=[(0, 8, 9, 0)])
    return raw.encoded()


def test_c02_cut_off_after_each_byte() -> None:
    whole = large()
    assert len(whole) > 2000
    assert codes(read(whole)) == []
    for size in range(len(whole)):
        unit = read(whole[:size])
        assert (codes(unit), kinds(unit), len(unit.class_type)) == (["CLS-TRUNC"], [LOST], 0), size


def test_c04_notes_are_for_previews_only() -> None:
    assert kinds(unit_of(RawClass(major=61, minor=65535))) == [("note", "none")]
    assert kinds(unit_of(RawClass(major=99))) == [("warning", "none")]


def test_c05_a_constant_pool_as_large_as_can_be() -> None:
    raw = RawClass()
    raw.method(RETURN)
    raw.encoded()
    for number in range(65535 - raw.pool.size):
        raw.pool.integer(number)
    assert raw.pool.size == 65535
    began = time.process_time()
    unit = unit_of(raw)
    assert time.process_time() - began < 2
    assert (codes(unit), len(unit.class_type)) == ([], 1)


@pytest.mark.parametrize("index", [0, 2, 3, 999, 65535])
@pytest.mark.parametrize("where", ["this", "interface", "name", "descriptor", "source"])
def test_c06_a_wrong_index_costs_the_class(where: str, index: int) -> None:
    raw = RawClass()
    assert raw.pool.long(1) == 1  # 2 is its second half
    raw.pool.integer(3)
    good = {
        "this": raw.pool.type("T"), "interface": raw.pool.type("I"), "name": raw.pool.utf8("f"),
        "descriptor": raw.pool.utf8("I"), "source": raw.pool.utf8("T.java"),
    }  # fmt: skip
    above, attribute = raw.pool.type("java/lang/Object"), raw.pool.utf8("SourceFile")
    file, wrong = (
        struct.pack(">IHH", 0xCAFEBABE, 0, 61)
        + raw.pool.encoded()
        + struct.pack(">HHHHH", 0x21, each["this"], above, 1, each["interface"])
        + struct.pack(">HHHHHH", 1, 0, each["name"], each["descriptor"], 0, 0)
        + struct.pack(">HHIH", 1, attribute, 2, each["source"])
        for each in (good, good | {where: index})
    )
    assert codes(read(file)) == []
    unit = read(wrong)
    if (where, index) == ("source", 0):  # as if there were none
        assert (codes(unit), len(unit.class_type)) == ([], 1)
    else:
        assert (codes(unit), kinds(unit), len(unit.class_type)) == (["CLS-CP"], [LOST], 0)


@pytest.mark.parametrize("circle", [1, 2, 3000])
def test_c07_dynamic_constants_that_need_each_other(circle: int) -> None:
    raw = RawClass()
    handle = raw.pool.handle(6, raw.pool.method("b/B", "bsm", "()V"))
    constants = [raw.pool.dynamic(17, number, "d", "La;") for number in range(circle)]
    following = [*constants[1:], constants[0]]
    listed = b"".join(struct.pack(">HHH", handle, 1, each) for each in following)
    raw.attributes.append(("BootstrapMethods", u2(circle) + listed))
    raw.method(b"\x13" + u2(constants[0]) + b"\x57" + RETURN)
    unit = unit_of(raw)
    assert (codes(unit), kinds(unit), len(unit.class_type)) == (["CLS-CP-CYCLE"], [LOST], 1)


@pytest.mark.parametrize("where", ["class", "field", "method", "first of two", "code"])
def test_c08_an_attribute_of_four_gigabytes(where: str) -> None:
    raw = RawClass()
    name = raw.pool.utf8("A")
    absurd = struct.pack(">HI", name, 0xFFFFFFFF)
    if where == "field":
        raw.fields.append(raw.member(STATIC, "f", "I", absurd))
    elif where == "method":
        raw.methods.append(raw.member(STATIC, "m", "()V", absurd))
    elif where == "first of two":
        raw.fields.append(raw.member(STATIC, "f", "I", absurd, struct.pack(">HI", name, 0)))
    elif where == "code":
        content = struct.pack(">HHI", 0, 0, 1) + RETURN + struct.pack(">HH", 0, 1) + absurd
        raw.methods.append(raw.member(STATIC, "m", "()V", raw.attribute("Code", content)))
    data = raw.encoded()
    if where == "class":
        data = data[:-2] + struct.pack(">H", 1) + absurd
    tracemalloc.start()
    unit = read(data)
    assert tracemalloc.get_traced_memory()[1] < MIB
    tracemalloc.stop()
    assert (codes(unit), kinds(unit)) == (["CLS-ATTR"], [LOST])
    assert unit.method_code.tolist() == ([2] if where == "code" else [])


@pytest.mark.parametrize(("name", "length"), [("SourceFile", 1), ("SourceFile", 3), ("NestHost", 0)])
def test_c08_an_attribute_that_is_too_short_or_too_long(name: str, length: int) -> None:
    unit = unit_of(RawClass(attributes=[(name, bytes(length))]))
    assert (codes(unit), kinds(unit)) == (["CLS-ATTR"], [LOST])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("InnerClasses", bytes(1)),
        ("InnerClasses", struct.pack(">HHH", 1, 1, 1)),
        ("InnerClasses", struct.pack(">HHHHH", 1, 999, 0, 0, 0)),
        ("EnclosingMethod", bytes(3)),
        ("EnclosingMethod", struct.pack(">HH", 999, 0)),
        ("PermittedSubclasses", bytes(1)),
        ("PermittedSubclasses", struct.pack(">HH", 2, 1)),
        ("PermittedSubclasses", struct.pack(">HH", 1, 999)),
    ],
)
def test_c08_a_class_stays_whatever_it_says_to_stand_in(name: str, content: bytes) -> None:
    unit = unit_of(RawClass(attributes=[(name, content)]))
    assert len(codes(unit)) == 1
    assert (kinds(unit), len(unit.class_type), unit.class_enclosing.tolist()) == ([LOST], 1, [-1])


@pytest.mark.parametrize("content", [b"", bytes(1), bytes(3), u2(999)])
def test_c08_a_class_and_its_members_stay_whatever_their_generic_signatures(content: bytes) -> None:
    raw = RawClass()
    raw.attributes.append(("Signature", content))
    raw.fields.append(raw.member(STATIC, "f", "LA;", raw.attribute("Signature", content)))
    raw.methods.append(raw.member(0x401, "m", "()I", raw.attribute("Signature", content)))
    unit = unit_of(raw)
    assert len(codes(unit)) == 3
    found = (unit.class_generic.tolist(), unit.field_generic.tolist(), unit.method_generic.tolist())
    assert (kinds(unit), found) == ([LOST] * 3, ([-1], [-1], [-1]))


@pytest.mark.parametrize("content", [b"", bytes(1), struct.pack(">HHH", 1, 1, 1), struct.pack(">HH", 1, 999)])
def test_c08_a_method_stays_whatever_it_says_to_throw(content: bytes) -> None:
    raw = RawClass()
    code = raw.attribute("Code", struct.pack(">HHI", 0, 0, 1) + RETURN + bytes(4))
    raw.methods.append(raw.member(STATIC, "m", "()V", code, raw.attribute("Exceptions", content)))
    unit = unit_of(raw)
    assert (len(codes(unit)), kinds(unit)) == (1, [LOST])
    assert (unit.method_code.tolist(), unit.method_exceptions.tolist()) == ([1], [])


# --- code


@pytest.mark.parametrize(("major", "expected"), [(50, ["CLS-CODE"]), (51, [])])
def test_c09_dynamic_calls_came_with_version_51(major: int, expected: list[str]) -> None:
    raw = RawClass(major=major)
    handle = raw.pool.handle(6, raw.pool.method("b/B", "bsm", "()V"))
    raw.attributes.append(("BootstrapMethods", struct.pack(">HHH", 1, handle, 0)))
    raw.method(b"\xba" + u2(raw.pool.dynamic(18, 0, "d", "()V")) + b"\0\0" + RETURN)
    assert codes(unit_of(raw)) == expected


@pytest.mark.parametrize(
    "operands",
    [
        b"\xaa\0\0" + struct.pack(">iii", 12, 5, 4),
        b"\xaa\0\0" + struct.pack(">iii", 12, 0, (1 << 31) - 1),
        b"\xaa\0\0" + struct.pack(">iii", 12, -(1 << 31), (1 << 31) - 1),
        b"\xab\0\0" + struct.pack(">ii", 12, (1 << 31) - 1),
        b"\xab\0\0" + struct.pack(">ii", 12, -(1 << 31)),
    ],
)
def test_c10_a_switch_of_billions_of_cases_costs_no_time(operands: bytes) -> None:
    raw = RawClass().method(b"\x03" + operands + bytes(4000) + RETURN)
    data = raw.encoded()
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        assert codes(read(data)) == ["CLS-CODE"]
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.01


def test_c13_subroutines_do_not_multiply() -> None:
    # 3,000 calls of one subroutine of 50,000 bytes.
    calls = 3_000
    code = b"".join(b"\xc9" + struct.pack(">i", 5 * (calls - each) + 1) for each in range(calls)) + RETURN
    code += b"\x4c" + bytes(50_000 - 3) + b"\xa9\x01"
    raw = RawClass().method(code)
    began = time.process_time()
    unit = unit_of(raw)
    assert time.process_time() - began < 5
    assert codes(unit) in ([], ["CLS-LIMIT"])


# --- text

TEXTS = {
    "a null": (b"a\xc0\x80b", "a\0b"),
    "a pair of surrogates": (b"\xed\xa0\xbd\xed\xb8\x80", "\U0001f600"),
    "a lone surrogate": (b"a\xed\xa0\x80", "a\ud800"),
}


@pytest.mark.parametrize(("encoded", "expected"), TEXTS.values(), ids=list(TEXTS))
def test_c15_text_is_kept_exactly(encoded: bytes, expected: str) -> None:
    raw = RawClass()
    raw.method(bytes([18, raw.pool.string(encoded), 87, 177]))
    raw.fields.append(struct.pack(">HHHH", STATIC, raw.pool.utf8(encoded), raw.pool.utf8("I"), 0))
    unit = unit_of(raw)
    assert codes(unit) == []
    ((_, _, ref, _),) = rows(unit, "constant")
    assert text(unit, ref) == text(unit, unit.field_name[0]) == expected


@pytest.mark.parametrize("wrong", [b"\xf0\x9f\x98\x80", b"\xff", b"\xc3"])
def test_c15_what_is_no_text_costs_what_uses_it(wrong: bytes) -> None:
    raw = RawClass()
    assert refused(bytes([18, raw.pool.string(wrong), 87, 177]), raw=raw) == "CLS-UTF8"
    raw = RawClass()
    raw.fields.append(struct.pack(">HHHH", STATIC, raw.pool.utf8(wrong), raw.pool.utf8("I"), 0))
    unit = unit_of(raw)
    assert (codes(unit), kinds(unit), len(unit.class_type)) == (["CLS-UTF8"], [LOST], 0)


def test_c16_string_constants_as_long_as_can_be() -> None:
    raw = RawClass()
    # As many as fit the limit of a class file.
    texts = [b"%05d" % number + b"x" * 65530 for number in range(250)]
    code = b"".join(b"\x13" + u2(raw.pool.string(each)) + b"\x57" for each in texts)
    data = raw.method(code + RETURN).encoded()
    assert len(data) < 16 * MIB
    tracemalloc.start()
    unit = read(data)
    assert tracemalloc.get_traced_memory()[1] < 4 * len(data)
    tracemalloc.stop()
    assert codes(unit) == []
    assert [text(unit, ref).encode() for _, _, ref, _ in rows(unit, "constant")] == texts


def test_c16_more_of_them_are_over_the_budget(tmp_path: Path) -> None:
    items = [Item(b"0.class", bytes(16 * MIB))]
    items += [Item(b"%d.class" % at, size=16 * MIB, alias=0) for at in range(1, 260)]
    (tmp_path / "x.jar").write_bytes(build(items))
    (tmp_path / "good.jar").write_bytes(build([Item(b"T.class", RawClass().encoded())]))
    inputs = open_inputs([str(tmp_path / "x.jar"), str(tmp_path / "good.jar")])
    assert [each.code for each in inputs.diagnostics] == ["ARC-OVERLAP", "ARC-BUDGET"]


NAMES = {
    "backtick": "a`b",
    "a query": "x') DETACH DELETE n //",
    "right to left": "a\u202eb",
    "empty": "",
    "keyword": "class",
    "long": "x" * 65533,
    "obfuscated": "Il1",
    "escape": "a\x1b[31mb",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_c17_names_are_kept_exactly(name: str) -> None:
    raw = RawClass(name=name).method(RETURN, name=name).method(RETURN, name="other")
    raw.fields.append(raw.member(STATIC, name, f"L{name};"))
    unit = unit_of(raw)
    assert codes(unit) == []
    program = link([(jdk(), "jdk", "jdk"), (unit, "application", "x.jar")])
    type_ = program.type_named(name)
    assert program.name_of_type(type_) == name
    assert [program.name_of_method(each)[1] for each in program.methods_of(type_)] == [name, "other"]
    (field,) = program.fields_of(type_)
    assert program.name_of_field(field) == (type_, name, f"L{name};")
    assert program.diagnostics == []


# --- what nests, and what is large


@pytest.mark.parametrize("where", ["class", "field", "method", "default"])
def test_c18_deeply_nested_annotations(where: str) -> None:
    raw = RawClass()
    name, number = raw.pool.utf8("LA;"), b"I" + u2(raw.pool.integer(1))
    inner = b"@" + struct.pack(">HHH", name, 1, name)
    nested = struct.pack(">HHHH", 1, name, 1, name) + 10_000 * inner + number
    attribute = raw.attribute("RuntimeVisibleAnnotations", nested)
    if where == "class":
        raw.attributes.append(("RuntimeVisibleAnnotations", nested))
    elif where == "field":
        raw.fields.append(raw.member(STATIC, "f", "LA;", attribute))
    elif where == "method":
        raw.methods.append(raw.member(0x401, "m", "()I", attribute))
    else:
        default = 10_000 * (b"[" + u2(1)) + number
        raw.methods.append(raw.member(0x401, "m", "()I", raw.attribute("AnnotationDefault", default)))
    unit = unit_of(raw)
    assert (codes(unit), kinds(unit), len(unit.class_type)) == (["CLS-NEST"], [LOST], 1)


DAMAGED = {
    "cut off": ("RuntimeVisibleTypeAnnotations", b"\0\1", "CLS-ATTR"),
    "of a catch clause, which is no part of a class": (
        "RuntimeVisibleTypeAnnotations", b"\0\1\x42\0\0\0\0\1\0\0", "CLS-ATTR",
    ),
    "a path that leads out": ("RuntimeVisibleTypeAnnotations", b"\0\1\x13\xff\0\1\0\0", "CLS-ATTR"),
    "no count of components": ("Record", b"\0", "CLS-ATTR"),
    "a component that leads out": ("Record", b"\0\2" + 1000 * b"\0\1", "CLS-TRUNC"),
}  # fmt: skip


@pytest.mark.parametrize(("attribute", "content", "code"), DAMAGED.values(), ids=list(DAMAGED))
def test_damaged_annotations_of_types_and_components(attribute: str, content: bytes, code: str) -> None:
    raw = RawClass()
    raw.pool.utf8("RuntimeVisibleTypeAnnotations")
    raw.attributes.append((attribute, content))
    unit = unit_of(raw)
    assert (codes(unit), kinds(unit), len(unit.class_type)) == ([code], [LOST], 1)


def test_c18_deeply_nested_signatures() -> None:
    raw = RawClass()
    nested = "LA<" * 10_000 + "*" + ">;" * 10_000
    signature = u2(raw.pool.utf8(nested))
    raw.attributes.append(("Signature", signature))
    raw.methods.append(raw.member(0x401, "m", "()I", raw.attribute("Signature", signature)))
    unit = unit_of(raw)
    assert (codes(unit), len(unit.class_type)) == ([], 1)
    assert unit.class_generic.tolist() == unit.method_generic.tolist()
    assert (listed(nested), parameterized(nested).arguments) == ([nested], [nested[3:-2]])


def many_methods(raw: RawClass) -> None:
    raw.methods += [raw.member(0x109, f"m{each}", "()V") for each in range(60_000)]
    raw.methods += [raw.member(0x109, "m0", f"({'I' * (each % 255)})V") for each in range(5_535)]
    assert len(raw.methods) == 65_535


def many_calls(raw: RawClass) -> None:
    raw.method((b"\xb8" + u2(raw.pool.method("b/C", "go", "()V"))) * 21_844 + RETURN)


def dimensions(raw: RawClass) -> None:
    array = u2(raw.pool.type("[" * 255 + "I"))
    raw.method(b"\x03" * 255 + b"\xc5" + array + b"\xff\x57" + RETURN)
    raw.method(b"\x01\xc0" + array + b"\x57" + RETURN, f"({'[' * 255}I)V", name="n")


def parameters(raw: RawClass) -> None:
    raw.method(RETURN, f"({'I' * 255})V", slots=255)
    raw.method(b"\x03" * 255 + b"\xb8" + u2(raw.pool.method("T", "m", f"({'I' * 255})V")) + RETURN, name="n")


@pytest.mark.parametrize("fill", [many_methods, many_calls, dimensions, parameters])
def test_c19_as_much_as_can_be(fill: Callable[[RawClass], None]) -> None:
    raw = RawClass()
    fill(raw)
    data = raw.encoded()
    began = time.process_time()
    unit = read(data)
    program = link([(jdk(), "jdk", "jdk"), (unit, "application", "x.jar")])
    methods = np.array(program.methods_of(program.type_named("T")), np.int32)
    program.facts_of(methods, np.zeros(len(methods), np.int32), 0)
    assert time.process_time() - began < 10
    assert codes(unit) == []
    assert len(methods) == len(raw.methods)


@pytest.mark.parametrize("descriptor", [f"({'I' * 256})V", f"({'J' * 128})V"])
def test_c19_more_parameters_than_can_be(descriptor: str) -> None:
    assert refused(RETURN, descriptor, slots=300) == "CLS-CODE"
    raw = RawClass()
    call = b"\xb8" + u2(raw.pool.method("T", "m", descriptor))
    assert refused(b"\x03" * 256 + call + RETURN, raw=raw) == "CLS-CODE"


def test_c19_more_dimensions_than_can_be() -> None:
    raw = RawClass()
    raw.method(b"\x03\xc5" + u2(raw.pool.type("[" * 256 + "I")) + b"\1\x57" + RETURN)
    unit = unit_of(raw)
    program = link([(jdk(), "jdk", "jdk"), (unit, "application", "x.jar")])
    methods = np.array(program.methods_of(program.type_named("T")), np.int32)
    program.facts_of(methods, np.zeros(1, np.int32), 0)
    assert program.type_named("[" * 256 + "I") == -1


# --- names and places


def test_c20_a_class_under_another_name() -> None:
    good, other = RawClass().encoded(), RawClass(name="a/Other").encoded()
    unit = translate([("b/C.class", other), ("T.class", good)], "x.jar")
    assert [(each.code, each.entry) for each in unit.diagnostics] == [("CLS-WRONG-NAME", "b/C.class")]
    assert kinds(unit) == [LOST]
    assert len(unit.class_type) == 2


def test_c20_a_class_under_another_name_does_not_hide_the_right_one() -> None:
    right = RawClass().method(RETURN, name="right").encoded()
    wrong = RawClass().method(RETURN, name="wrong").encoded()
    unit = translate([("A.class", wrong), ("T.class", right)], "x.jar")
    assert codes(unit) == ["CLS-WRONG-NAME"]
    (signature,) = unit.method_signature
    assert text(unit, unit.signature_name[signature]) == "right"


# --- dynamic calls


def bootstrap(pool: Pool, kind: int = 6) -> int:
    return pool.handle(kind, pool.method("b/B", "bsm", "()V"))


ODD_TABLES: dict[str, Callable[[Pool], bytes | None]] = {
    "no table": lambda _: None,
    "no such row": lambda pool: struct.pack(">HHHHH", 2, bootstrap(pool), 0, bootstrap(pool), 0)[:2].replace(b"\2", b"\0"),
    "a handle of a field": lambda pool: struct.pack(">HHH", 1, pool.handle(1, pool.field("b/B", "f", "I")), 0),
    "no handle": lambda _: struct.pack(">HHH", 1, 0, 0),
    "a handle of no kind": lambda pool: struct.pack(">HHH", 1, bootstrap(pool, 10), 0),
    "no such argument": lambda pool: struct.pack(">HHHH", 1, bootstrap(pool), 1, 0),
    "cut off": lambda pool: struct.pack(">HHHH", 9, bootstrap(pool), 1, 0),
    "empty": lambda _: b"",
    "longer than it says": lambda pool: struct.pack(">HHHI", 1, bootstrap(pool), 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("constant", [False, True], ids=["call", "constant"])
@pytest.mark.parametrize("table", ODD_TABLES.values(), ids=list(ODD_TABLES))
def test_c21_an_odd_bootstrap_method(table: Callable[[Pool], bytes | None], constant: bool) -> None:
    raw = RawClass()
    content = table(raw.pool)
    if content is not None:
        raw.attributes.append(("BootstrapMethods", content))
    if constant:
        code = b"\x13" + u2(raw.pool.dynamic(17, 0, "d", "La;")) + b"\x57"
    else:
        code = b"\xba" + u2(raw.pool.dynamic(18, 0, "d", "()La;")) + b"\0\0\x57"
    unit = unit_of(raw.method(code + RETURN))
    assert set(codes(unit)) == {"CLS-INDY"}
    assert set(kinds(unit)) == {LOST}
    assert len(rows(unit, "constant")) + len(rows(unit, "dynamic")) == 1
    program = link([(jdk(), "jdk", "jdk"), (unit, "application", "x.jar")])
    methods = np.array(program.methods_of(program.type_named("T")), np.int32)
    program.facts_of(methods, np.zeros(1, np.int32), 0)
    assert {each.code for each in program.diagnostics} - {"HIE-PHANTOM"} <= {"CLS-INDY", "CLS-CONDY"}


# --- modules and packages


@pytest.mark.parametrize(
    ("name", "flags", "members", "expected", "classes"),
    [
        ("module-info", 0x8000, False, [], 0),
        ("module-info", 0x8000, True, ["CLS-MODULE"], 0),
        ("a/B", 0x8000, True, ["CLS-MODULE"], 0),
        ("a/package-info", 0x1600, False, [], 1),
    ],
)
def test_c23_declarations(name: str, flags: int, members: bool, expected: list[str], classes: int) -> None:
    raw = RawClass(name=name, flags=flags)
    if members:
        raw.method(RETURN)
    unit = unit_of(raw)
    assert (codes(unit), len(unit.class_type)) == (expected, classes)
