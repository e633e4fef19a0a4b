"""Operands that take only a few classes or members.

A call that lists the members of any object or class whatever, or finds its superclass, takes thousands of methods and
fields then, of which hardly any is meant. Of so many classes the rules are shown those of the application, if these are
few, and that the rest, if there is any, is unknown; all without `bounded-lists`. Likewise a call that asks any method
whatever for its parameters, or anything for its name.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from cypher.schema import NONE, Int32

# Of how many classes that one call of getClass may return a call lists the members, and finds the superclasses; and of
# how many classes in all it lists the members, or of how many members it finds what they declare.
LISTED, ASCENDED, LISTED_IN_ALL = 32, 256, 256
# Likewise for calls that ask for names: most are told to people, and a text goes wherever any other does.
NAMED, NAMED_IN_ALL = 1, 4


@dataclass
class Bounded:
    """The classes and members that come to an operand, and how many it takes."""

    of_objects: int  # (of one call of getClass)
    in_all: int = sys.maxsize
    others: int = NONE  # the operand that takes all classes if there are more
    constants: set[int] = field(default_factory=set)
    objects: dict[int, Int32] = field(default_factory=dict)  # classes, each once, by call of getClass
    members: dict[Any, None] = field(default_factory=dict)  # (rows that say which come)
    shown: set[int] = field(default_factory=set)  # of the classes, those that the rules are shown
    own: set[int] = field(default_factory=set)  # those of the application; not all, if too many

    @property
    def takes_constants(self) -> bool:
        """Whether constants come in at once: nothing bounds how many there are."""
        return self.in_all == sys.maxsize

    @property
    def takes_members(self) -> bool:
        """Whether another member counts: there are not yet too many of them."""
        return len(self.members) <= self.in_all

    def take_constants(self, classes: Iterable[int], own: Collection[int]) -> None:
        """Takes constants, of which these are of the application."""
        self.constants.update(classes)
        self._take_own(own)

    def take_objects(self, site: int, classes: Int32, own: Collection[int]) -> bool:
        """Takes all classes that a call of getClass returns, of which these are of the application; returns whether any is new."""
        known = self.objects.get(site)
        if known is not None and known.size == classes.size:
            return False
        self.objects[site] = classes
        self._take_own(own)
        return True

    def _take_own(self, own: Collection[int]) -> None:
        if len(self.own) <= self._most_own:
            self.own.update(own)

    @property
    def _most_own(self) -> int:
        return min(self.in_all, LISTED_IN_ALL)

    def takes(self, site: int) -> bool:
        """Returns whether a call of getClass returns few enough classes."""
        return self.objects[site].size <= self.of_objects

    def tells(self, site: int) -> bool:
        """Returns whether the rules are shown all classes that a call of getClass returns."""
        return site not in self.objects or self._shows(self.objects[site])

    def show(self, few: set[int] | None) -> bool:
        """Chooses what the rules are shown: these few `classes`, and those of the application, if not too many; returns whether that is all."""
        self.shown = few or set()
        if few is not None and self._shows_everything():
            return True
        if (few is None or self.others < 0) and len(self.own) <= self._most_own:
            self.shown = self.shown | self.own
        return few is not None and self._shows_everything()

    def _shows_everything(self) -> bool:
        return all(map(self._shows, self.objects.values()))

    def _shows(self, classes: Int32) -> bool:
        return classes.size <= len(self.shown) and self.shown.issuperset(classes.tolist())

    def classes(self) -> set[int] | None:
        """Returns the constants, and what calls of getClass return that return few enough; None if these, with the members, are too many."""
        found = self._classes(filter(self.takes, self.objects))
        return found if len(found) + len(self.members) <= self.in_all else None

    def all_classes(self) -> set[int]:
        """Returns the constants, and what calls of getClass return, few or many."""
        return self._classes(self.objects)

    def _classes(self, sites: Iterable[int]) -> set[int]:
        """Returns the constants, and what these calls of getClass return."""
        return self.constants.union(*(self.objects[site].tolist() for site in sites))
