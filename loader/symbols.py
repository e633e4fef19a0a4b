"""The names and references of a unit, each once, and the constant pools that lead to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from loader.classfile import (
    CLASS,
    DOUBLE,
    FIELD,
    INTEGER,
    INTERFACE_METHOD,
    INVOKE_DYNAMIC,
    LONG,
    METHOD,
    NAME_AND_TYPE,
    ConstantPool,
    MalformedClass,
    text_of,
)
from loader.classfile import DYNAMIC as DYNAMIC_TAG
from loader.classfile import FLOAT as FLOAT_TAG
from loader.classfile import METHOD_HANDLE as METHOD_HANDLE_TAG
from loader.classfile import METHOD_TYPE as METHOD_TYPE_TAG
from loader.classfile import STRING as STRING_TAG
from loader.unit import CLASS as CLASS_CONSTANT
from loader.unit import DYNAMIC, METHOD_HANDLE, METHOD_TYPE, NUMBER, STRING

# How many places of the operand stack a value takes, and whether it is a reference.
VOID, ONE, TWO, REFERENCE = range(4)

_PARAMETER = re.compile(rb"\[*(?:L[^;]*;|[BCDFIJSZ])")
_METHOD_DESCRIPTOR = re.compile(rb"\(((?:\[*(?:L[^;]+;|[BCDFIJSZ]))*+)\)(V|\[*(?:L[^;]+;|[BCDFIJSZ]))")

Key = TypeVar("Key")
Found = TypeVar("Found")


class Interned(dict[Key, int], Generic[Key]):
    """Numbers of keys, in the order of their first use.

    >>> table = Interned()
    >>> table["b"], table["a"], table["b"]
    (0, 1, 0)
    """

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number


class Texts(dict[bytes, int]):
    """Numbers of texts by their modified UTF-8. Different encodings of one text get one number."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[bytes] = []  # UTF-8 with lone surrogates

    def __missing__(self, modified: bytes) -> int:
        if modified.isascii():
            number = len(self.encoded)
            self.encoded.append(modified)
        else:
            plain = text_of(modified).encode("utf-8", "surrogatepass")
            if plain != modified:
                # Plain UTF-8 is a key too, so that both encodings meet there.
                number = self._of_plain(plain)
            else:
                number = len(self.encoded)
                self.encoded.append(plain)
        self[modified] = number
        return number

    def _of_plain(self, plain: bytes) -> int:
        number = self.get(plain)
        if number is None:
            number = self[plain] = len(self.encoded)
            self.encoded.append(plain)
        return number


class Lookup(dict[int, Found], Generic[Found]):
    """What constants of one pool stand for, by index, each found when it is first asked for."""

    def __init__(self, find: Callable[[int], Found]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, index: int) -> Found:
        found = self[index] = self._find(index)
        return found


class Shape(NamedTuple):
    """What a method descriptor says of calls.

    `slots` is the number of places of all arguments, without a receiver, and `returns` the kind of result.
    `references` and, with a receiver as position 0, `references_with_receiver` are (position, place) of the
    arguments that are references, the place counted from the top of the stack: -1 is the topmost.
    """

    slots: int
    returns: int
    positions: int
    references: tuple[tuple[int, int], ...]
    references_with_receiver: tuple[tuple[int, int], ...]


class Call(NamedTuple):
    """What a call instruction does: `slots` and `references` (as in Shape) include the receiver."""

    target: int  # method_ref; or signature of a dynamic call
    slots: int
    returns: int
    references: tuple[tuple[int, int], ...]


class DynamicCall(NamedTuple):
    """What an `invokedynamic` instruction does."""

    bootstrap: int
    signature: int
    slots: int
    returns: int
    references: tuple[tuple[int, int], ...]


def kind_of(descriptor: bytes) -> int:
    """Returns ONE, TWO or REFERENCE for the descriptor of a field."""
    first = descriptor[:1]
    if first in (b"L", b"["):
        return REFERENCE
    if first in (b"J", b"D"):
        return TWO
    if not first or first not in b"BCFISZ":
        raise MalformedClass("CLS-CP", "a field descriptor that is none")
    return ONE


