"""The zip reader at the edges of each of its decisions, on archives of a few hundred bytes in memory.

What the JVM does with such archives is compared in `test_zip_jvm`; here it is written down, field by field.
"""

from __future__ import annotations

import hashlib
import struct
import zlib

import pytest

from loader import zipread
from loader.source import Limits, NestedSource, Refused, WindowSource
from loader.zipread import EntryError, Zip
from tests.badinputs.zips import End, Item, build, built, deflate

ONES32, ONES16 = 0xFFFFFFFF, 0xFFFF
END_SIZE, CENTRAL_SIZE = 22, 46


class Memory:
    """Bytes as a source of an archive, which counts what is done with it."""

    def __init__(self, data: bytes, label: str = "x.jar") -> None:
        self.label = label
        self.size = len(data)
        self.data = data
        self.done: list[str] = []
        self.longest = 0

    def read(self, offset: int, length: int) -> bytes:
        self.longest = max(self.longest, length)
        return self.data[offset : offset + length] if offset >= 0 and length > 0 else b""

    def check(self) -> None:
        self.done.append("check")

    def drop(self) -> None:
        self.done.append("drop")


def opened(data: bytes, limits: Limits | None = None) -> Zip:
    return Zip(Memory(data), limits or Limits())


def contents(archive: Zip) -> dict[str, bytes | str]:
    """Returns the content of each entry, or the code of its diagnostic."""
    found: dict[str, bytes | str] = {}
    for name in archive.names():
        try:
            found[name] = archive.read(name)
        except EntryError as problem:
            found[name] = problem.code
    return found


def notes(archive: Zip) -> list[tuple[str, str, str]]:
    """Returns code, entry and effect of the diagnostics, which are all warnings about this archive."""
    assert {(each.severity, each.archive) for each in archive.diagnostics} <= {("warning", "x.jar")}
    return [(each.code, each.entry, each.effect) for each in archive.diagnostics]


def refused(data: bytes, limits: Limits | None = None) -> tuple[str, str]:
    """Returns code and text of the diagnostic that refuses the archive."""
    with pytest.raises(Refused) as ended:
        opened(data, limits)
    found = ended.value.diagnostic
    assert (found.severity, found.effect, found.archive) == ("error", "soundness", "x.jar")
    return found.code, found.text


def field(size: int, *values: int) -> bytes:
    """Returns a zip64 field that claims to have so many bytes."""
    return struct.pack(f"<HH{len(values)}q", 1, size, *values)


def patched(data: bytes, at: int, content: bytes) -> bytes:
    return data[:at] + content + data[at + len(content) :]


AB = [Item(b"a", b"one"), Item(b"b", b"two", method=0)]
BOTH = {"a": b"one", "b": b"two"}
PLAIN = build(AB)


# --- where the central directory is
def test_entries_are_those_of_the_directory() -> None:
    archive = opened(PLAIN)
    assert list(archive.names()) == ["a", "b"]
    assert contents(archive) == BOTH
    assert notes(archive) == []
    with pytest.raises(KeyError):
        archive.read("c")


def test_empty_file() -> None:
    assert refused(b"") == ("ARC-EMPTY", "is empty")


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"x", False),
        (b"\xca\xfe\xba\xbe" + bytes(100), True),
        (b"\0" * 3 + b"\xca\xfe\xba\xbe" + bytes(100), False),
        (b"PK\5\6", False),
        (PLAIN[:-1], False),
        (PLAIN[1:-1], False),
        (b"\xff" * 100, False),
    ],
)
def test_without_an_end_record(data: bytes, hint: bool) -> None:
    code, text = refused(data)
    assert code == "ARC-NOT-ZIP"
    assert text.startswith("is no zip archive, or is cut off")
    assert text.endswith("; give the directory that holds its packages") == hint


@pytest.mark.parametrize("length", [0, 1, 4, 0xFFFF - 1, 0xFFFF])
def test_comment_of_any_length(length: int) -> None:
    archive = opened(build(AB, End(comment=(b"PK\5\6" * 20_000)[-length:] if length else b"")))
    assert contents(archive) == BOTH


@pytest.mark.parametrize("comment_length", [0, 1, 3, 99, 101, 0xFFFF])
def test_comment_of_another_length_is_that_of_an_archive_if_headers_are_where_it_says(
    comment_length: int,
) -> None:
    comment = bytes(100)
    assert contents(opened(build(AB, End(comment=comment, comment_length=comment_length)))) == BOTH
    data = built(AB, End(comment=comment, comment_length=comment_length))
    for other in (b"XX", b"AA"):
        local = patched(data.data, 0, other)
        central = patched(data.data, data.directory, other)
        for each in (local, central, patched(local, data.directory, other)):
            assert refused(each)[0] == "ARC-NOT-ZIP"


def test_end_record_further_back_than_a_comment_reaches() -> None:
    reach = END_SIZE + 0xFFFF + 128
    record = built(AB).data
    for more, found in ((reach - END_SIZE, True), (reach - END_SIZE + 1, False)):
        data = record + bytes(more)
        if found:
            assert contents(opened(data)) == BOTH
        else:
            assert refused(data)[0] == "ARC-NOT-ZIP"


def test_end_record_in_the_comment_counts_if_it_ends_with_the_file() -> None:
    empty = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)
    assert contents(opened(build(AB, End(comment=empty)))) == {}
    # … else what is before it, if it leads nowhere.
    assert contents(opened(build(AB, End(comment=empty + b"x")))) == BOTH
    longer = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 2)
    assert contents(opened(build(AB, End(comment=longer + b"x")))) == BOTH


