"""Objects that code makes of which nothing is known: callers of a library, bodies that can't be read."""

from __future__ import annotations

from cypher import schema
from cypher.program import PHANTOM
from cypher.schema import NONE
from engine import heap
from engine.constraints import Constraints


class UnknownObjects:
    """The unknown objects of declared types: one object a class, whatever the declared types."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        self._pointers: dict[int, int] = {}
        self._objects: dict[int, int] = {}

    def of_class(self, type_: int) -> int:
        """Returns the unknown object of exactly this type."""
        if type_ not in self._objects:
            self._objects[type_] = self._constraints.object(heap.ENTRY, type_)
        return self._objects[type_]

    def pointer(self, type_: int) -> int:
        """Returns a pointer to the unknown objects of `type_`: one of each class that it may have.

        Application classes if there are any, else all of the class path, else one of a subclass that is unknown too;
        an array type has its elements.
        """
        known = self._pointers.get(type_)
        if known is not None:
            return known
        constraints = self._constraints
        program = constraints.program
        pointer = self._pointers[type_] = constraints.fresh()
        name = program.name_of_type(type_)
        if name.startswith("["):
            constraints.put(pointer, self.of_class(type_))
            if name[1] in "L[":
                element = program.type_named(name[2:-1] if name[1] == "L" else name[1:])
                if element >= 0:
                    constraints.add(schema.ArrayStore, NONE, NONE, self.pointer(element), NONE, pointer)
            return pointer
        if program.flags_of_type(type_) & PHANTOM:
            return pointer
        subtypes = program.concrete_subtypes_of(type_, True) or program.concrete_subtypes_of(type_)
        for subtype in subtypes or [type_]:
            constraints.put(pointer, self.of_class(subtype))
        return pointer
