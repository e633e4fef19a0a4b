"""What the engine says of pairs of an input and a reflective call, to compare the graph's queries with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from neo4j.graph import Path

from cli.graph.inputs import Inputs
from cli.graph.names import ElementNames
from cli.run import Run
from cli.strings import string_objects
from cypher.schema import NONE, Int32
from engine.chains import ENTRY, SOURCE
from engine.flow import RETURN
from engine.hops import Hops
from engine.provenance import UNKNOWN, Premise, Provenance
from tests.provenance_checks import Columns

COMPUTED = "computed"
# The bits of a node's key that are its number.
_NUMBER = (1 << 34) - 1


class Pair(NamedTuple):
    """A call that brings input, and a reflective call."""

    source: int
    site: int


class Oracle:
    """The flows and the explanations of one run; an operand is the pointer of the name at a reflective call."""

    def __init__(self, run: Run) -> None:
        names = ElementNames(run)
        inputs = Inputs(names)
        self._columns = Columns(names.evidence, run.result.derived)
        self._provenance = Provenance(names.evidence, run.result.reflective, run.result.derived, run.names)
        self._computed = {(operand, result) for _, operand, result in zip(*inputs.computed(), strict=True)}
        self._open = np.flatnonzero(string_objects(run, constant=False)).astype(np.int32)
        self.sources: dict[int, set[int]] = {}
        self._entering: dict[int, set[int]] = {}
        for source, pointer in zip(*(each.tolist() for each in inputs.entering()), strict=True):
            self.sources.setdefault(source, set()).add(pointer)
            self._entering.setdefault(pointer, set()).add(source)
        self.operands = {
            each.site: each.operands["name"]
            for each in run.result.reflective
            if each.operands.get("name", NONE) >= 0 and self._strings(each.operands["name"])
        }
        callers, offsets = run.result.sites.method, run.result.sites.offset.tolist()
        signatures = names.method_column("signature", callers).fill_null("the JVM").to_list()
        self.names = [f"{caller}@{offset}" for caller, offset in zip(signatures, offsets, strict=True)]

    def _strings(self, pointer: int) -> set[int]:
        """Returns the strings that are no constants to which a pointer may refer."""
        objects: Int32 = self._columns.flow.sets.objects_of(pointer)
        return set(np.intersect1d(objects, self._open).tolist())

    def reaching(self, site: int) -> set[int]:
        """Returns the inputs that may be the name at a call: those to which the hops of explanations lead back.

        Strings go the same ways, whichever they are (`check_flows`); so one that is at an input tells all of it.
        """
        operand = self.operands[site]
        held = self._strings(operand)
        left = {pointer: found for pointer in self._entering if (found := self._strings(pointer) & held)}
        reached: set[int] = set()
        while left:
            obj = max(held, key=lambda each: sum(each in found for found in left.values()))
            reached |= left.keys() & self._back(operand, obj)
            left = {pointer: found for pointer, found in left.items() if obj not in found}
        return {source for pointer in reached for source in self._entering[pointer]}

    def _back(self, operand: int, obj: int) -> set[int]:
        """Returns where input enters first, when one goes back from a pointer with an object."""
        hops = Hops(self._columns.flow, obj, exact=True)
        found, seen, pending = set[int](), set[int](), [operand]
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            if at in self._entering:
                found.add(at)
            else:
                # (of a method that always returns its argument, the hop from the result is none of the call's flows)
                pending += [
                    hop.source
                    for hop in hops.into(at, NONE)
                    if hop.kind != RETURN or (RETURN, hop.source, at) in self._columns.all_flows
                ]
        return found

    def explained(self, site: int) -> Iterator[tuple[int, int]]:
        """Yields the inputs that explanations of a call's name end at, and how many computations follow each."""
        for question in self._provenance.questions(site):
            if question.kind == UNKNOWN and question.operand == "name":
                premise = self._provenance.answer(site, question).premise
                assert premise is not None
                yield from self._ends(premise, 0)

    def _ends(self, premise: Premise, computations: int) -> Iterator[tuple[int, int]]:
        origin = premise.chain.origin
        if origin.kind == SOURCE:
            yield origin.site, computations
        elif origin.kind == ENTRY:
            for source in self._entering.get(origin.pointer, ()):
                yield source, computations
        for part in premise.parts:
            yield from self._ends(part, computations + 1)

    def check(self, path: Path, pair: Pair) -> None:
        """Asserts that a path leads from the input to the name by flows of the engine, each part with one string."""
        first, *pointers, last = (int(node["key"]) & _NUMBER for node in path.nodes)
        entering, *flows, operand = path.relationships
        assert (first, last) == pair
        assert (entering.type, operand.type, operand["name"]) == ("ENTERS", "OPERAND", "name")
        assert pointers[0] in self.sources[pair.source]
        assert pointers[-1] == self.operands[pair.site]
        parts = [[pointers[0]]]
        for flow, source, target in zip(flows, pointers, pointers[1:], strict=False):
            assert flow.type == "FLOWS_TO"
            if flow["kind"] == COMPUTED:
                assert (source, target) in self._computed
                parts.append([])
            else:
                assert (flow["kind"], source, target) in self._columns.all_flows
                assert target not in self._entering
            parts[-1].append(target)
        for part in parts:
            assert self._shared(part), part

    def _shared(self, pointers: Sequence[int]) -> set[int]:
        """Returns the strings that all of these pointers have; a field of a set is none that could have any."""
        known = len(self._columns.evidence.points_to.representative)
        return reduce(set.intersection, [self._strings(each) for each in pointers if each < known])