def test_script_in_front_shifts_offsets() -> None:
    archive = opened(build(AB, prefix=b"#!"))
    assert contents(archive) == BOTH
    assert [each.offset for each in archive.entries.values()] == [2, 2 + 30 + 1 + len(deflate(b"one"))]


@pytest.mark.parametrize("prefix", [b"", b"x", b"prefix"])
def test_archive_without_entries(prefix: bytes) -> None:
    archive = opened(build([], prefix=prefix))
    assert (contents(archive), notes(archive)) == ({}, [])


def test_end_record_at_the_start_has_no_entries_whatever_it_says() -> None:
    archive = opened(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 3, 3, 100, 7, 0))
    assert contents(archive) == {}
    assert notes(archive) == [("ARC-COUNT", "", "none")]


OUTSIDE = ("ARC-CORRUPT", "its END record points outside the file")


def test_directory_outside_the_file() -> None:
    found = built(AB)
    size = len(found.data) - END_SIZE - found.directory
    assert refused(build(AB, End(length=len(found.data) - END_SIZE + 1))) == OUTSIDE
    assert refused(build(AB, End(offset=found.directory + 1))) == OUTSIDE
    # A directory at the very start can be, though there are no local headers before it.
    only = found.data[found.directory : -END_SIZE]
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 2, 2, size, 0, 0)
    assert contents(opened(only + end)) == {"a": "ARC-CORRUPT", "b": "ARC-CORRUPT"}


# --- zip64 END records
def with_end64(
    values: tuple[int, int, int],
    end: tuple[int, int, int] = (ONES16, ONES32, ONES32),
    signatures: tuple[bytes, bytes] = (b"PK\6\7", b"PK\6\6"),
    at: int | None = None,
) -> bytes:
    """Returns an archive whose zip64 END and END say (count, length, offset); `at` is where it is said to be."""
    found = built(AB)
    data = found.data[:-END_SIZE]
    place = len(data) if at is None else at
    data += struct.pack("<4sqHHIIqqqq", signatures[1], 44, 45, 45, 0, 0, values[0], *values)
    data += struct.pack("<4sIqI", signatures[0], 0, place, 1)
    return data + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, end[0], *end, 0)


FOUND = built(AB)
TRUE = (2, len(FOUND.data) - END_SIZE - FOUND.directory, FOUND.directory)


def test_zip64_end_record_replaces_what_is_all_ones() -> None:
    # Where it agrees, the directory lies before it; where it doesn't, before the END record.
    for end in (
        (ONES16, ONES32, ONES32), TRUE, (TRUE[0], ONES32, ONES32), (ONES16, TRUE[1], ONES32), (ONES16, ONES32, TRUE[2]),
    ):  # fmt: skip
        archive = opened(with_end64(TRUE, end))
        assert (contents(archive), notes(archive)) == (BOTH, []), end


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("change", [-1, 1])
def test_zip64_end_record_that_disagrees_is_ignored(place: int, change: int) -> None:
    end = list(TRUE)
    end[place] += change
    # END then lies 76 bytes behind the directory, and what is there instead is no header.
    assert refused(with_end64(TRUE, (end[0], end[1], end[2])))[0] == "ARC-CORRUPT"
    values = list(TRUE)
    values[place] = -1
    assert refused(with_end64((values[0], values[1], values[2]), TRUE))[0] == "ARC-CORRUPT"


def test_zip64_record_without_its_signature_is_none() -> None:
    for signatures in ((b"PK\6\7", b"PK\6\0"), (b"PK\6\0", b"PK\6\6"), (b"PK\6\0", b"PK\6\0")):
        assert refused(with_end64(TRUE, signatures=signatures))[0] == "ARC-CORRUPT"
        assert refused(with_end64(TRUE, TRUE, signatures=signatures))[0] == "ARC-CORRUPT"


def test_zip64_record_that_is_cut_off_is_none() -> None:
    whole = len(with_end64(TRUE))
    for place in (whole - 55, whole - 1, whole, -1, 1 << 40):
        data = with_end64(TRUE, at=place)
        assert refused(data)[0] == "ARC-CORRUPT"
    # Its signature at the end of the file, in the comment of the END record.
    data = with_end64(TRUE, at=whole) + b"PK\6\6"
    assert refused(patched(data, whole - 2, b"\4\0"))[0] == "ARC-CORRUPT"


@pytest.mark.parametrize(
    ("length", "offset"),
    [(-1, 0), (-5, 0), (1 << 40, -1 << 41), (1, 1 << 40), (len(PLAIN) - END_SIZE + 1, -9)],
)  # fmt: skip
def test_zip64_record_that_points_outside_the_file(length: int, offset: int) -> None:
    assert refused(with_end64((2, length, offset))) == OUTSIDE


def test_offsets_may_count_from_behind_the_directory() -> None:
    # There is nothing wrong with that as such, but here it is one byte and no header.
    assert refused(with_end64((2, 1, -5)))[1] == "the central directory has bytes that are no header"


# --- headers of the central directory
@pytest.mark.parametrize("count", [0, 1, 2, 3, 65_538, 60_000])
def test_count_of_entries_is_compared_as_16_bits(count: int) -> None:
    archive = opened(build(AB, End(count=count, zip64=count > ONES16)))
    assert contents(archive) == BOTH
    if count & ONES16 == 2:
        assert notes(archive) == []
    else:
        assert notes(archive) == [("ARC-COUNT", "", "none")]
        assert archive.diagnostics[0].text == f"has 2 entries but declares {count:,}"


def test_more_entries_than_the_limit() -> None:
    assert len(opened(PLAIN, Limits(entries=2)).entries) == 2
    assert refused(PLAIN, Limits(entries=1)) == ("ARC-ENTRIES", "has more than 1 entries, the limit")


