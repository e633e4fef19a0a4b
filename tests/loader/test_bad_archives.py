"""Archives that lie, are damaged or are meant to exhaust: each gives its diagnostic and never another error."""

import hashlib
import io
import os
import struct
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypher.schema import Diagnostic
from loader.archives import Archive, Changed, Inputs, Limits, NoInput, open_inputs
from loader.source import MIB, FileSource, Refused
from loader.zipread import Zip
from tests.badinputs.zips import End, Item, build, built, class_file, deflate, manifest

A = class_file("A")
GOOD = build([Item(b"Good.class", class_file("Good"))])


def analysed(tmp_path: Path, data: bytes, name: str = "x.jar", limits: Limits | None = None) -> Inputs:
    """Returns the inputs of a run on an archive of `data` and a good one."""
    (tmp_path / name).write_bytes(data)
    (tmp_path / "good.jar").write_bytes(GOOD)
    return open_inputs([str(tmp_path / name), str(tmp_path / "good.jar")], limits=limits, release=17)


def read(inputs: Inputs) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """Returns the classes of all archives but the good one, and all diagnostics."""
    classes = {name: data for each in inputs.archives for name, data in each.classes()}
    assert classes.pop("Good.class", None), "the rest goes on"
    return classes, inputs.diagnostics + [each for archive in inputs.archives for each in archive.diagnostics]


def codes(found: list[Diagnostic]) -> list[str]:
    return [each.code for each in found]


# --- refused archives


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("ARC-EMPTY", b""),  # A01
        ("ARC-NOT-ZIP", b"public class A {}\n" * 100),  # A02
        ("ARC-NOT-ZIP", build([Item(b"A.class", A)] * 9)[:600]),  # A03
        ("ARC-NOT-ZIP", build([Item(b"A.class", A)])[:-5]),  # A04
        ("ARC-NOT-ZIP", build([Item(b"A.class", A)]) + bytes(70_000)),  # A05
        ("ARC-NOT-ZIP", A),
        (
            "ARC-CORRUPT",
            build([Item(b"A.class", A, size=0xFFFFFFFF, extra=b"\1\0\xff\xff" + bytes(8))]),
        ),  # A14
        ("ARC-CORRUPT", build([Item(b"A.class", A, size=0xFFFFFFFF, extra=b"\1\0\x08\0" + b"\xff" * 8)])),
        ("ARC-CORRUPT", build([Item(b"A.class", A, extra=struct.pack("<HHq", 1, 4000, 1))])),
        ("ARC-CORRUPT", build([Item(b"A.class", A)], End(offset=0xFFFFFFF0))),  # A15
        ("ARC-CORRUPT", build([Item(b"A.class", A)], End(length=0xFFFFFFF0))),
        ("ARC-CORRUPT", build([Item(b"A.class", A)], End(length=40))),
        ("ARC-NAME-ENC", build([Item(b"A.class", A), Item(b"\xff\xfe")])),  # A24
        ("ARC-ENCRYPTED", build([Item(b"A.class", A), Item(b"B.class", A, flags=0x801)])),  # A25
        ("ARC-METHOD", build([Item(b"A.class", A), Item(b"B.class", A, method=99, compressed=A)])),
    ],
)
def test_refused(tmp_path: Path, code: str, data: bytes) -> None:
    classes, found = read(analysed(tmp_path, data))
    assert not classes
    assert [(each.code, each.severity, each.effect) for each in found] == [(code, "error", "soundness")]
    with pytest.raises(NoInput) as ended:
        open_inputs([str(tmp_path / "x.jar")])
    assert code in codes(list(ended.value.diagnostics))


def test_the_entries_of_an_unreadable_archive_are_named(tmp_path: Path) -> None:
    data = build([Item(b"A.class", A), Item(b"B.class", A, flags=0x801)])
    _, found = read(analysed(tmp_path, data))
    assert "A.class, B.class" in found[0].text


def test_more_entries_than_the_limit(tmp_path: Path) -> None:  # A13
    many = build([Item(f"{at}.class".encode(), alias=0 if at else None) for at in range(301)])
    assert codes(read(analysed(tmp_path, many, limits=Limits(entries=300)))[1]) == ["ARC-ENTRIES"]
    classes, _ = read(analysed(tmp_path, many, limits=Limits(entries=301)))
    assert len(classes) == 301


