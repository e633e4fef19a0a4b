"""The names and references of a unit, each once, and the constant pools that lead to them."""

from __future__ import annotations

import re
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

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
    utf8_of,
)
from loader.classfile import DYNAMIC as DYNAMIC_TAG
from loader.classfile import FLOAT as FLOAT_TAG
from loader.classfile import METHOD_HANDLE as METHOD_HANDLE_TAG
from loader.classfile import METHOD_TYPE as METHOD_TYPE_TAG
from loader.classfile import STRING as STRING_TAG
from loader.unit import CLASS as CLASS_CONSTANT
from loader.unit import DYNAMIC, METHOD_HANDLE, METHOD_TYPE, NUMBER, STRING

References = tuple[tuple[int, int], ...]
# What a call does: method_ref, and as in Shape, slots, kind of result and references, with the receiver's. (No
# named tuple: taking one apart costs three times as much.)
Call = tuple[int, int, int, References]
# What a dynamic call does: bootstrap row, signature, then as above.
DynamicCall = tuple[int, int, int, int, References]

# The kind of a constant that can be loaded, its reference (both as in `loader.unit`), and the kind of value.
Constant = tuple[int, int, int]

# The methods that make objects, or find some, by reflection, by their classes (none of which has subclasses).
_RESULTS = {
    b"java/lang/Class": b"newInstance",
    b"java/lang/reflect/Constructor": b"newInstance",
    b"java/lang/reflect/Field": b"get",
    b"java/lang/reflect/Method": b"invoke",
}

# How many places of the operand stack a value takes, and whether it is a reference.
VOID, ONE, TWO, REFERENCE = range(4)

_METHODS = (METHOD, INTERFACE_METHOD)
_FIELDS = (FIELD,)
_reference = Struct(">BHH").unpack_from

_WIDE = (b"J", b"D")
_PARAMETER = re.compile(rb"\[*(?:L[^;]*;|[BCDFIJSZ])")
_METHOD_DESCRIPTOR = re.compile(rb"\(((?:\[*(?:L[^;]+;|[BCDFIJSZ]))*+)\)(V|\[*(?:L[^;]+;|[BCDFIJSZ]))")


