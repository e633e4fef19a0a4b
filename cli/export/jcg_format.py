"""The call graph in the JSON of call-graph comparison suites.

Every method that may run has an entry with its call sites: line, bytecode offset, the method that the
instruction names, and those that it may call. A call that reflection or the JVM makes has an entry of its own
on the line of the site that causes it, with its target as the declared target.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from cli.naming import MethodName, Names
from cli.run import Run
from cli.summary import causing_sites
from cli.text import parameter_descriptors, return_descriptor
from cypher.schema import NONE
from engine.result import Result
from engine.sets import Index
from engine.sites import BYTECODE


def lines(run: Run, application: bool) -> Iterator[str]:
    """Yields the text, one method a line; only methods of the application if that is wanted."""
    result, names = run.result, run.names
    reached = result.reached
    if application:
        reached = reached[names.is_application(reached)]
    sites = _CallSites(result, names)
    yield '{"reachableMethods": [\n'
    before = ""
    for method in reached.tolist():
        yield f'{before}{{"method": {sites.method(method)}, "callSites": [{", ".join(sites.of(method))}]}}'
        before = ",\n"
    yield "\n]}\n"


def document(name: MethodName) -> dict[str, object]:
    """Returns a method as the suites write it."""
    declaring = name.declaring
    return {
        "name": name.name,
        "declaringClass": declaring if declaring.startswith("[") else f"L{declaring};",
        "returnType": return_descriptor(name.descriptor),
        "parameterTypes": parameter_descriptors(name.descriptor),
    }


class _CallSites:
    """The call sites of methods, as text."""

    def __init__(self, result: Result, names: Names) -> None:
        self._result, self._names = result, names
        self._methods: dict[int, str] = {}
        self._declared: dict[tuple[int, int, int], str] = {}
        sites = result.sites
        self._in_bytecode = (sites.origin == BYTECODE).tolist()
        order = np.argsort(result.call_site, kind="stable")
        self._callees = result.call_callee[order].tolist()
        self._callees_at = np.searchsorted(result.call_site[order], np.arange(len(sites.method) + 1)).tolist()
        placed = np.arange(len(sites.method), dtype=np.int32)
        placed[result.call_site] = causing_sites(result)
        self._caller, self._offset = sites.method[placed], sites.offset[placed]
        self._by_method = np.lexsort((placed, self._offset, self._caller))
        self._places = Index(self._caller[self._by_method])
        self._lines = names.lines(self._caller, self._offset).tolist()

    def method(self, method: int) -> str:
        """Returns a method as text."""
        found = self._methods.get(method)
        if found is None:
            found = self._methods[method] = json.dumps(document(self._names.method(method)))
        return found

    def of(self, method: int) -> Iterator[str]:
        """Yields the call sites of a method."""
        for site in self._by_method[self._places.positions(method)].tolist():
            targets = self._callees[self._callees_at[site] : self._callees_at[site + 1]]
            if self._in_bytecode[site]:
                yield self._entry(site, self._declared_target(site), targets)
            else:
                for target in targets:
                    yield self._entry(site, self.method(target), [target])

    def _entry(self, site: int, declared: str, targets: list[int]) -> str:
        called = ", ".join(map(self.method, targets))
        place = f'"line": {self._lines[site]}, "pc": {int(self._offset[site])}'
        return f'{{"declaredTarget": {declared}, {place}, "targets": [{called}]}}'

    def _declared_target(self, site: int) -> str:
        """Returns the method that the instruction names: its class may inherit it."""
        sites = self._result.sites
        key = int(sites.declared[site]), int(sites.callee[site]), int(sites.signature[site])
        found = self._declared.get(key)
        if found is None:
            declared, callee, signature = key
            if callee != NONE:
                owner, name, descriptor, _ = self._names.method(callee)
            else:
                owner, (name, descriptor) = "", self._names.signature(signature)
            if declared != NONE:
                owner = self._names.internal_type(declared)
            found = self._declared[key] = json.dumps(document(MethodName(owner, name, descriptor, 0)))
        return found
