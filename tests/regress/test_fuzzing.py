"""What fuzzing found: files that the JVM reads and we did not, each with its cause."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from loader.archives import open_inputs
from loader.link import link
from loader.translate import translate
from tests.badinputs.zips import Item, build, built, class_file, deflate, manifest
from tests.loader.rawclass import RawClass, codes, rows
from tests.loader.units import jdk

ONE, TWO = class_file("A", "one"), class_file("A", "two")
RETURN_ARGUMENT = b"\x2a\xb0"


@pytest.mark.parametrize("minor", [0, 1, 2, 3])
def test_code_of_the_first_versions_has_the_usual_sizes(minor: int) -> None:
    raw = RawClass(major=45, minor=minor).method(RETURN_ARGUMENT, "(La;)La;")
    unit = translate([("T.class", raw.encoded())], "x")
    assert codes(unit) == []
    assert rows(unit, "assign") == [(1, 0, 1)]


def test_code_of_the_first_versions_may_have_short_sizes() -> None:
    raw = RawClass(major=45, minor=2)
    short = struct.pack(">BBH", 1, 1, len(RETURN_ARGUMENT)) + RETURN_ARGUMENT + bytes(4)
    raw.methods.append(raw.member(8, "m", "(La;)La;", raw.attribute("Code", short)))
    unit = translate([("T.class", raw.encoded())], "x")
    assert rows(unit, "assign") == [(1, 0, 1)]
    # Neither adds up: the usual ones are what is wrong.
    raw = RawClass(major=45, minor=2)
    raw.methods.append(raw.member(8, "m", "(La;)La;", raw.attribute("Code", short + b"x")))
    assert translate([("T.class", raw.encoded())], "x").method_code.tolist() == [2]


@pytest.mark.parametrize(("major", "classes"), [(48, 1), (52, 1), (53, 0)])
def test_the_flag_of_module_declarations_came_with_version_53(major: int, classes: int) -> None:
    raw = RawClass(major=major, flags=0x8021)
    unit = translate([("T.class", raw.encoded())], "x")
    assert (codes(unit), len(unit.class_type)) == ([], classes)
    program = link([(jdk(), "jdk", "jdk"), (unit, "application", "x")])
    assert (program.type_named("T") >= 0) == bool(classes)


@pytest.mark.parametrize(
    "items",
    [
        (Item(b"A.class", ONE), Item(b"A.class/", TWO)),
        (Item(b"A.class/", TWO), Item(b"A.class", ONE)),
        (Item(b"A.class", ONE), Item(b"A.class/")),
    ],
    ids=["after", "before", "empty"],
)
def test_a_class_counts_and_not_the_directory_of_its_name(tmp_path: Path, items: tuple[Item, ...]) -> None:
    (tmp_path / "x.jar").write_bytes(build(items))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    assert dict(archive.classes()) == {"A.class": ONE}


def test_a_versioned_class_that_is_called_like_a_directory(tmp_path: Path) -> None:
    entry = "META-INF/versions/9/A.class/"
    items = [manifest(Multi_Release="true"), Item(b"A.class", ONE), Item(entry.encode(), TWO)]
    (tmp_path / "x.jar").write_bytes(build(items))
    inputs = open_inputs([str(tmp_path / "x.jar")], release=17)
    assert dict(inputs.archives[0].classes()) == {"A.class": ONE}
    assert [each.code for each in inputs.diagnostics] == ["ARC-DIRNAME", "ARC-RELEASE"]
    # Anything else of that version makes the JVM look for it.
    (tmp_path / "x.jar").write_bytes(build([*items, Item(b"META-INF/Versions/9/x.txt")]))
    inputs = open_inputs([str(tmp_path / "x.jar")], release=17)
    assert dict(inputs.archives[0].classes()) == {"A.class": TWO}
    inputs = open_inputs([str(tmp_path / "x.jar")], release=8)
    assert dict(inputs.archives[0].classes()) == {"A.class": ONE}


ALL_ONES = 0xFFFFFFFF


def test_an_entry_whose_zip64_field_leads_nowhere_costs_itself(tmp_path: Path) -> None:
    extra = struct.pack("<HHq", 1, 8, 40)
    lost = Item(b"B.class", b"x", size=ALL_ONES, compressed_size=ALL_ONES, offset=ALL_ONES, extra=extra)
    (tmp_path / "x.jar").write_bytes(build([Item(b"A.class", ONE), lost]))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    assert dict(archive.classes()) == {"A.class": ONE}
    assert [(each.code, each.effect, each.entry) for each in archive.diagnostics] == [
        ("ARC-CORRUPT", "soundness", "B.class")
    ]


def zip64(*values: int) -> bytes:
    """Returns the extra field for those of size, compressed size and offset that are all ones."""
    return struct.pack(f"<HH{len(values)}q", 1, 8 * len(values), *values)


@pytest.mark.parametrize("before", [b"x", bytes(150)])
@pytest.mark.parametrize(("method", "content"), [(8, deflate(ONE)), (0, ONE)], ids=["deflated", "stored"])
def test_a_negative_offset_leads_to_bytes_without_a_local_header(
    tmp_path: Path, before: bytes, method: int, content: bytes
) -> None:
    prefix = before + content
    extra = zip64(len(ONE), len(content), -len(prefix) - len(before))
    item = Item(
        b"A.class", ONE, method, size=ALL_ONES, compressed_size=ALL_ONES, offset=ALL_ONES, extra=extra
    )
    (tmp_path / "x.jar").write_bytes(build([Item(b"t", b"t"), item], prefix=prefix))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    assert dict(archive.classes()) == {"A.class": ONE}
    assert [(each.code, each.effect, each.entry) for each in archive.diagnostics] == [
        ("ARC-CORRUPT", "none", "A.class")
    ]


def test_a_negative_offset_may_lead_to_a_local_header_in_front_of_the_archive(tmp_path: Path) -> None:
    front = built([Item(b"A.class", ONE)])
    prefix = front.data[: front.directory]
    item = Item(b"A.class", ONE, offset=ALL_ONES, extra=zip64(-len(prefix)))
    (tmp_path / "x.jar").write_bytes(build([Item(b"t", b"t"), item], prefix=prefix))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    assert dict(archive.classes()) == {"A.class": ONE}
    assert archive.diagnostics == []


@pytest.mark.parametrize("offset", [-1 << 40, -1 << 63])
def test_a_negative_offset_behind_the_end_costs_its_entry(tmp_path: Path, offset: int) -> None:
    extra = zip64(len(TWO), len(TWO), offset)
    lost = Item(b"B.class", b"x", size=ALL_ONES, compressed_size=ALL_ONES, offset=ALL_ONES, extra=extra)
    (tmp_path / "x.jar").write_bytes(build([Item(b"A.class", ONE), lost]))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    unit = translate(archive.classes(), "x.jar")
    assert (len(unit.class_type), codes(unit)) == (1, ["CLS-TRUNC"])


@pytest.mark.parametrize("name", ["A.class", "A.class/"])
@pytest.mark.parametrize(
    ("size", "cut"),
    [
        (1 << 32 | len(ONE), True),
        (5 << 32 | len(ONE), True),
        (0x7FFFFFFF, False),
        (0xFFFFFFFF, False),
        (1 << 32 | 0xFFFFFFFF, False),
    ],
)
def test_class_loaders_cast_sizes_to_32_bits(tmp_path: Path, name: str, size: int, cut: bool) -> None:
    longer = ONE + b"tail"
    items = [
        Item(each, longer, size=ALL_ONES, extra=zip64(size))
        for each in (name.encode(), b"META-INF/services/S")
    ]
    (tmp_path / "x.jar").write_bytes(build(items))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    assert dict(archive.classes()) == {"A.class": ONE if cut else longer}
    assert dict(archive.services()) == {"META-INF/services/S": longer}


MULTI = b"Multi-Release: true\n\n"
SECTION = b"Name: x\n"


def sectioned(length: int) -> bytes:
    """Returns the manifest of a multi-release jar with so many bytes."""
    return (MULTI + SECTION).ljust(length, b"\n")


def unended(data: bytes) -> bytes:
    """Returns a deflated stream without its end."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


