"""Archives and images that the fuzzer changes, and changes of them by what their bytes mean."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.badinputs import jimages, zips
from tests.badinputs.jimages import Resource
from tests.badinputs.zips import End, Item, class_file, manifest
from tests.fuzz.mutators import EXTREMES

# Offset and width of the numbers in each header of a zip archive, by its signature.
_LOCAL = [(4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)]
_CENTRAL = [(4, 2), (6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (34, 2), (38, 4),
            (42, 4)]  # fmt: skip
_END = [(4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)]
_END64 = [(4, 8), (12, 2), (16, 4), (24, 8), (32, 8), (40, 8), (48, 8)]
_LOCATOR = [(4, 4), (8, 8), (16, 4)]
_HEADERS = {b"PK\3\4": _LOCAL, b"PK\1\2": _CENTRAL, b"PK\5\6": _END, b"PK\6\6": _END64, b"PK\6\7": _LOCATOR}

_EIGHT = [-1, 0, 1, 1 << 31, 1 << 32, 1 << 62, -(1 << 63)]
_JMOD = b"JM\1\0"
_IMAGE_HEADER = 28

# What entries may be called; that of a class is among the most frequent, so that names meet.
_NAMES = [
    b"A.class", b"A.class", b"B.class", b"A.class/", b"/A.class", b"x/../A.class", b"A.CLASS", b"", b"/", b"a/",
    b"META-INF/MANIFEST.MF", b"meta-inf/manifest.mf", b"META-INF/versions/9/A.class", b"META-INF/versions/99/A.class",
    b"META-INF/versions/0/A.class", b"META-INF/versions/", b"META-INF/x.SF", b"META-INF/services/a.Face", b"META-INF/services/", b"\xff", b"A\0.class", b"lib/x.jar",
    b"A.class" * 100, "\u00e4/\u202e.class".encode(), b"C:\\A.class", b"classes/A.class", b"module-info.class",
    b"\xed\xa0\x80.class", b"package-info.class", b"META-INF/versions/11/META-INF/versions/9/A.class",
]  # fmt: skip
_MANIFESTS = [
    b"", b"\n", b"Multi-Release: true\n\n", b"Multi-Release: tr\n ue\n\n", b"Multi-Release:true\n\n", b"X\n\n",
    b"Class-Path: ../../../etc/passwd http://x/y.jar file:/etc/hosts . / x.jar\n\n", b" x\n\n", b"\xff: \xff\n\n",
    b"Main-Class: \xed\xa0\x80\n\n", b"Spring-Boot-Classes: /\n\n", b"A: " + b"x" * 5000 + b"\n\n", b"Multi-Release: true",
]  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """A file of the corpus: its name on disk, its bytes, numbers in these, and how to write it anew with a change.

    `numbers` are (offset, width); those of archives and of images whose order says so have the lowest byte first.
    """

    file: str
    data: bytes
    numbers: list[tuple[int, int]]
    edited: Callable[[Random], bytes]
    order: str = "little"


def change_number(chance: Random, subject: Subject) -> bytes:
    """Changes numbers in headers."""
    out = bytearray(subject.data)
    for _ in range(chance.randint(1, 2)):
        at, width = chance.choice(subject.numbers)
        was = int.from_bytes(out[at : at + width], "big" if subject.order == "big" else "little")
        extreme = chance.choice(_EIGHT if width == 8 else EXTREMES[width])
        value = chance.choice((was + 1, was - 1, was ^ 1 << chance.randrange(8 * width), extreme))
        value &= (1 << 8 * width) - 1
        out[at : at + width] = value.to_bytes(width, "big" if subject.order == "big" else "little")
    return bytes(out)


def edit(chance: Random, subject: Subject) -> bytes:
    """Writes the file anew after one change, so that all offsets and lengths fit."""
    return subject.edited(chance)


def splice(chance: Random, subject: Subject, other: Subject) -> bytes:
    """Joins the beginning of one file to the end of another, mostly where headers begin."""
    if chance.random() < 0.3:
        start, end = chance.randrange(len(subject.data)), chance.randrange(len(other.data))
    else:
        start, end = chance.choice(subject.numbers)[0] & ~1, chance.choice(other.numbers)[0] & ~1
    return subject.data[:start] + other.data[end:]


# --- zip archives
def archive(
    items: Sequence[Item], end: End | None = None, *, prefix: bytes = b"", suffix: bytes = b"", file: str = "x.jar"
) -> Subject:  # fmt: skip
    """Returns the archive of these items, between other bytes."""
    listed, last = list(items), end or End()

    def edited(chance: Random) -> bytes:
        made, ending, before, after = list(listed), last, prefix, suffix
        kind = chance.randrange(10)
        if kind < 7:
            at = chance.randrange(len(made))
            made[at : at + 1] = _edited_item(chance, made[at])
        elif kind == 7:
            ending = chance.choice(_ENDS)
        elif kind == 8:
            before = chance.choice((b"", b"x", b"#!/bin/sh\n", b"PK\3\4", bytes(chance.randrange(300))))
        else:
            after = chance.choice((b"", b"x", b"PK\5\6", zips.build([]), bytes(chance.randrange(300))))
        return before + zips.build(made, ending) + after

    data = prefix + zips.build(listed, last) + suffix
    return Subject(file, data, _numbers_of_zip(data), edited)


def _numbers_of_zip(data: bytes) -> list[tuple[int, int]]:
    found = re.finditer(b"PK(?:\1\2|\3\4|\5\6|\6\6|\6\7)", data)
    return [
        (header.start() + at, width)
        for header in found
        for at, width in _HEADERS[header[0]]
        if header.start() + at + width <= len(data)
    ]


_ENDS = [
    End(), End(zip64=True), End(count=0), End(count=60_000), End(comment=b"PK\5\6" * 30), End(comment_length=7),
    End(offset=0xFFFFFFF0), End(offset=1), End(length=0), End(zip64=True, count=-1), End(zip64=True, length=-1),
    End(zip64=True, offset=1 << 40),
]  # fmt: skip


def _edited_item(chance: Random, item: Item) -> list[Item]:
    """Changes, repeats or removes an entry."""
    four = chance.choice(EXTREMES[4])
    near = len(item.data) + chance.choice((-1, 1, -10, 10))
    extra = _extra(chance)
    made: list[list[Item]] = [
        [replace(item, name=chance.choice(_NAMES))],
        [replace(item, name=chance.choice(_NAMES))],
        [replace(item, local_name=chance.choice(_NAMES))],
        [item, item],
        [item, replace(item, data=item.data[::-1])],
        [],
        [replace(item, data=chance.choice(_MANIFESTS), name=b"META-INF/MANIFEST.MF")],
        [replace(item, data=item.data[: chance.randint(0, len(item.data))])],
        [replace(item, method=chance.choice((0, 1, 8, 9, 12, 99)))],
        [replace(item, flags=chance.choice((0, 1, 8, 0x800, 0x801, 0x2000, chance.randrange(0x10000))))],
        [replace(item, crc=four)],
        [replace(item, size=max(chance.choice((four, near)), 0) & 0xFFFFFFFF)],
        [replace(item, compressed_size=max(chance.choice((four, near)), 0) & 0xFFFFFFFF)],
        [replace(item, offset=four)],
        [replace(item, extra=extra)],
        [replace(item, extra=extra, size=0xFFFFFFFF)],
        [replace(item, extra=extra, size=0xFFFFFFFF, compressed_size=0xFFFFFFFF, offset=0xFFFFFFFF)],
        [replace(item, local_extra=extra)],
        [replace(item, comment=chance.choice((b"x", b"PK\1\2" * 20, b"\xff" * 300)))],
        [replace(item, made_by=3 << 8, attributes=chance.choice((0xA1FF, 0x41ED, 0x81A4)) << 16)],
        [
            replace(
                item, compressed=chance.choice((b"", b"x", b"\3\0", b"\1\0\0\xff\xff", chance.randbytes(40)))
            )
        ],
        [replace(item, level=chance.choice((0, 1, 9)))],
        [item, Item(chance.choice(_NAMES), chance.choice((b"", b"x", zips.jar(A=class_file("A", "inner")))))],
    ]
    return chance.choice(made) or [Item(b"x")]


def _extra(chance: Random) -> bytes:
    values = [chance.choice((0, 1, 40, 1 << 33, -1)) for _ in range(chance.randint(0, 4))]
    zip64 = struct.pack(f"<HH{len(values)}q", 1, 8 * len(values), *values)
    other = struct.pack("<HH", chance.randrange(0x10000), 4) + b"abcd"
    return chance.choice((zip64, other, zip64 + other, zip64[:-1], b"\1", zip64 + b"\0", bytes(9)))


def archives(classes: Sequence[tuple[str, bytes]]) -> list[Subject]:
    """Returns the archives of the corpus; `classes` are (internal name, class file) that jars really have."""
    one, two = class_file("A", "one"), class_file("A", "two")
    a = Item(b"A.class", one)
    real = [Item(f"{name}.class".encode(), content) for name, content in classes[:3]]
    versions = [
        Item(f"META-INF/versions/{each}/A.class".encode(), class_file("A", each))
        for each in ("9", "17", "99")
    ]
    multi = manifest(Multi_Release="true", Main_Class="A", Class_Path="x.jar other.jar http://x/y.jar")
    inner = zips.jar(A=two)
    size64 = struct.pack("<HHq", 1, 8, len(one))
    return [
        archive([a]),
        archive([replace(a, method=0), Item(b"a.txt", b"text", method=0)]),
        archive([manifest(Main_Class="A"), Item(b"a/"), Item(b"a/B.class", class_file("a/B")), a]),
        archive(real),
        archive([multi, a, *versions]),
        archive([a, Item(b"A.class", two), replace(a, name=b"A.class/")]),
        archive([replace(a, flags=0x808, local_extra=bytes(12), extra=b"\xfe\xca\0\0", comment=b"comment")]),
        archive([a], End(zip64=True)),
        archive([replace(a, size=0xFFFFFFFF, extra=size64)]),
        archive([a], End(comment=b"a comment with PK\5\6 inside")),
        archive([a], prefix=b"#!/bin/sh\nexec java -jar $0\n"),
        archive([a], suffix=b"junk behind it"),
        archive([Item(b"lib/x.jar", inner, method=0), Item(b"lib/y.jar", inner), a]),
        archive([Item(b"META-INF/services/a.Face", b"# providers\nA\n a.B # one\n\n"), a]),
        archive([manifest(), Item(b"META-INF/S.SF", b"Signature-Version: 1.0\n\n"), a]),
        archive([Item(b"WEB-INF/classes/A.class", one), Item(b"WEB-INF/lib/x.jar", inner)], file="x.war"),
        archive([Item(b"META-INF/application.xml", b"<x/>"), Item(b"x.jar", inner), Item(b"w.war", inner)],
                file="x.ear"),
        archive([manifest(Spring_Boot_Classes="BOOT-INF/classes/"), Item(b"BOOT-INF/classes/A.class", one),
                 Item(b"BOOT-INF/lib/x.jar", inner, method=0), Item(b"org/Launcher.class", class_file("org/Launcher"))]),
    ]  # fmt: skip


# --- jimages and jmods
def image(resources: Sequence[Resource], order: str = "<", strings: bytes = b"") -> Subject:
    """Returns the image of these resources."""
    listed = list(resources)

    def edited(chance: Random) -> bytes:
        made = list(listed)
        kind = chance.randrange(10)
        if kind == 0:
            return jimages.build(
                made, chance.choice("<>"), version=chance.choice((0, 1 << 16, 0x10001, 1 << 17))
            )
        if kind == 1:
            return jimages.build(made, order, table=len(made) + chance.choice((-1, 1, 100, 1 << 30)))
        if kind == 2:
            return jimages.build(made, order, strings=chance.randbytes(chance.randrange(40)))
        if kind == 3:
            return jimages.build(
                made, order, location=chance.randbytes(chance.randrange(60)), strings=strings
            )
        at = chance.randrange(len(made))
        made[at : at + 1] = _edited_resource(chance, made[at])
        return jimages.build(made, order, strings=strings)

    data = jimages.build(listed, order, strings=strings)
    table, locations = struct.unpack_from(f"{order}2I", data, 16)
    start = _IMAGE_HEADER + 8 * table
    numbers = [(at, 4) for at in range(0, start, 4)] + [(at, 1) for at in range(start, start + locations)]
    numbers += [
        (match.start() + at, 4)
        for match in re.finditer(re.escape(struct.pack(f"{order}I", jimages.RESOURCE_MAGIC)), data)
        for at in range(0, 28, 4)
    ]
    return Subject("modules", data, numbers, edited, "little" if order == "<" else "big")


def _edited_resource(chance: Random, resource: Resource) -> list[Resource]:
    """Changes, repeats or removes a resource."""
    eight = chance.choice([each for each in _EIGHT if each >= 0])
    names = ("", "java.base", "modules", "a/b", "\0", "A", "class", "\u00e4", "x" * 70_000)
    stages = chance.choice(((), ("zip",), ("compact-cp",), ("zip", "zip"), ("x",), ("zip",) * 9))
    made = [
        [replace(resource, offset=chance.choice((eight, 1, len(resource.data))))],
        [replace(resource, size=chance.choice((eight, len(resource.data) + 1, 0)))],
        [replace(resource, stages=stages, raw=None)],
        [replace(resource, raw=chance.randbytes(chance.randrange(60)))],
        [replace(resource, data=resource.data[: chance.randint(0, len(resource.data))], raw=None)],
        [resource, resource],
        [],
    ]
    name = chance.choice(names)
    made += [
        [replace(resource, module=name)],
        [replace(resource, parent=name)],
        [replace(resource, base=name)],
        [replace(resource, extension=name)],
    ]
    return chance.choice(made) or [Resource("m", "", "x", "", b"x")]


def images(classes: Sequence[tuple[str, bytes]]) -> list[Subject]:
    """Returns the jimages and jmods of the corpus."""
    one = class_file("a/A", "one")
    plain = [
        Resource("java.base", "a", "A", "class", one),
        Resource("java.base", "", "module-info", "class", classes[0][1]),
        Resource("java.base", "a", "text", "", b"text"),
        Resource("", "modules", "x", "", b""),
    ]
    packed = [Resource("m", "a", "A", "class", one, stages=("zip",)), Resource("m", "a", "B", "class", one)]
    shared, strings = _shared(one)
    compact = [Resource("m", "a", "A", "class", one, raw=shared), Resource("m", "b", "C", "class", one)]
    listed = [(b"classes/a/A.class", one), (b"classes/module-info.class", classes[0][1]), (b"bin/x", b"text"),
              (b"classes/b/t.txt", b"text")]  # fmt: skip
    items = [Item(name, content) for name, content in listed]
    return [
        image(plain),
        archive(items, prefix=_JMOD, file="x.jmod"),
        image(plain, ">"),
        archive([replace(each, method=0) for each in items], prefix=_JMOD, file="x.jmod"),
        image(packed),
        image(compact, strings=strings),
        archive(items[:1], End(zip64=True), prefix=_JMOD, file="x.jmod"),
    ]


def _shared(content: bytes) -> tuple[bytes, bytes]:
    """Returns a class of `class_file` as a resource that shares texts, and the strings of its image.

    Its first two texts are strings there, the fourth is a descriptor with one class in it.
    """
    texts, at = [], 10
    for _ in range(4):
        length = int.from_bytes(content[at + 1 : at + 3], "big")
        texts.append(content[at : at + 3 + length])
        at += 3 + length
    strings = bytearray(b"\0")
    places = []
    for text in (b"compact-cp", texts[0][3:], texts[1][3:], b"L;", b"java/lang", b"String"):
        places.append(len(strings))
        strings += text + b"\0"

    def number(value: int) -> bytes:
        # Two bytes, of which the first says so.
        return bytes([0xC0 | value >> 8, value & 0xFF])

    _, first, second, pattern, package, simple = map(number, places)
    names = package + simple
    descriptor = b"\x19" + pattern + number(len(names)) + names
    body = content[:10] + b"\x17" + first + b"\x17" + second + texts[2] + descriptor + content[at:]
    head = struct.pack("<IQQIiB", jimages.RESOURCE_MAGIC, len(body), len(content), places[0], -1, 1)
    return head + body, bytes(strings[1:])
