"""Which casts told the classes that a call finds by names of which nothing is known (Livshits, Whaley, Lam, § 5.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

from cypher import schema
from cypher.program import JDK
from cypher.schema import NONE
from engine import heap
from engine.flow import Flow
from engine.reflection import api
from engine.result import ReflectiveSite
from engine.sets import Index

# How the names of the rules begin that tell classes by casts.
NARROWED = "classObjects.casts."
# By rule, the role of the call that finds the constructors of unknown classes; none if classes themselves are asked.
_FINDERS = {
    f"{NARROWED}1": "", f"{NARROWED}2": api.GET_MEMBER, f"{NARROWED}listed": api.LIST_MEMBERS,
}  # fmt: skip


class Use(NamedTuple):
    """The unknown object `obj`, which some call returned, may be the subject of the call `site`, at `pointer`."""

    site: int
    pointer: int
    obj: int


class Narrowing(NamedTuple):
    """What the last of `uses` makes is cast to `types`, all of which its class is a subtype of.

    The first of `uses` is of the class that a call found; if there is another, it is of the constructor that the
    first found in that.
    """

    uses: tuple[Use, ...]
    types: tuple[int, ...]


class Flags(Protocol):
    """What is known of types by their ids."""

    def type_flags(self, type_: int) -> int:
        """Returns the access flags of a type, with JDK."""


class Narrowings:
    """Finds the casts that told classes."""

    def __init__(self, flow: Flow, reflective: Iterable[ReflectiveSite], flags: Flags) -> None:
        self._flow, self._flags = flow, flags
        self._sites = {each.site: each for each in reflective}
        self._found: dict[tuple[int, str], list[Narrowing]] = {}
        self._made: dict[int, set[int]] = {}

    def of(self, finder: int, rule: str, type_: int) -> Iterator[Narrowing]:
        """Yields the casts, each of which is enough for `rule` to tell that the call `finder` may find the class `type_`."""
        if rule not in _FINDERS:
            return
        key = finder, rule
        if key not in self._found:
            # (those in the JDK's code last: of its own classes they tell nothing)
            self._found[key] = sorted(self._narrowings(finder, _FINDERS[rule]), key=self._is_inside)
        above = self._flow.supertypes(type_)
        passed = [each for each in self._found[key] if above.issuperset(each.types)]
        # (where the class has no constructor with the parameters that are asked for, none is called)
        yield from [each for each in passed if type_ in self._made_at(each.uses[-1].site)] or passed

    def _narrowings(self, finder: int, role: str) -> Iterator[Narrowing]:
        for use in self._uses.get(finder, ()):
            if not role:
                yield from self._casts((use,), api.CLASS_NEW)
            elif self._sites[use.site].role == role:
                for made in self._uses.get(use.site, ()):
                    yield from self._casts((use, made), api.CONSTRUCTOR_NEW)

    def _casts(self, uses: tuple[Use, ...], role: str) -> Iterator[Narrowing]:
        site = uses[-1].site
        rows = self._casts_of.of(site)
        if rows and self._sites[site].role == role:
            types = self._flow.evidence.facts[schema.ResultCast].type
            yield Narrowing(uses, tuple(int(types[row]) for row in rows))

    def _made_at(self, site: int) -> set[int]:
        """Returns the classes whose constructors a call runs."""
        if site not in self._made:
            methods = (each.id for each in self._sites[site].targets if each.kind == "method")
            self._made[site] = {self._flow.declaring(each) for each in methods}
        return self._made[site]

    def _is_inside(self, narrowing: Narrowing) -> bool:
        method = int(self._flow.evidence.sites.method[narrowing.uses[-1].site])
        return bool(self._flags.type_flags(self._flow.declaring(method)) & JDK)

    @cached_property
    def _casts_of(self) -> Index:
        return Index(self._flow.evidence.facts[schema.ResultCast].site)

    @cached_property
    def _uses(self) -> dict[int, list[Use]]:
        return uses_of_unknown(self._flow, self._sites.values())


def uses_of_unknown(flow: Flow, reflective: Iterable[ReflectiveSite]) -> dict[int, list[Use]]:
    """Returns, by call, the uses of the unknown objects that it returns."""
    objects = flow.evidence.objects
    found: dict[int, list[Use]] = defaultdict(list)
    for each in reflective:
        pointer = each.operands.get("subject", NONE)
        for obj in flow.sets.objects_of(pointer).tolist() if pointer >= 0 else ():
            if int(objects.kind[obj]) == heap.UNKNOWN:
                found[int(objects.payload[obj])].append(Use(each.site, pointer, obj))
    return found
