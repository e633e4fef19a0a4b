"""Class files (JVMS 4), read through jawa.

jawa walks the outermost structure. Constant pool, members and attributes are our own: stock jawa fails on
module declarations, dynamic constants and some modified UTF-8, and makes an object of everything it meets.
Here a pool entry is an offset into the bytes until somebody asks for it.
"""

from __future__ import annotations

import re
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

import jawa.cf
import jawa.constants

MAJOR_FIRST, MAJOR_LAST = 45, 69  # JDK 1.0 and JDK 25
MODULE_FLAG = 0x8000

# Tags of the constant pool (JVMS 4.4).
UTF8, INTEGER, FLOAT, LONG, DOUBLE, CLASS, STRING, FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE = (
    1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
)  # fmt: skip
METHOD_HANDLE, METHOD_TYPE, DYNAMIC, INVOKE_DYNAMIC, MODULE, PACKAGE = 15, 16, 17, 18, 19, 20

# Bytes of an entry, its tag included, by tag; 0 for what is no tag (and for UTF8, which says its length).
_SIZES = [0, 0, 0, 5, 5, 9, 9, 3, 3, 5, 5, 5, 5, 0, 0, 4, 3, 5, 5, 3, 3] + [0] * 235

# What no modified UTF-8 has, and the first byte of each surrogate.
_FOUR_BYTES = re.compile(rb"[\xf0-\xff]").search
_SURROGATE = re.compile(rb"\xed").search

# An attribute that says it is longer lies; one that is longer than what is left may have been cut off.
_LONGEST_ATTRIBUTE = 0x7FFFFFFF

_int = Struct(">i").unpack_from
_pair = Struct(">HH").unpack_from
_handler = Struct(">HHHH")
_member = Struct(">HHHH").unpack_from
# (slots, bytes of code) at the start of a Code attribute, behind the size of the stack
_new_code = Struct(">xxHI").unpack_from
_old_code = Struct(">xBH").unpack_from
_attribute = Struct(">HI").unpack_from


class MalformedClass(Exception):
    """A class file, or a part of one, that is not as the format says; `code` is that of the diagnostic."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


class Member(NamedTuple):
    """A field or method. `name` and `descriptor` are pool indexes; attributes are (name, start, end)."""

    flags: int
    name: int
    descriptor: int
    attributes: list[tuple[int, int, int]]


class Handler(NamedTuple):
    """A row of an exception table; `type` is a pool index, 0 for any throwable."""

    start: int
    end: int
    target: int
    type: int


class Code(NamedTuple):
    """A Code attribute. `lines` are slices of the class file that hold line number table rows."""

    locals: int
    instructions: bytes
    handlers: list[Handler]
    lines: list[bytes]


class Bootstrap(NamedTuple):
    """A row of the bootstrap methods: pool indexes of a method handle and of its static arguments."""

    handle: int
    arguments: tuple[int, ...]


class Nesting(NamedTuple):
    """The class of which a class is a member, the one that encloses it, and its members: pool indexes, 0 for none, or types.

    And the subclasses that it permits.
    """

    declaring: int
    enclosing: int
    members: list[int]
    permitted: list[int]


class _Source:
    """What jawa reads from: the bytes of one class file and a position in them."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def read(self, size: int) -> bytes:
        start = self.position
        self.position = start + size
        return self.data[start : self.position]