@pytest.mark.parametrize("count", [65_535, 65_536, 70_000])
def test_as_many_entries_as_honest_jars_have(tmp_path: Path, count: int) -> None:  # A13
    archive = build([Item(f"{at}".encode()) for at in range(count - 1)] + [Item(b"A.class", A)])
    classes, found = read(analysed(tmp_path, archive))
    assert classes == {"A.class": A}
    assert not found


# --- archives that are read all the same


def test_a_script_in_front(tmp_path: Path) -> None:  # A06
    classes, found = read(analysed(tmp_path, build([Item(b"A.class", A)], prefix=b"#!/bin/sh\n" * 100)))
    assert (classes, found) == ({"A.class": A}, [])


@pytest.mark.parametrize(
    ("code", "item"),
    [
        ("ARC-CRC", Item(b"A.class", A, crc=1)),  # A18
        ("ARC-LOCNAME", Item(b"A.class", A, local_name=b"B.class")),  # A19
        ("ARC-DIRNAME", Item(b"A.class/", A)),  # A20
        ("ARC-SYMLINK", Item(b"A.class", A, made_by=3 << 8, attributes=0xA1FF << 16)),  # A22
        ("ARC-SIZE", Item(b"A.class", A, size=len(A) + 9)),
        ("ARC-SIZE", Item(b"A.class", A, size=0xFFFFFFF0)),  # A12
    ],
)
def test_analysed_with_a_warning(tmp_path: Path, code: str, item: Item) -> None:
    classes, found = read(analysed(tmp_path, build([item])))
    assert classes == {"A.class": A}
    assert [(each.code, each.severity, each.entry.rstrip("/")) for each in found] == [
        (code, "warning", "A.class")
    ]


def test_a_wrong_count(tmp_path: Path) -> None:  # A16
    data = build([Item(b"A.class", A), Item(b"b/B.class", A)], End(count=60_000))
    classes, found = read(analysed(tmp_path, data))
    assert (list(classes), codes(found)) == (["A.class", "b/B.class"], ["ARC-COUNT"])


def test_the_last_of_equal_names(tmp_path: Path) -> None:  # A17
    other = class_file("A", "other")
    classes, found = read(analysed(tmp_path, build([Item(b"A.class", other), Item(b"A.class", A)])))
    assert classes == {"A.class": A}
    assert codes(found) == ["ARC-DUP-ENTRY"]
    assert all(hashlib.sha256(each).hexdigest() in found[0].text for each in (A, other))


def test_a_declared_size_that_is_too_small(tmp_path: Path) -> None:  # A11
    item = Item(b"A.class", bytes(10 * MIB), size=10)
    classes, _ = read(analysed(tmp_path, build([item])))
    assert classes == {"A.class": bytes(10)}


@pytest.mark.parametrize("name", ["../../etc/x.class", "/A.class", "C:\\A.class", "x/../A.class", "a.CLASS"])
def test_names_that_no_class_has(tmp_path: Path, name: str) -> None:  # A21
    inputs = analysed(tmp_path, build([Item(name.encode(), A)]))
    before = {each: each.stat().st_mtime_ns for each in tmp_path.parent.iterdir()}
    classes, found = read(inputs)
    assert not classes
    assert [(each.code, each.entry) for each in found] == [("ARC-NAME", name)]
    assert inputs.archives[0].resources() == [name]
    assert inputs.archives[0].read(name) == A
    assert {each: each.stat().st_mtime_ns for each in tmp_path.parent.iterdir()} == before


@pytest.mark.parametrize("name", ["A\0B.class", "A\x07.class", "\u202eA.class", "a\\b.class"])
def test_unusual_names_that_a_class_may_have(tmp_path: Path, name: str) -> None:  # A23
    classes, found = read(analysed(tmp_path, build([Item(name.encode(), A)])))
    assert classes == {name: A}
    assert [(each.code, each.entry) for each in found] == [("ARC-NAME", name)]


def test_very_many_unusual_names_are_not_all_listed(tmp_path: Path) -> None:
    _, found = read(analysed(tmp_path, build([Item(f"{at}\x07".encode()) for at in range(1500)])))
    assert len(found) == 1001
    assert "not listed" in found[-1].text


