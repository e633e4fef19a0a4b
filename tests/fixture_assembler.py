"""Assembles class files that no current compiler makes: subroutines, wide forms, constants by bootstrap methods.

A source holds classes, one instruction a line, and its line numbers are those of the class files:

    class Name extends Base implements Face      (flags may stand before the name; version 48)
    field static kept Ljava/lang/Object;
    method static main ([Ljava/lang/String;)V
      start: aload 0
      jsr finally
      catch java/lang/Exception start end handler       (or `any`)

`//` begins a comment. Members are written `Owner.name descriptor`, strings in quotes without blanks. Further
constants, which `ldc_w` loads and bootstrap methods take, need a version, and one above 50 forbids branches:

    version 55
    bootstrap linker Name.link (Ljava/lang/invoke/MethodHandles$Lookup;…)… class Name "text"
    method static go ()V
      invokedynamic run ()V linker
      ldc_w methodhandle invokestatic Name.go ()V       (or `new`, `getfield`, …)
      ldc_w methodtype (Ljava/lang/Object;)V
      ldc_w dynamic name Ljava/lang/Object; linker
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

VERSION = 48
MAX_STACK, MAX_LOCALS = 16, 400

_FLAGS = {
    "public": 0x1, "private": 0x2, "protected": 0x4, "static": 0x8, "final": 0x10, "interface": 0x600,
    "abstract": 0x400,
}  # fmt: skip

_PLAIN = {
    "nop": 0, "aconst_null": 1, "iconst_0": 3, "iconst_1": 4, "iconst_2": 5, "lconst_0": 9, "aaload": 50,
    "aastore": 83, "pop": 87, "pop2": 88, "dup": 89, "dup_x1": 90, "dup_x2": 91, "dup2": 92, "dup2_x1": 93,
    "dup2_x2": 94, "swap": 95, "iadd": 96, "ireturn": 172, "areturn": 176, "return": 177, "arraylength": 190,
    "athrow": 191,
}  # fmt: skip
_LOCAL = {"iload": 21, "lload": 22, "aload": 25, "istore": 54, "lstore": 55, "astore": 58, "ret": 169}
_BRANCH = {
    "ifeq": 153, "ifne": 154, "if_icmpeq": 159, "if_icmpge": 162, "goto": 167, "jsr": 168, "ifnull": 198,
    "ifnonnull": 199,
}  # fmt: skip
_WIDE_BRANCH = {"goto_w": 200, "jsr_w": 201}
_MEMBER = {
    "getstatic": 178, "putstatic": 179, "getfield": 180, "putfield": 181, "invokevirtual": 182,
    "invokespecial": 183, "invokestatic": 184, "invokeinterface": 185,
}  # fmt: skip
_REFERENCE = {
    "getfield": 1, "getstatic": 2, "putfield": 3, "putstatic": 4, "invokevirtual": 5, "invokestatic": 6,
    "invokespecial": 7, "new": 8, "invokeinterface": 9,
}  # fmt: skip
_TYPE = {"new": 187, "anewarray": 189, "checkcast": 192, "instanceof": 193}


def assemble(text: str, file: str) -> dict[str, bytes]:
    """Returns the class files in `text`, by class name; `file` becomes their source file."""
    classes: list[_Class] = []
    for line, words in _lines(text):
        if words[0] == "class":
            classes.append(_Class.begun(words[1:]))
        elif words[0] == "version":
            classes[-1].version = int(words[1])
        elif words[0] == "bootstrap":
            classes[-1].bootstraps[words[1]] = words[2:]
        elif words[0] in ("field", "method"):
            *flags, name, descriptor = words[1:]
            member = _Member(_flags(flags), name, descriptor)
            (classes[-1].fields if words[0] == "field" else classes[-1].methods).append(member)
        else:
            classes[-1].methods[-1].add(line, words)
    return {each.name: each.encoded(file) for each in classes}


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the number and words of each line that has any, without comments."""
    blanked = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(blanked.splitlines(), 1):
        if words := line.partition("//")[0].split():
            yield number, words


def _flags(words: list[str]) -> int:
    return sum(_FLAGS[word] for word in words)


def _arguments_size(descriptor: str) -> int:
    """Returns the stack slots of the parameters.

    >>> _arguments_size("(J[JLa/B;)V")
    4
    """
    parameters = re.findall(r"\[*(?:L[^;]+;|[A-Z])", descriptor.partition(")")[0])
    return sum(2 if each in "JD" else 1 for each in parameters)


