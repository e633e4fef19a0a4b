"""Which class stands in which: members, what declares and encloses them, and their nests."""

from __future__ import annotations

from cypher.schema import NONE
from loader.hierarchy import Types
from loader.part import Part


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
        where = self._where(type_)
        if where is None:
            return []
        part, row = where
        at = part.unit.class_members_at
        names = part.type_names(part.unit.class_members[at[row] : at[row + 1]])
        return [each for each in map(self._types.defined, names) if each >= 0]

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