@pytest.mark.parametrize("damage", ["header", "data", "cut"])
def test_an_entry_that_cannot_be_read_is_left_out(tmp_path: Path, damage: str) -> None:
    archive = built([Item(b"A.class", A), Item(b"B.class", A)])
    data = bytearray(archive.data)
    if damage == "header":
        data[archive.offsets[0]] = 0
    else:
        data[archive.offsets[0] + 37 : archive.offsets[0] + 60] = b"\xff" * 23
    if damage == "cut":
        data = bytearray(build([Item(b"A.class", A, offset=1 << 30), Item(b"B.class", A)]))
    classes, found = read(analysed(tmp_path, bytes(data)))
    assert classes == {"B.class": A}
    assert [(each.code, each.effect, each.entry) for each in found] == [
        ("ARC-CORRUPT", "soundness", "A.class")
    ]


def test_signed(tmp_path: Path) -> None:  # A28
    items = [Item(b"A.class", A), Item(b"META-INF/X.SF"), Item(b"META-INF/X.RSA"), Item(b"META-INF/s/Y.SF")]
    classes, found = read(analysed(tmp_path, build(items)))
    assert classes == {"A.class": A}
    assert [(each.code, each.severity) for each in found] == [("ARC-SIGNED", "note")]


# --- what is meant to exhaust


def overlapping(count: int, size: int) -> bytes:
    """Returns an archive of `count` classes of `size` bytes over the same compressed bytes."""
    kernel = deflate(bytes(size))
    first = Item(b"0.class", compressed=kernel, size=size, crc=zlib.crc32(bytes(size)))
    return build([first, *(Item(f"{at}.class".encode(), size=size, alias=0) for at in range(1, count))])


def test_entries_over_the_same_bytes(tmp_path: Path) -> None:  # A09
    classes, found = read(analysed(tmp_path, overlapping(200, MIB)))
    assert len(classes) == 200
    assert Counter(codes(found))["ARC-OVERLAP"] == 1


def test_a_bomb_of_overlapping_entries(tmp_path: Path) -> None:  # A08
    data = overlapping(250, 22 * MIB)
    assert len(data) < 100_000
    classes, found = read(analysed(tmp_path, data))
    assert not classes
    assert "ARC-BUDGET" in codes(found)


def test_a_bomb_in_one_class(tmp_path: Path) -> None:  # A10
    classes, found = read(
        analysed(tmp_path, build([Item(b"A.class", bytes(200 * MIB)), Item(b"B.class", A)]))
    )
    assert classes == {"B.class": A}
    assert [(each.code, each.severity, each.effect) for each in found] == [
        ("ARC-ENTRY-SIZE", "warning", "soundness")
    ]


def test_resources_are_not_inflated(tmp_path: Path) -> None:  # A10
    damaged = Item(b"zeros.bin", compressed=b"\xff" * 100, compressed_size=100, size=200 * MIB)
    classes, found = read(analysed(tmp_path, build([damaged, Item(b"A.class", A)])))
    assert (classes, found) == ({"A.class": A}, [])


def test_the_budget_of_the_run(tmp_path: Path) -> None:
    data = build([Item(b"A.class", os.urandom(MIB))])
    (tmp_path / "a.jar").write_bytes(data)
    (tmp_path / "b.jar").write_bytes(data)
    limits = Limits(inflated_per_run=MIB + 1)
    inputs = open_inputs([str(tmp_path / "a.jar"), str(tmp_path / "b.jar")], limits=limits)
    assert [each.code for each in inputs.diagnostics] == ["ARC-BUDGET"]
    assert len(inputs.archives) == 1


def nested_zips(depth: int, width: int, content: bytes) -> bytes:
    """Returns zips in zips, each of other bytes than its neighbours."""
    data = content
    for level in range(depth):
        items = [Item(f"{level}-{at}.zip".encode(), data, comment=bytes([65 + at])) for at in range(width)]
        data = build(items)
    return data