class _Pool:
    """A constant pool that grows as constants are asked for; `bootstraps` are the names of its methods."""

    def __init__(self, bootstraps: list[str]) -> None:
        self._index: dict[bytes, int] = {}
        self._bootstraps = bootstraps

    def _put(self, entry: bytes) -> int:
        return self._index.setdefault(entry, len(self._index) + 1)

    def utf8(self, text: str) -> int:
        return self._put(struct.pack(">BH", 1, len(text.encode())) + text.encode())

    def type(self, name: str) -> int:
        return self._put(struct.pack(">BH", 7, self.utf8(name)))

    def string(self, text: str) -> int:
        return self._put(struct.pack(">BH", 8, self.utf8(text)))

    def pair(self, name: str, descriptor: str) -> int:
        return self._put(struct.pack(">BHH", 12, self.utf8(name), self.utf8(descriptor)))

    def member(self, tag: int, written: str, descriptor: str) -> int:
        owner, _, name = written.rpartition(".")
        return self._put(struct.pack(">BHH", tag, self.type(owner), self.pair(name, descriptor)))

    def dynamic(self, tag: int, name: str, descriptor: str, bootstrap: str) -> int:
        at = self._bootstraps.index(bootstrap)
        return self._put(struct.pack(">BHH", tag, at, self.pair(name, descriptor)))

    def handle(self, kind: str, written: str, descriptor: str) -> int:
        number = _REFERENCE[kind]
        tag = 9 if number < 5 else 11 if number == 9 else 10
        member = f"{written}.<init>" if kind == "new" else written
        return self._put(struct.pack(">BBH", 15, number, self.member(tag, member, descriptor)))

    def constants(self, words: list[str]) -> list[int]:
        """Returns the indices of the constants in `words`, which tell each other's ends apart."""
        found = []
        while words:
            kind, rest = words[0], words[1:]
            match kind:
                case "class":
                    index, words = self.type(rest[0]), rest[1:]
                case "methodtype":
                    index, words = self._put(struct.pack(">BH", 16, self.utf8(rest[0]))), rest[1:]
                case "methodhandle":
                    index, words = self.handle(*rest[:3]), rest[3:]
                case "dynamic":
                    index, words = self.dynamic(17, *rest[:3]), rest[3:]
                case _:
                    index, words = self.string(kind.strip('"')), rest
            found.append(index)
        return found

    def encoded(self) -> bytes:
        return struct.pack(">H", len(self._index) + 1) + b"".join(self._index)