def test_directory_of_malformed_headers() -> None:
    malformed = ("ARC-CORRUPT", "a header of the central directory is malformed")
    left = ("ARC-CORRUPT", "the central directory has bytes that are no header")
    first, second = FOUND.directory, FOUND.directory + CENTRAL_SIZE + 1
    assert refused(patched(FOUND.data, first, b"PK\1\3")) == malformed
    assert refused(patched(FOUND.data, second, b"PK\1\3")) == malformed
    for place in (28, 30, 32):  # lengths of name, extra field and comment
        assert refused(patched(FOUND.data, second + place, b"\xff\0")) == malformed
        for length, expected in ((0, left if place == 28 else None), (1, None if place == 28 else malformed)):
            changed = patched(FOUND.data, second + place, struct.pack("<H", length))
            if expected is None:
                assert list(opened(changed).entries) == ["a", "b"]
            else:
                assert refused(changed) == expected


@pytest.mark.parametrize("size", [1, 45, 46])
def test_bytes_behind_the_last_header(size: int) -> None:
    data = FOUND.data[:-END_SIZE] + bytes(size)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 2, 2, TRUE[1] + size, TRUE[2], 0)
    text = "the central directory has bytes that are no header"
    assert refused(data + end) == (
        "ARC-CORRUPT", text if size < CENTRAL_SIZE else "a header of the central directory is malformed",
    )  # fmt: skip


def test_names_extra_fields_and_comments_are_told_apart() -> None:
    items = [
        Item(b"ab", b"1", extra=b"\7\0\1\0x", comment=b"cd"),
        Item(b"", b"2", comment=b"PK\1\2" * 20),
        Item("ä".encode(), b"3", extra=b"\7\0\0\0"),
    ]
    archive = opened(build(items))
    assert (contents(archive), notes(archive)) == ({"ab": b"1", "": b"2", "ä": b"3"}, [])


def test_name_that_is_not_utf_8() -> None:
    with pytest.raises(Refused) as ended:
        opened(build([Item(b"a"), Item(b"\xff/b")]))
    assert (ended.value.diagnostic.code, ended.value.diagnostic.entry) == ("ARC-NAME-ENC", r"\xff/b")


@pytest.mark.parametrize(
    ("item", "code", "what"),
    [
        (Item(b"b", flags=1), "ARC-ENCRYPTED", "is encrypted"),
        (Item(b"b", flags=0x801), "ARC-ENCRYPTED", "is encrypted"),
        (Item(b"b", flags=1, method=9), "ARC-ENCRYPTED", "is encrypted"),
        *(
            (Item(b"b", method=method, compressed=b""), "ARC-METHOD", f"uses compression method {method}")
            for method in (1, 7, 9, 12)
        ),
    ],
)
def test_entry_for_which_the_jvm_refuses_the_archive(item: Item, code: str, what: str) -> None:
    others = [Item(b"a"), item, Item(b"c\xff", extra=b"x", comment=b"yz"), Item(b"d"), Item(b"")]
    text = rf"an entry {what}, so the JVM refuses the archive, with a, b, c\xff, d, "
    assert refused(build(others)) == (code, text)


def test_of_many_entries_ten_are_named() -> None:
    for count, rest in ((10, ""), (11, " and 1 more"), (1500, " and 1,490 more")):
        _, text = refused(build([Item(b"%d" % at, flags=1) for at in range(count)]))
        assert text.endswith(", with 0, 1, 2, 3, 4, 5, 6, 7, 8, 9" + rest)


def test_flags_and_methods_that_are_read() -> None:
    items = [Item(b"a", b"1", flags=0xFFFE), Item(b"b", b"2", flags=0, method=0), Item(b"c", b"3", flags=2)]
    archive = opened(build(items))
    assert (contents(archive), notes(archive)) == ({"a": b"1", "b": b"2", "c": b"3"}, [])


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (Item(b"../a"), "ARC-NAME"),
        (Item(b"A.CLASS"), "ARC-NAME"),
        (Item(b"A.class"), ""),
        (Item(b"A.class/"), "ARC-DIRNAME"),
        (Item(b"A.class/b"), ""),
        (Item(b"a/"), ""),
        (Item(b"a", made_by=3 << 8 | 20, attributes=0xA1FF << 16), "ARC-SYMLINK"),
        (Item(b"a", made_by=3 << 8 | 255, attributes=0xA1FF << 16 | 0xFFFF), "ARC-SYMLINK"),
        (Item(b"a", made_by=3 << 8, attributes=0x81A4 << 16), ""),
        (Item(b"a", made_by=3 << 8, attributes=0x41ED << 16 | 0x10), ""),
        (Item(b"a", made_by=3 << 8, attributes=0xC1FF << 16), ""),
        (Item(b"a", made_by=3 << 8, attributes=0xA1FF), ""),
        (Item(b"a", made_by=20, attributes=0xA1FF << 16), ""),
        (Item(b"a", made_by=7 << 8, attributes=0xA1FF << 16), ""),
    ],
)
def test_entry_that_is_unusual(item: Item, code: str) -> None:
    archive = opened(build([item]))
    assert notes(archive) == ([(code, item.name.decode(), "none")] if code else [])


# --- sizes and offsets, zip64 fields
def sizes(item: Item, disk: int = 0) -> tuple[int, int, int] | None:
    """Returns compressed size, size and offset of the one entry, None for a corrupt one."""
    found = built([item])
    data = patched(found.data, found.directory + 34, struct.pack("<H", disk))
    try:
        (entry,) = opened(data).entries.values()
    except Refused:
        assert refused(data)[0] == "ARC-CORRUPT"
        return None
    return entry.compressed, entry.size, entry.offset


