"""The classes of a program by name: which archive's class wins, and who extends or implements whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE, PRIVATE, PROTECTED, PUBLIC
from cypher.schema import Diagnostic, Int64
from loader.csr import spans
from loader.part import Part

# A module declaration (JVMS 4.1), which is no class.
MODULE = 0x8000

# Flags of methods that are not package-private, or don't override.
_ACCESS = PUBLIC | PRIVATE | PROTECTED | ACC_STATIC

_PACKAGE_INFO = "package-info"


class Archive(NamedTuple):
    """An archive of the program: its name for people, and whether it is the JDK, application or library."""

    label: str
    role: str


class Classes:
    """An index of the classes of `parts`, which are numbered through in the order of the class path.

    `number_of` has the class that wins for each name: the first one. `names[c]` is the name of class `c`.
    """

    def __init__(self, parts: Sequence[Part], archives: Sequence[Archive]) -> None:
        self.parts = parts
        self.archives = archives
        self.names: list[str] = []
        self.number_of: dict[str, int] = {}
        self.diagnostics: list[Diagnostic] = []
        self.first = [0]
        for part in parts:
            self._add(part)

    def _add(self, part: Part) -> None:
        names = part.type_names(part.unit.class_type)
        first = self.first[-1]
        self.names += names
        self.first.append(first + len(names))
        rows = np.flatnonzero((part.unit.class_flags & MODULE) == 0)
        numbers: list[int] = (rows + first).tolist()
        fresh = {self.names[number]: number for number in numbers}
        if len(fresh) == len(numbers) and self.number_of.keys().isdisjoint(fresh):
            self.number_of |= fresh
            return
        for number in numbers:
            name = self.names[number]
            winner = self.number_of.setdefault(name, number)
            if winner != number and not name.endswith(_PACKAGE_INFO):
                self.diagnostics.append(self._duplicate(name, winner, number))

    def _duplicate(self, name: str, winner: int, loser: int) -> Diagnostic:
        part, row = self.locate(loser)
        first, second = self.archive(winner).label, self.archive(loser).label
        text = f"{name.replace('/', '.')} is in {first} and in {second}; the first one counts"
        entry = part.text.one(int(part.unit.class_entry[row]))
        return Diagnostic("HIE-DUP", "warning", text, archive=second, entry=entry)

    def locate(self, number: int) -> tuple[Part, int]:
        """Returns the part and the row in it of class `number`."""
        which = 0
        while number >= self.first[which + 1]:
            which += 1
        return self.parts[which], number - self.first[which]

    def flags(self, number: int) -> int:
        """Returns the access flags of class `number`."""
        part, row = self.locate(number)
        return part.class_flags[row]

    def archive(self, number: int) -> Archive:
        """Returns the archive of class `number`."""
        part, row = self.locate(number)
        return self.archives[int(part.archive[row])]

    def package_private(self) -> tuple[list[Int64], dict[str, list[tuple[int, int, int]]]]:
        """Returns the package-private methods, constructors included, and where those of each package are.

        The first list has rows of methods for each part; the others are (part, start, end) in that list.
        """
        listed: list[Int64] = []
        found: dict[str, list[tuple[int, int, int]]] = {}
        for which, (first, part) in enumerate(zip(self.first, self.parts, strict=False)):
            rows = np.flatnonzero((part.unit.method_flags & _ACCESS) == 0)
            classes = np.searchsorted(part.unit.class_methods_at, rows, "right") - 1
            starts = np.flatnonzero(np.diff(classes, prepend=-1))
            ends = [*starts.tolist(), len(rows)][1:]
            for row, start, end in zip(classes[starts].tolist(), starts.tolist(), ends, strict=True):
                name = self.names[first + row]
                if self.number_of.get(name) == first + row:
                    found.setdefault(name.rpartition("/")[0], []).append((which, start, end))
            listed.append(rows)
        return listed, found


class Subclasses:
    """Who extends or implements whom, over all classes of a program.

    Nodes are the numbers of classes; a class that is missing but extended by another has a node above them.
    """

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._missing: dict[str, int] = {}
        supers, children = zip(*self._edges(), strict=True)
        above, below = np.concatenate(supers), np.concatenate(children)
        order = np.argsort(above, kind="stable")
        size = len(classes.names) + len(self._missing)
        self._below = below[order]
        self._at = np.concatenate(([0], np.cumsum(np.bincount(above, minlength=size))))
        self._flags = np.concatenate([part.unit.class_flags for part in classes.parts])

    def _edges(self) -> Iterator[tuple[Int64, Int64]]:
        """Yields, for each part, arrays of (node of a direct supertype, class)."""
        classes = self._classes
        for first, part in zip(classes.first, classes.parts, strict=False):
            unit = part.unit
            rows = np.arange(len(unit.class_type))
            refs = np.concatenate((unit.class_super, unit.class_interfaces))
            children = np.concatenate((rows, np.repeat(rows, np.diff(unit.class_interfaces_at)))) + first
            numbers = (classes.number_of.get(name, -1) for name in classes.names[first : first + len(rows)])
            winning = np.fromiter(numbers, np.int64, len(rows)) == rows + first
            kept = (refs >= 0) & winning[children - first]
            refs, children = refs[kept], children[kept]
            distinct, positions = np.unique(refs, return_inverse=True)
            nodes = np.array([self._node(name) for name in part.type_names(distinct)], np.int64)
            yield (nodes[positions] if len(nodes) else children[:0]), children

    def _node(self, name: str) -> int:
        number = self._classes.number_of.get(name)
        if number is None:
            number = self._missing.setdefault(name, len(self._classes.names) + len(self._missing))
        return number

    def concrete(self, name: str) -> list[int]:
        """Returns the classes that are `name` or subtypes of it and can be instantiated, ascending."""
        node = self._classes.number_of.get(name, self._missing.get(name, -1))
        if node < 0:
            return []
        seen = np.zeros(len(self._at) - 1, np.bool_)
        seen[node] = True
        frontier = np.array([node], np.int64)
        while len(frontier):
            starts = self._at[frontier]
            reached = self._below[spans(starts, self._at[frontier + 1] - starts)]
            frontier = np.unique(reached[~seen[reached]])
            seen[frontier] = True
        seen = seen[: len(self._flags)]
        return np.flatnonzero(seen & ((self._flags & (INTERFACE | ABSTRACT | MODULE)) == 0)).tolist()
