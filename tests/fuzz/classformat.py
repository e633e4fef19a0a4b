"""Where things are in a class file, found once so that mutants of it cost no parsing (JVMS 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_SIZES = {
    3: 5,
    4: 5,
    5: 9,
    6: 9,
    7: 3,
    8: 3,
    9: 5,
    10: 5,
    11: 5,
    12: 5,
    15: 4,
    16: 3,
    17: 5,
    18: 5,
    19: 3,
    20: 3,
}
# Where a constant holds indexes of other constants, by tag.
_REFERENCES = {7: (1,), 8: (1,), 9: (1, 3), 10: (1, 3), 11: (1, 3), 12: (1, 3), 15: (2,), 16: (1,), 17: (3,),
               18: (3,), 19: (1,), 20: (1,)}  # fmt: skip

# Bytes of an instruction by opcode; 0 for switches and `wide`, which say.
_LENGTHS = (
    [1] * 16 + [2, 3, 2, 3, 3] + [2] * 5 + [1] * 28 + [2] * 5 + [1] * 73 + [3] + [1] * 20 + [3] * 16 + [2, 0, 0]
    + [1] * 6 + [3] * 7 + [5, 5, 3, 2, 3, 1, 1, 3, 3, 1, 1, 0, 4, 3, 3, 5, 5]
)  # fmt: skip
_WITH_CONSTANT = {19, 20, *range(178, 188), 189, 192, 193, 197}
# Attributes that are more than a row of two-byte numbers, most of them constant indexes.
_OTHERWISE = {b"Code", b"StackMapTable", b"LineNumberTable"}

Attribute = tuple[int, bytes]


class Member(NamedTuple):
    """A field or method: flags, indexes of name and descriptor, attributes as (index of the name, content)."""

    flags: int
    name: int
    descriptor: int
    attributes: list[Attribute]


@dataclass(frozen=True)
class Model:
    """A class file taken apart; `constants` begin at index 1 and have None behind each long and double."""

    minor: int
    major: int
    constants: list[bytes | None]
    flags: int
    this: int
    superclass: int
    interfaces: list[int]
    fields: list[Member]
    methods: list[Member]
    attributes: list[Attribute]
    trailing: bytes = b""

    def encoded(self) -> bytes:
        """Returns the class file, with counts and lengths that fit."""
        pool = b"".join(each for each in self.constants if each is not None)
        parts = [
            struct.pack(">IHHH", 0xCAFEBABE, self.minor, self.major, (len(self.constants) + 1) & 0xFFFF),
            pool,
            struct.pack(">HHHH", self.flags, self.this, self.superclass, len(self.interfaces) & 0xFFFF),
            struct.pack(f">{len(self.interfaces)}H", *self.interfaces),
        ]
        for members in (self.fields, self.methods):
            parts.append(struct.pack(">H", len(members)))
            for flags, name, descriptor, attributes in members:
                parts += [struct.pack(">HHH", flags, name, descriptor), _encoded(attributes)]
        parts += [_encoded(self.attributes), self.trailing]
        return b"".join(parts)


def _encoded(attributes: list[Attribute]) -> bytes:
    rows = (struct.pack(">HI", name, len(content)) + content for name, content in attributes)
    return struct.pack(">H", len(attributes)) + b"".join(rows)


@dataclass(frozen=True)
class Layout:
    """A class file and the offsets of what may be changed in it.

    `indexes` hold constant indexes, `lengths` the lengths of attributes, `counts` other numbers of two bytes;
    `opcodes` begin instructions; `parts` begin a constant, a member, an attribute or what follows the last.
    """

    data: bytes
    model: Model
    indexes: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    opcodes: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The internal name of the class; it has to be ASCII."""
        reference = self.model.constants[self.model.this - 1]
        assert reference is not None
        text = self.model.constants[int.from_bytes(reference[1:], "big") - 1]
        assert text is not None
        return text[3:].decode()


def layout_of(data: bytes) -> Layout:
    """Returns the layout of a class file that is as it should be."""
    return _Parser(data).layout()


