"""The JDK's `lib/modules`: a header, a hash table, locations of resources, strings, and the resources.

The hash table is not used. All locations are decoded at once when the first resource is asked for.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Diagnostic
from loader.jimage_compression import decompress
from loader.source import Limits, Source, refusal
from loader.zipread import EntryError

MAGIC = 0xCAFEDADA

_ORDERS = {struct.pack("<I", MAGIC): "<", struct.pack(">I", MAGIC): ">"}
_HEADER_SIZE = 28
_MODULE, _PARENT, _BASE, _EXTENSION, _OFFSET, _COMPRESSED, _UNCOMPRESSED = range(1, 8)
_KINDS = 8
_LONGEST_NAME = 0xFFFF
_SHOWN = 100  # diagnostics of one kind in one archive; the rest is counted


def has_magic(source: Source) -> bool:
    """Returns whether `source` begins like a jimage of either byte order."""
    return source.read(0, 4) in _ORDERS


class Location(NamedTuple):
    """Where a resource lies in the file. `compressed` is 0 if it is there as it is."""

    offset: int
    compressed: int
    size: int


class JImage:
    """The resources of a jimage by `/module/path`. Raises `Refused` if the header or the index is malformed."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._limits = limits
        header = source.read(0, _HEADER_SIZE)
        self.order = _ORDERS.get(header[:4], "")
        if not self.order or len(header) < _HEADER_SIZE:
            raise refusal("ARC-JIMAGE", "is no jimage", source.label)
        fields = struct.unpack(f"{self.order}7I", header)
        _, version, _, _, self._table, self._locations, self._strings = fields
        self._base = _HEADER_SIZE + 8 * self._table + self._locations + self._strings
        if version != 1 << 16:
            text = f"is a jimage of version {version >> 16}.{version & 0xFFFF}, not 1.0"
            raise refusal("ARC-JIMAGE", text, source.label)
        if self._base > source.size or self._table > limits.entries:
            raise refusal("ARC-JIMAGE", "has an index larger than the file or the limit", source.label)

    def names(self) -> Iterator[str]:
        """Yields the names of all resources, in the order of the file."""
        return iter(self._index)

    def read(self, name: str) -> bytes:
        """Returns the bytes of the resource `name`. Raises `EntryError`."""
        offset, compressed, size = self._index[name]
        limit = self._limits.entry_bytes
        if size > limit:
            raise EntryError("ARC-ENTRY-SIZE", f"has {size:,} bytes, more than the limit of {limit:,}")
        content = self.source.read(self._base + offset, compressed or size)
        if not compressed:
            return content
        content = decompress(content, self.order, self._string, limit)
        if len(content) != size:
            raise EntryError("ARC-JIMAGE", f"has {len(content):,} bytes but declares {size:,}")
        return content

    def digest(self, salt: str) -> str:
        """Returns the hash of `salt`, the header, the index and the size: contents follow from these."""
        index = self.source.read(0, self._base)
        return hashlib.sha256(b"%s %d %s" % (salt.encode(), self.source.size, index)).hexdigest()

    def nested(self, name: str, label: str) -> Source:
        """Raises `EntryError`: archives inside a jimage are not looked into."""
        raise EntryError("ARC-NEST", f"{name} is not looked into for {label}")

    def check(self) -> None:
        """Raises `Changed` if the file changed."""
        self.source.check()

    def drop(self) -> None:
        """Does nothing: no contents are kept."""

    @cached_property
    def _text(self) -> bytes:
        return self.source.read(_HEADER_SIZE + 8 * self._table + self._locations, self._strings)

    @cached_property
    def _index(self) -> dict[str, Location]:
        """Returns all locations by name, in the order of their offsets; malformed ones become diagnostics."""
        attributes, malformed = self._attributes()
        names: dict[int, str] = {}
        found: dict[str, Location] = {}
        for row in attributes.tolist():
            _, module, parent, base, extension, offset, compressed, size = row
            try:
                for each in (module, parent, base, extension):
                    if each not in names:
                        names[each] = self._string(each)
            except EntryError:
                malformed += 1
                continue
            # As in ImageLocation.getFullName.
            name = f"/{names[module]}/" if module else ""
            name += f"{names[parent]}/" if parent else ""
            name += names[base] + (f".{names[extension]}" if extension else "")
            if offset + (compressed or size) > self.source.size - self._base:
                self._report("lies outside the file", name)
            elif name not in found:
                found[name] = Location(offset, compressed, size)
        if malformed:
            self._report(f"has {malformed:,} malformed locations", "")
        return found

    def _attributes(self) -> tuple[NDArray[np.int64], int]:
        """Returns the attributes of each location, [entries, 8] by kind, and how many were malformed.

        A location is a row of (kind and length, value) pairs that ends with kind 0. All are decoded side by
        side, pair by pair.
        """
        table = self.source.read(_HEADER_SIZE + 4 * self._table, 4 * self._table)
        at = np.unique(np.frombuffer(table, f"{self.order}u4").astype(np.int64))
        at = at[at != 0]  # the first location is that of empty slots
        total = len(at)
        at = at[at < self._locations]
        # Zeros beyond the end terminate whatever runs over it.
        padded = self.source.read(_HEADER_SIZE + 8 * self._table, self._locations) + bytes(16)
        data = np.frombuffer(padded, np.uint8)
        attributes = np.zeros((len(at), _KINDS), np.int64)
        good = np.ones(len(at), bool)
        open_ = np.arange(len(at))
        for _ in range(_KINDS):
            head = data[at[open_]]
            good[open_[head >> 3 >= _KINDS]] = False
            going = (head >> 3 > 0) & (head >> 3 < _KINDS)
            open_, head = open_[going], head[going]
            length = (head & 7).astype(np.int64) + 1
            value = np.zeros(len(open_), np.int64)
            for step in range(8):
                byte = data[np.minimum(at[open_] + 1 + step, len(data) - 1)]
                value = np.where(step < length, value << 8 | byte, value)
            attributes[open_, head >> 3] = value
            at[open_] = np.minimum(at[open_] + 1 + length, len(data) - 1)
        good[open_] &= data[at[open_]] == 0
        good &= (attributes >= 0).all(axis=1) & (attributes[:, _BASE] > 0)
        attributes = attributes[good]
        return attributes[np.argsort(attributes[:, _OFFSET], kind="stable")], total - len(attributes)

    def _string(self, at: int) -> str:
        """Returns the string at `at` of the string table. Raises `EntryError`."""
        end = self._text.find(b"\0", at, at + _LONGEST_NAME) if at < len(self._text) else -1
        if end < 0:
            raise EntryError("ARC-JIMAGE", "a name lies outside the string table")
        try:
            return self._text[at:end].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise EntryError("ARC-JIMAGE", "a name is not UTF-8") from None

    def _report(self, text: str, entry: str) -> None:
        if len(self.diagnostics) < _SHOWN:
            label = self.source.label
            self.diagnostics.append(Diagnostic("ARC-JIMAGE", "warning", text, "soundness", label, entry))
