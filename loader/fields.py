"""The fields of a program: ids on demand, and resolution of field references (JVMS 5.4.3.2)."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from cypher.growing import Growing
from cypher.program import PHANTOM, SYNTHETIC
from cypher.schema import NONE, Int32
from loader.csr import look_up
from loader.hierarchy import Types
from loader.part import Part


class Fields:
    """All fields that were asked for; those that a class file declares have consecutive ids by type.

    A reference that resolves to no field gets a phantom one in the type that it names.
    """

    def __init__(self, types: Types) -> None:
        self._types = types
        # By field: the type that declares it.
        self.declaring = Growing()
        # Fields that a fully known class doesn't have.
        self.missing: list[int] = []
        self._first: dict[int, int] = {}
        self._block_first: list[int] = []
        # Fields that no class file declares: (type, name, descriptor, flags).
        self._other: dict[int, tuple[int, str, str, int]] = {}
        self._names: dict[int, tuple[int, str, str]] = {}
        self._phantoms: dict[tuple[int, str, str], int] = {}
        self._made: dict[tuple[int, str, str], int] = {}
        self._declared: dict[int, dict[tuple[str, str], int]] = {}

    def of_type(self, type_: int) -> range:
        """Returns the fields that the class file of `type_` declares."""
        if self._types.number[type_] < 0:
            return range(0)
        first = self._first.get(type_)
        _, start, end = self._rows(type_)
        if first is None:
            first = self._first[type_] = self._allocate(type_, end - start)
        return range(first, first + end - start)

    def described(self, type_: int) -> list[tuple[int, str, str, int]]:
        """Returns (field, name, descriptor, access flags) of the fields that the class file of `type_` declares."""
        fields = self.of_type(type_)
        if not fields:
            return []
        part, start, end = self._rows(type_)
        flags = part.unit.field_flags[start:end].tolist()
        named = zip(fields, self._keys(type_), flags, strict=True)
        return [(field, name, descriptor, each) for field, (name, descriptor), each in named]

    def first_of(self, type_: int) -> int:
        """Returns the first of the fields that the class file of `type_` declares, -1 if nobody asked for them."""
        return self._first.get(type_, NONE)

    def name_of(self, field: int) -> tuple[int, str, str]:
        """Returns (declaring type, name, descriptor)."""
        found = self._names.get(field)
        if found is None:
            found = self._names[field] = self._name_of(field)
        return found

    def _name_of(self, field: int) -> tuple[int, str, str]:
        other = self._other.get(field)
        if other is not None:
            return other[:3]
        part, row = self._locate(field)
        name, descriptor = int(part.unit.field_name[row]), int(part.unit.field_descriptor[row])
        return int(self.declaring.view[field]), part.text.one(name), part.text.one(descriptor)

    def flags_of(self, field: int) -> int:
        """Returns the access flags; those of a phantom field are PHANTOM."""
        other = self._other.get(field)
        if other is not None:
            return other[3]
        part, row = self._locate(field)
        return int(part.unit.field_flags[row])

    def generic_of(self, field: int) -> str:
        """Returns the generic signature that the class file gives a field, "" for none."""
        if field in self._other:
            return ""
        part, row = self._locate(field)
        return part.text_or_empty(int(part.unit.field_generic[row]))

    def constant_of(self, field: int) -> str:
        """Returns the text that a static field holds from the start (JVMS 4.7.2), "" for none."""
        if field in self._other:
            return ""
        part, row = self._locate(field)
        return part.text_or_empty(int(part.unit.field_constant[row]))

    def add(self, type_: int, name: str, descriptor: str, flags: int) -> int:
        """Returns a new field that no class file declares."""
        field = self._allocate(type_, 1)
        self._other[field] = (type_, name, descriptor, flags)
        return field

    def made(self, type_: int, name: str, descriptor: str) -> int:
        """Returns the field of that name that no class file declares, the same each time."""
        key = type_, name, descriptor
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self.add(*key, SYNTHETIC)
        return found

    def of_refs(self, part: Part, refs: Int32) -> Int32:
        """Returns the fields to which these field references of `part` resolve."""

        def find(fresh: Int32) -> list[int]:
            unit = part.unit
            owners = self._types.of_refs(part, unit.field_ref_type[fresh]).tolist()
            names = part.text.many(unit.field_ref_name[fresh])
            descriptors = part.text.many(unit.field_ref_descriptor[fresh])
            return [self.resolve(*each) for each in zip(owners, names, descriptors, strict=True)]

        return look_up(part.fields, refs, find)

    def resolve(self, type_: int, name: str, descriptor: str) -> int:
        """Returns the field to which a reference resolves; a phantom one if there is none."""
        types, key = self._types, (name, descriptor)
        declaring = type_
        while declaring >= 0:
            for each in (declaring, *self._interfaces(declaring)):
                index = self._index(each).get(key)
                if index is not None:
                    return self.of_type(each)[index]
            declaring = types.superclass[declaring]
        found = self._phantoms.get((type_, name, descriptor))
        if found is None:
            found = self._phantoms[type_, name, descriptor] = self.add(type_, name, descriptor, PHANTOM)
            if not types.has_phantom(type_):
                self.missing.append(found)
        return found

    def _interfaces(self, type_: int) -> list[int]:
        """Returns the superinterfaces of `type_` that its own declaration leads to, depth first."""
        if not self._types.interfaces[type_]:
            return []
        found: dict[int, None] = {}
        waiting = list(reversed(self._types.interfaces[type_]))
        while waiting:
            each = waiting.pop()
            if each not in found:
                found[each] = None
                waiting += reversed(self._types.interfaces[each])
        return list(found)

    def _index(self, type_: int) -> dict[tuple[str, str], int]:
        """Returns the place of each field that the class file of `type_` declares, by (name, descriptor)."""
        found = self._declared.get(type_)
        if found is None:
            found = self._declared[type_] = {}
            if self._types.number[type_] >= 0:
                for place, key in enumerate(self._keys(type_)):
                    found.setdefault(key, place)
        return found

    def _keys(self, type_: int) -> list[tuple[str, str]]:
        """Returns (name, descriptor) of each field that the class file of `type_`, which has one, declares."""
        part, start, end = self._rows(type_)
        names = part.text.many(part.unit.field_name[start:end])
        descriptors = part.text.many(part.unit.field_descriptor[start:end])
        return list(zip(names, descriptors, strict=True))

    def _rows(self, type_: int) -> tuple[Part, int, int]:
        part, row = self._types.classes.locate(self._types.number[type_])
        return part, int(part.unit.class_fields_at[row]), int(part.unit.class_fields_at[row + 1])

    def _locate(self, field: int) -> tuple[Part, int]:
        first = self._block_first[bisect_right(self._block_first, field) - 1]
        part, start, _ = self._rows(int(self.declaring.view[field]))
        return part, start + field - first

    def _allocate(self, type_: int, count: int) -> int:
        first = len(self.declaring)
        if count:
            self._block_first.append(first)
            self.declaring.extend(np.full(count, type_, np.int32))
        return first
