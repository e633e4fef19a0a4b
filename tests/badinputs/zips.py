"""Builds zip archives byte by byte, so that each field may say what no honest tool would write."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

UTF8_FLAG = 0x800


@dataclass
class Item:
    """An entry. What is None is what it should be; `alias` puts it over the bytes of an earlier item."""

    name: bytes
    data: bytes = b""
    method: int = 8
    flags: int = UTF8_FLAG
    crc: int | None = None
    size: int | None = None
    compressed_size: int | None = None
    offset: int | None = None
    local_name: bytes | None = None
    local_extra: bytes = b""
    extra: bytes = b""
    comment: bytes = b""
    made_by: int = 20
    attributes: int = 0
    alias: int | None = None
    compressed: bytes | None = None
    level: int = 9


@dataclass
class End:
    """Fields of the END record; None for what they should be."""

    count: int | None = None
    length: int | None = None
    offset: int | None = None
    comment: bytes = b""
    comment_length: int | None = None
    zip64: bool = False


@dataclass
class Built:
    """An archive, with the places of its parts."""

    data: bytes
    offsets: list[int] = field(default_factory=list)
    directory: int = 0


def deflate(data: bytes, level: int = 9) -> bytes:
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def build(items: Sequence[Item], end: End | None = None, prefix: bytes = b"") -> bytes:
    return built(items, end, prefix).data


def built(items: Sequence[Item], end: End | None = None, prefix: bytes = b"") -> Built:
    end = end or End()
    out = bytearray(prefix)
    offsets: list[int] = []
    lengths: list[int] = []
    for item in items:
        packed = _packed(item)
        if item.alias is not None:
            offsets.append(offsets[item.alias])
            lengths.append(lengths[item.alias])
            continue
        offsets.append(len(out) - len(prefix))
        lengths.append(len(packed))
        local = item.name if item.local_name is None else item.local_name
        crc, size = zlib.crc32(item.data), len(item.data)
        out += struct.pack(
            "<4sHHHHHIIIHH", b"PK\3\4", 20, item.flags, item.method, 0, 0x21, crc, len(packed), size,
            len(local), len(item.local_extra),
        )  # fmt: skip
        out += local + item.local_extra + packed
    directory = bytearray()
    for item, offset, length in zip(items, offsets, lengths, strict=True):
        directory += _central(item, offset, length)
    start = len(out)
    out += directory
    count = len(items) if end.count is None else end.count
    length = len(directory) if end.length is None else end.length
    at = start - len(prefix) if end.offset is None else end.offset
    if end.zip64:
        record = len(out)
        out += struct.pack("<4sqHHIIqqqq", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, at)
        out += struct.pack("<4sIqI", b"PK\6\7", 0, record, 1)
        count, length, at = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    count &= 0xFFFF
    comment = len(end.comment) if end.comment_length is None else end.comment_length
    out += struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, length, at, comment) + end.comment
    return Built(bytes(out), offsets, start)


def quoted_overlap(count: int, kernel: bytes) -> bytes:
    """Returns an archive in which each of `count` classes holds the headers and bytes of those that follow.

    What an entry begins with is a stored block that quotes the next local header; the last is `kernel`, deflated.
    Checksums are left out.
    """
    body, size, header = b"", len(kernel), 0
    entries = []
    for at in reversed(range(count)):
        name = b"%d.class" % at
        packed = struct.pack("<BHH", 0, header, header ^ 0xFFFF) + body if body else deflate(kernel)
        size += header
        local = struct.pack(
            "<4sHHHHHIIIHH", b"PK\3\4", 20, UTF8_FLAG, 8, 0, 0x21, 0, len(packed), size, len(name), 0
        )
        body = local + name + packed
        header = len(local + name)
        entries.append((name, size, len(packed), len(body)))
    directory = b"".join(
        _central(Item(name, crc=0, size=size, compressed_size=packed, offset=len(body) - length), 0, 0)
        for name, size, packed, length in reversed(entries)
    )
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)
    return body + directory + end


def nested_bomb(levels: int, width: int, megabytes: int) -> bytes:
    """Returns zips in zips, `width` in each on `levels` levels, around a file of zeros.

    Those that lie side by side differ in their comments.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()
    data = build([Item(b"0.dll", compressed=packed, size=megabytes << 20, crc=0)])
    for level in range(levels):
        data = build(
            [Item(b"%d-%d.zip" % (level, at), data, comment=bytes([65 + at])) for at in range(width)]
        )
    return data


def jar(**classes: bytes) -> bytes:
    """Returns an honest jar; `a__B` stands for `a/B.class`."""
    return build([Item(name.replace("__", "/").encode() + b".class", data) for name, data in classes.items()])


def manifest(**attributes: str) -> Item:
    """Returns a manifest; `Main_Class` stands for `Main-Class`."""
    lines = [
        "Manifest-Version: 1.0",
        *(f"{name.replace('_', '-')}: {text}" for name, text in attributes.items()),
    ]
    return Item(b"META-INF/MANIFEST.MF", "".join(f"{line}\r\n" for line in [*lines, ""]).encode())


def class_file(name: str, value: str = "") -> bytes:
    """Returns a public class with `public static final String V = value`, loadable by any JVM."""
    strings = [name, "java/lang/Object", "V", "Ljava/lang/String;", "ConstantValue", value]
    pool = b"".join(_utf8(text) for text in strings)
    pool += struct.pack(">BHBHBH", 7, 1, 7, 2, 8, 6)  # 7: this class, 8: Object, 9: the value
    head = struct.pack(">IHHH", 0xCAFEBABE, 0, 52, 10) + pool
    return head + struct.pack(">HHHHHHHHHHIHHH", 0x21, 7, 8, 0, 1, 0x19, 3, 4, 1, 5, 2, 9, 0, 0)


def _utf8(text: str) -> bytes:
    raw = text.encode().replace(b"\0", b"\xc0\x80")
    return struct.pack(">BH", 1, len(raw)) + raw


def _packed(item: Item) -> bytes:
    if item.compressed is not None:
        return item.compressed
    return item.data if item.method == 0 else deflate(item.data, item.level)


def _central(item: Item, offset: int, length: int) -> bytes:
    crc = zlib.crc32(item.data) if item.crc is None else item.crc
    size = len(item.data) if item.size is None else item.size
    packed = length if item.compressed_size is None else item.compressed_size
    at = offset if item.offset is None else item.offset
    head = struct.pack(
        "<4sHHHHHHIIIHHHHHII", b"PK\1\2", item.made_by, 20, item.flags, item.method, 0, 0x21, crc, packed, size,
        len(item.name), len(item.extra), len(item.comment), 0, 0, item.attributes, at,
    )  # fmt: skip
    return head + item.name + item.extra + item.comment
