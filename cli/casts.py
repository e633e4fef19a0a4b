"""Casts of what reflective calls make, of classes whose names aren't known (Livshits, Whaley, Lam, § 5.4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from cli.evidence import evidence
from cli.export.outside import Outside
from cli.run import Run
from cli.structure import supertype_pairs
from cypher import schema
from cypher.program import ABSTRACT, INTERFACE
from cypher.schema import Int32
from engine.bounded import LISTED_IN_ALL
from engine.flow import Flow
from engine.flows import copies_of
from engine.narrowing import NARROWED, uses_of_unknown
from engine.reflection import api, modes
from engine.result import ReflectiveSite
from engine.sets import Index

# Why casts don't say what class a call finds: nothing is made of it, something else is done with it, what is made of
# it is cast nowhere, not on every way, by another method only, or to a type of too many classes; the JDK calls; or casts
# do, but the mode doesn't ask them.
NO_INSTANCE, OTHER_USE, NO_CAST, CAST_ON_SOME_WAYS, CAST_IN_CALLER, CAST_TOO_WIDE, IN_JDK, NOT_ASKED = (
    "no-instance", "other-use", "no-cast", "cast-on-some-ways", "cast-in-caller", "cast-too-wide", "in-jdk", "casts-not-asked",
)  # fmt: skip
CAUSES = {
    NO_INSTANCE: "no object is made of the class",
    OTHER_USE: "more is done with the class than to make objects of it",
    NO_CAST: "what is made of the class is not cast",
    CAST_ON_SOME_WAYS: "what is made of the class is not cast on every way",
    CAST_IN_CALLER: "what is made of the class is cast in other methods only",
    CAST_TOO_WIDE: f"what its listed constructors make is cast to a type of which there are more than {LISTED_IN_ALL} classes",
    IN_JDK: "the call is in the JDK's code, of which casts don't tell the classes of the JDK itself",
    NOT_ASKED: "what is made of the class is cast on every way, which mode casts makes use of",
}
_MAKERS = (api.CLASS_NEW, api.CONSTRUCTOR_NEW)


class Uses(NamedTuple):
    """What is done with a class: the calls that make objects of it, whether its constructors are listed, and whether anything else is done."""

    makers: list[int]
    listed: bool
    others: bool


NO_USES = Uses([], False, False)


class Casts:
    """Follows what reflective calls make to the casts that it meets, over assignments and results of calls."""

    def __init__(self, run: Run) -> None:
        self._run, self._names = run, run.names
        self._evidence = evidence(run)
        self._flow = Flow(self._evidence)
        self._outside = Outside(run)

    def cause(self, site: ReflectiveSite) -> str:
        """Returns why casts don't tell the classes that a call finds by unknown names; empty if that is no question."""
        if site.role != api.FOR_NAME or site.reason != "unknown-name":
            return ""
        if not self._outside.is_method(int(self._run.result.sites.method[site.site])):
            return IN_JDK
        makers, listed, others = self._uses.get(site.site, NO_USES)
        if others:
            return OTHER_USE
        if not makers:
            return NO_INSTANCE
        open_ = [each for each in makers if each not in self._cast_on_every_way]
        if not open_:
            if self._run.result.mode not in modes.ASKING_CASTS:
                return NOT_ASKED
            # (other uses are no calls that are told of: `getSuperclass`, say)
            return CAST_TOO_WIDE if listed and site.site not in self._told else OTHER_USE
        met = [self._met(each) for each in open_]
        if not all(met):
            return NO_CAST
        methods = self._run.result.sites.method
        own = all(int(methods[each]) in found.values() for each, found in zip(open_, met, strict=True))
        return CAST_ON_SOME_WAYS if own else CAST_IN_CALLER

    def candidates(self, site: ReflectiveSite) -> list[str]:
        """Returns the classes outside the JDK to which what is made may be cast, by name.

        That is what the call makes, or what is made of the class that it finds.
        """
        makers = [site.site] if site.role in _MAKERS else self._uses.get(site.site, NO_USES).makers
        types = {type_ for each in makers for type_ in self._met(each)}
        found = {below for type_ in types for below in self._concrete_below(type_)}
        return sorted(self._names.type(each) for each in found if self._outside.is_type(each))

    def objects_at(self, pointer: int) -> list[int]:
        """Returns the objects at a pointer, none at -1."""
        found: list[int] = self._flow.sets.objects_of(pointer).tolist() if pointer >= 0 else []
        return found

    @cached_property
    def _told(self) -> frozenset[int]:
        """The calls of which casts tell what they find."""
        derived = self._run.result.derived
        return frozenset(each.site for each in derived if each.rule.startswith(NARROWED))

    @cached_property
    def _uses(self) -> dict[int, Uses]:
        """What is done with what a call finds of which nothing is known, by the call."""
        sites = {each.site: each for each in self._run.result.reflective}
        uses = uses_of_unknown(self._flow, sites.values())
        users = {site: [sites[each.site] for each in found] for site, found in uses.items()}
        return {site: self._makers(site, users) for site in users}

    def _makers(self, site: int, users: dict[int, list[ReflectiveSite]]) -> Uses:
        makers, listed, others = [], False, False
        work, seen = [site], {site}
        while work:
            for each in users.get(work.pop(), ()):
                if each.role in _MAKERS:
                    makers.append(each.site)
                elif not each.api.endswith(("Constructor", "Constructors")):
                    others = True
                elif each.site not in seen:
                    listed |= each.role == api.LIST_MEMBERS
                    seen.add(each.site)
                    work.append(each.site)
        return Uses(makers, listed, others)

    @cached_property
    def _cast_on_every_way(self) -> frozenset[int]:
        return frozenset(self._evidence.facts[schema.ResultCast].site.tolist())

    def _met(self, site: int) -> dict[int, int]:
        """Returns the types to which what a call returns is cast first, each with the method that does."""
        casts, result = self._evidence.facts[schema.Cast], int(self._run.result.sites.result[site])
        found: dict[int, int] = {}
        queue, seen = deque([result] if result >= 0 else []), {result}
        while queue:
            pointer = queue.popleft()
            for row in self._cast_by_source.of(pointer):
                found.setdefault(int(casts.type[row]), int(casts.method[row]))
            for row in self._copied_by_source.of(pointer):
                target = int(self._copies[1][row])
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        return found

    @cached_property
    def _cast_by_source(self) -> Index:
        return Index(self._evidence.facts[schema.Cast].source)

    @cached_property
    def _copies(self) -> tuple[Int32, Int32]:
        """The sources and targets of assignments and of what calls return."""
        return copies_of(self._evidence)

    @cached_property
    def _copied_by_source(self) -> Index:
        return Index(self._copies[0])

    def _concrete_below(self, type_: int) -> Iterator[int]:
        """Yields the classes that can be instantiated and are subtypes of a type."""
        below, above = self._supertypes
        for each in [type_, *below[above == type_].tolist()]:
            if not self._names.type_flags(each) & (ABSTRACT | INTERFACE):
                yield each

    @cached_property
    def _supertypes(self) -> tuple[Int32, Int32]:
        below, above = supertype_pairs(self._run.structure).T
        return below, above
