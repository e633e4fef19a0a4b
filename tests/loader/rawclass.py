"""Builds class files byte by byte, right or wrong, and reads back what became of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from loader.translate import translate
from loader.unit import Unit

STATIC, ABSTRACT = 0x8, 0x400


class Pool:
    """A constant pool; each function returns the index of a constant, added if it is new."""

    def __init__(self) -> None:
        self._index: dict[bytes, int] = {}
        self.size = 1

    def put(self, entry: bytes) -> int:
        if entry not in self._index:
            self._index[entry] = self.size
            self.size += 2 if entry[0] in (5, 6) else 1
        return self._index[entry]

    def utf8(self, text: str | bytes) -> int:
        encoded = text if isinstance(text, bytes) else text.encode()
        return self.put(struct.pack(">BH", 1, len(encoded)) + encoded)

    def integer(self, value: int) -> int:
        return self.put(struct.pack(">Bi", 3, value))

    def long(self, value: int) -> int:
        return self.put(struct.pack(">Bq", 5, value))

    def type(self, name: str) -> int:
        return self.put(struct.pack(">BH", 7, self.utf8(name)))

    def string(self, text: str | bytes) -> int:
        return self.put(struct.pack(">BH", 8, self.utf8(text)))

    def pair(self, name: str, descriptor: str) -> int:
        return self.put(struct.pack(">BHH", 12, self.utf8(name), self.utf8(descriptor)))

    def member(self, tag: int, owner: str, name: str, descriptor: str) -> int:
        return self.put(struct.pack(">BHH", tag, self.type(owner), self.pair(name, descriptor)))

    def field(self, owner: str, name: str, descriptor: str) -> int:
        return self.member(9, owner, name, descriptor)

    def method(self, owner: str, name: str, descriptor: str) -> int:
        return self.member(10, owner, name, descriptor)

    def handle(self, kind: int, reference: int) -> int:
        return self.put(struct.pack(">BBH", 15, kind, reference))

    def dynamic(self, tag: int, row: int, name: str, descriptor: str) -> int:
        return self.put(struct.pack(">BHH", tag, row, self.pair(name, descriptor)))

    def encoded(self) -> bytes:
        return struct.pack(">H", self.size) + b"".join(self._index)


@dataclass
class RawClass:
    """A class file to be. Attributes are (name, content)."""

    name: str = "T"
    superclass: str = "java/lang/Object"
    major: int = 61
    minor: int = 0
    flags: int = 0x21
    pool: Pool = field(default_factory=Pool)
    fields: list[bytes] = field(default_factory=list)
    methods: list[bytes] = field(default_factory=list)
    attributes: list[tuple[str, bytes]] = field(default_factory=list)

    def attribute(self, name: str, content: bytes) -> bytes:
        return struct.pack(">HI", self.pool.utf8(name), len(content)) + content

    def member(self, flags: int, name: str, descriptor: str, *attributes: bytes) -> bytes:
        start = struct.pack(">HHH", flags, self.pool.utf8(name), self.pool.utf8(descriptor))
        return start + struct.pack(">H", len(attributes)) + b"".join(attributes)

    def method(
        self,
        code: bytes,
        descriptor: str = "()V",
        *,
        name: str = "m",
        flags: int = STATIC,
        slots: int = 8,
        handlers: Sequence[tuple[int, int, int, int]] = (),
    ) -> RawClass:
        """Adds a method; `handlers` are (start, end, target, pool index of the type)."""
        table = b"".join(struct.pack(">HHHH", *row) for row in handlers)
        content = struct.pack(">HHI", 8, slots, len(code)) + code + struct.pack(">H", len(handlers)) + table
        attribute = self.attribute("Code", content + b"\0\0")
        self.methods.append(self.member(flags, name, descriptor, attribute))
        return self

    def encoded(self) -> bytes:
        pool = self.pool
        body = struct.pack(">HHHH", self.flags, pool.type(self.name), pool.type(self.superclass), 0)
        for members in (self.fields, self.methods):
            body += struct.pack(">H", len(members)) + b"".join(members)
        listed = [self.attribute(name, content) for name, content in self.attributes]
        body += struct.pack(">H", len(listed)) + b"".join(listed)
        return struct.pack(">IHH", 0xCAFEBABE, self.minor, self.major) + pool.encoded() + body


class Row(NamedTuple):
    """A constraint: its relation and its columns."""

    relation: str
    values: tuple[int, ...]


def unit_of(*classes: RawClass) -> Unit:
    """Returns the unit of an archive with these classes."""
    return translate(((f"{each.name}.class", each.encoded()) for each in classes), "test")


def rows(unit: Unit, relation: str, method: int = 0) -> list[tuple[int, ...]]:
    """Returns the rows that `method` has of a relation."""
    start, end = unit.body_at[relation][method : method + 2]
    return list(zip(*(column[start:end].tolist() for column in unit.body[relation].values()), strict=True))


def codes(unit: Unit) -> list[str]:
    """Returns the codes of the diagnostics."""
    return [each.code for each in unit.diagnostics]


def text(unit: Unit, number: int | np.integer[Any]) -> str:
    """Returns a text of the unit."""
    encoded = unit.text_bytes[unit.text_at[number] : unit.text_at[number + 1]].tobytes()
    return encoded.decode("utf-8", "surrogatepass")


def type_name(unit: Unit, ref: int | np.integer[Any]) -> str:
    """Returns the name that a type_ref stands for."""
    return text(unit, unit.type_text[ref])


def callee(unit: Unit, ref: int | np.integer[Any]) -> str:
    """Returns class and name of a method_ref."""
    signature = unit.method_ref_signature[ref]
    return f"{type_name(unit, unit.method_ref_type[ref])}.{text(unit, unit.signature_name[signature])}"


def u2(value: int) -> bytes:
    return struct.pack(">H", value)


def s2(value: int) -> bytes:
    return struct.pack(">h", value)


def body(
    code: bytes, descriptor: str = "(La;La;)La;", raw: RawClass | None = None, **options: object
) -> Unit:
    """Returns the unit of a class whose first method has this body, which has to be translated."""
    unit = unit_of((raw or RawClass()).method(code, descriptor, **options))  # type: ignore[arg-type]
    assert unit.diagnostics == []
    return unit


def refused(code: bytes, descriptor: str = "()V", raw: RawClass | None = None, **options: object) -> str:
    """Returns the code of the one diagnostic that the body costs."""
    unit = unit_of((raw or RawClass()).method(code, descriptor, **options))  # type: ignore[arg-type]
    assert len(unit.diagnostics) == 1, unit.diagnostics
    assert unit.method_code.tolist() == [2]
    assert (unit.diagnostics[0].severity, unit.diagnostics[0].effect) == ("warning", "soundness")
    assert not any(len(column) for columns in unit.body.values() for column in columns.values())
    return codes(unit)[0]


def returned(unit: Unit) -> set[int]:
    """Returns the variables that the first method returns, through copies."""
    parameters = int(unit.method_parameters[0])
    sources: dict[int, set[int]] = {}
    for _, source, target in rows(unit, "assign"):
        sources.setdefault(target, set()).add(source)
    seen, waiting = set(), list(sources.get(parameters, ()))
    while waiting:
        variable = waiting.pop()
        if variable not in seen:
            seen.add(variable)
            waiting.extend(sources.get(variable, ()))
    return {variable for variable in seen if variable not in sources}


def conditional(first: bytes, second: bytes) -> bytes:
    """Returns code that branches on whether argument 1 is null to the one or the other."""
    start = bytes([0x2B, 198]) + s2(3 + len(first) + 3) + first
    return start + b"\xa7" + s2(3 + len(second)) + second


def calling(raw: RawClass) -> bytes:
    """Returns the code of a call."""
    return b"\xb8" + u2(raw.pool.method("b/C", "go", "()V"))
