"""Types and methods as the plain solver sees them, and what a virtual call selects (JVMS 5.4.6)."""

from __future__ import annotations

from typing import NamedTuple

from cypher.program import ABSTRACT, INTERFACE, MethodRows, TypeRows
from cypher.schema import NONE


class Method(NamedTuple):
    """What the solver knows of a method."""

    parameters: int
    variables: int
    flags: int
    returns: int
    declaring: int


class Type(NamedTuple):
    """What the solver knows of a type; `declared` maps a signature to a method."""

    superclass: int
    element: int
    flags: int
    supertypes: frozenset[int]
    declared: dict[int, int]


class Hierarchy:
    """Types and methods, and what a virtual call selects."""

    def __init__(self) -> None:
        self.types: list[Type] = []
        self.methods: list[Method] = []
        self._selected: dict[tuple[int, int], int] = {}

    def add_types(self, rows: TypeRows) -> None:
        """Adds types."""
        for index in range(rows.superclass.size):
            above = slice(rows.supertypes_at[index], rows.supertypes_at[index + 1])
            within = slice(rows.declared_at[index], rows.declared_at[index + 1])
            signatures, methods = rows.declared_signature[within], rows.declared_method[within]
            self.types.append(
                Type(
                    int(rows.superclass[index]),
                    int(rows.element[index]),
                    int(rows.flags[index]),
                    frozenset(rows.supertypes[above].tolist()),
                    dict(zip(signatures.tolist(), methods.tolist(), strict=True)),
                )
            )

    def add_methods(self, rows: MethodRows) -> None:
        """Adds methods."""
        columns = (rows.parameters, rows.variables, rows.flags, rows.returns, rows.declaring)
        self.methods.extend(map(Method, *(each.tolist() for each in columns)))

    def select(self, type_: int, signature: int) -> int:
        """Returns the method that a virtual call of `signature` runs on an object of `type_`, or -1."""
        if (type_, signature) not in self._selected:
            self._selected[type_, signature] = self._look_up(type_, signature)
        return self._selected[type_, signature]

    def _look_up(self, type_: int, signature: int) -> int:
        """Selects by JVMS 5.4.6: a class's own method or an inherited one (2), else the one default (3)."""
        current = type_
        while current != NONE:
            method = self.types[current].declared.get(signature)
            if method is not None:
                return NONE if self._is_abstract(method) else method
            current = self.types[current].superclass
        declaring = [
            each
            for each in self.types[type_].supertypes
            if self.types[each].flags & INTERFACE and signature in self.types[each].declared
        ]
        specific = [
            self.types[each].declared[signature]
            for each in declaring
            if not any(each in self.types[other].supertypes for other in declaring if other != each)
        ]
        defaults = [method for method in specific if not self._is_abstract(method)]
        return defaults[0] if len(defaults) == 1 else NONE

    def _is_abstract(self, method: int) -> bool:
        return bool(self.methods[method].flags & ABSTRACT)