@pytest.mark.parametrize("length", range(34))
def test_length_of_a_zip64_field(length: int) -> None:
    extra = struct.pack("<HH", 1, length) + bytes(length)
    whole = {0, 8, 16, 24, 28}
    for values, disk, exact in (
        ((1, 1, 1), 0, 0), ((1, 1, 1), ONES16, 4), ((ONES32, 1, 1), 0, 8), ((1, 1, ONES32), ONES16, 12),
        ((ONES32, 1, ONES32), ONES16, 20), ((ONES32, ONES32, ONES32), ONES16, 28), ((1, 1, 1), ONES16 - 1, 0),
    ):  # fmt: skip
        item = Item(b"a", b"x", size=values[0], compressed_size=values[1], offset=values[2], extra=extra)
        assert (sizes(item, disk) is not None) == (length in {*whole, exact})


@pytest.mark.parametrize(
    ("given", "values", "expected"),
    [
        ((1, 2, 3), (7, 8, 9), (1, 2, 3)),
        ((ONES32, 2, 3), (7,), (7, 2, 3)),
        ((1, ONES32, 3), (7,), (1, 7, 3)),
        ((1, 2, ONES32), (7,), (1, 2, 7)),
        ((ONES32, ONES32, 3), (7, 8), (7, 8, 3)),
        ((ONES32, 2, ONES32), (7, 8), (7, 2, 8)),
        ((ONES32, ONES32, ONES32), (7, 8, 9), (7, 8, 9)),
        ((ONES32, ONES32, ONES32), (7, 8), (7, 8, ONES32)),
        ((ONES32, ONES32, ONES32), (7,), (7, ONES32, ONES32)),
        ((ONES32 - 1, ONES32 - 1, 3), (7, 8), (ONES32 - 1, ONES32 - 1, 3)),
        # Of these places the JVM looks at the first for the size, at the second for the compressed one.
        ((ONES32, 2, 3), (-1,), None),
        ((ONES32, 2, 3), (0,), (0, 2, 3)),
        ((ONES32, 2, 3), (7, -1), (7, 2, 3)),
        ((1, 2, 3), (-1, -1, -1), (1, 2, 3)),
        ((1, ONES32, 3), (7, -1), None),
        ((1, ONES32, 3), (7, 0), (1, 7, 3)),
        ((1, ONES32, 3), (-1, 7), (1, 0, 3)),
        ((1, ONES32, 3), (-1,), (1, 0, 3)),
        ((ONES32, ONES32, 3), (7, -1), None),
        ((1, 2, ONES32), (-1,), (1, 2, -1)),
        ((1, 2, ONES32), (-1, -1, -1), (1, 2, -1)),
    ],
)
def test_values_of_a_zip64_field(
    given: tuple[int, int, int], values: tuple[int, ...], expected: tuple[int, int, int] | None
) -> None:
    size, compressed, offset = given
    extra = field(8 * len(values), *values)
    found = sizes(Item(b"a", b"x", size=size, compressed_size=compressed, offset=offset, extra=extra))
    assert found == (None if expected is None else (expected[1], expected[0], expected[2]))
    # Other fields before it, and whatever behind it.
    extra = b"\7\0\3\0xyz\0\0\x08\0" + bytes(8) + b"\1\0\0\0" + extra + b"\1\0\xff\xff"
    name = b"a" * 200
    found = sizes(Item(name, b"x", size=size, compressed_size=compressed, offset=offset, extra=extra))
    assert found == (None if expected is None else (expected[1], expected[0], expected[2]))


@pytest.mark.parametrize(
    ("extra", "corrupt"),
    [
        (b"\1", False), (b"\1\0\xff", False), (b"\1\0\1\0", True), (b"\7\0\0\0", False), (b"\7\0\1\0", True),
        (b"\7\0\1\0x", False), (b"\7\0\2\0x", True), (b"\7\0\0\0\7\0\0\0x", False), (b"\7\0\0\0\7\0\1\0", True),
        (b"\1\0\7\0" + bytes(8), True), (b"\1\0\x08\0" + bytes(7), True),
    ],
)  # fmt: skip
def test_extra_field_that_is_longer_than_its_entry(extra: bytes, corrupt: bool) -> None:
    assert (sizes(Item(b"a", b"x", extra=extra)) is None) == corrupt


def test_bound_is_what_can_come_out() -> None:
    def bound(item: Item, prefix: bytes = b"") -> int:
        data = build([item], prefix=prefix)
        return opened(data).entries["a"].bound - (0 if item.method else len(data))

    # Stored: no more than is left of the file behind the header, with what is declared.
    assert bound(Item(b"a", b"x", 0, size=ONES32, compressed_size=ONES32 - 1)) == 0
    assert bound(Item(b"a", b"x", 0, size=ONES32, compressed_size=ONES32 - 1), b"prefix") == -6
    assert bound(Item(b"a", b"x", 0, size=ONES32, compressed_size=ONES32 - 1, offset=10)) == -10
    assert bound(Item(b"a", b"x", 0, size=ONES32, compressed_size=ONES32 - 1, offset=10), b"prefix") == -16
    whole = len(build([Item(b"a", b"x", 0)]))
    assert bound(Item(b"a", b"x", 0, size=5, compressed_size=9)) == 5 - whole
    assert bound(Item(b"a", b"x", 0, size=9, compressed_size=5)) == 5 - whole
    assert bound(Item(b"a", b"x", 0, offset=1 << 20)) == -whole
    # Deflated: 258 bytes for two bits.
    assert bound(Item(b"a", b"x", size=ONES32, compressed_size=3)) == 3 * 1032
    assert bound(Item(b"a", b"x", size=3095, compressed_size=3)) == 3095
    assert bound(Item(b"a", b"x", compressed_size=0)) == 0


