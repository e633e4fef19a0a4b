"""What strings are made of: the operands of string operations, concatenations and constructors of strings."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cypher import schema
from cypher.program import STRING_CONCAT
from cypher.schema import NONE, Int32
from engine.constraints import STRING
from engine.flow import RETURN, Flow
from engine.gathered import ElementNames, Gathered
from engine.sets import Bools


class Computations:
    """Finds the pointers from which a call computes a string."""

    def __init__(self, flow: Flow, names: ElementNames) -> None:
        self._flow, self._names = flow, names
        self._sites = flow.evidence.sites
        self._gathered = Gathered(flow, names)
        self._known: dict[int, list[int]] = {}

    def operands(self, site: int) -> list[int]:
        """Returns the pointers that go into the string that a call computes, in the order of the text."""
        known = self._known.get(site)
        if known is None:
            arguments = self._flow.arguments(site)
            # (what a constructor initialises goes into nothing)
            own = arguments[1:] if self._constructs(site) else arguments
            known = self._known[site] = list(self._gathered.texts(own, int(self._sites.method[site])))
        return known

    def result(self, site: int) -> int:
        """Returns the pointer at which a computed string is first, -1 if nobody takes it."""
        return self._flow.argument(site, 0) if self._constructs(site) else int(self._sites.result[site])

    def by(self, pointer: int) -> int:
        """Returns the concatenation or constructor call that computes the new string at `pointer`, or -1."""
        for relation, row in self._flow.rows_into(pointer):
            if relation == RETURN and self._concatenates[row]:
                return row
        arguments = self._flow.evidence.facts[schema.Argument]
        for row in self._flow.rows_of(schema.Argument, "variable", pointer):
            site = int(arguments.site[row])
            if int(arguments.position[row]) == 0 and self._constructs(site):
                return site
        return NONE

    def concatenations(self) -> Int32:
        """Returns the calls that are instructions which concatenate strings."""
        return np.flatnonzero(self._concatenates).astype(np.int32)

    @cached_property
    def _concatenates(self) -> Bools:
        unresolved = (self._sites.callee < 0) & (self._sites.declared >= 0)
        types = np.unique(self._sites.declared[unresolved]).tolist()
        named = [each for each in types if self._names.internal_type(each) == STRING_CONCAT]
        found: Bools = unresolved & np.isin(self._sites.declared, named)
        return found

    def _constructs(self, site: int) -> bool:
        """Returns whether a call is of a constructor of strings."""
        callee = int(self._sites.callee[site])
        if callee < 0:
            return False
        found = self._names.method(callee)
        return (found.declaring, found.name) == (STRING, "<init>")
