"""Why reflective calls are open, and which ones others wait for."""

from __future__ import annotations

from collections.abc import Iterable

from cli.casts import CAUSES as CAST_CAUSES
from cli.casts import Casts
from cli.export.outside import Outside
from cli.run import Run
from cypher.schema import NONE
from engine import heap
from engine.reflection import api
from engine.report import KNOWN, TOO_MANY
from engine.result import RESOLVED, ReflectiveSite

# What else keeps a call open: all that comes to it, or some of it, isn't known, or only what another call makes is not;
# or it lists the members of whatever object or class comes.
ONLY_INPUT, INPUT, OPEN_CALL, MANY_CLASSES = "only-input", "input", "open-call", "many-classes"
CAUSES = {
    **CAST_CAUSES,
    ONLY_INPUT: "nothing comes to it but what enters the program or is computed",
    INPUT: "something comes to it that enters the program or is computed",
    OPEN_CALL: "what another open call returns comes to it",
    MANY_CLASSES: "it lists the members of too many classes",
}
_OF_MODE = ("mode-ignores-reflection", "not-local")  # reasons that need no cause
_SETTLED = -2  # stands for a call that is not open


class Openings:
    """Tells why the reflective calls of one run are open. What the JDK's own calls return counts as input."""

    def __init__(self, run: Run) -> None:
        self.casts = Casts(run)
        self._objects, self._methods = run.result.objects, run.result.sites.method
        self._reflective = {each.site: each for each in run.result.reflective}
        self._outside = Outside(run)

    def causes(self, site: ReflectiveSite) -> tuple[str, ...]:
        """Returns why a call is open, out of CAUSES: what casts don't tell, and on what it depends."""
        if site.status == RESOLVED or site.reason in _OF_MODE:
            return ()
        if site.role == api.LIST_MEMBERS and self._is_of_classes(site):
            return (MANY_CLASSES,)
        is_known = site.targets or any(each.kind == "constant" for each in site.sources)
        needed = INPUT if is_known else ONLY_INPUT
        depends = needed if NONE in self._makers(site) else OPEN_CALL
        return (*filter(None, [self.casts.cause(site)]), depends)

    def _is_of_classes(self, site: ReflectiveSite) -> bool:
        """Returns whether nothing is unknown of a call but which of many classes comes to it."""
        unknown = [each.obj for each in site.sources if each.kind == "unknown" and each.obj >= 0]
        is_many = bool(unknown) or any(each.text == TOO_MANY for each in site.sources)
        return is_many and all(self._objects.kind[each] == heap.CLASS_OF for each in unknown)

    def first(self, wanted: Iterable[ReflectiveSite]) -> list[ReflectiveSite]:
        """Returns the open calls on which those that are `wanted` depend, and to which something comes that no other returned."""
        found: list[ReflectiveSite] = []
        work = [each for each in wanted if each.status != RESOLVED]
        seen = {each.site for each in work}
        for site in work:
            makers = self._makers(site)
            if NONE in makers:
                found.append(site)
            fresh = sorted(makers - seen - {NONE})
            seen.update(fresh)
            work += [self._reflective[each] for each in fresh]
        return found

    def is_at(self, site: ReflectiveSite, operand: str) -> bool:
        """Returns whether something unknown comes to an operand of a call."""
        return bool(self._at(site, [operand]))

    def _makers(self, site: ReflectiveSite) -> set[int]:
        """Returns the open calls outside the JDK that return what is unknown at a call, NONE for what they don't."""
        is_listed = any(each.kind == "unknown" for each in site.sources)
        return self._at(site, site.operands) or ({NONE} if is_listed else set())

    def _at(self, site: ReflectiveSite, operands: Iterable[str]) -> set[int]:
        listed = {each.obj for each in site.sources if each.kind == "unknown"}
        kinds = self._objects.kind
        return {
            self._maker(obj)
            for operand in operands
            for obj in self.casts.objects_at(site.operands.get(operand, NONE))
            if obj in listed or int(kinds[obj]) not in (*KNOWN, heap.CLASS_OF)
        } - {_SETTLED}

    def _maker(self, obj: int) -> int:
        """Returns the open call that returned an unknown object, NONE if none outside the JDK did."""
        made = int(self._objects.payload[obj]) if int(self._objects.kind[obj]) == heap.UNKNOWN else NONE
        if made == NONE:
            return NONE
        by = self._reflective.get(made)
        if by is None or by.status == RESOLVED:
            return _SETTLED
        return made if self._outside.is_method(int(self._methods[made])) else NONE


def sentence(causes: Iterable[str], kinds: Iterable[str] = ()) -> str:
    """Returns causes for people, with the kinds of input where that is a cause; empty if there are none."""
    of = ", ".join(kinds)
    return "; ".join(
        f"{CAUSES[each]}{f' ({of})' if of and each in (ONLY_INPUT, INPUT) else ''}" for each in causes
    )