@pytest.mark.parametrize(
    ("item", "counts"),
    [
        (Item(b"", MULTI), True),
        (Item(b"", MULTI, size=len(MULTI) - 1), True),
        (Item(b"", MULTI, size=len(MULTI) + 1), False),
        (Item(b"", MULTI, 0, size=len(MULTI) + 1), False),
        (Item(b"", MULTI, size=ALL_ONES), False),
        (Item(b"", MULTI, compressed=unended(MULTI)), True),
        # What is behind the last byte is looked at only as far as one buffer reaches.
        (Item(b"", MULTI, compressed=unended(MULTI) + b"\xff", size=len(MULTI)), True),
        (Item(b"", sectioned(65_536), size=65_535), True),
        (Item(b"", sectioned(65_537), size=65_536), False),
        (Item(b"", sectioned(65_537), 0, size=65_536), False),
        (Item(b"", sectioned(65_536)), True),
        (Item(b"", sectioned(65_536), 0), True),
        (Item(b"", sectioned(65_535), compressed=unended(sectioned(65_535))), True),
        (Item(b"", sectioned(65_536), compressed=unended(sectioned(65_536))), False),
        (Item(b"", sectioned(16_000_000)), True),
        (Item(b"", sectioned(16_000_001)), False),
    ],
)
def test_versioned_classes_count_only_if_the_manifest_has_its_size(
    tmp_path: Path, item: Item, counts: bool
) -> None:
    item.name = b"META-INF/MANIFEST.MF"
    items = [item, Item(b"A.class", ONE), Item(b"META-INF/versions/9/A.class", TWO)]
    (tmp_path / "x.jar").write_bytes(build(items))
    (archive,) = open_inputs([str(tmp_path / "x.jar")], release=17).archives
    assert dict(archive.classes()) == {"A.class": TWO if counts else ONE}
    assert archive.manifest == {"Multi-Release": "true"}
