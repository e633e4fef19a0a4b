"""Resolution of method references, and selection where it doesn't depend on a receiver (JVMS 5.4.3, 5.4.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cypher.program import ABSTRACT, ACC_STATIC, NATIVE, PRIVATE, PUBLIC
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Int32
from loader.csr import UNSEEN
from loader.hierarchy import Types
from loader.members import Methods
from loader.part import Part
from loader.signatures import Signatures

# Opcodes (JVMS 6.5).
INVOKEVIRTUAL, INVOKESPECIAL, INVOKESTATIC, INVOKEINTERFACE = 182, 183, 184, 185

# Classes with signature-polymorphic methods (JVMS 2.9.3), and how such a method is declared.
_POLYMORPHIC = ("java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle")
_VARARGS = 0x80

# What a call of a method reference needs: a receiver's class, nothing, or the caller's class.
_BY_OPCODE = np.zeros(256, np.int32)
_BY_OPCODE[INVOKESPECIAL], _BY_OPCODE[INVOKESTATIC] = 1, 2
_WAYS = 3

# In place of the callee: it depends on the class of the caller.
_PER_CALLER = -3


class Call(NamedTuple):
    """What a call instruction means: columns of `Invoke`, as numbers or as arrays."""

    kind: int
    declared: int
    callee: int
    signature: int


class Calls(NamedTuple):
    """What call instructions mean: columns of `Invoke`."""

    kind: Int32
    declared: Int32
    callee: Int32
    signature: Int32


class Resolver:
    """Resolves method references of the program."""

    def __init__(self, types: Types, methods: Methods, signatures: Signatures) -> None:
        self._types = types
        self._methods = methods
        self._signatures = signatures
        self._for_caller: dict[tuple[int, int, int], int] = {}
        self._resolved: dict[tuple[int, int, int], tuple[int, ...]] = {}  # by way, type and signature
        # References (type, signature) to methods that a fully known class doesn't have.
        self.missing: set[tuple[int, int]] = set()

    # --- resolution
    def resolve(self, type_: int, signature: int) -> int:
        """Returns the method to which a reference to `signature` in `type_` resolves, or -1."""
        types = self._types
        found = self._methods.declared(type_).get(signature)
        if found is not None:
            return found
        if types.is_interface(type_):
            found = self._public_of_object(signature)
        else:
            found = self._in_superclasses(type_, signature)
        if found >= 0:
            return found
        candidates = self._in_interfaces(type_, signature)
        concrete = [each for each in candidates if not self._methods.flags_of(each) & ABSTRACT]
        if len(concrete) == 1:
            return concrete[0]
        return candidates[0] if candidates else NONE

    def _public_of_object(self, signature: int) -> int:
        """Returns the public method with `signature` of java.lang.Object that isn't static, or -1."""
        found = self._methods.declared(self._types.object).get(signature)
        if found is None or self._methods.flags_of(found) & (PUBLIC | ACC_STATIC) != PUBLIC:
            return NONE
        return found

    def _in_superclasses(self, type_: int, signature: int, without: int = 0) -> int:
        """Returns the method with `signature` of the class or of the nearest superclass, or -1.

        Methods that have one of the flags `without` are passed over.
        """
        types = self._types
        each = type_
        while each >= 0:
            found = self._methods.declared(each).get(signature)
            if found is not None and not (without and self._methods.flags_of(found) & without):
                return found
            if types.names[each] in _POLYMORPHIC:
                polymorphic = self._polymorphic(each, self._signatures.names[signature][0])
                if polymorphic >= 0:
                    return polymorphic
            each = types.superclass[each]
        return NONE

    def _polymorphic(self, type_: int, name: str) -> int:
        """Returns the signature-polymorphic method `name` of `type_` (JVMS 2.9.3), or -1."""
        for each in self._methods.of_type(type_):
            flags = self._methods.flags_of(each)
            if flags & NATIVE and flags & _VARARGS and self._methods.name_of(each)[1] == name:
                return each
        return NONE

    def _in_interfaces(self, type_: int, signature: int) -> list[int]:
        """Returns the maximally-specific methods with `signature` of superinterfaces, by name of the interface."""
        types, methods = self._types, self._methods
        declaring: dict[int, int] = {}
        for each in types.supertypes[type_][:-1]:
            if types.is_interface(each):
                found = methods.declared(each).get(signature)
                if found is not None and not methods.flags_of(found) & (PRIVATE | ACC_STATIC):
                    declaring[each] = found
        below = {above for each in declaring for above in types.supertypes[each][:-1]}
        return [declaring[each] for each in sorted(declaring.keys() - below, key=types.names.__getitem__)]

    # --- calls
    def call(self, opcode: int, type_: int, signature: int, caller: int) -> Call:
        """Returns what calling `signature` of `type_` with `opcode` in a method of type `caller` means."""
        way = int(_BY_OPCODE[opcode])
        found = self._resolved.get((way, type_, signature))
        if found is None:
            columns = self._targets(way, np.array([type_], np.int32), np.array([signature], np.int32))
            found = self._resolved[way, type_, signature] = tuple(int(each[0]) for each in columns)
        callee, kind, key = found
        if callee == _PER_CALLER:
            callee = self._select(caller, type_, signature)
        return Call(kind, type_, callee, key)

    def unresolved(self, opcode: int, type_: int, signature: int) -> Call:
        """Returns a call of `signature` of `type_` that resolves to nothing."""
        return Call((VIRTUAL, SPECIAL, STATIC)[int(_BY_OPCODE[opcode])], type_, NONE, signature)

    def calls(self, part: Part, opcode: Int32, refs: Int32, callers: Int32) -> Calls:
        """Returns what the calls of these method references of `part` mean; `callers` are the callers' types."""
        slot = refs * np.int32(_WAYS) + _BY_OPCODE[opcode]
        callee = part.callee[slot]
        missing = callee == UNSEEN
        if missing.any():
            self._fill(part, np.unique(slot[missing]))
            callee = part.callee[slot]
        declared = part.types[part.unit.method_ref_type[refs]]
        signature, kind = part.call_signature[slot], part.call_kind[slot]
        for here in np.flatnonzero(callee == _PER_CALLER).tolist():
            callee[here] = self._select(int(callers[here]), int(declared[here]), int(signature[here]))
        return Calls(kind, declared, callee, signature)

    def _fill(self, part: Part, slots: Int32) -> None:
        refs, way = np.divmod(slots, _WAYS)
        owners = self._types.of_refs(part, part.unit.method_ref_type[refs])
        self._methods.enter()
        plain = self._signatures.of_refs(part, part.unit.method_ref_signature[refs])
        part.callee[slots], part.call_kind[slots], part.call_signature[slots] = self._targets(
            way, owners, plain
        )

    def _targets(self, way: Int32 | int, owners: Int32, plain: Int32) -> tuple[Int32, Int32, Int32]:
        """Returns (callee or `_PER_CALLER`, kind, signature) of calls of `plain` signatures of `owners`."""
        self._methods.enter()
        found = [
            self.resolve(type_, each) for type_, each in zip(owners.tolist(), plain.tolist(), strict=True)
        ]
        callee = np.array(found, np.int32)
        flags = np.where(callee >= 0, self._methods.flags.view[callee], 0)
        declaring = self._methods.declaring.view[callee]
        is_constructor = self._signatures.special(plain)
        wrong = ((flags & ACC_STATIC) != 0) != (np.asarray(way) == 2)
        wrong |= is_constructor & ((np.asarray(way) != 1) | (declaring != owners))
        callee[wrong] = NONE
        kind = np.choose(way, (VIRTUAL, SPECIAL, STATIC)).astype(np.int32)
        kind = np.where((kind == VIRTUAL) & (callee >= 0) & ((flags & PRIVATE) != 0), SPECIAL, kind).astype(
            np.int32
        )
        signature = np.where((kind == VIRTUAL) & (callee >= 0), self._methods.signature.view[callee], plain)
        for type_, each in zip(owners[callee < 0].tolist(), plain[callee < 0].tolist(), strict=True):
            if not self._types.has_phantom(type_):
                self.missing.add((type_, each))
        chosen_late = (np.asarray(way) == 1) & (callee >= 0) & ~is_constructor & ((flags & PRIVATE) == 0)
        callee[chosen_late] = _PER_CALLER
        return callee, kind, signature.astype(np.int32)

    def _select(self, caller: int, type_: int, signature: int) -> int:
        """Returns the method that `invokespecial` selects in a method of type `caller` (JVMS 6.5), or -1."""
        key = (caller, type_, signature)
        found = self._for_caller.get(key)
        if found is None:
            found = self._for_caller[key] = self._select_special(caller, type_, signature)
        return found

    def _select_special(self, caller: int, type_: int, signature: int) -> int:
        types = self._types
        start = type_
        if not types.is_interface(type_) and type_ != caller and type_ in types.supertypes[caller]:
            start = types.superclass[caller]
        if types.is_interface(start):
            found = self._methods.declared(start).get(signature, NONE)
            if found < 0:
                found = self._public_of_object(signature)
        else:
            found = self._in_superclasses(start, signature, without=ACC_STATIC)
        if found >= 0:
            return found
        concrete = [
            each
            for each in self._in_interfaces(start, signature)
            if not self._methods.flags_of(each) & ABSTRACT
        ]
        return concrete[0] if len(concrete) == 1 else NONE
