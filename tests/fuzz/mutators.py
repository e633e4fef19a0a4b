"""Changes of bytes: of any file, and of class files by what their bytes mean.

A mutator takes a random number generator and a file of the corpus, and returns another file. All that it
does follows from these, so that a mutant is known by seed and index.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeVar

from tests.fuzz.classformat import Attribute, Layout, Member, Model

Part = TypeVar("Part")

EXTREMES = {
    1: [0, 1, 7, 8, 0x7F, 0x80, 0xFF],
    2: [0, 1, 2, 0x7F, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF],
    4: [0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF],
}
# Names and descriptors of classes and members that the format refuses, or takes although nobody writes them.
TEXTS = [
    b"", b"x", b"a.b", b"a/b", b"a;b", b"[I", b"[[La;", b"[" * 255 + b"I", b"[" * 256 + b"I", b"L;", b"I", b"V",
    b"()V", b"(I)I", b"(V)V", b"()", b"(La/b;[J)[D", b"(" + b"J" * 127 + b")V", b"(" + b"J" * 128 + b")V",
    b"<init>", b"<clinit>", b"<x>", b"/", b"a//b", b"/a", b"\xc0\x80", b"\xed\xa0\x80", b"\xff", b"\0", b"\xc3",
    b"\xf0\x9f\x98\x80", b"\xe0\x80\x80", "\u00e4\u202e".encode(), b"java/lang/Object", b"Code", b"ConstantValue",
    b"BootstrapMethods", b"SourceFile", b"Signature", b"NestHost", b"Record", b"StackMapTable", b"Module",
]  # fmt: skip

_AT_ONCE = 3  # changes of one kind in one mutant, at most


# --- any file
def flip_bit(chance: Random, data: bytes) -> bytes:
    """Changes bits."""
    out = bytearray(data)
    for _ in range(chance.randint(1, _AT_ONCE)):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def change_byte(chance: Random, data: bytes) -> bytes:
    """Changes bytes."""
    out = bytearray(data)
    for _ in range(chance.randint(1, _AT_ONCE)):
        out[chance.randrange(len(out))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(out)


def _extreme(chance: Random, data: bytes, width: int) -> bytes:
    at = chance.randrange(len(data) - width + 1)
    value = chance.choice(EXTREMES[width])
    return data[:at] + value.to_bytes(width, chance.choice(("big", "little"))) + data[at + width :]


def extreme_of_2(chance: Random, data: bytes) -> bytes:
    """Puts an extreme number of two bytes somewhere."""
    return _extreme(chance, data, 2)


def extreme_of_4(chance: Random, data: bytes) -> bytes:
    """Puts an extreme number of four bytes somewhere."""
    return _extreme(chance, data, 4)


def cut(chance: Random, data: bytes) -> bytes:
    """Cuts the file off, often near an end, sometimes at its beginning."""
    far = chance.randrange(1, len(data))
    length = min(chance.choice((1, 2, 3, 7, 20, far)), len(data) - 1)
    return data[length:] if chance.random() < 0.1 else data[:-length]


def _span(chance: Random, data: bytes) -> tuple[int, int]:
    start = chance.randrange(len(data))
    return start, start + chance.choice((1, 2, 4, 8, chance.randint(1, 100)))


def delete(chance: Random, data: bytes) -> bytes:
    """Leaves out some bytes."""
    start, end = _span(chance, data)
    return data[:start] + data[end:]


def duplicate(chance: Random, data: bytes) -> bytes:
    """Repeats some bytes."""
    start, end = _span(chance, data)
    return data[:end] + data[start:]


PLAIN: tuple[Callable[[Random, bytes], bytes], ...] = (
    flip_bit, change_byte, extreme_of_2, extreme_of_4, cut, delete, duplicate,
)  # fmt: skip


# --- class files
def swap_index(chance: Random, layout: Layout) -> bytes:
    """Lets something refer to another constant, to none, or to half of one."""
    out = bytearray(layout.data)
    count = len(layout.model.constants) + 1
    for _ in range(chance.randint(1, _AT_ONCE)):
        at = chance.choice(layout.indexes)
        index = chance.randrange(count)
        out[at : at + 2] = chance.choice((index, index, index, 0, count, 0xFFFF)).to_bytes(2, "big")
    return bytes(out)


def change_length(chance: Random, layout: Layout) -> bytes:
    """Changes the length of an attribute or of code."""
    at = chance.choice(layout.lengths)
    was = int.from_bytes(layout.data[at : at + 4], "big")
    step = chance.choice((1, -1, 2, -2, 4, -was, chance.randint(1, 64)))
    value = chance.choice((was + step, was + step, chance.choice(EXTREMES[4])))
    return layout.data[:at] + (value & 0xFFFFFFFF).to_bytes(4, "big") + layout.data[at + 4 :]


def change_opcode(chance: Random, layout: Layout) -> bytes:
    """Changes instructions; in a class without any, the last byte."""
    out = bytearray(layout.data)
    for _ in range(chance.randint(1, _AT_ONCE)):
        out[chance.choice(layout.opcodes or [len(out) - 1])] = chance.randrange(256)
    return bytes(out)


def change_count(chance: Random, layout: Layout) -> bytes:
    """Changes a version, flags, a count, or another number that is no index."""
    at = chance.choice(layout.counts)
    was = int.from_bytes(layout.data[at : at + 2], "big")
    value = chance.choice((was + 1, was - 1, was ^ 1 << chance.randrange(16), chance.choice(EXTREMES[2])))
    return layout.data[:at] + (value & 0xFFFF).to_bytes(2, "big") + layout.data[at + 2 :]


def splice(chance: Random, layout: Layout, other: Layout) -> bytes:
    """Joins the beginning of one class to the end of another, mostly where parts of them begin."""
    if chance.random() < 0.2:
        return (
            layout.data[: chance.randrange(len(layout.data))]
            + other.data[chance.randrange(len(other.data)) :]
        )
    return layout.data[: chance.choice(layout.parts)] + other.data[chance.choice(other.parts) :]


def transplant(chance: Random, layout: Layout, other: Layout) -> bytes:
    """Gives a class a member or attribute, or all interfaces, of another; indexes mean what they mean there."""
    ours, theirs = layout.model, other.model
    kind = chance.randrange(4)
    if kind == 0 and theirs.fields:
        ours = replace(ours, fields=_with(chance, ours.fields, chance.choice(theirs.fields)))
    elif kind == 1 and theirs.methods:
        ours = replace(ours, methods=_with(chance, ours.methods, chance.choice(theirs.methods)))
    elif kind == 2 and theirs.attributes:
        ours = replace(ours, attributes=_with(chance, ours.attributes, chance.choice(theirs.attributes)))
    else:
        ours = replace(ours, interfaces=theirs.interfaces or [ours.superclass])
    return ours.encoded()


def _with(chance: Random, items: list[Part], item: Part) -> list[Part]:
    at = chance.randint(0, len(items))
    return [*items[:at], item, *items[at:]]


def edit(chance: Random, layout: Layout) -> bytes:
    """Writes a class anew after one change, so that all counts and lengths fit."""
    return chance.choice(_EDITS)(chance, layout.model).encoded()


def _edit_text(chance: Random, model: Model) -> Model:
    """Changes a UTF8."""
    at = chance.choice([at for at, each in enumerate(model.constants) if each is not None and each[0] == 1])
    was = model.constants[at]
    assert was is not None
    text = chance.choice((chance.choice(TEXTS), flip_bit(chance, was[3:] or b"x"), was[3:] * 2, was[3:-1]))
    return _with_constant(model, at, struct.pack(">BH", 1, len(text)) + text)


def _edit_constant(chance: Random, model: Model) -> Model:
    """Puts another constant in the place of one."""
    at = chance.choice([at for at, each in enumerate(model.constants) if each is not None])
    index = chance.randint(0, len(model.constants) + 1)
    other = chance.randint(0, len(model.constants) + 1)
    made = chance.choice((
        struct.pack(">BH", chance.choice((7, 8, 16, 19, 20)), index),
        struct.pack(">BHH", chance.choice((9, 10, 11, 12, 17, 18)), index, other),
        struct.pack(">BBH", 15, chance.randint(0, 10), index),
        struct.pack(">BI", chance.choice((3, 4)), chance.choice(EXTREMES[4])),
        chance.choice([each for each in model.constants if each is not None]),
    ))  # fmt: skip
    return _with_constant(model, at, made)


def _with_constant(model: Model, at: int, constant: bytes) -> Model:
    constants = list(model.constants)
    constants[at] = constant
    if at + 1 < len(constants) and constants[at + 1] is None:
        # A long or double was there, which takes two indexes.
        constants[at + 1] = b"\x03\0\0\0\0"
    return replace(model, constants=constants)


def _edit_header(chance: Random, model: Model) -> Model:
    """Changes version, flags, name, superclass or what follows the class."""
    index = chance.randint(0, len(model.constants) + 1)
    changes: list[dict[str, int | bytes]] = [
        {"major": chance.choice((44, 45, 46, 48, 49, 50, 51, 52, 55, 61, 61, 62, 69, 70, 0xFFFF))},
        {"minor": chance.choice((0, 1, 3, 0xFFFF))},
        {"major": 45, "minor": chance.randint(0, 4)},
        {"flags": model.flags ^ 1 << chance.randrange(16)},
        {"flags": chance.randrange(0x10000)},
        {"this": index},
        {"superclass": index},
        {"trailing": chance.choice((b"", b"\0", b"\xca\xfe\xba\xbe"))},
    ]
    return replace(model, **chance.choice(changes))  # type: ignore[arg-type]


def _edit_interfaces(chance: Random, model: Model) -> Model:
    """Adds, repeats or removes interfaces."""
    own = [at + 1 for at, each in enumerate(model.constants) if each is not None and each[0] == 7]
    interfaces = chance.choice((
        [*model.interfaces, chance.choice(own)],
        model.interfaces * 2,
        model.interfaces[1:],
        [model.this],
        [chance.randint(0, len(model.constants) + 1)],
    ))  # fmt: skip
    return replace(model, interfaces=interfaces)


def _edit_member(chance: Random, model: Model) -> Model:
    """Changes, repeats or removes a field or method."""
    key = chance.choice(("fields", "methods"))
    members: list[Member] = list(getattr(model, key))
    if not members:
        return _edit_header(chance, model)
    at = chance.randrange(len(members))
    was = members[at]
    index = chance.randint(0, len(model.constants) + 1)
    made: list[list[Member]] = [
        [was._replace(flags=was.flags ^ 1 << chance.randrange(16))],
        [was._replace(flags=chance.randrange(0x10000))],
        [was._replace(name=index)],
        [was._replace(descriptor=index)],
        [was, was],
        [],
        [was._replace(attributes=_edited(chance, was.attributes, model))],
        [was._replace(attributes=_edited(chance, was.attributes, model))],
    ]
    members[at : at + 1] = chance.choice(made)
    return replace(model, **{key: members})  # type: ignore[arg-type]


def _edit_attributes(chance: Random, model: Model) -> Model:
    """Changes the attributes of the class."""
    return replace(model, attributes=_edited(chance, model.attributes, model))


def _edited(chance: Random, attributes: list[Attribute], model: Model) -> list[Attribute]:
    """Changes, repeats, removes or adds an attribute."""
    texts = [at + 1 for at, each in enumerate(model.constants) if each is not None and each[0] == 1]
    if not attributes or chance.random() < 0.1:
        return [*attributes, (chance.choice(texts), chance.randbytes(chance.choice((0, 1, 2, 4, 8))))]
    at = chance.randrange(len(attributes))
    name, content = attributes[at]
    made: list[list[Attribute]] = [
        [(chance.choice(texts), content)],
        [(name, content), (name, content)],
        [],
        [(name, content + b"\0\0")],
        [(name, content[: chance.randint(0, len(content))])],
        [(name, flip_bit(chance, content or b"\0"))],
        [(name, _edit_code(chance, content))],
        [(name, _edit_code(chance, content))],
    ]
    return [*attributes[:at], *chance.choice(made), *attributes[at + 1 :]]


def _edit_code(chance: Random, content: bytes) -> bytes:
    """Takes `content` for that of a Code attribute and changes code or exception table."""
    if len(content) < 12:
        return content
    sizes, length = content[:4], int.from_bytes(content[4:8], "big")
    code, rest = content[8 : 8 + length], content[8 + length :]
    at = chance.randint(0, len(code))
    row = struct.pack(">4H", *(chance.choice((0, 1, at, len(code), 0xFFFF)) for _ in range(4)))
    kind = chance.randrange(6)
    if kind == 0:
        code = code[:at] + bytes(chance.choice((1, 2, 3))) + code[at:]
    elif kind == 1:
        code = code[:at] + chance.randbytes(chance.randint(1, 4)) + code[at:]
    elif kind == 2:
        code = chance.choice((b"", code[:at], b"\0" * 0xFFFF, b"\0" * 0x10000, code * 2))
    elif kind == 3:
        sizes = struct.pack(">HH", chance.choice((0, 1, 255, 0xFFFF)), chance.choice((0, 1, 255, 0xFFFF)))
    else:
        rest = ((int.from_bytes(rest[:2], "big") + 1) & 0xFFFF).to_bytes(2, "big") + row + rest[2:]
    return sizes + struct.pack(">I", len(code)) + code + rest


_EDITS: tuple[Callable[[Random, Model], Model], ...] = (
    _edit_text, _edit_text, _edit_constant, _edit_header, _edit_interfaces, _edit_member, _edit_member,
    _edit_attributes,
)  # fmt: skip
