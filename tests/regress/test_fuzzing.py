"""What fuzzing found: files that the JVM reads and we did not, each with its cause."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from loader.archives import open_inputs
from loader.link import link
from loader.translate import translate
from tests.badinputs.zips import Item, build, class_file, manifest
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


@pytest.mark.parametrize(
    "extra",
    [struct.pack("<HHq", 1, 8, 40), struct.pack("<HH3q", 1, 24, 40, 0, -1)],
    ids=["short", "negative"],
)
def test_an_entry_whose_zip64_field_leads_nowhere_costs_itself(tmp_path: Path, extra: bytes) -> None:
    lost = Item(b"B.class", b"x", size=ALL_ONES, compressed_size=ALL_ONES, offset=ALL_ONES, extra=extra)
    (tmp_path / "x.jar").write_bytes(build([Item(b"A.class", ONE), lost]))
    (archive,) = open_inputs([str(tmp_path / "x.jar")]).archives
    assert dict(archive.classes()) == {"A.class": ONE}
    assert [(each.code, each.effect, each.entry) for each in archive.diagnostics] == [
        ("ARC-CORRUPT", "soundness", "B.class")
    ]
