"""Which class stands in which: members, what declares and encloses them, and their nests."""

from __future__ import annotations

from collections.abc import Iterable

from cypher.schema import NONE
from loader.hierarchy import Types
from loader.part import Part


def defined(types: Types, names: Iterable[str]) -> list[int]:
    """Returns the types of these names, of those that are there."""
    return [each for each in map(types.defined, names) if each >= 0]


class Nests:
    """Answers for the classes of a program; arrays and primitive types stand in none."""

    def __init__(self, types: Types) -> None:
        self._types = types

    def declaring(self, type_: int) -> int:
        """Returns the class of which `type_` is a member, -1 for none that is there."""
        return self._at("class_declaring", type_)

    def enclosing(self, type_: int) -> int:
        """Returns the class in whose body `type_` stands, -1 for none that is there."""
        return self._at("class_enclosing", type_)

    def host(self, type_: int) -> int:
        """Returns the class that hosts the nest of `type_` (JVMS 5.4.4), which may be itself."""
        host = self._at("class_host", type_)
        return type_ if host < 0 else host

    def members(self, type_: int) -> list[int]:
        """Returns the member classes that `type_` says it has, of those that are there, in that order."""
        return self._listed("class_members", type_)

    def permitted(self, type_: int) -> list[int]:
        """Returns the subclasses that `type_` permits, if it is sealed, of those that are there, in its order."""
        return self._listed("class_permitted", type_)

    def mates(self, type_: int) -> list[int]:
        """Returns the classes of the nest of `type_`, the host first: they lie in its archive."""
        host = self.host(type_)
        where = self._where(host)
        if where is None:
            return [type_]
        part, row = where
        members = part.unit.class_type[part.unit.class_host == part.unit.class_type[row]]
        return [host, *defined(self._types, part.type_names(members))]

    def _listed(self, column: str, type_: int) -> list[int]:
        where = self._where(type_)
        if where is None:
            return []
        part, row = where
        at = getattr(part.unit, f"{column}_at")
        names = part.type_names(getattr(part.unit, column)[at[row] : at[row + 1]])
        return defined(self._types, names)

    def _at(self, column: str, type_: int) -> int:
        where = self._where(type_)
        if where is None:
            return NONE
        part, row = where
        ref = int(getattr(part.unit, column)[row])
        return NONE if ref < 0 else self._types.defined(part.type_name(ref))

    def _where(self, type_: int) -> tuple[Part, int] | None:
        """Returns the part and the row in it of a type, None if no class file defines it."""
        number = self._types.number[type_]
        return self._types.classes.locate(number) if number >= 0 else None