class Texts(dict[bytes, int]):
    """Numbers of texts by their modified UTF-8. Different encodings of one text get one number."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[bytes] = []  # UTF-8 with lone surrogates

    def __missing__(self, modified: bytes) -> int:
        number = len(self.encoded)
        plain = modified if modified.isascii() else utf8_of(modified)
        if plain != modified:
            # Plain UTF-8 is a key too, so that all encodings meet there.
            number = self.setdefault(plain, number)
        self[modified] = number
        if number == len(self.encoded):
            self.encoded.append(plain)
        return number


class Shape(NamedTuple):
    """What a method descriptor says of calls.

    `slots` is the number of places of all arguments, without a receiver, and `returns` the kind of result.
    `references` and, with a receiver as position 0, `references_with_receiver` are (position, place) of the
    arguments that are references, the place counted from the top of the stack: -1 is the topmost.
    """

    slots: int
    returns: int
    positions: int
    references: References
    references_with_receiver: References


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
    slots = len(parameters) + parameters.count(b"J") + parameters.count(b"D")
    if slots > 255:
        raise MalformedClass("CLS-CODE", f"a method of {slots} argument words")
    references = []
    place = -slots
    for position, each in enumerate(parameters):
        if len(each) > 1:  # a primitive type has one letter
            references.append((position, place))
        place += 2 if each in _WIDE else 1
    shifted = ((0, -slots - 1), *[(position + 1, place) for position, place in references])
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
        # Numbers of keys, in the order of their first use, which is that of the dictionary: `setdefault` with
        # the size makes the next one.
        self.types: dict[int, int] = {}
        self.signatures: dict[tuple[int, int], int] = {}
        self.method_refs: dict[tuple[int, int, int], int] = {}
        self.field_refs: dict[tuple[int, int, int], int] = {}
        self.handles: dict[tuple[int, int], int] = {}
        self.shapes: dict[int, Shape] = {}  # by the text of the descriptor
        # The classes that implement reflection, and method_refs of theirs.
        self.reflective_types: set[int] = set()
        self.reflective: set[int] = set()
        self.results: dict[int, bytes] = {}  # as _RESULTS

    def type(self, name: bytes) -> int:
        """Returns the type_ref of an internal name or array descriptor."""
        type_ref = self.types.setdefault(self.texts[name], len(self.types))
        if name == b"java/lang/Class" or name.startswith((b"java/lang/reflect/", b"java/lang/invoke/")):
            self.reflective_types.add(type_ref)
            if name in _RESULTS:
                self.results[type_ref] = _RESULTS[name]
        return type_ref

    def signature(self, name: int, descriptor: int) -> int:
        """Returns the signature of these texts."""
        return self.signatures.setdefault((name, descriptor), len(self.signatures))

    def shape(self, descriptor: bytes) -> Shape:
        """Returns what a method descriptor says."""
        text = self.texts[descriptor]
        shape = self.shapes.get(text)
        if shape is None:
            shape = self.shapes[text] = shape_of(descriptor)
        return shape


def _no(index: int) -> MalformedClass:
    return MalformedClass("CLS-CP", f"constant {index} is not of the kind that its use asks for")


class Pool:
    """The constants of one class file as ids of the unit."""

    def __init__(self, pool: ConstantPool, symbols: Symbols, bootstraps: int) -> None:
        self.pool = pool
        self.symbols = symbols
        # (shortcuts: most of the time of reading references goes into finding these)
        self._data, self._at, self._encoded, self._texts = pool.data, pool.at, pool.texts, symbols.texts
        self.bootstraps = bootstraps  # how many the class has
        self.dangling = False  # whether a constant names a bootstrap method that isn't there
        self._pairs: dict[int, tuple[tuple[int, int], bytes]] = {}
        # What constants stand for, by index, once somebody has asked.
        self.types: dict[int, int] = {}
        self._arrays: dict[int, int] = {}
        self.calls: dict[int, Call] = {}
        self.static_calls: dict[int, Call] = {}
        self.fields: dict[int, tuple[int, int]] = {}
        self._constants: dict[int, Constant] = {}
        self.results: set[int] = set()  # method_refs of calls that make or find objects by reflection

    def text(self, index: int) -> int:
        """Returns the text of a UTF8."""
        try:
            encoded = self._encoded[index]
        except IndexError:
            raise _no(index) from None
        if encoded is None:
            raise _no(index)
        return self._texts[encoded]

    def string(self, index: int) -> int:
        """Returns the text of a STRING, -1 if the constant is of another kind."""
        data = self._data
        try:
            place = self._at[index]
        except IndexError:
            raise _no(index) from None
        return self.text(data[place + 1] << 8 | data[place + 2]) if data[place] == STRING_TAG else -1

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
            key = kind, self.field(reference)[0]
        elif 5 <= kind <= 9:
            key = kind, self.method_ref(reference)
        else:
            raise MalformedClass("CLS-CP", f"a method handle of kind {kind}")
        return self.symbols.handles.setdefault(key, len(self.symbols.handles))

    def type(self, index: int) -> int:
        """Returns the type_ref of a CLASS."""
        known = self.types.get(index)
        if known is None:
            data, place = self._data, self.pool.place(index, CLASS)
            name = data[place] << 8 | data[place + 1]
            known = self.symbols.types.get(self.text(name))
            if known is None:
                known = self.symbols.type(self.pool.utf8(name))
            self.types[index] = known
        return known

    def array(self, index: int) -> int:
        """Returns the type_ref of arrays whose elements are of a CLASS."""
        known = self._arrays.get(index)
        if known is None:
            known = self._arrays[index] = self.symbols.type(array_of(self.pool.class_name(index)))
        return known

    def method_ref(self, index: int) -> int:
        """Returns the method_ref of a METHOD or INTERFACE_METHOD."""
        return self._method(index)[0]

    def call(self, index: int) -> Call:
        """Returns what a call of an instance method does, given the index of the METHOD."""
        ref, shape = self._method(index)
        found = self.calls[index] = ref, shape.slots + 1, shape.returns, shape.references_with_receiver
        return found

    def static_call(self, index: int) -> Call:
        """Returns what a call of a static method does."""
        ref, shape = self._method(index)
        found = self.static_calls[index] = ref, shape.slots, shape.returns, shape.references
        return found

    def dynamic_call(self, index: int) -> DynamicCall:
        """Returns what a dynamic call does."""
        row, name_and_type = self.pool.pair_in(index, INVOKE_DYNAMIC)
        name, descriptor = self.pool.pair_in(name_and_type, NAME_AND_TYPE)
        signature = self.symbols.signature(self.text(name), self.text(descriptor))
        shape = self.symbols.shape(self.pool.utf8(descriptor))
        return self.bootstrap(row), signature, shape.slots, shape.returns, shape.references

    def dynamic_constant(self, index: int) -> tuple[int, int]:
        """Returns bootstrap method and signature of a DYNAMIC."""
        row, name_and_type = self.pool.pair_in(index, DYNAMIC_TAG)
        name, descriptor = self.pool.pair_in(name_and_type, NAME_AND_TYPE)
        return self.bootstrap(row), self.symbols.signature(self.text(name), self.text(descriptor))

    def field(self, index: int) -> tuple[int, int]:
        """Returns field_ref and kind of a FIELD."""
        _, owner, pair, descriptor = self._member(index, _FIELDS)
        refs = self.symbols.field_refs
        found = self.fields[index] = refs.setdefault((owner, *pair), len(refs)), kind_of(descriptor)
        return found

    def constant(self, index: int) -> Constant:
        """Returns what can be loaded."""
        known = self._constants.get(index)
        if known is None:
            known = self._constants[index] = self._constant(index)
        return known

    def _member(self, index: int, tags: tuple[int, ...]) -> tuple[int, int, tuple[int, int], bytes]:
        """Returns kind, type_ref, texts of name and descriptor, and the descriptor of a FIELD or METHOD."""
        try:
            tag, owner, name_and_type = _reference(self._data, self._at[index])
        except (IndexError, StructError):
            raise _no(index) from None
        if tag not in tags:
            raise _no(index)
        pair, descriptor = self._pairs.get(name_and_type) or self._pair(name_and_type)
        type_ref = self.types.get(owner)
        return tag, self.type(owner) if type_ref is None else type_ref, pair, descriptor

    def _pair(self, index: int) -> tuple[tuple[int, int], bytes]:
        """Returns texts of name and descriptor, and the descriptor, of a NAME_AND_TYPE."""
        try:
            tag, name, descriptor = _reference(self._data, self._at[index])
        except (IndexError, StructError):
            raise _no(index) from None
        if tag != NAME_AND_TYPE:
            raise _no(index)
        key = self.text(name), self.text(descriptor)
        found = self._pairs[index] = key, self.pool.utf8(descriptor)
        return found

    def _method(self, index: int) -> tuple[int, Shape]:
        """Returns method_ref and what the descriptor says."""
        tag, owner, pair, descriptor = self._member(index, _METHODS)
        symbols = self.symbols
        signature = symbols.signatures.setdefault(pair, len(symbols.signatures))
        is_interface = 1 if tag == INTERFACE_METHOD else 0
        ref = symbols.method_refs.setdefault((owner, signature, is_interface), len(symbols.method_refs))
        if owner in symbols.reflective_types:
            symbols.reflective.add(ref)
            if symbols.texts.encoded[pair[0]] == symbols.results.get(owner):
                self.results.add(ref)
        return ref, symbols.shapes.get(pair[1]) or symbols.shape(descriptor)

    def _constant(self, index: int) -> Constant:
        pool = self.pool
        tag = pool.tag(index)
        if tag == STRING_TAG:
            return STRING, self.text(pool.index_in(index, tag)), REFERENCE
        if tag == CLASS:
            return CLASS_CONSTANT, self.type(index), REFERENCE
        if tag == METHOD_TYPE_TAG:
            return METHOD_TYPE, self.text(pool.index_in(index, tag)), REFERENCE
        if tag == METHOD_HANDLE_TAG:
            return METHOD_HANDLE, self.handle(index), REFERENCE
        if tag == DYNAMIC_TAG:
            row, name_and_type = pool.pair_in(index, tag)
            self.bootstrap(row)
            descriptor = pool.pair_in(name_and_type, NAME_AND_TYPE)[1]
            return DYNAMIC, self.text(descriptor), kind_of(pool.utf8(descriptor))
        if tag == INTEGER:
            return NUMBER, pool.integer(index), ONE
        if tag in {FLOAT_TAG, LONG, DOUBLE}:
            return NUMBER, -1, ONE if tag == FLOAT_TAG else TWO
        raise MalformedClass("CLS-CP", f"constant {index} is none that can be loaded")