class _Parser:
    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0
        self.constants: list[bytes | None] = []
        self.indexes: list[int] = []
        self.lengths: list[int] = []
        self.counts: list[int] = []
        self.opcodes: list[int] = []
        self.parts: list[int] = []

    def number(self, size: int, offsets: list[int] | None = None) -> int:
        if offsets is not None:
            offsets.append(self.place)
        self.place += size
        return int.from_bytes(self.data[self.place - size : self.place], "big")

    def layout(self) -> Layout:
        assert self.number(4) == 0xCAFEBABE
        minor, major = self.number(2, self.counts), self.number(2, self.counts)
        self.pool(self.number(2, self.counts))
        flags = self.number(2, self.counts)
        this, superclass = self.number(2, self.indexes), self.number(2, self.indexes)
        interfaces = [self.number(2, self.indexes) for _ in range(self.number(2, self.counts))]
        fields, methods = self.members(), self.members()
        attributes = self.attributes()
        self.parts.append(self.place)
        model = Model(
            minor, major, self.constants, flags, this, superclass, interfaces, fields, methods, attributes,
            self.data[self.place :],
        )  # fmt: skip
        assert model.encoded() == self.data
        return Layout(
            self.data, model, self.indexes, self.lengths, self.counts, self.opcodes, sorted({*self.parts})
        )

    def pool(self, count: int) -> None:
        while len(self.constants) < count - 1:
            start, tag = self.place, self.data[self.place]
            size = _SIZES[tag] if tag != 1 else 3 + int.from_bytes(self.data[start + 1 : start + 3], "big")
            self.parts.append(start)
            self.indexes += [start + each for each in _REFERENCES.get(tag, ())]
            self.place += size
            self.constants.append(self.data[start : self.place])
            if tag in (5, 6):
                self.constants.append(None)

    def members(self) -> list[Member]:
        found = []
        for _ in range(self.number(2, self.counts)):
            self.parts.append(self.place)
            flags = self.number(2, self.counts)
            name, descriptor = self.number(2, self.indexes), self.number(2, self.indexes)
            found.append(Member(flags, name, descriptor, self.attributes()))
        return found

    def attributes(self) -> list[Attribute]:
        found = []
        for _ in range(self.number(2, self.counts)):
            self.parts.append(self.place)
            name, length = self.number(2, self.indexes), self.number(4, self.lengths)
            end = self.place + length
            found.append((name, self.data[self.place : end]))
            self.content(self.constants[name - 1], end)
            assert self.place <= end
            self.place = end
        return found

    def content(self, constant: bytes | None, end: int) -> None:
        assert constant is not None
        name = constant[3:]
        if name == b"Code":
            self.number(2, self.counts)
            self.number(2, self.counts)
            length = self.number(4, self.lengths)
            self.instructions(self.place, length)
            self.place += length
            for _ in range(self.number(2, self.counts)):
                self.counts += [self.place, self.place + 2, self.place + 4]
                self.indexes.append(self.place + 6)
                self.place += 8
            self.attributes()
        elif name not in _OTHERWISE:
            self.indexes += range(self.place, end - 1, 2)
        else:
            self.counts += range(self.place, end - 1, 2)

    def instructions(self, start: int, length: int) -> None:
        for place in places(self.data[start : start + length]):
            self.opcodes.append(start + place)
            if self.data[start + place] in _WITH_CONSTANT:
                self.indexes.append(start + place + 1)


def places(code: bytes) -> Iterator[int]:
    """Yields where each instruction begins."""
    place = 0
    while place < len(code):
        yield place
        opcode = code[place]
        length = _LENGTHS[opcode]
        if opcode == 196:
            length = 6 if code[place + 1] == 132 else 4
        elif opcode == 170:
            start = place + 4 - place % 4
            low, high = struct.unpack_from(">ii", code, start + 4)
            length = start - place + 12 + 4 * (high - low + 1)
        elif opcode == 171:
            start = place + 4 - place % 4
            length = start - place + 8 + 8 * int.from_bytes(code[start + 4 : start + 8], "big")
        place += length
    assert place == len(code), "an instruction goes on behind the code"