# --- contents
@pytest.mark.parametrize("contents_of", [(b"3", b"4"), (b"4", b"3")])
def test_of_equal_names_the_last_counts_and_stands_where_it_stands(contents_of: tuple[bytes, bytes]) -> None:
    one, two = contents_of
    archive = opened(build([Item(b"a", b"1"), Item(b"b", b"2"), Item(b"a", one), Item(b"a", two)]))
    assert list(contents(archive).items()) == [("b", b"2"), ("a", two)]
    assert notes(archive) == []
    archive.report_shadowed("b")
    archive.report_shadowed("c")
    archive.report_shadowed("a")
    assert notes(archive) == [("ARC-DUP-ENTRY", "a", "precision")]
    hidden, last = (hashlib.sha256(each).hexdigest() for each in contents_of)
    assert archive.diagnostics[0].text == (
        f"is there more than once: the last counts, sha256 {last}, not {hidden}"
    )


def test_equal_entries_of_one_name_do_no_harm() -> None:
    archive = opened(build([Item(b"a", b"1"), Item(b"a", b"1")]))
    archive.report_shadowed("a")
    assert notes(archive) == [("ARC-DUP-ENTRY", "a", "none")]


def test_hidden_entry_that_cannot_be_read() -> None:
    items = [Item(b"a", b"1", offset=1 << 20), Item(b"a", b"12345")]
    archive = opened(build(items), Limits(entry_bytes=4))
    archive.report_shadowed("a")
    assert notes(archive) == [("ARC-DUP-ENTRY", "a", "precision")]
    assert archive.diagnostics[0].text == (
        "is there more than once: the last counts, sha256 has more than 4 bytes, the limit, not has no local header"
    )


@pytest.mark.parametrize("method", [0, 8])
@pytest.mark.parametrize(
    ("declared", "limit", "expected", "code"),
    [
        (5, 5, b"12345", ""),
        (5, 6, b"12345", ""),
        (5, 4, None, ""),
        (4, 4, b"1234", "ARC-CRC"),
        (4, 3, None, ""),
        (6, 5, b"12345", "ARC-SIZE"),
        (6, 4, None, ""),
        (1 << 30, 5, b"12345", "ARC-SIZE"),
        (0, 0, b"", "ARC-CRC"),
        (1, 0, None, ""),
    ],
)
def test_size_declared_and_limited(
    method: int, declared: int, limit: int, expected: bytes | None, code: str
) -> None:
    archive = opened(build([Item(b"a", b"12345", method, size=declared)]), Limits(entry_bytes=limit))
    for _ in range(2):  # a second time it isn't told again
        if expected is None:
            with pytest.raises(EntryError) as ended:
                archive.read("a")
            assert ended.value.code == "ARC-ENTRY-SIZE"
            assert str(ended.value) == f"has more than {limit:,} bytes, the limit"
        else:
            assert archive.read("a") == expected
    effect = {"ARC-CRC": "none", "ARC-SIZE": "precision"}.get(code)
    assert notes(archive) == ([(code, "a", effect)] if code else [])
    if code == "ARC-SIZE":
        assert archive.diagnostics[0].text == f"has 5 bytes but declares {declared:,}"


def test_compressed_size_of_a_stored_entry_is_what_is_there() -> None:
    items = [Item(b"a", b"12345", 0, compressed_size=3), Item(b"b", b"12345", 0, compressed_size=9, crc=0)]
    archive = opened(build(items))
    assert contents(archive) == {"a": b"123", "b": b"12345"}
    assert notes(archive) == [("ARC-SIZE", "a", "precision"), ("ARC-CRC", "b", "none")]


def test_each_oddity_of_each_entry_is_told_once() -> None:
    items = [Item(name, b"1", crc=0, local_name=b"\xff") for name in (b"a", b"b")]
    archive = opened(build(items))
    for _ in range(2):
        assert contents(archive) == {"a": b"1", "b": b"1"}
    assert notes(archive) == [
        (code, name, "none") for name in "ab" for code in ("ARC-LOCNAME", "ARC-CRC")
    ]  # fmt: skip
    assert archive.diagnostics[0].text == r"is called '\\xff' in its local header"


@pytest.mark.parametrize(
    "item",
    [
        Item(b"a", b"12345", local_name=b""),
        Item(b"a", b"12345", local_name=b"b"),
        Item(b"a", b"12345", local_name=b"a" * 300),
        Item(b"a", b"12345", local_name=b"a/"),
    ],
)
@pytest.mark.parametrize("method", [0, 8])
def test_local_name_does_not_count(item: Item, method: int) -> None:
    archive = opened(build([Item(b"a", item.data, method, local_name=item.local_name), Item(b"z", b"9")]))
    assert contents(archive) == {"a": b"12345", "z": b"9"}
    assert notes(archive) == [("ARC-LOCNAME", "a", "none")]


