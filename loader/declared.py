"""What is declared beside code: providers of services, and values of annotations that can be read at run time."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from loader.classfile import ClassFile, MalformedClass, text_of

SERVICES = "META-INF/services/"
# What type annotations that reflection can read stand on (JVMS 4.7.20.1): the bytes that say where, by kind.
_TARGET = {0x00: 1, 0x01: 1, 0x10: 2, 0x11: 2, 0x12: 2, 0x13: 0, 0x14: 0, 0x15: 0, 0x16: 1, 0x17: 2}
# Elements of annotations (JVMS 4.7.16.1), and how deep annotations and arrays may nest.
_STRING, _CLASS, _ENUM, _ANNOTATION, _ARRAY = map(ord, "sce@[")
_MOST_NESTED = 64

_short = Struct(">H").unpack_from
_pair = Struct(">HH").unpack_from
_package = Struct(">HHH").unpack_from


class Value(NamedTuple):
    """A string or a class that an annotation gives to an element, as modified UTF-8; a class by its descriptor."""

    annotation: bytes
    element: bytes
    is_class: bool
    content: bytes


def providers_in(content: bytes) -> list[str]:
    """Returns the internal names of the classes that a provider-configuration file lists (`ServiceLoader`).

    >>> providers_in(b"a.B # the first" + bytes([10]) + b"a.C$D")
    ['a/B', 'a/C$D']
    """
    lines = (line.partition("#")[0].strip() for line in content.decode("utf-8", "replace").splitlines())
    return [line.replace(".", "/") for line in dict.fromkeys(lines) if line]


class Module(NamedTuple):
    """What a module declaration says, by internal names in modified UTF-8.

    `exported` and `opened` are the packages that it exports, and opens, to every module; `provided` are (service,
    provider).
    """

    exported: list[bytes]
    opened: list[bytes]
    provided: list[tuple[bytes, bytes]]


def module_of(file: ClassFile) -> Module:
    """Returns what a module declaration says (JVMS 4.7.25). Raises `MalformedClass` if it is damaged."""
    module = Module([], [], [])
    found = file.attribute(b"Module", file.attributes.rows)
    if found is None:
        return module
    pool = file.pool
    data = pool.data[found[0] : found[1]]
    try:
        place = 8 + 6 * _short(data, 6)[0]  # behind what it requires
        for packages in (module.exported, module.opened):
            (count,) = _short(data, place)
            place += 2
            for _ in range(count):
                package, _, modules = _package(data, place)
                place += 6 + 2 * modules
                if not modules:
                    packages.append(pool.package_name(package))
        place += 2 + 2 * _short(data, place)[0]  # behind what it uses
        (count,) = _short(data, place)
        place += 2
        for _ in range(count):
            service, providers = _pair(data, place)
            place += 4 + 2 * providers
            for provider in Struct(f">{providers}H").unpack_from(data, place - 2 * providers):
                module.provided.append((pool.class_name(service), pool.class_name(provider)))
    except StructError:
        raise MalformedClass("CLS-MODULE", "the module declaration is cut off") from None
    return module


def packages_in(attribute: str) -> list[str]:
    """Returns the packages that `Add-Exports` or `Add-Opens` of a manifest or of `java` names, by internal names.

    The modules to which `java` opens a package make no difference.

    >>> packages_in("java.base/sun.misc  java.base/sun.nio.ch=ALL-UNNAMED")
    ['sun/misc', 'sun/nio/ch']
    """
    words = (each.partition("=")[0].partition("/")[2] for each in attribute.split() if "/" in each)
    return [each.replace(".", "/") for each in words]


class Annotations:
    """The annotations of a class and its members.

    `values` are the strings and classes that those visible at run time, and defaults of elements, hold; `visible` the
    descriptors of the types of the former, each once, on parameters, types and components of records, too; `of_class`,
    `of_fields` and `of_methods` those of all, in the order of the class file.
    """

    def __init__(self, file: ClassFile) -> None:
        self.values: list[Value] = []
        self.visible: dict[bytes, None] = {}
        self.of_class: list[bytes] = []
        self.of_fields: list[list[bytes]] = [[] for _ in file.fields.rows]
        self.of_methods: list[list[bytes]] = [[] for _ in file.methods.rows]

    def read(self, file: ClassFile) -> None:
        """Reads all there are. Raises `MalformedClass` at the first that is damaged; those before it stay."""
        if b"Annotations" not in file.pool.data and b"AnnotationDefault" not in file.pool.data:
            return
        self._read(file, file.attributes.rows, self.of_class)
        for attributes in file.component_attributes():
            self._read(file, attributes, [])
        for member, types in zip(file.fields.rows, self.of_fields, strict=True):
            self._read(file, member.attributes, types)
        own = b"L" + file.name + b";"
        for member, types in zip(file.methods.rows, self.of_methods, strict=True):
            self._read(file, member.attributes, types)
            found = file.attribute(b"RuntimeVisibleParameterAnnotations", member.attributes)
            if found is not None:
                reader = _Reader(file, *found)
                self._see(reader, reader.listed(1))
            found = file.attribute(b"AnnotationDefault", member.attributes)
            if found is not None:
                self.values += _Reader(file, *found).default(own, file.pool.utf8(member.name))

    def _read(self, file: ClassFile, attributes: list[tuple[int, int, int]], types: list[bytes]) -> None:
        for attribute in (b"RuntimeVisibleAnnotations", b"RuntimeInvisibleAnnotations"):
            found = file.attribute(attribute, attributes)
            if found is not None:
                reader = _Reader(file, *found)
                if attribute == b"RuntimeVisibleAnnotations":
                    self._see(reader, reader.listed(0))
                else:
                    reader.listed(0)
                types += reader.types
        found = file.attribute(b"RuntimeVisibleTypeAnnotations", attributes)
        if found is not None:
            reader = _Reader(file, *found)
            self._see(reader, reader.of_types())

    def _see(self, reader: _Reader, values: list[Value]) -> None:
        self.values += values
        self.visible |= dict.fromkeys(reader.types)


class _Reader:
    """Reads the values of one attribute."""

    def __init__(self, file: ClassFile, start: int, end: int) -> None:
        self._pool = file.pool
        self._data = file.pool.data[start:end]
        self._place = 0
        self._found: list[Value] = []
        self.types: list[bytes] = []  # of the annotations, without those within others

    def _utf8(self, index: int) -> bytes:
        found = self._pool.utf8(index)
        text_of(found)  # raises if it is damaged
        return found

    def listed(self, lists_of: int) -> list[Value]:
        """Returns the values of a list of annotations, or of such a list for each parameter."""
        return self._read(lambda: self._lists(lists_of))

    def of_types(self) -> list[Value]:
        """Returns the values of a list of annotations of types (JVMS 4.7.20)."""
        return self._read(self._of_types)

    def default(self, annotation: bytes, element: bytes) -> list[Value]:
        """Returns the values in the default of an element."""
        return self._read(lambda: self._value(annotation, element, 0))

    def _read(self, read: Callable[[], None]) -> list[Value]:
        try:
            read()
        except (StructError, IndexError):
            raise MalformedClass("CLS-ATTR", "an annotation is cut off") from None
        return self._found

    def _lists(self, lists_of: int) -> None:
        number = 1
        if lists_of:
            number = self._data[0]
            self._place = 1
        for _ in range(number):
            for _ in range(self._short()):
                self._annotation(0)

    def _of_types(self) -> None:
        for _ in range(self._short()):
            target = self._data[self._place]
            if target not in _TARGET:
                raise MalformedClass("CLS-ATTR", f"an annotation of a type at {target:#x}")
            self._place += 1 + _TARGET[target]
            self._place += 1 + 2 * self._data[self._place]
            self._annotation(0)

    def _short(self) -> int:
        self._place += 2
        return self._data[self._place - 2] << 8 | self._data[self._place - 1]

    def _annotation(self, depth: int) -> None:
        if depth > _MOST_NESTED:
            raise MalformedClass("CLS-NEST", f"annotations nested deeper than {_MOST_NESTED}")
        annotation = self._utf8(self._short())
        if depth == 0:
            self.types.append(annotation)
        for _ in range(self._short()):
            self._value(annotation, self._utf8(self._short()), depth)

    def _value(self, annotation: bytes, element: bytes, depth: int) -> None:
        if depth > _MOST_NESTED:
            raise MalformedClass("CLS-NEST", f"annotations nested deeper than {_MOST_NESTED}")
        tag = self._data[self._place]
        self._place += 1
        if tag == _ARRAY:
            for _ in range(self._short()):
                self._value(annotation, element, depth + 1)
        elif tag == _ANNOTATION:
            self._annotation(depth + 1)
        elif tag == _ENUM:
            self._place += 4
        else:
            content = self._short()
            if tag in (_STRING, _CLASS):
                self._found.append(Value(annotation, element, tag == _CLASS, self._utf8(content)))
