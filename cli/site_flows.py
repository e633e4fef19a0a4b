"""What flows to reflective calls, and by which rules they have their targets: for `sites --format json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cli.explain import Explainer, PrintedStep, step_document
from cli.naming import Names
from cli.run import Run
from engine.provenance import Inference
from engine.result import ReflectiveSite, Target


class SiteFlows:
    """Puts sources and derivations of the reflective calls of one run into documents.

    With `facts`, steps are as `explain` has them; without, they say what happens where.
    """

    def __init__(self, run: Run, *, facts: bool = False) -> None:
        self._names, self._facts = run.names, facts
        self._explainer = Explainer(run, bulk=True)

    def sources(self, site: ReflectiveSite, limit: int | None) -> tuple[list[dict[str, Any]], int]:
        """Returns the constants, the input and the unknown values that come to a call, each with its way.

        With a `limit`, so many of the shortest ways are listed; also returns how many others there are.
        """
        found: dict[tuple[object, ...], tuple[str, list[PrintedStep]]] = {}
        premises, others = self._explainer.provenance.arriving(site.site, limit)
        for premise, steps in self._explainer.ways(premises):
            kind, text, key = self._explainer.origin(premise)
            begin = premise.chain.origin
            found.setdefault((kind, text, begin.method, begin.offset), (key, steps))
        for source in site.sources:
            if source.obj < 0:
                found.setdefault((source.kind, source.text), ("", []))
        nearest = sorted(found.items(), key=lambda each: len(each[1][1]))[:limit]
        documents = [
            {"kind": kind, "text": text, "key": key, "path": self._path(steps)}
            for (kind, text, *_), (key, steps) in nearest
        ]
        return documents, others + len(found) - len(documents)

    def derivations(self, site: ReflectiveSite, limit: int | None) -> tuple[list[dict[str, Any]], int]:
        """Returns by which rule, and from which operands, a call has its targets, in the order of their names.

        With a `limit`, that of the first so many; also returns how many others there are.
        """
        named = sorted((target_name(self._names, each), each.id, each) for each in site.targets)[:limit]
        found = ((name, self._explainer.provenance.derivation(site.site, each)) for name, _, each in named)
        documents = [{"target": name, **self._derivation(each)} for name, each in found if each is not None]
        return documents, len(site.targets) - len(named)

    def _derivation(self, found: Inference) -> dict[str, Any]:
        cast = {"cast": self._explainer.cast_document(found.narrowing)} if found.narrowing else {}
        return cast | {
            "rule": found.derived.rule,
            "paper": found.derived.paper,
            "premises": [
                {
                    "operand": each.operand,
                    "text": self._explainer.origin(each)[1],
                    "derivation": self._derivation(each.because) if each.because is not None else None,
                    "path": self._path(self._explainer.chain(each)),
                }
                for each in found.premises
            ],
        }

    def _path(self, steps: Iterable[PrintedStep]) -> list[dict[str, Any]]:
        """Returns steps for programs, in their order."""
        if self._facts:
            return [step_document(number, each) for number, each in enumerate(steps, 1)]
        return [
            {
                "kind": each.kind, "method": each.place.method, "line": each.place.line, "offset": each.place.offset,
                "text": each.text,
            }
            for each in steps
        ]  # fmt: skip


def target_name(names: Names, target: Target) -> str:
    """Returns a target as `a.b.C`, `a.b.C.m(I)V` or `a.b.C.f`."""
    if target.kind == "type":
        return names.type(target.id)
    return str(names.method(target.id)) if target.kind == "method" else names.field(target.id)
