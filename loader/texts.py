"""String constants of a program, and what they may name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from cypher.schema import Int32
from loader.classes import Classes
from loader.csr import look_up
from loader.names import is_array
from loader.part import Part

_ELEMENT = re.compile(r"\[L([^;\n\[]+);")
_MOST_DIMENSIONS = 255  # of an array (JVMS 4.4.1)


class Texts:
    """All string constants that were asked for."""

    def __init__(self, parts: Sequence[Part], classes: Classes) -> None:
        self.texts: list[str] = []
        self._ids: dict[str, int] = {}
        self._parts = parts
        self._classes = classes

    def of(self, text: str) -> int:
        """Returns the id of a string constant."""
        found = self._ids.get(text)
        if found is None:
            found = self._ids[text] = len(self.texts)
            self.texts.append(text)
        return found

    def of_refs(self, part: Part, refs: Int32) -> Int32:
        """Returns the string constants of these texts of `part`."""
        return look_up(part.texts, refs, lambda fresh: map(self.of, part.text.many(fresh)))

    def may_name(self, text: int) -> bool:
        """Returns whether the string constant is the name of a class, or of a member of some class."""
        value = self.texts[text]
        name = value.replace(".", "/")
        if name in self._classes.number_of:
            return True
        if is_array(name):
            element = name.lstrip("[")
            return len(element) == 1 or element[1:-1] in self._classes.number_of
        return value in self._members

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset(
            member
            for part in self._parts
            for member in part.text.many(np.flatnonzero(part.unit.text_member).astype(np.int32))
        )

    def names_array_of(self, name: str) -> bool:
        """Returns whether some type or descriptor of the program is, or has, that of arrays of this class."""
        return name in self._elements

    @cached_property
    def _elements(self) -> frozenset[str]:
        found: set[str] = set()
        for part in self._parts:
            unit = part.unit
            columns = (
                unit.type_text,
                unit.signature_descriptor,
                unit.field_ref_descriptor,
                unit.field_descriptor,
            )
            named = np.zeros(len(part.text), bool)
            for column in columns:
                named[column] = True
            texts = part.text.many(np.flatnonzero(named & part.text.having("[", "L")).astype(np.int32))
            found.update(_ELEMENT.findall("\n".join(texts)))
            for text in texts:
                if "[[" in text:
                    found.update(_inner_arrays(text))
        return frozenset(found)


def _inner_arrays(text: str) -> Iterator[str]:
    """Yields the types of the arrays that are elements of arrays in a descriptor.

    >>> list(_inner_arrays("([[La/B;[La/C;[[[I)V"))
    ['[La/B;']
    """
    depth = 0
    for piece in text.split("[")[1:]:
        if piece:
            name, end, _ = piece.partition(";")
            if end and name.startswith("L"):
                yield from (f"{'[' * each}{name};" for each in range(1, min(depth, _MOST_DIMENSIONS) + 1))
            depth = 0
        else:
            depth += 1
