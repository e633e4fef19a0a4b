"""Resources of a jimage that `jlink --compress` made smaller: by deflate, by sharing strings, or by both."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

from loader.zipread import EntryError

MAGIC = 0xCAFEFAFA

# Magic, compressed and uncompressed size, name of the method, unused, whether it is the last.
_HEADER = "IQQiIB"
_HEADER_SIZE = 29
_STAGES = 8

# Sizes of constants by tag (JVMS 4.4), without the tag; `Utf8` and the shared strings have their own.
_UTF8, _LONG, _DOUBLE = 1, 5, 6
_SIZES = dict.fromkeys((7, 8, 16, 19, 20), 2) | {15: 3} | dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4)
_SIZES |= {_LONG: 8, _DOUBLE: 8}
_SHARED, _SHARED_DESCRIPTOR = 23, 25


def decompress(content: bytes, order: str, string: Callable[[int], str], limit: int) -> bytes:
    """Returns the resource in `content`, of at most `limit` bytes. Raises `EntryError`.

    `order` is the byte order as in `struct`; `string` looks up the image's string table.
    """
    for _ in range(_STAGES):
        if len(content) < _HEADER_SIZE or content[:4] != struct.pack(f"{order}I", MAGIC):
            return content
        _, _, size, method, _, _ = struct.unpack_from(f"{order}{_HEADER}", content)
        if size > limit or method < 0:
            raise EntryError("ARC-ENTRY-SIZE", f"has {size:,} bytes, more than the limit of {limit:,}")
        name = string(method)
        if name == "zip":
            content = _inflate(content[_HEADER_SIZE:], size)
        elif name == "compact-cp":
            content = _restore_strings(content, string, limit)
        else:
            raise EntryError("ARC-JIMAGE", f"is compressed in an unknown way: {name!r}")
    raise EntryError("ARC-JIMAGE", "is compressed too many times")


def _inflate(content: bytes, size: int) -> bytes:
    try:
        inflated = zlib.decompressobj().decompress(content, max(size, 1))
    except zlib.error as problem:
        raise EntryError("ARC-JIMAGE", f"can't be inflated: {problem}") from None
    if len(inflated) != size:
        raise EntryError("ARC-JIMAGE", "is shorter than it declares")
    return inflated


def _restore_strings(content: bytes, string: Callable[[int], str], limit: int) -> bytes:
    """Returns the class file whose constant pool refers to the image's strings. Raises `EntryError`."""
    reader = _Reader(content, _HEADER_SIZE)
    parts = [reader.take(8)]
    raw_count = reader.take(2)
    parts.append(raw_count)
    count = int.from_bytes(raw_count, "big")
    index, length = 1, 0
    while index < count:
        tag = reader.take(1)
        kind = tag[0]
        if kind == _UTF8:
            raw = reader.take(2)
            constant = tag + raw + reader.take(int.from_bytes(raw, "big"))
        elif kind == _SHARED:
            constant = _utf8(_modified_utf8(string(reader.number())))
        elif kind == _SHARED_DESCRIPTOR:
            constant = _utf8(_descriptor(reader, string))
        elif kind in _SIZES:
            constant = tag + reader.take(_SIZES[kind])
        else:
            raise EntryError("ARC-JIMAGE", f"has an unknown constant in its pool: {kind}")
        parts.append(constant)
        length += len(constant)
        if length > limit:
            raise EntryError("ARC-ENTRY-SIZE", f"has more than {limit:,} bytes, the limit")
        index += 2 if kind in {_LONG, _DOUBLE} else 1
    parts.append(reader.rest())
    return b"".join(parts)


def _descriptor(reader: _Reader, string: Callable[[int], str]) -> bytes:
    """Returns a descriptor or signature: a pattern with package and class put in after each `L`."""
    pattern = _modified_utf8(string(reader.number()))
    names = _Reader(reader.take(reader.number()), 0).numbers()
    parts: list[bytes] = []
    for at, piece in enumerate(pattern.split(b"L")):
        if at:
            package, simple = next(names, None), next(names, None)
            if package is None or simple is None:
                raise EntryError("ARC-JIMAGE", "has a descriptor with too few names")
            qualified = "/".join(filter(None, (string(package), string(simple))))
            parts.append(b"L" + _modified_utf8(qualified))
        parts.append(piece)
    return b"".join(parts)


def _modified_utf8(text: str) -> bytes:
    """Returns `text` as class files have it (JVMS 4.4.7)."""
    units = text.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].decode("utf-16-be", "surrogatepass") for at in range(0, len(units), 2))
    if text.isascii() and "\0" not in text:
        return text.encode()
    return b"".join(b"\xc0\x80" if each == "\0" else each.encode("utf-8", "surrogatepass") for each in pairs)


def _utf8(raw: bytes) -> bytes:
    if len(raw) > 0xFFFF:
        raise EntryError("ARC-JIMAGE", "has a string constant that is too long")
    return struct.pack(">BH", _UTF8, len(raw)) + raw


class _Reader:
    """Bytes in order. Raises `EntryError` at the end."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def take(self, length: int) -> bytes:
        """Returns the next `length` bytes."""
        taken = self._data[self._at : self._at + length]
        if len(taken) < length:
            raise EntryError("ARC-JIMAGE", "ends within its constant pool")
        self._at += length
        return taken

    def rest(self) -> bytes:
        """Returns all bytes that are left."""
        return self.take(len(self._data) - self._at)

    def number(self) -> int:
        """Returns a number of one to four bytes; the first byte says how many if its highest bit is set."""
        first = self.take(1)[0]
        if first & 0x80:
            length, value = first >> 5 & 3, first & 0x1F
        else:
            length, value = 4, first
        return value << 8 * (max(length, 1) - 1) | int.from_bytes(self.take(max(length, 1) - 1), "big")

    def numbers(self) -> Iterator[int]:
        """Yields numbers to the end."""
        while self._at < len(self._data):
            yield self.number()