@dataclass
class _Member:
    """A field or a method with its instructions, labels and handlers."""

    flags: int
    name: str
    descriptor: str
    code: list[tuple[int, list[str]]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    handlers: list[list[str]] = field(default_factory=list)

    def add(self, line: int, words: list[str]) -> None:
        """Adds a line of the body: labels, then an instruction or a handler."""
        while words and words[0].endswith(":"):
            self.labels[words[0][:-1]] = len(self.code)
            words = words[1:]
        if words and words[0] == "catch":
            self.handlers.append(words[1:])
        elif words:
            self.code.append((line, words))

    def encoded(self, pool: _Pool) -> bytes:
        start = struct.pack(">HHH", self.flags, pool.utf8(self.name), pool.utf8(self.descriptor))
        if not self.code:
            return start + struct.pack(">H", 0)
        attribute = self._code(pool)
        return start + struct.pack(">HHI", 1, pool.utf8("Code"), len(attribute)) + attribute

    def _code(self, pool: _Pool) -> bytes:
        places = [0]
        for _, words in self.code:
            places.append(places[-1] + len(_instruction(words, pool, {}, 0)))
        at = {label: places[index] for label, index in self.labels.items()}
        body = b"".join(
            _instruction(words, pool, at, place) for (_, words), place in zip(self.code, places, strict=False)
        )
        handlers = b"".join(
            struct.pack(">HHHH", at[start], at[end], at[handler], 0 if type_ == "any" else pool.type(type_))
            for type_, start, end, handler in self.handlers
        )
        lines = b"".join(
            struct.pack(">HH", place, line) for (line, _), place in zip(self.code, places, strict=False)
        )
        table = struct.pack(">HIH", pool.utf8("LineNumberTable"), len(lines) + 2, len(self.code)) + lines
        sizes = struct.pack(">HHI", MAX_STACK, MAX_LOCALS, len(body))
        count = struct.pack(">H", len(self.handlers))
        return sizes + body + count + handlers + struct.pack(">H", 1) + table


def _instruction(words: list[str], pool: _Pool, at: dict[str, int], place: int) -> bytes:
    """Returns the bytes of an instruction; a label that `at` doesn't know yet counts as offset 0."""
    name, operands = words[0], words[1:]
    if name in _PLAIN:
        return bytes([_PLAIN[name]])
    if name in _LOCAL:
        index = int(operands[0])
        return struct.pack(">BBH", 196, _LOCAL[name], index) if index > 255 else bytes([_LOCAL[name], index])
    if name == "iinc":
        return struct.pack(">BBHh", 196, 132, int(operands[0]), int(operands[1]))
    if name in _BRANCH:
        return struct.pack(">Bh", _BRANCH[name], at.get(operands[0], place) - place)
    if name in _WIDE_BRANCH:
        return struct.pack(">Bi", _WIDE_BRANCH[name], at.get(operands[0], place) - place)
    if name == "ldc_w":
        return struct.pack(">BH", 19, *pool.constants(operands))
    if name == "invokedynamic":
        return struct.pack(">BHH", 186, pool.dynamic(18, *operands), 0)
    if name == "multianewarray":
        return struct.pack(">BHB", 197, pool.type(operands[0]), int(operands[1]))
    if name in _TYPE:
        return struct.pack(">BH", _TYPE[name], pool.type(operands[0]))
    return _member_instruction(name, operands, pool)


def _member_instruction(name: str, operands: list[str], pool: _Pool) -> bytes:
    opcode = _MEMBER[name]
    tag = 9 if opcode < 182 else 11 if opcode == 185 else 10
    start = struct.pack(">BH", opcode, pool.member(tag, *operands))
    return start + bytes([1 + _arguments_size(operands[1]), 0]) if opcode == 185 else start


@dataclass
class _Class:
    """A class with its members."""

    flags: int
    name: str
    superclass: str
    interfaces: list[str]
    fields: list[_Member] = field(default_factory=list)
    methods: list[_Member] = field(default_factory=list)
    bootstraps: dict[str, list[str]] = field(default_factory=dict)
    version: int = VERSION

    @classmethod
    def begun(cls, words: list[str]) -> _Class:
        """Returns the class without members that `words` declare."""
        before = next((at for at, word in enumerate(words) if word not in _FLAGS))
        rest = words[before + 1 :]
        split = rest.index("implements") if "implements" in rest else len(rest)
        superclass = rest[1] if rest[:1] == ["extends"] else "java/lang/Object"
        # ACC_SUPER, which classes have and interfaces have not.
        flags = _flags(words[:before])
        flags |= 0 if flags & 0x200 else 0x20
        return cls(flags, words[before], superclass, rest[split + 1 :])

    def encoded(self, file: str) -> bytes:
        pool = _Pool(list(self.bootstraps))
        body = struct.pack(">HHH", self.flags, pool.type(self.name), pool.type(self.superclass))
        body += struct.pack(">H", len(self.interfaces))
        body += b"".join(struct.pack(">H", pool.type(each)) for each in self.interfaces)
        for members in (self.fields, self.methods):
            body += struct.pack(">H", len(members)) + b"".join(each.encoded(pool) for each in members)
        attributes = [(pool.utf8("SourceFile"), struct.pack(">H", pool.utf8(file)))]
        if self.bootstraps:
            attributes.append((pool.utf8("BootstrapMethods"), self._bootstraps(pool)))
        body += struct.pack(">H", len(attributes))
        body += b"".join(struct.pack(">HI", name, len(content)) + content for name, content in attributes)
        return struct.pack(">IHH", 0xCAFEBABE, 0, self.version) + pool.encoded() + body

    def _bootstraps(self, pool: _Pool) -> bytes:
        table = struct.pack(">H", len(self.bootstraps))
        for method, descriptor, *arguments in self.bootstraps.values():
            indices = pool.constants(arguments)
            table += struct.pack(">HH", pool.handle("invokestatic", method, descriptor), len(indices))
            table += b"".join(struct.pack(">H", index) for index in indices)
        return table