def shape_of(descriptor: bytes) -> Shape:
    """Returns what a method descriptor says.

    >>> shape_of(b"(JLa;)V").references_with_receiver
    ((0, -4), (2, -1))
    """
    match = _METHOD_DESCRIPTOR.fullmatch(descriptor)
    if match is None:
        raise MalformedClass("CLS-CP", "a method descriptor that is none")
    parameters = _PARAMETER.findall(match[1])
    widths = [2 if each in {b"J", b"D"} else 1 for each in parameters]
    slots = sum(widths)
    if slots > 255:
        raise MalformedClass("CLS-CODE", f"a method of {slots} argument words")
    references = []
    place = -slots
    for position, (each, width) in enumerate(zip(parameters, widths, strict=True)):
        if each[0] in b"L[":
            references.append((position, place))
        place += width
    shifted = ((0, -slots - 1), *((position + 1, place) for position, place in references))
    returns = VOID if match[2] == b"V" else kind_of(match[2])
    return Shape(slots, returns, len(parameters), tuple(references), shifted)


def array_of(name: bytes) -> bytes:
    """Returns the descriptor of arrays whose elements are of the class or array type `name`.

    >>> array_of(b"a/B"), array_of(b"[I")
    (b'[La/B;', b'[[I')
    """
    return b"[" + name if name[:1] == b"[" else b"[L" + name + b";"


class Symbols:
    """The tables of one unit."""

    def __init__(self) -> None:
        self.texts = Texts()
        self.types: Interned[int] = Interned()
        self.signatures: Interned[tuple[int, int]] = Interned()
        self.method_refs: Interned[tuple[int, int, int]] = Interned()
        self.field_refs: Interned[tuple[int, int, int]] = Interned()
        self.handles: Interned[tuple[int, int]] = Interned()
        self.shapes: dict[bytes, Shape] = {}
        # method_refs of the classes that implement reflection
        self.reflective: set[int] = set()

    def type(self, name: bytes) -> int:
        """Returns the type_ref of an internal name or array descriptor."""
        return self.types[self.texts[name]]

    def shape(self, descriptor: bytes) -> Shape:
        """Returns what a method descriptor says."""
        shape = self.shapes.get(descriptor)
        if shape is None:
            shape = self.shapes[descriptor] = shape_of(descriptor)
        return shape


def _is_reflective(name: bytes) -> bool:
    return name == b"java/lang/Class" or name.startswith((b"java/lang/reflect/", b"java/lang/invoke/"))