def text_of(encoded: bytes) -> str:
    """Returns the text that modified UTF-8 (JVMS 4.4.7) encodes; surrogates that don't pair stay as they are.

    >>> text_of(bytes.fromhex("c080eda081")) == chr(0) + chr(0xD801)
    True
    """
    if encoded.isascii():
        return encoded.decode("ascii")
    if _FOUR_BYTES(encoded) is not None:
        raise MalformedClass("CLS-UTF8", "a character of four bytes in modified UTF-8")
    try:
        units = encoded.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        units = _lenient(encoded)
    if _SURROGATE(encoded) is None:
        return units
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _lenient(encoded: bytes) -> str:
    """Returns the UTF-16 units of modified UTF-8 that may be longer than it need be.

    The JVM takes that from class files before version 48, and regular expression tables of that time have it.
    """
    units = []
    place = 0
    while place < len(encoded):
        first = encoded[place]
        size = 1 if first < 0x80 else 2 if 0xC0 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 0
        rest = encoded[place + 1 : place + size]
        if not size or len(rest) != size - 1 or any(each & 0xC0 != 0x80 for each in rest):
            raise MalformedClass("CLS-UTF8", f"byte {place} of a text is no modified UTF-8")
        unit = first if size == 1 else first & (0x1F if size == 2 else 0xF)
        for each in rest:
            unit = unit << 6 | each & 0x3F
        units.append(chr(unit))
        place += size
    return "".join(units)


def utf8_of(encoded: bytes) -> bytes:
    """Returns modified UTF-8 as UTF-8; surrogates that don't pair stay as they are."""
    try:
        encoded.decode()
    except UnicodeDecodeError:
        pass
    else:
        if _FOUR_BYTES(encoded) is None:
            return encoded
    return text_of(encoded).encode("utf-8", "surrogatepass")


def read_class(data: bytes) -> ClassFile:
    """Returns the class file in `data`; raises MalformedClass if there is none."""
    try:
        return ClassFile(_Source(data))
    except (StructError, IndexError):
        raise MalformedClass("CLS-TRUNC", "the class file is cut off") from None
    except ValueError:
        raise MalformedClass("CLS-MAGIC", "not a class file: it does not begin with CAFEBABE") from None


class ConstantPool(jawa.constants.ConstantPool):  # type: ignore[misc]  # jawa has no types
    """The constant pool as offsets of its entries, 0 where an index has none.

    `texts` are the UTF8 entries by index, as they stand in the file, None where an index has none.
    """

    def __init__(self) -> None:
        # Not jawa's __init__: there is no table of constants.
        self.data = b""
        self.at: list[int] = []
        self.texts: list[bytes | None] = []
        self.has_dynamic_calls = True  # class files before version 51 have none

    def unpack(self, source: _Source) -> None:
        """Finds where each entry of the pool begins."""
        data, place, sizes = source.data, source.position + 2, _SIZES
        count = data[place - 2] << 8 | data[place - 1]
        if not count:
            raise MalformedClass("CLS-CP", "a constant pool of no entries")
        at = [0] * count
        texts: list[bytes | None] = [None] * count
        indexes = iter(range(1, count))
        for index in indexes:
            at[index] = place
            tag = data[place]
            if tag == 1:
                start = place + 3
                place = start + (data[place + 1] << 8 | data[place + 2])
                texts[index] = data[start:place]
                continue
            size = sizes[tag]
            place += size
            if size == 9:  # a long or double takes two indexes
                if next(indexes, None) is None:
                    raise MalformedClass("CLS-CP", "the constant pool ends within a long or double")
            elif not size:
                raise MalformedClass("CLS-CP", f"constant {index} has the unknown tag {tag}")
        if place > len(data):
            raise MalformedClass("CLS-TRUNC", "the class file is cut off in the constant pool")
        source.position = place
        self.data, self.at, self.texts = data, at, texts

    def place(self, index: int, tag: int) -> int:
        """Returns where the content of the constant begins, which has to be of kind `tag`."""
        # Where an index has no constant, its place is 0, and what is there is no tag.
        if index >= len(self.at) or self.data[self.at[index]] != tag:
            raise MalformedClass("CLS-CP", f"constant {index} is not of kind {tag}")
        return self.at[index] + 1

    def tag(self, index: int) -> int:
        """Returns the kind of the constant."""
        if index >= len(self.at) or not self.at[index]:
            raise MalformedClass("CLS-CP", f"there is no constant {index}")
        return self.data[self.at[index]]

    def utf8(self, index: int) -> bytes:
        """Returns a UTF8 constant as it stands in the file."""
        encoded = self.texts[index] if index < len(self.texts) else None
        if encoded is None:
            raise MalformedClass("CLS-CP", f"constant {index} is not of kind {UTF8}")
        return encoded

    def index_in(self, index: int, tag: int) -> int:
        """Returns the only index in a constant such as CLASS, STRING or METHOD_TYPE."""
        place = self.place(index, tag)
        return self.data[place] << 8 | self.data[place + 1]

    def pair_in(self, index: int, tag: int) -> tuple[int, int]:
        """Returns both indexes in a constant such as METHOD, NAME_AND_TYPE or DYNAMIC."""
        first, second = _pair(self.data, self.place(index, tag))
        return first, second

    def handle(self, index: int) -> tuple[int, int]:
        """Returns reference kind and index in a METHOD_HANDLE."""
        place = self.place(index, METHOD_HANDLE)
        reference = self.data[place + 1] << 8 | self.data[place + 2]
        if reference == index:
            raise MalformedClass("CLS-CP-CYCLE", f"the method handle {index} refers to itself")
        return self.data[place], reference

    def integer(self, index: int) -> int:
        """Returns the value of an INTEGER."""
        value: int = _int(self.data, self.place(index, INTEGER))[0]
        return value

    def class_name(self, index: int) -> bytes:
        """Returns the name in a CLASS constant."""
        return self.utf8(self.index_in(index, CLASS))

    def package_name(self, index: int) -> bytes:
        """Returns the name in a PACKAGE constant."""
        return self.utf8(self.index_in(index, PACKAGE))


