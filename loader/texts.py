"""String constants of a program, and what they may name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cypher.schema import Int32
from loader.classes import Classes
from loader.csr import look_up
from loader.names import is_array
from loader.part import Part


class Texts:
    """All string constants that were asked for."""

    def __init__(self, parts: Sequence[Part], classes: Classes, jdk: Part | None) -> None:
        self.texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._parts = parts
        self._classes = classes
        self._jdk = jdk
        self.outside_jdk: set[int] = set()
        self._members: frozenset[str] | None = None

    def of(self, text: str) -> int:
        """Returns the id of a string constant."""
        found = self._ids.get(text)
        if found is None:
            found = self._ids[text] = len(self.texts)
            self.texts.append(text)
        return found

    def of_refs(self, part: Part, refs: Int32) -> Int32:
        """Returns the string constants of these texts of `part`."""

        def intern(fresh: Int32) -> list[int]:
            ids = [self.of(text) for text in part.text.many(fresh)]
            if part is not self._jdk:
                self.outside_jdk.update(ids)
            return ids

        return look_up(part.texts, refs, intern)

    def may_name(self, text: int) -> bool:
        """Returns whether the string constant is the name of a class, or of a member of some class."""
        value = self.texts[text]
        name = value.replace(".", "/")
        if name in self._classes.number_of:
            return True
        if is_array(name):
            element = name.lstrip("[")
            return len(element) == 1 or element[1:-1] in self._classes.number_of
        if self._members is None:
            self._members = frozenset(
                member
                for part in self._parts
                for member in part.text.many(np.flatnonzero(part.unit.text_member).astype(np.int32))
            )
        return value in self._members