class Pool:
    """The constants of one class file as ids of the unit."""

    def __init__(self, pool: ConstantPool, symbols: Symbols, bootstraps: int) -> None:
        self.pool = pool
        self.symbols = symbols
        self.bootstraps = bootstraps  # how many the class has
        self.dangling = False  # whether a constant names a bootstrap method that isn't there
        self.texts = Lookup(self._text)
        self.types = Lookup(self._type)
        self.arrays = Lookup(self._array)
        self.calls = Lookup(self._call)
        self.static_calls = Lookup(self._static_call)
        self.dynamic_calls = Lookup(self._dynamic_call)
        self.fields = Lookup(self._field)
        self.constants = Lookup(self._constant)

    def bootstrap(self, row: int) -> int:
        """Returns `row`, or -1 if the class has no such bootstrap method."""
        if row < self.bootstraps:
            return row
        self.dangling = True
        return -1

    def throwable(self) -> int:
        """Returns the type_ref of what every handler without a type catches."""
        return self.symbols.type(b"java/lang/Throwable")

    def handle(self, index: int) -> int:
        """Returns the row of a method handle."""
        kind, reference = self.pool.handle(index)
        if 1 <= kind <= 4:
            return self.symbols.handles[kind, self.fields[reference][0]]
        if 5 <= kind <= 9:
            return self.symbols.handles[kind, self.method_ref(reference)]
        raise MalformedClass("CLS-CP", f"a method handle of kind {kind}")

    def method_ref(self, index: int) -> int:
        """Returns the method_ref of a METHOD or INTERFACE_METHOD."""
        return self._method(index)[0]

    def _text(self, index: int) -> int:
        return self.symbols.texts[self.pool.utf8(index)]

    def _type(self, index: int) -> int:
        return self.symbols.types[self.texts[self.pool.index_in(index, CLASS)]]

    def _array(self, index: int) -> int:
        return self.symbols.type(array_of(self.pool.class_name(index)))

    def _method(self, index: int) -> tuple[int, bytes]:
        pool, symbols = self.pool, self.symbols
        is_interface = pool.tag(index) == INTERFACE_METHOD
        owner, name_and_type = pool.pair_in(index, INTERFACE_METHOD if is_interface else METHOD)
        name, descriptor = pool.pair_in(name_and_type, NAME_AND_TYPE)
        signature = symbols.signatures[self.texts[name], self.texts[descriptor]]
        ref = symbols.method_refs[self.types[owner], signature, int(is_interface)]
        if _is_reflective(pool.class_name(owner)):
            symbols.reflective.add(ref)
        return ref, pool.utf8(descriptor)

    def _call(self, index: int) -> Call:
        ref, descriptor = self._method(index)
        shape = self.symbols.shape(descriptor)
        return Call(ref, shape.slots + 1, shape.returns, shape.references_with_receiver)

    def _static_call(self, index: int) -> Call:
        ref, descriptor = self._method(index)
        shape = self.symbols.shape(descriptor)
        return Call(ref, shape.slots, shape.returns, shape.references)

    def _dynamic_call(self, index: int) -> DynamicCall:
        row, name_and_type = self.pool.pair_in(index, INVOKE_DYNAMIC)
        name, descriptor = self.pool.pair_in(name_and_type, NAME_AND_TYPE)
        signature = self.symbols.signatures[self.texts[name], self.texts[descriptor]]
        shape = self.symbols.shape(self.pool.utf8(descriptor))
        return DynamicCall(self.bootstrap(row), signature, shape.slots, shape.returns, shape.references)

    def _field(self, index: int) -> tuple[int, int]:
        """Returns field_ref and kind."""
        owner, name_and_type = self.pool.pair_in(index, FIELD)
        name, descriptor = self.pool.pair_in(name_and_type, NAME_AND_TYPE)
        ref = self.symbols.field_refs[self.types[owner], self.texts[name], self.texts[descriptor]]
        return ref, kind_of(self.pool.utf8(descriptor))

    def _constant(self, index: int) -> tuple[int, int, int]:
        """Returns the kind of constant, its reference (as in `loader.unit`), and the kind of value."""
        pool = self.pool
        tag = pool.tag(index)
        if tag == STRING_TAG:
            return STRING, self.texts[pool.index_in(index, tag)], REFERENCE
        if tag == CLASS:
            return CLASS_CONSTANT, self.types[index], REFERENCE
        if tag == METHOD_TYPE_TAG:
            return METHOD_TYPE, self.texts[pool.index_in(index, tag)], REFERENCE
        if tag == METHOD_HANDLE_TAG:
            return METHOD_HANDLE, self.handle(index), REFERENCE
        if tag == DYNAMIC_TAG:
            row, name_and_type = pool.pair_in(index, tag)
            descriptor = pool.utf8(pool.pair_in(name_and_type, NAME_AND_TYPE)[1])
            return DYNAMIC, self.bootstrap(row), kind_of(descriptor)
        if tag == INTEGER:
            return NUMBER, pool.integer(index), ONE
        if tag in {FLOAT_TAG, LONG, DOUBLE}:
            return NUMBER, -1, ONE if tag == FLOAT_TAG else TWO
        raise MalformedClass("CLS-CP", f"constant {index} is none that can be loaded")