def test_zips_in_zips(tmp_path: Path) -> None:  # A07
    bottom = build([Item(f"{at}.class".encode(), bytes(20 * MIB), level=9) for at in range(1)])
    classes, found = read(analysed(tmp_path, nested_zips(5, 16, bottom)))
    assert not classes
    assert set(codes(found)) == {"ARC-NEST"}


def test_nested_archives_that_inflate_too_far(tmp_path: Path) -> None:
    bomb = Item(b"a.jar", bytes(300 * MIB))
    _, found = read(analysed(tmp_path, build([bomb, Item(b"A.class", A)])))
    assert codes(found) == ["ARC-BUDGET"]
    loud = Item(b"a.jar", os.urandom(MIB))
    _, found = read(analysed(tmp_path, build([loud]), limits=Limits(nested_bytes=1000)))
    assert codes(found) == ["ARC-ENTRY-SIZE"]


# --- files that change


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:  # A32
    path = tmp_path / "x.jar"
    for change in ("cut", "rewritten", "replaced", "removed"):
        path.write_bytes(build([Item(f"A{at}.class".encode(), os.urandom(MIB)) for at in range(3)]))
        (archive,) = open_inputs([str(path)]).archives
        classes = archive.classes()
        next(classes)
        if change == "cut":
            os.truncate(path, MIB)
        elif change == "rewritten":
            with path.open("r+b") as file:
                file.seek(2 * MIB)
                file.write(b"x")
        elif change == "replaced":
            (tmp_path / "y.jar").write_bytes(path.read_bytes())
            (tmp_path / "y.jar").replace(path)
        else:
            path.unlink()
        with pytest.raises(Changed) as ended:
            list(classes)
        assert codes(list(ended.value.diagnostics)) == ["ARC-CHANGED"], change


def test_a_change_that_keeps_size_and_time(tmp_path: Path) -> None:  # A32
    path = tmp_path / "x.jar"
    archive = built([Item(b"A.class", A, method=0), Item(b"B.class", A, method=0)])
    path.write_bytes(archive.data)
    (opened,) = open_inputs([str(path)]).archives
    classes = opened.classes()
    next(classes)
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(archive.offsets[1] + 50)
        file.write(b"other")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(Changed):
        list(classes)


# --- properties

NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ENTRIES = st.lists(st.tuples(NAME, st.binary(max_size=300), st.sampled_from([0, 8])), max_size=8)


def reader(tmp_path: Path, data: bytes) -> Zip:
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    return Zip(FileSource(path, "x.zip", len(data)), Limits())


@settings(max_examples=200, deadline=None)
@given(entries=ENTRIES, comment=st.binary(max_size=100), prefix=st.binary(max_size=50))
def test_what_is_built_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[tuple[str, bytes, int]],
    comment: bytes,
    prefix: bytes,
) -> None:
    items = [Item(name.encode(), data, method) for name, data, method in entries]
    archive = reader(
        tmp_path_factory.mktemp("zip"), build(items, End(comment=comment.replace(b"PK", b"")), prefix)
    )
    assert {name: archive.read(name) for name in archive.names()} == {name: data for name, data, _ in entries}


@settings(max_examples=50, deadline=None)
@given(
    entries=st.dictionaries(NAME.filter(lambda name: "\0" not in name), st.binary(max_size=300), max_size=8)
)
def test_what_another_program_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, bytes]
) -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries.items():
            with target.open(zipfile.ZipInfo(name), "w", force_zip64=True) as file:
                file.write(data)
    archive = reader(tmp_path_factory.mktemp("zip"), written.getvalue())
    assert {name: archive.read(name) for name in archive.names()} == entries


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_other_error_on_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(data), 0, 0)
    path = tmp_path_factory.mktemp("zip")
    for whole in (data, data + end, b"PK\1\2" + data + end):
        try:
            archive = reader(path, whole)
        except Refused:
            continue
        assert all(isinstance(each, str) for each in archive.names())


def test_manifests_do_not_need_a_directory(tmp_path: Path) -> None:
    data = build([manifest(Main_Class="a.Main"), Item(b"A.class", A)])
    inputs = analysed(tmp_path, data)
    archive: Archive = inputs.archives[0]
    assert archive.manifest == {"Manifest-Version": "1.0", "Main-Class": "a.Main"}
    assert inputs.main_class == "a.Main"