@pytest.mark.parametrize("method", [0, 8])
@pytest.mark.parametrize("extra", [0, 1, 63, 64, 65, 300, 0xFFFF])
@pytest.mark.parametrize("name", [b"a", b"a" * 200, "ä".encode() * 100])
def test_local_extra_field_is_passed_over(method: int, extra: int, name: bytes) -> None:
    archive = opened(
        build([Item(name, b"12345" * 20, method, local_extra=b"PK" * (extra // 2) + b"x" * (extra % 2))])
    )
    assert (contents(archive), notes(archive)) == ({name.decode(): b"12345" * 20}, [])


def test_local_header_that_is_none() -> None:
    data = build([*AB, Item(b"c", b"3", offset=5), Item(b"d", b"4", offset=1 << 20)])
    # One that is cut off by the end of the file, where its signature still stands.
    cut = build([Item(b"e", b"5", 0)], End(comment=b"PK\3\4"))
    archive = opened(data)
    assert contents(archive) == {**BOTH, "c": "ARC-CORRUPT", "d": "ARC-CORRUPT"}
    place = len(cut) - 4
    start = cut.rindex(b"PK\1\2")
    zeros = patched(build([Item(b"e", bytes(40), 0)]), 26, bytes(4))
    for data in (
        patched(cut, start + 42, struct.pack("<I", place)),
        patched(zeros, zeros.rindex(b"PK\1\2") + 42, b"\x1a\0\0\0"),  # nothing but zeros
    ):
        archive = opened(data)
        with pytest.raises(EntryError, match="has no local header"):
            archive.read("e")
        with pytest.raises(EntryError, match="has no local header"):
            archive.nested("e", "inner")


def test_entry_of_no_bytes_is_not_looked_for() -> None:
    archive = opened(build([Item(b"a", offset=1 << 20), Item(b"b", offset=1 << 20, method=0)]))
    assert contents(archive) == {"a": b"", "b": "ARC-CORRUPT"}


@pytest.mark.parametrize("block", [1, 16, 32, 33, 100])
def test_long_entries_come_in_pieces(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipread, "MIB", max(block, 30))
    data = b"".join(hashlib.sha256(b"%d" % at).digest() for at in range(20))
    items = [
        Item(b"a", data, method=0),
        Item(b"b", data),
        Item(b"c", data, method=0, local_extra=bytes(100)),
        Item(b"d", data, local_extra=bytes(100)),
        Item(b"e", data, size=70, crc=zlib.crc32(data[:70])),
        Item(b"f", data, size=70, method=0, crc=zlib.crc32(data[:70])),
        Item(b"g", data * 2, local_name=b"x" * 99),
        Item(b"h", data, method=0, compressed_size=70),
    ]
    source = Memory(build(items))
    archive = Zip(source, Limits())
    source.longest = 0
    expected = {**dict.fromkeys("abcd", data), **dict.fromkeys("efh", data[:70]), "g": data * 2}
    assert contents(archive) == expected
    assert notes(archive) == [("ARC-LOCNAME", "g", "none"), ("ARC-SIZE", "h", "precision")]
    assert source.longest == max(block, 99)  # that is a name


def test_entry_that_the_file_ends_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipread, "MIB", 64)  # there is no point in asking for all pieces
    for method in (0, 8):
        data = built([Item(b"a", b"12345", method, compressed_size=0x7FFFFFFF, size=0x7FFFFFFF)])
        archive = opened(data.data, Limits(entry_bytes=1 << 31))
        found = archive.read("a")
        assert found.startswith(b"12345")
        assert len(found) == (5 if method else len(data.data) - 31)
        assert notes(archive) == [("ARC-SIZE", "a", "precision")]


def test_deflated_stream_that_lacks_its_last_byte_gets_a_zero() -> None:
    # A stored block whose last byte is a zero.
    whole = struct.pack("<BHH", 1, 3, 3 ^ ONES16) + b"ab\0"
    items = [
        Item(b"a", b"ab\0", compressed=whole),
        Item(b"b", b"ab\0", compressed=whole[:-1]),
        Item(b"c", b"ab\0", compressed=whole[:-2]),
        Item(b"d", b"ab\0", compressed=whole + b"more"),
        Item(b"e", b"ab\0", compressed=whole, size=2, crc=zlib.crc32(b"ab")),
        Item(b"f", b"", compressed=b"\xff\xff"),
    ]
    archive = opened(build(items))
    assert contents(archive) == {
        "a": b"ab\0", "b": b"ab\0", "c": b"a\0", "d": b"ab\0", "e": b"ab", "f": b"",
    }  # fmt: skip
    assert notes(archive) == [("ARC-SIZE", "c", "precision")]


def test_stream_that_is_not_deflated() -> None:
    archive = opened(build([Item(b"a", b"12345", compressed=b"\xff" * 5)]))
    with pytest.raises(EntryError, match=r"^can't be inflated: ") as ended:
        archive.read("a")
    assert ended.value.code == "ARC-CORRUPT"


@pytest.mark.parametrize(
    ("size", "empty"), [(1, 1), (2, 2), (4, 4), (5, 6), (65_534, 39_322), (65_535, 3277)]
)
def test_what_is_behind_the_last_block_that_is_needed_is_not_looked_at(size: int, empty: int) -> None:
    # Stored blocks, none of them the last, that end where the JVM stops giving bytes to its inflater.
    stream = struct.pack("<BHH", 0, 0, ONES16) * (empty - 1)
    stream += struct.pack("<BHH", 0, size, size ^ ONES16) + b"x" * size
    assert len(stream) % (size + 2 if size < 65_535 else 8192) == 0
    for more, found in ((b"\xff" * 9, b"x" * size), (b"", b"x" * size)):
        archive = opened(build([Item(b"A.class", b"x" * size, compressed=stream + more)]))
        assert (contents(archive), notes(archive)) == ({"A.class": found}, [])
    # One byte more is within the block, and damaged.
    shifted = struct.pack("<BHH", 0, 0, ONES16) + stream[:-1] + b"\xff" * 9
    assert contents(opened(build([Item(b"A.class", size=size, compressed=shifted)]))) == {
        "A.class": "ARC-CORRUPT"
    }


def test_blocks_are_as_long_as_the_size_and_two() -> None:
    # The longest: 64 KiB, of which these bytes end in the middle.
    size = 65_534
    stream = struct.pack("<BHH", 0, 0, ONES16) * (14746 - 1)
    stream += struct.pack("<BHH", 0, size, size ^ ONES16) + b"x" * size
    assert len(stream) % (1 << 16) == 8192
    archive = opened(build([Item(b"A.class", size=size, compressed=stream + b"\xff" * 9)]))
    assert contents(archive) == {"A.class": "ARC-CORRUPT"}


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1 << 32, ""), (1 << 32 | 5, "12345"), (1 << 33 | 9, "1234567"), (1 << 32 | 1 << 31, "1234567")],
)
def test_class_loaders_take_32_bits_of_a_size(size: int, expected: str) -> None:
    for method in (0, 8):
        for name in (b"A.class", b"A.class/", b"x"):
            archive = opened(build([Item(name, b"1234567", method, size=ONES32, extra=field(8, size))]))
            found = b"1234567" if name == b"x" else expected.encode()
            assert contents(archive) == {name.decode(): found}
            assert ("ARC-SIZE", name.decode(), "precision") in notes(archive)


