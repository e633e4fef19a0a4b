"""Archives that lie, are damaged or are meant to exhaust: each gives its diagnostic and never another error."""

import base64
import contextlib
import hashlib
import io
import os
import struct
import time
import tracemalloc
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cypher.schema import Diagnostic
from loader.archives import Archive, Changed, Inputs, Limits, NoInput, open_inputs
from loader.source import MIB, FileSource, Refused
from loader.translate import translate
from loader.zipread import Zip
from tests.badinputs.zips import (
    End,
    Item,
    build,
    built,
    class_file,
    deflate,
    manifest,
    nested_bomb,
    quoted_overlap,
)

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


@contextlib.contextmanager
def memory_below(most: int) -> Iterator[None]:
    """Asserts that no more than `most` bytes are ever allocated at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def codes(found: list[Diagnostic]) -> list[str]:
    return [each.code for each in found]


# --- refused archives


def zip64(extra: bytes, size: int | None = 0xFFFFFFFF) -> bytes:
    return build([Item(b"A.class", A, size=size, extra=extra)])


@pytest.mark.parametrize(
    ("code", "data"),
    [
        pytest.param("ARC-EMPTY", b"", id="A01"),
        pytest.param("ARC-NOT-ZIP", b"public class A {}\n" * 100, id="A02"),
        pytest.param("ARC-NOT-ZIP", build([Item(b"A.class", A)] * 9)[:600], id="A03"),
        pytest.param("ARC-NOT-ZIP", build([Item(b"A.class", A)])[:-5], id="A04"),
        pytest.param("ARC-NOT-ZIP", build([Item(b"A.class", A)]) + bytes(70_000), id="A05"),
        pytest.param("ARC-NOT-ZIP", A, id="a class file"),
        pytest.param("ARC-CORRUPT", zip64(b"\1\0\xff\xff" + bytes(8)), id="A14 longer than the header"),
        pytest.param("ARC-CORRUPT", zip64(b"\1\0\x08\0" + b"\xff" * 8), id="A14 a negative size"),
        pytest.param("ARC-CORRUPT", zip64(struct.pack("<HHq", 1, 4000, 1), size=None), id="A14 unused"),
        pytest.param("ARC-CORRUPT", build([Item(b"A.class", A)], End(offset=0xFFFFFFF0)), id="A15 offset"),
        pytest.param("ARC-CORRUPT", build([Item(b"A.class", A)], End(length=0xFFFFFFF0)), id="A15 length"),
        pytest.param("ARC-CORRUPT", build([Item(b"A.class", A)], End(length=40)), id="A15 too short"),
        pytest.param("ARC-NAME-ENC", build([Item(b"A.class", A), Item(b"\xff\xfe")]), id="A24"),
        pytest.param(
            "ARC-ENCRYPTED",
            build([Item(b"A.class", A), Item(b"B.class", A, flags=0x801)]),
            id="A25 encrypted",
        ),
        pytest.param(
            "ARC-METHOD",
            build([Item(b"A.class", A), Item(b"B.class", A, method=99, compressed=A)]),
            id="A25 method",
        ),
    ],
)
def test_refused(tmp_path: Path, code: str, data: bytes) -> None:
    classes, found = read(analysed(tmp_path, data))
    assert not classes
    assert [(each.code, each.severity, each.effect) for each in found] == [(code, "error", "soundness")]
    with pytest.raises(NoInput) as ended:
        open_inputs([str(tmp_path / "x.jar")])
    assert code in codes(list(ended.value.diagnostics))


def test_a25_the_entries_of_an_unreadable_archive_are_named(tmp_path: Path) -> None:
    data = build([Item(b"A.class", A), Item(b"B.class", A, flags=0x801)])
    _, found = read(analysed(tmp_path, data))
    assert "A.class, B.class" in found[0].text


def test_a13_more_entries_than_the_limit(tmp_path: Path) -> None:
    too_many = build([Item(f"{at}.class".encode(), alias=0 if at else None) for at in range(200_001)])
    classes, found = read(analysed(tmp_path, too_many))
    assert (classes, codes(found)) == ({}, ["ARC-ENTRIES"])


def test_a13_as_many_entries_as_the_limit(tmp_path: Path) -> None:
    many = build([Item(f"{at}.class".encode(), alias=0 if at else None) for at in range(301)])
    assert codes(read(analysed(tmp_path, many, limits=Limits(entries=300)))[1]) == ["ARC-ENTRIES"]
    classes, _ = read(analysed(tmp_path, many, limits=Limits(entries=301)))
    assert len(classes) == 301


@pytest.mark.parametrize("count", [65_535, 65_536, 70_000])
def test_a13_as_many_entries_as_honest_jars_have(tmp_path: Path, count: int) -> None:
    archive = build([Item(f"{at}".encode()) for at in range(count - 1)] + [Item(b"A.class", A)])
    tries = []
    for _ in range(2):  # what else the machine does may slow one down
        began = time.process_time()
        classes, found = read(analysed(tmp_path, archive))
        tries.append(time.process_time() - began)
        assert classes == {"A.class": A}
        assert not found
    assert min(tries) < 3


# --- archives that are read all the same


def test_a06_a_script_in_front(tmp_path: Path) -> None:
    classes, found = read(analysed(tmp_path, build([Item(b"A.class", A)], prefix=b"#!/bin/sh\n" * 100)))
    assert (classes, found) == ({"A.class": A}, [])


@pytest.mark.parametrize(
    ("code", "item"),
    [
        pytest.param("ARC-CRC", Item(b"A.class", A, crc=1), id="A18"),
        pytest.param("ARC-LOCNAME", Item(b"A.class", A, local_name=b"B.class"), id="A19"),
        pytest.param("ARC-DIRNAME", Item(b"A.class/", A), id="A20"),
        pytest.param("ARC-SYMLINK", Item(b"A.class", A, made_by=3 << 8, attributes=0xA1FF << 16), id="A22"),
        pytest.param("ARC-SIZE", Item(b"A.class", A, size=len(A) + 9), id="a size too large"),
    ],
)
def test_analysed_with_a_warning(tmp_path: Path, code: str, item: Item) -> None:
    classes, found = read(analysed(tmp_path, build([item])))
    assert classes == {"A.class": A}
    assert [(each.code, each.severity, each.entry.rstrip("/")) for each in found] == [
        (code, "warning", "A.class")
    ]


def test_a16_a_wrong_count(tmp_path: Path) -> None:
    data = build([Item(b"A.class", A), Item(b"b/B.class", A)], End(count=60_000))
    classes, found = read(analysed(tmp_path, data))
    assert (list(classes), codes(found)) == (["A.class", "b/B.class"], ["ARC-COUNT"])


def test_a17_the_last_of_equal_names(tmp_path: Path) -> None:
    other = class_file("A", "other")
    classes, found = read(analysed(tmp_path, build([Item(b"A.class", other), Item(b"A.class", A)])))
    assert classes == {"A.class": A}
    assert codes(found) == ["ARC-DUP-ENTRY"]
    assert all(hashlib.sha256(each).hexdigest() in found[0].text for each in (A, other))


def test_a11_a_declared_size_that_is_too_small(tmp_path: Path) -> None:
    item = Item(b"A.class", A + bytes(10 * MIB), size=10)
    with memory_below(16 * MIB):
        inputs = analysed(tmp_path, build([item]))
        assert read(inputs)[0] == {"A.class": A[:10]}
    unit = translate(inputs.archives[0].classes(), "x.jar")
    assert codes(unit.diagnostics) == ["CLS-TRUNC"]


def test_a12_a_declared_size_that_is_far_too_large(tmp_path: Path) -> None:
    content = A + os.urandom(10 * MIB)
    data = build([Item(b"A.class", content, size=0xFFFFFFF0)])
    with memory_below(64 * MIB):
        classes, found = read(analysed(tmp_path, data, limits=Limits(inflated_per_archive=11 * 1032 * MIB)))
    assert classes == {"A.class": content}
    assert [(each.code, each.severity) for each in found] == [("ARC-SIZE", "warning")]


@pytest.mark.parametrize("name", ["../../etc/x.class", "/A.class", "C:\\A.class", "x/../A.class", "a.CLASS"])
def test_a21_names_that_no_class_has(tmp_path: Path, name: str) -> None:
    inputs = analysed(tmp_path, build([Item(name.encode(), A)]))
    before = {each: each.stat().st_mtime_ns for each in tmp_path.parent.iterdir()}
    classes, found = read(inputs)
    assert not classes
    assert [(each.code, each.entry) for each in found] == [("ARC-NAME", name)]
    assert inputs.archives[0].resources() == [name]
    assert inputs.archives[0].read(name) == A
    assert {each: each.stat().st_mtime_ns for each in tmp_path.parent.iterdir()} == before
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["good.jar", "x.jar"]


@pytest.mark.parametrize("name", ["A\0B.class", "A\x07.class", "\u202eA.class", "a\\b.class"])
def test_a23_unusual_names_that_a_class_may_have(tmp_path: Path, name: str) -> None:
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


def test_a28_a_signed_jar_with_a_changed_class(tmp_path: Path) -> None:
    digest = base64.b64encode(hashlib.sha256(b"what A.class was when it was signed").digest())
    signed = b"Signature-Version: 1.0\r\n\r\nName: A.class\r\nSHA-256-Digest: " + digest + b"\r\n\r\n"
    items = [
        Item(b"META-INF/MANIFEST.MF", signed), Item(b"META-INF/X.SF", signed), Item(b"META-INF/X.RSA", b"0"),
        Item(b"META-INF/s/Y.SF"), Item(b"A.class", A),
    ]  # fmt: skip
    classes, found = read(analysed(tmp_path, build(items)))
    assert classes == {"A.class": A}
    assert [(each.code, each.severity) for each in found] == [("ARC-SIGNED", "note")]


# --- what is meant to exhaust


def overlapping(count: int, size: int) -> bytes:
    """Returns an archive of `count` classes of `size` bytes over the same compressed bytes."""
    kernel = deflate(bytes(size))
    first = Item(b"0.class", compressed=kernel, size=size, crc=zlib.crc32(bytes(size)))
    return build([first, *(Item(f"{at}.class".encode(), size=size, alias=0) for at in range(1, count))])


def test_a09_entries_over_the_same_bytes(tmp_path: Path) -> None:
    classes, found = read(analysed(tmp_path, overlapping(200, MIB)))
    assert len(classes) == 200
    assert Counter(codes(found))["ARC-OVERLAP"] == 1


def test_a08_a_bomb_of_entries_that_quote_each_other(tmp_path: Path) -> None:
    data = quoted_overlap(250, bytes(22 * MIB))
    assert len(data) < 50_000
    with memory_below(64 * MIB):
        classes, found = read(analysed(tmp_path, data))
    assert not classes
    assert [(each.code, each.severity, each.effect) for each in found] == [
        ("ARC-OVERLAP", "warning", "none"), ("ARC-BUDGET", "error", "soundness"),
    ]  # fmt: skip


def test_entries_that_quote_each_other_are_read_if_they_are_few(tmp_path: Path) -> None:
    classes, found = read(analysed(tmp_path, quoted_overlap(3, A)))
    assert [len(each) for each in classes.values()] == [len(A) + 74, len(A) + 37, len(A)]
    assert all(each.endswith(A) for each in classes.values())
    assert Counter(codes(found))["ARC-OVERLAP"] == 1


def test_a10_a_bomb_in_one_class(tmp_path: Path) -> None:
    classes, found = read(
        analysed(tmp_path, build([Item(b"A.class", bytes(200 * MIB)), Item(b"B.class", A)]))
    )
    assert classes == {"B.class": A}
    assert [(each.code, each.severity, each.effect) for each in found] == [
        ("ARC-ENTRY-SIZE", "warning", "soundness")
    ]


def test_a10_resources_are_not_inflated(tmp_path: Path) -> None:
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


def test_a07_zips_in_zips(tmp_path: Path) -> None:
    bomb = nested_bomb(levels=5, width=8, megabytes=16)
    began = time.process_time()
    with memory_below(64 * MIB):
        classes, found = read(analysed(tmp_path, bomb))
    assert time.process_time() - began < 5
    assert not classes
    assert [(each.code, each.severity, each.effect) for each in found] == [
        ("ARC-NEST", "warning", "soundness")
    ]
    assert "4,096 archives" in found[0].text


def test_nested_archives_that_inflate_too_far(tmp_path: Path) -> None:
    bomb = Item(b"a.jar", bytes(300 * MIB))
    _, found = read(analysed(tmp_path, build([bomb, Item(b"A.class", A)])))
    assert codes(found) == ["ARC-BUDGET"]
    loud = Item(b"a.jar", os.urandom(MIB))
    _, found = read(analysed(tmp_path, build([loud]), limits=Limits(nested_bytes=1000)))
    assert codes(found) == ["ARC-ENTRY-SIZE"]


# --- files that change


def test_a32_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
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


def test_a32_a_change_that_keeps_size_and_time(tmp_path: Path) -> None:
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