class _Flags:
    """Access flags, in the place of jawa's, which builds a table of names for each class."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def unpack(self, encoded: bytes) -> None:
        self.value = encoded[0] << 8 | encoded[1]


def _skip_attributes(data: bytes, place: int, count: int) -> tuple[list[tuple[int, int, int]], int]:
    """Returns (name, start, end) of `count` attributes that begin at `place`, and where they end."""
    attributes = []
    start = place
    try:
        for _ in range(count):
            name, length = _attribute(data, place)
            start = place + 6
            place = start + length
            attributes.append((name, start, place))
    except StructError:
        if place <= len(data):
            raise
    if place > len(data):
        if place - start > _LONGEST_ATTRIBUTE:
            raise MalformedClass("CLS-ATTR", f"an attribute of {place - start:,} bytes")
        raise MalformedClass("CLS-TRUNC", "the class file is cut off in an attribute")
    return attributes, place


class _Members:
    """A table of fields or methods whose attributes are left where they are."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: list[Member] = []

    def unpack(self, source: _Source) -> None:
        data, place = source.data, source.position
        count = data[place] << 8 | data[place + 1]
        place += 2
        rows = self.rows
        for _ in range(count):
            flags, name, descriptor, attributes = _member(data, place)
            if attributes:
                listed, place = _skip_attributes(data, place + 8, attributes)
            else:
                listed, place = [], place + 8
            # (a third of the time of calling the class)
            rows.append(tuple.__new__(Member, (flags, name, descriptor, listed)))
        source.position = place


class _Attributes:
    """The attributes of the class, and how many bytes follow them."""

    __slots__ = ("extra", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int]] = []
        self.extra = 0

    def unpack(self, source: _Source) -> None:
        data, place = source.data, source.position
        count = data[place] << 8 | data[place + 1]
        self.rows, place = _skip_attributes(data, place + 2, count)
        self.extra = len(data) - place


