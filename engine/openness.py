"""What stays open of reflective calls, and why others don't.

    open(i) :- operand(i, v), points-to(v, o), Unknown(o), not returned(o, _), not settled(i, v).
    open(i) :- operand(i, v), points-to(v, o), Unknown(o), returned(o, j), open(j), not settled(i, v).
    settled(i, v) :- specified(i, v).
    settled(i, v) :- bounded(i).

A call that finds a class by name is bounded if objects are made of the class of unknown name, all of them are cast
outside the JDK on every way on which the method goes on (Livshits, Whaley, Lam, § 5.4), and no other reflective call
works on the class, but for initialising it. Listed constructors have to be cast to few classes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cypher.program import Program
from cypher.schema import NONE
from engine.models import SiteCall
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.api import Api
from engine.reflection.casts import cast_types, narrows
from engine.rules import Rules

# On what a call that counts as resolved leans: that casts don't fail (paper, § 4), or what a user has specified.
CORRECT_CASTS, SPECIFICATION = "correct-casts", "specification"
# The operands that decide what a reflective call does.
NAME, SUBJECT = "name", "subject"
# What may be done with a class besides making objects of it: whatever it is, nothing else is found by that, or what is
# found by its name counts as open.
_BESIDES = (api.INITIALISE, api.SAME_HANDLE, api.NAME_OF)


class Openness:
    """Which reflective calls are open, and on what the others lean; `casts` says whether casts bound classes.

    `specified` names the operands for which a user has said what comes to them, by call; `answered` are the other calls
    of which a user has said what they return. `combined` are the operands of the combined handles that a call calls.
    """

    def __init__(
        self, rules: Rules, program: Program, sites: Mapping[int, tuple[Api, SiteCall]], specified: Mapping[int, Collection[str]],
        answered: Collection[int], combined: Mapping[int, Collection[int]], casts: bool,
    ) -> None:  # fmt: skip
        self._combined = combined
        self._rules, self._program, self._sites = rules, program, sites
        self._specified, self._answered = specified, answered
        # Pointers to what a call returned of which nothing is known, by the call; and the other way, by operands.
        self._holding: dict[int, set[int]] = defaultdict(set)
        self._made_by: dict[int, set[int]] = defaultdict(set)
        for row in rules.tables[rel.UnknownAt]:
            self._holding[row.made].add(row.pointer)
            self._made_by[row.pointer].add(row.made)
        self._users: dict[int, list[int]] = defaultdict(list)
        for site, (each, call) in sites.items():
            for pointer in operands(each, call).values():
                self._users[pointer].append(site)
        self._narrow: dict[int, bool] = {}  # by call that makes objects, whether it is cast to few classes
        self._bounded = frozenset(self._bounded_sites() if casts else ())
        self._open = self._open_sites()

    def is_closed(self, made: int) -> bool:
        """Returns whether it is known what the reflective call `made` returns, though not by its operands."""
        return made in self._answered or (made in self._sites and made not in self._open)

    def settles(self, site: int, operand: str) -> bool:
        """Returns whether it doesn't matter that something unknown is at the operand of a call."""
        return site in self._bounded or operand in self._specified.get(site, ())

    def leans_on(self, site: int) -> tuple[str, ...]:
        """Returns on what a call that isn't open leans: CORRECT_CASTS, SPECIFICATION."""
        found, work, seen = set(), [site], {site}
        while work:
            current = work.pop()
            if current in self._specified or current in self._answered:
                found.add(SPECIFICATION)
            if current in self._bounded:
                found.add(CORRECT_CASTS)
            fresh = self._premises(current) - seen
            seen |= fresh
            work += fresh
        return tuple(sorted(found))

    def _premises(self, site: int) -> set[int]:
        """Returns the calls whose unknown objects come to operands that nothing settles, -1 for what none returned."""
        if site not in self._sites:
            return set()
        at = [each for name, each in operands(*self._sites[site]).items() if not self.settles(site, name)]
        at += self._combined.get(site, ())
        return {made for pointer in at for made in self._made_by.get(pointer, ())}

    def _bounded_sites(self) -> Iterator[int]:
        for site, (each, _) in self._sites.items():
            if each.role == api.FOR_NAME and site in self._holding:
                makers = list(self._makers(site))
                if makers and all(map(self._is_cast_outside, makers)):
                    yield site

    def _is_cast_outside(self, maker: int) -> bool:
        """Returns whether code outside the JDK casts what a call makes: inside, classes of its own are not shown."""
        casts = self._rules.tables[rel.ResultCast].where(site=maker)
        return bool(casts) and not casts[0].inside

    def _is_cast_narrowly(self, maker: Any) -> bool:
        """Returns whether casts of what a call makes tell classes, though their constructors are only listed."""
        found = self._narrow.get(maker)
        if found is None:
            types = list(cast_types(self._rules.tables[rel.ResultCast], maker, self._program))
            found = self._narrow[maker] = narrows(types)
        return found

    def _makers(self, site: int) -> Iterator[int]:
        """Yields the calls that make objects of the unknown class that `site` finds; -1 for what else is done with it."""
        work, seen = [(site, False)], {site}
        while work:
            found, listed = work.pop()
            for pointer in self._holding.get(found, ()):
                for user in self._users[pointer]:
                    each = self._sites[user][0]
                    if each.role in (api.CLASS_NEW, api.CONSTRUCTOR_NEW):
                        yield user if not listed or self._is_cast_narrowly(user) else NONE
                    elif each.sort != "constructor":
                        if each.role not in _BESIDES:
                            yield NONE
                    elif user not in seen:
                        seen.add(user)
                        work.append((user, each.role == api.LIST_MEMBERS))

    def _open_sites(self) -> frozenset[int]:
        needed_by: dict[int, list[int]] = defaultdict(list)
        for site in self._sites:
            for each in self._premises(site):
                needed_by[each].append(site)
        found: set[int] = set()
        work = [each for each in needed_by if each not in self._sites and each not in self._answered]
        while work:
            for site in needed_by.get(work.pop(), ()):
                if site not in found:
                    found.add(site)
                    work.append(site)
        return frozenset(found)


def operands(each: Api, call: SiteCall) -> dict[str, int]:
    """Returns the pointers that decide what a reflective call does: the string, the class or member object."""
    return {
        name: call.argument(position)
        for name, position in ((NAME, each.named), (SUBJECT, each.subject))
        if position >= 0
    }
