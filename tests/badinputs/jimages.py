"""Builds jimages: the JDK's `lib/modules`."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

MAGIC = 0xCAFEDADA
RESOURCE_MAGIC = 0xCAFEFAFA


@dataclass
class Resource:
    """A resource. What is None is what it should be; `stages` are the names of ways to compress it."""

    module: str
    parent: str
    base: str
    extension: str
    data: bytes
    offset: int | None = None
    size: int | None = None
    stages: Sequence[str] = ()
    raw: bytes | None = None


def build(
    resources: Sequence[Resource], order: str = "<", *, magic: int = MAGIC, version: int = 1 << 16,
    table: int | None = None, strings: bytes = b"", location: bytes | None = None,
) -> bytes:  # fmt: skip
    """Returns a jimage in byte order `order`. `location` replaces the attributes of the last resource."""
    text = bytearray(b"\0" + strings)
    places: dict[str, int] = {"": 0}

    def place(string: str) -> int:
        if string not in places:
            places[string] = len(text)
            text.extend(string.encode() + b"\0")
        return places[string]

    contents = bytearray()
    locations = bytearray(b"\0")
    offsets = []
    for at, each in enumerate(resources):
        packed = _packed(each, order, place)
        attributes = (
            (1, place(each.module)), (2, place(each.parent)), (3, place(each.base)), (4, place(each.extension)),
            (5, len(contents) if each.offset is None else each.offset),
            (6, len(packed) if each.stages or each.raw is not None else 0),
            (7, len(each.data) if each.size is None else each.size),
        )  # fmt: skip
        offsets.append(len(locations))
        if location is not None and at == len(resources) - 1:
            locations += location
        else:
            locations += b"".join(_attribute(kind, value) for kind, value in attributes) + b"\0"
        contents += packed
    count = len(resources) if table is None else table
    head = struct.pack(f"{order}7I", magic, version, 0, len(resources), count, len(locations), len(text))
    tables = bytes(4 * len(resources)) + struct.pack(f"{order}{len(offsets)}I", *offsets)
    return head + tables + bytes(locations) + bytes(text) + bytes(contents)


def _attribute(kind: int, value: int) -> bytes:
    if value == 0:
        return b""
    length = (value.bit_length() + 7) // 8
    return bytes([kind << 3 | length - 1]) + value.to_bytes(length, "big")


def _packed(resource: Resource, order: str, place) -> bytes:  # type: ignore[no-untyped-def]
    if resource.raw is not None:
        return resource.raw
    data = resource.data
    for stage in resource.stages:
        packed = zlib.compress(data) if stage == "zip" else data
        data = (
            struct.pack(f"{order}IQQIiB", RESOURCE_MAGIC, len(packed), len(data), place(stage), -1, 1)
            + packed
        )
    return data