# --- manifests
@pytest.mark.parametrize(
    ("length", "declared", "expected"),
    [
        # A short one is read as far as it declares, and has to be as long.
        (0, 0, True), (4, 4, True), (5, 5, True), (6, 5, True), (4, 5, False),
        # Of a longer one there must be no more, and none is longer than the longest.
        (6, 6, True), (7, 6, False), (20, 6, False), (5, 6, False), (10, 10, True), (11, 10, False), (11, 11, False),
    ],
)  # fmt: skip
def test_manifests_of_the_declared_size(
    length: int, declared: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipread, "_SHORT", 5)
    monkeypatch.setattr(zipread, "_LONGEST", 10)
    for method in (0, 8):
        archive = opened(build([Item(b"a", b"x" * length, method, size=declared)]))
        assert archive.has_declared_size("a") == expected
    # The end of a longer one must have been marked.
    stream = struct.pack("<BHH", 0, length, length ^ ONES16) + b"x" * length
    archive = opened(build([Item(b"a", compressed=stream, size=declared)]))
    assert archive.has_declared_size("a") == (expected and declared <= 5)


def test_manifest_that_cannot_be_read_has_no_size() -> None:
    assert not opened(build([Item(b"a", compressed=b"\xff", size=1)])).has_declared_size("a")


# --- negative offsets
def at(name: bytes, offset: int, data: bytes, method: int = 0) -> Item:
    """Returns an entry that is said to be at a negative offset, over the bytes of the first."""
    packed = len(deflate(data)) if method else len(data)
    extra = field(8, offset)
    return Item(name, data, method, offset=ONES32, extra=extra, compressed_size=packed, alias=0)


def test_negative_offset_leads_to_compressed_bytes_without_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipread, "MIB", 64)
    data = b"".join(hashlib.sha256(b"%d" % each).digest() for each in range(5))
    for method in (0, 8):
        items = [
            Item(b"a", data, method),
            at(b"b", -31, data, method),
            at(b"c", -1, b"K\3\4"),
            at(b"d", -31, b""),
        ]
        archive = opened(build(items))
        # (a deflated one of no bytes would not be looked for)
        expected = {"a": data, "b": data, "c": b"K\3\4", "d": b""}
        assert contents(archive) == expected
        assert contents(archive) == expected
        corrupt = [("ARC-CORRUPT", name, "none") for name in "bcd"]
        assert notes(archive) == [("ARC-OVERLAP", "", "none"), *corrupt]
        assert all("negative offset" in each.text for each in archive.diagnostics[1:])


@pytest.mark.parametrize(
    ("negative", "length", "positive", "overlaps"),
    [
        (-36, 4, 40, False),
        (-36, 4, 39, True),
        (-1, 2, 3, False),
        (-1, 2, 2, True),
        (-40, 2, 9, False),
        (-38, 2, 9, True),
    ],
)
def test_bytes_at_a_negative_offset_have_no_header(
    negative: int, length: int, positive: int, overlaps: bool
) -> None:
    first = Item(b"x", b"", 0)
    items = [first, at(b"a", negative, b"x" * length), Item(b"b", b"", 0, offset=positive)]
    found = built(items)
    # The first isn't in the directory.
    start = found.directory + CENTRAL_SIZE + 1
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 2, 2, len(found.data) - END_SIZE - start, start, 0)
    archive = opened(found.data[:-END_SIZE] + end)
    assert notes(archive) == ([("ARC-OVERLAP", "", "none")] if overlaps else [])


# --- overlaps
@pytest.mark.parametrize(
    ("offset", "overlaps"), [(31 + 4 - 1, True), (31 + 4, False), (31 + 4 + 1, False), (0, True)]
)
def test_entries_that_share_bytes(offset: int, overlaps: bool) -> None:
    # The name of an entry isn't counted: that in the local header may be shorter.
    first = Item(b"a", b"12345", 0, local_name=b"")
    assert notes(opened(build([first, Item(b"b", b"", 0, offset=offset)]))) == (
        [("ARC-OVERLAP", "", "none")] if overlaps else []
    )
    assert notes(opened(build([Item(b"b", b"", 0, offset=offset), Item(b"a", b"12345", 0, offset=0)]))) == (
        [("ARC-OVERLAP", "", "none")] if overlaps else []
    )


