"""What strings are made of: the operands of string operations and, within a method, of string builders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from cypher import schema
from cypher.schema import NONE
from engine.constraints import BUILDERS
from engine.flow import RETURN, Flow


class MemberName(Protocol):
    """A method by name."""

    @property
    def declaring(self) -> str:
        """The internal name of the declaring class."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def descriptor(self) -> str:
        """The descriptor."""


class MethodNames(Protocol):
    """Names of methods."""

    def method(self, method: int) -> MemberName:
        """Returns a method by name."""


class Computations:
    """Finds the variables from which a call computes a string."""

    def __init__(self, flow: Flow, names: MethodNames) -> None:
        self._flow, self._names = flow, names

    def operands(self, site: int) -> list[int]:
        """Returns the variables that go into the string that a call returns, in the order of the text.

        For `toString` of a string builder, what is appended to it in the same method.
        """
        callee = int(self._flow.evidence.sites.callee[site])
        if callee >= 0:
            found = self._names.method(callee)
            if found.declaring in BUILDERS and found.name == "toString":
                return self._appended(site)
        return self._flow.arguments(site)

    def _appended(self, site: int) -> list[int]:
        """Returns the arguments of calls of the builder's methods before `site`, in the order of the code."""
        sites = self._flow.evidence.sites
        calls: set[int] = set()
        aliases: set[int] = set()
        pending = [self._flow.argument(site, 0)]
        while pending:
            variable = pending.pop()
            if variable in aliases or variable < 0:
                continue
            aliases.add(variable)
            for call in self._calls_on(variable, int(sites.method[site])):
                calls.add(call)
                pending.append(int(sites.result[call]))
            pending.extend(self._copied_from(variable))
        before = sorted(
            (int(sites.offset[call]), call) for call in calls if sites.offset[call] < sites.offset[site]
        )
        return [variable for _, call in before for variable in self._flow.arguments(call)[1:]]

    def _calls_on(self, variable: int, method: int) -> Iterator[int]:
        """Yields the calls of methods of string builders whose receiver is `variable`."""
        arguments, sites = self._flow.evidence.facts[schema.Argument], self._flow.evidence.sites
        for row in self._flow.rows_of(schema.Argument, "variable", variable):
            site = int(arguments.site[row])
            callee = int(sites.callee[site])
            if int(arguments.position[row]) != 0 or callee < 0 or int(sites.method[site]) != method:
                continue
            if self._names.method(callee).name in ("append", "insert", "<init>"):
                yield site

    def _copied_from(self, variable: int) -> Iterator[int]:
        sites = self._flow.evidence.sites
        for relation, row in self._flow.rows_into(variable):
            if relation is schema.Assign:
                yield int(self._flow.evidence.facts[relation].source[row])
            elif relation == RETURN and int(sites.callee[row]) >= 0:
                found = self._names.method(int(sites.callee[row]))
                if found.declaring in BUILDERS and found.name in ("append", "insert"):
                    yield self._flow.argument(row, 0)
            else:
                yield NONE