class ClassFile(jawa.cf.ClassFile):  # type: ignore[misc]  # jawa has no types
    """A class file whose parts are read when they are asked for."""

    def __init__(self, source: _Source) -> None:
        # Not jawa's __init__, which builds what unpacking would replace.
        self._constants = self.pool = ConstantPool()
        self.access_flags = _Flags()
        self.fields = _Members()
        self.methods = _Members()
        self.attributes = _Attributes()
        self._interfaces: tuple[int, ...] = ()
        self._from_io(source)
        self.pool.has_dynamic_calls = self._version[0] >= 51
        self._names: dict[int, bytes] = {}

    @property
    def flags(self) -> int:
        """The access flags; before version 53, what says that a class is a module's declaration says nothing."""
        flags = self.access_flags.value
        return flags if self._version[0] >= 53 else flags & ~MODULE_FLAG

    @property
    def name(self) -> bytes:
        """The internal name."""
        return self.pool.class_name(self._this)

    @property
    def superclass(self) -> int:
        """The pool index of the superclass, 0 for none."""
        index: int = self._super
        return index

    @property
    def interfaces(self) -> tuple[int, ...]:
        """The pool indexes of the superinterfaces."""
        return self._interfaces

    @property
    def extra(self) -> int:
        """How many bytes follow the class."""
        return self.attributes.extra

    def attribute(self, name: bytes, attributes: list[tuple[int, int, int]]) -> tuple[int, int] | None:
        """Returns start and end of the first attribute with this name."""
        names = self._names
        for index, start, end in attributes:
            if (names.get(index) or self._attribute_name(index)) == name:
                return start, end
        return None

    def component_attributes(self) -> list[list[tuple[int, int, int]]]:
        """Returns the attributes of each component of a record (JVMS 4.7.30); none of another class."""
        found = self.attribute(b"Record", self.attributes.rows)
        if found is None:
            return []
        data, place = self.pool.data, found[0] + 2
        listed = []
        try:
            for _ in range(data[place - 2] << 8 | data[place - 1]):
                attributes, place = _skip_attributes(data, place + 6, data[place + 4] << 8 | data[place + 5])
                listed.append(attributes)
        except (StructError, IndexError):
            raise MalformedClass("CLS-ATTR", "the components of the record are cut off") from None
        return listed

    def index_attribute(self, name: bytes, attributes: list[tuple[int, int, int]]) -> int:
        """Returns the pool index that an attribute such as SourceFile or ConstantValue holds, 0 without it."""
        found = self.attribute(name, attributes)
        if found is None:
            return 0
        if found[1] - found[0] != 2:
            raise MalformedClass("CLS-ATTR", f"{name.decode()} is not two bytes long")
        data = self.pool.data
        return data[found[0]] << 8 | data[found[0] + 1]

    def index_list(self, name: bytes, attributes: list[tuple[int, int, int]]) -> list[int]:
        """Returns the pool indexes that an attribute such as Exceptions or PermittedSubclasses lists."""
        found = self.attribute(name, attributes)
        if found is None:
            return []
        content = self.pool.data[found[0] : found[1]]
        if len(content) < 2 or len(content) != 2 + 2 * (content[0] << 8 | content[1]):
            raise MalformedClass("CLS-ATTR", f"{name.decode()} is not as long as it says")
        return list(Struct(f">{len(content) // 2 - 1}H").unpack_from(content, 2))

    def nesting(self) -> Nesting:
        """Returns which class declares and which encloses this one, its member classes, and which subclasses it permits.

        Source: JVMS 4.7.6, 4.7.7, 4.7.31.
        """
        declaring = enclosing = 0
        members: list[int] = []
        data, rows, name = self.pool.data, self.attributes.rows, self.name
        start, end = self.attribute(b"InnerClasses", rows) or (0, 2)
        if (end - start - 2) % 8:
            raise MalformedClass("CLS-ATTR", "InnerClasses is cut off")
        for place in range(start + 2, end, 8):
            inner, outer = _pair(data, place)
            if self.pool.class_name(inner) == name:
                declaring = enclosing = outer
            elif outer and self.pool.class_name(outer) == name:
                members.append(inner)
        found = self.attribute(b"EnclosingMethod", rows)
        if found is not None:
            if found[1] - found[0] != 4:
                raise MalformedClass("CLS-ATTR", "EnclosingMethod is not four bytes long")
            enclosing, _ = _pair(data, found[0])
        return Nesting(declaring, enclosing, members, self.index_list(b"PermittedSubclasses", rows))

    def bootstraps(self) -> list[Bootstrap]:
        """Returns the bootstrap methods of the class."""
        found = self.attribute(b"BootstrapMethods", self.attributes.rows)
        if found is None:
            return []
        content = self.pool.data[found[0] : found[1]]
        rows: list[Bootstrap] = []
        place = 2
        try:
            for _ in range(content[0] << 8 | content[1]):
                handle, count = _pair(content, place)
                place += 4 + 2 * count
                rows.append(Bootstrap(handle, Struct(f">{count}H").unpack_from(content, place - 2 * count)))
        except (StructError, IndexError):
            raise MalformedClass("CLS-INDY", "BootstrapMethods is cut off") from None
        if place != len(content):
            raise MalformedClass("CLS-INDY", "BootstrapMethods is longer than what it holds")
        return rows

    def code(self, method: Member) -> Code | None:
        """Returns the Code attribute of `method`, None if it has none."""
        names = self._names
        try:
            for index, start, end in method.attributes:
                if (names.get(index) or self._attribute_name(index)) == b"Code":
                    return self._code(start, end)
        except (StructError, IndexError):
            raise MalformedClass("CLS-ATTR", "the Code attribute is cut off") from None
        return None

    def _code(self, start: int, end: int) -> Code:
        data, names = self.pool.data, self._names
        if self._version[0] == 45 and self._version[1] < 3 and self._has_old_code(start, end):
            slots, length = _old_code(data, start)
            start += 4
        else:
            slots, length = _new_code(data, start)
            start += 8
        if not 0 < length < 65536:
            raise MalformedClass("CLS-CODE", f"{length} bytes of code")
        place = start + length
        rows = data[place] << 8 | data[place + 1]
        place += 2
        handlers = []
        if rows:
            handlers = [Handler._make(row) for row in _handler.iter_unpack(data[place : place + 8 * rows])]
            place += 8 * rows
            _check_handlers(handlers, length)
        lines = []
        attributes = data[place] << 8 | data[place + 1]
        place += 2
        for _ in range(attributes):
            index, size = _attribute(data, place)
            place += 6 + size
            if (names.get(index) or self._attribute_name(index)) == b"LineNumberTable":
                lines.append(data[place - size + 2 : place])
        if place != end:
            raise MalformedClass("CLS-ATTR", "the length of the Code attribute is wrong")
        return tuple.__new__(Code, (slots, data[start : start + length], handlers, lines))

    def _has_old_code(self, start: int, end: int) -> bool:
        """Returns whether a Code attribute adds up with the sizes that it had before JDK 1.0.2, and only so.

        The JVM of today reads the usual sizes whatever the version says.
        """
        data = self.pool.data
        usual = _adds_up(data, start + 8 + _new_code(data, start)[1], end)
        return not usual and _adds_up(data, start + 4 + _old_code(data, start)[1], end)

    def _attribute_name(self, index: int) -> bytes:
        known = self._names.get(index)
        if known is None:
            known = self._names[index] = self.pool.utf8(index)
        return known


def _adds_up(data: bytes, place: int, end: int) -> bool:
    """Returns whether the exception table and the attributes of code, the first at `place`, end at `end`."""
    try:
        place += 2 + 8 * (data[place] << 8 | data[place + 1])
        return _skip_attributes(data, place + 2, data[place] << 8 | data[place + 1])[1] == end
    except (StructError, IndexError, MalformedClass):
        return False


def _check_handlers(handlers: list[Handler], length: int) -> None:
    for handler in handlers:
        if not handler.start < handler.end <= length or handler.target >= length:
            raise MalformedClass("CLS-CODE", "an exception table row that is out of range")
