"""What a run keeps of the structure of a program beside names: supertypes, archives, annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from cypher.schema import NONE, Int32


class StructuredProgram(Protocol):
    """A program that also answers what only its structure needs; types are numbered below `number_of_types`."""

    @property
    def number_of_types(self) -> int:
        """Returns how many types have an id."""

    def superclass_of(self, type_: int) -> int:
        """Returns the direct superclass, -1 for none."""

    def interfaces_of(self, type_: int) -> Sequence[int]:
        """Returns the direct superinterfaces, in the order of the class file."""

    def element_of(self, type_: int) -> int:
        """Returns the element type of an array type, -1 for another one or a primitive element."""

    def archive_number_of(self, type_: int) -> int:
        """Returns the place of the archive that defines a type among those read, -1 if none does."""

    def signature_of(self, method: int) -> int:
        """Returns the signature by which a virtual call of a method selects."""

    def annotations(self) -> tuple[Int32, Int32, Int32]:
        """Returns the annotations of types, methods and fields that have an id, as pairs (element, type)."""


class Structure(NamedTuple):
    """Columns of types by id (superclass, element type, archive: -1 for none), and pairs.

    `interfaces` has (type, direct superinterface), `selects` (method, signature by which calls select it), and
    the others (element, type of its annotation).
    """

    superclass: Int32
    element: Int32
    archive: Int32
    interfaces: Int32
    selects: Int32
    annotated_types: Int32
    annotated_methods: Int32
    annotated_fields: Int32


def structure_of(program: StructuredProgram, methods: Int32) -> Structure:
    """Returns the structure of all types and of `methods`."""
    annotations = program.annotations()
    types = range(program.number_of_types)
    superclass, element, archive = (
        np.fromiter(map(of, types), np.int32, len(types))
        for of in (program.superclass_of, program.element_of, program.archive_number_of)
    )
    interfaces = [(type_, above) for type_ in types for above in program.interfaces_of(type_)]
    signatures = np.fromiter(map(program.signature_of, methods.tolist()), np.int32, len(methods))
    return Structure(
        superclass, element, archive, np.array(interfaces, np.int32).reshape(-1, 2),
        np.stack((methods, signatures), axis=1), *annotations,
    )  # fmt: skip


def supertype_pairs(structure: Structure) -> Int32:
    """Returns the pairs (type, proper supertype), direct or not."""
    above_of: list[Int32] = []
    direct: list[list[int]] = [[] for _ in range(len(structure.superclass))]
    for type_, above in enumerate(structure.superclass.tolist()):
        if above != NONE:
            direct[type_].append(above)
    for type_, above in structure.interfaces.tolist():
        direct[type_].append(above)
    array_of = {element: array for array, element in enumerate(structure.element.tolist()) if element != NONE}
    sizes = np.zeros(len(direct), np.int64)
    # A type has a greater id than those above it.
    for type_, parents in enumerate(direct):
        element = int(structure.element[type_])
        if element != NONE:
            # Arrays are covariant (JLS 4.10.3).
            parents += [array_of[each] for each in above_of[element].tolist() if each in array_of]
        parts = [above_of[each] for each in parents]
        found = (
            np.unique(np.concatenate([*parts, np.array(parents, np.int32)]))
            if parts
            else np.empty(0, np.int32)
        )
        above_of.append(found)
        sizes[type_] = len(found)
    below = np.repeat(np.arange(len(direct), dtype=np.int32), sizes)
    return np.stack((below, np.concatenate([*above_of, np.empty(0, np.int32)])), axis=1)
