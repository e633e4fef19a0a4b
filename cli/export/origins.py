"""Sites of reflective calls and where their operands come from, as exports tell it: in one line each."""

from __future__ import annotations

from collections.abc import Iterator

from cli.evidence import evidence
from cli.explain import Place
from cli.naming import Names
from cli.phrases import Phrases
from cli.run import Run
from cli.specification import source_file
from cli.text import short_name, shown
from cypher.schema import NONE
from engine.chains import RULE
from engine.provenance import TARGET, Premise, Provenance, Question
from engine.result import Derived, Result, target_of

# The most targets of a call of which each is told where its name comes from: ways to one to which many names come are
# long, and finding them takes long.
_TOLD = 12
# The most beginnings of what comes to the operands of a call that are told.
_BEGINNINGS = 6


class Origins:
    """The reflective calls of one run, in words."""

    def __init__(self, run: Run) -> None:
        self.names: Names = run.names
        self.result: Result = run.result
        result, names = self.result, self.names
        self.provenance = Provenance(evidence(run), result.reflective, result.derived, names, bulk=True)
        self.phrases = Phrases(names, self.provenance)
        self.reflective = {each.site: each for each in result.reflective}
        self._targets = {each.site: frozenset(each.targets) for each in result.reflective}

    def place(self, method: int, offset: int) -> Place:
        """Returns an instruction by name; that of method -1 is the JVM's."""
        if method < 0:
            return Place("", "", NONE, NONE)
        name = self.names.method(method)
        file = source_file(name.declaring).rpartition("/")[2]
        return Place(shown(str(name)), shown(file), self.names.line(method, offset), offset)

    def place_of(self, site: int) -> Place:
        """Returns where a call is made."""
        sites = self.result.sites
        return self.place(int(sites.method[site]), int(sites.offset[site]))

    def api_of(self, site: int) -> str:
        """Returns the method that a call names, as in `Class.forName`."""
        if site in self.reflective:
            name = self.reflective[site].api
        else:
            callee = int(self.result.sites.callee[site])
            name = self.names.method(callee).qualified if callee >= 0 else "a method of the JDK"
        return shown(short_name(name))

    def call(self, site: int) -> str:
        """Returns a call in words, as in `a.b.C.m (C.java:12) calls Class.forName`."""
        return f"{self.place_of(site)} calls {self.api_of(site)}"

    def reason(self, derived: Derived) -> str:
        """Returns the site, the rule by which it came to what it needs, and what its operands began as."""
        found = list(dict.fromkeys(self._sources(derived)))
        more = [f"and {len(found) - _BEGINNINGS} more"] if len(found) > _BEGINNINGS else []
        sources = "; ".join([*found[:_BEGINNINGS], *more])
        return f"{self.call(derived.site)} [{derived.rule}]" + (f": {sources}" if sources else "")

    def _sources(self, derived: Derived) -> Iterator[str]:
        found = self._targets.get(derived.site, frozenset())
        target = target_of(derived, found)
        if target is None or target not in found:
            return
        if len(found) > _TOLD:
            yield f"one of {len(found)} that it finds"
            return
        inference = self.provenance.answer(derived.site, Question(TARGET, target)).inference
        for premise in inference.premises if inference else ():
            yield from self._beginnings(premise)

    def _beginnings(self, premise: Premise) -> Iterator[str]:
        """Yields what an operand was at first; what another reflective call found began as that call's operands."""
        below = (*(premise.because.premises if premise.because else ()), *premise.parts)
        for each in below:
            yield from self._beginnings(each)
        origin = premise.chain.origin
        if not below and origin.kind != RULE:
            at = f" in {self.place(origin.method, origin.offset)}" if origin.method >= 0 else ""
            yield f"{self.phrases.origin(origin, premise.chain.obj).rstrip(',')}{at}"