# --- how many diagnostics
def test_of_each_kind_so_many_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipread, "_LISTED", 3)
    for count in (2, 3, 4, 5, 9):
        archive = opened(build([Item(b"%d//" % at) for at in range(count)] + [Item(b"a", offset=0)]))
        more = [("ARC-NAME", "", "none")] if count > 3 else []
        listed = [("ARC-NAME", f"{at}//", "none") for at in range(min(count, 3))]
        assert notes(archive) == [*listed, *more, ("ARC-OVERLAP", "", "none")]
        if more:
            assert archive.diagnostics[3].text == "more entries like those before are not listed"


# --- budgets
def test_what_may_be_inflated() -> None:
    items = [
        Item(b"a", b"x" * 50, 0),
        Item(b"b", b"x" * 7, 0),
        Item(b"b", b"x" * 20, 0),
        Item(b"c", b"x" * 100),
    ]
    data = build(items)
    archive = opened(data)
    assert archive.inflated_bound(["a"], 1000) == 50
    assert archive.inflated_bound(["a", "b"], 1000) == 50 + 7 + 20
    assert archive.inflated_bound(["a", "b", "c"], 10) == 11 + 7 + 11 + 11
    assert archive.inflated_bound([], 10) == 0
    assert opened(data, Limits(inflated_per_archive=77)).inflated_bound(["a", "b"], 1000) == 77
    with pytest.raises(Refused) as ended:
        opened(data, Limits(inflated_per_archive=76)).inflated_bound(["a", "b"], 1000)
    assert ended.value.diagnostic.code == "ARC-BUDGET"
    assert ended.value.diagnostic.text == "would inflate to 77 bytes, more than the limit"


@pytest.mark.parametrize(
    ("ratio", "ratio_from", "ratio_bytes", "fits"),
    [
        (10, 99, 150, False),  # both are longer, and inflate by more
        (10, 99, 199, False),
        (10, 99, 200, True),
        (10, 100, 0, True),  # neither is so long
        (20, 99, 0, True),  # neither inflates by more
        (19, 99, 0, False),
    ],
)
def test_what_inflates_by_much(ratio: int, ratio_from: int, ratio_bytes: int, fits: bool) -> None:
    items = [Item(name, bytes(100), compressed_size=5) for name in (b"a", b"b")]
    archive = opened(
        build(items),
        Limits(ratio=ratio, ratio_from=ratio_from, ratio_bytes=ratio_bytes, inflated_per_archive=300),
    )
    if fits:
        assert archive.inflated_bound(["a", "b"], 1000) == 200
    else:
        with pytest.raises(Refused, match="would inflate to 200 bytes, more than the limit"):
            archive.inflated_bound(["a", "b"], 1000)


# --- archives inside
@pytest.mark.parametrize(
    ("item", "is_window"),
    [
        (Item(b"a", b"12345", 0), True),
        (Item(b"a", b"12345", 0, local_name=b"other", local_extra=bytes(9)), True),
        (Item(b"a", b"", 0), True),
        (Item(b"a", b"12345", 8), False),
        (Item(b"a", b"12345", 8, size=7), False),
        (Item(b"a", b"12345", 0, size=4), False),
        (Item(b"a", b"12345", 0, compressed_size=6), False),
        (Item(b"a", b"12345", 8, size=len(deflate(b"12345"))), False),
    ],
)
def test_stored_archives_are_read_where_they_are(item: Item, is_window: bool) -> None:
    data = build([item, Item(b"z", b"9")], prefix=b"!")
    outer = Memory(data)
    archive = Zip(outer, Limits())
    inner = archive.nested("a", "x.jar!a")
    assert isinstance(inner, WindowSource if is_window else NestedSource)
    assert inner.label == "x.jar!a"
    assert inner.read(0, 100) == archive.read("a")
    assert inner.size == len(archive.read("a"))
    inner.check()
    inner.drop()
    assert outer.done == ["check", "drop"]


def test_stored_archive_that_does_not_fit_the_file() -> None:
    rest = len(build([Item(b"a", b"12345", 0)])) - 31
    for length, kind in ((rest, WindowSource), (rest + 1, NestedSource)):
        archive = opened(build([Item(b"a", b"12345", 0, size=length, compressed_size=length)]))
        assert isinstance(archive.nested("a", "inner"), kind)
        assert archive.nested("a", "inner").size == rest


def test_archive_inside_that_stands_twice_or_nowhere() -> None:
    archive = opened(build([Item(b"a", b"1", 0), Item(b"a", b"2", 0), Item(b"b", b"3", 0, offset=7)]))
    assert isinstance(archive.nested("a", "inner"), NestedSource)
    assert archive.nested("a", "inner").read(0, 9) == b"2"
    with pytest.raises(EntryError, match="has no local header"):
        archive.nested("b", "inner")


def test_archive_inside_has_a_limit_of_its_own() -> None:
    data = build([Item(b"a", b"12345")])
    limits = Limits(nested_bytes=5, entry_bytes=4)
    assert opened(data, limits).nested("a", "inner").read(0, 9) == b"12345"
    assert contents(opened(data, limits)) == {"a": "ARC-ENTRY-SIZE"}
    with pytest.raises(EntryError, match="has more than 4 bytes"):
        opened(data, Limits(nested_bytes=4)).nested("a", "inner")


def test_the_rest_is_the_sources() -> None:
    source = Memory(PLAIN)
    archive = Zip(source, Limits())
    archive.check()
    archive.drop()
    assert source.done == ["check", "drop"]
    assert archive.digest("salt ") == hashlib.sha256(b"salt " + PLAIN).hexdigest()
