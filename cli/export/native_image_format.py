"""What a run resolved as GraalVM's reachability metadata (`reachability-metadata.json`, version 1.2).

An entry stands for one type and one condition: that the class of a site is reached.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cli.export import needs
from cli.export.needs import Need, Needs
from cli.naming import Names
from cli.run import Run
from cli.text import parameter_descriptors, type_of_descriptor

# What isn't asked for here: annotations and services are found by the builder itself.
_LEFT_OUT = frozenset({needs.ANNOTATION, needs.PROVIDER})
_NAMED = frozenset({needs.BUNDLE, needs.RESOURCE})
_FLAGS = {needs.ALLOCATED: "unsafeAllocated", needs.SERIALIZED: "serializable"}


def lines(run: Run) -> Iterator[str]:
    """Yields the text, in the order of types and conditions."""
    entries = _Entries(run)
    reflection, resources = entries.all()
    yield "{\n"
    about = f"Written by Heliograph: what reflective calls may reach, in mode {run.result.mode}"
    comment = "\n".join((about, *entries.needs.remarks()))
    yield f'"comment": {json.dumps(comment)},\n'
    yield '"reflection": ['
    yield from _listed(reflection)
    yield '],\n"resources": ['
    yield from _listed(resources)
    yield "]\n}\n"


def _listed(entries: list[dict[str, Any]]) -> Iterator[str]:
    before = "\n"
    for each in entries:
        yield before + json.dumps(each, indent=2)
        before = ",\n"
    if entries:
        yield "\n"


class _Entries:
    """The entries of a run."""

    def __init__(self, run: Run) -> None:
        self._run, self.needs = run, Needs(run)
        self._names: Names = run.names

    def all(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Returns the entries for types, and those for resources."""
        reflection: dict[tuple[str, str], dict[str, Any]] = {}
        resources: dict[tuple[str, str], dict[str, Any]] = {}
        for need in self.needs.all():
            if need.kind in _LEFT_OUT:
                continue
            condition = self._condition(need)
            where = resources if need.kind in _NAMED else reflection
            named = {_NAME_KEYS[need.kind]: need.text} if need.kind in _NAMED else {"type": self._type(need)}
            key = json.dumps(named), condition
            entry = where.setdefault(key, {"condition": {"typeReached": condition}, "reason": {}} | named)
            entry["reason"][need.reason] = None
            self._add(entry, need)
        return _finished(reflection), _finished(resources)

    def _condition(self, need: Need) -> str:
        method = int(self._run.result.sites.method[need.site])
        return self._names.method(method).declaring.replace("/", ".")

    def _type(self, need: Need) -> str | dict[str, list[str]]:
        if need.kind == needs.PROXY:
            return {"proxy": [self._names.type(each) for each in self.needs.interfaces(need.type)]}
        return self._names.type(need.type)

    def _add(self, entry: dict[str, Any], need: Need) -> None:
        """Adds a member, or how objects are made, to the entry of its type."""
        if need.kind in _FLAGS:
            entry[_FLAGS[need.kind]] = True
        elif need.kind == needs.FIELD:
            entry.setdefault("fields", {})[self._names.field_parts(need.member)[1]] = None
        elif need.kind in (needs.METHOD, needs.CONSTANTS):
            method = self._names.method(need.member)
            parameters = tuple(map(type_of_descriptor, parameter_descriptors(method.descriptor)))
            entry.setdefault("methods", {})[method.name, parameters] = None


_NAME_KEYS = {needs.BUNDLE: "bundle", needs.RESOURCE: "glob"}


def _finished(entries: dict[tuple[str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns entries in order, with lists for what was collected."""
    found = []
    for _, entry in sorted(entries.items()):
        reasons = sorted(entry.pop("reason"))
        if "methods" in entry:
            entry["methods"] = [
                {"name": name, "parameterTypes": list(parameters)}
                for name, parameters in sorted(entry["methods"])
            ]
        if "fields" in entry:
            entry["fields"] = [{"name": name} for name in sorted(entry["fields"])]
        found.append(entry | {"reason": reasons[0] if len(reasons) == 1 else reasons})
    return found
