"""What an analysis finds, row by row, under names that don't depend on the order in which a solver numbers things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias, get_type_hints

from cli.naming import ReportingProgram
from cli.pipeline import Job, MakeSolver, _link, _open, _read, _solver
from cli.progress import Progress
from cypher.program import MethodRows
from cypher.schema import CallSite, Field, Method, Text, Type, Variable
from engine import heap
from engine.analysis import Options, analyse
from engine.reflection import relations
from engine.result import NameSource, Result
from engine.rules import MakeApplier, in_process
from engine.sets import Sets

Rows: TypeAlias = Counter[Hashable]


class NamedRows:
    """The rows of a result. `variables` is how many each method has. Pointers without a name are what they point to."""

    def __init__(self, program: ReportingProgram, result: Result, variables: Sequence[int]) -> None:
        self.program, self.result = program, result
        self._static = dict(zip(result.static_pointer.tolist(), result.static_field.tolist(), strict=True))
        reached = zip(result.reached.tolist(), result.first_variable.tolist(), strict=True)
        self._variable = {
            first + at: (method, at) for method, first in reached for at in range(variables[method])
        }
        self._objects = [self._object(each) for each in range(result.objects.kind.size)]
        self._sets = Sets(result.points_to)

    def all(self) -> dict[str, Rows]:
        """Returns the rows of each relation on which solvers must agree."""
        result = self.result
        calls = zip(result.call_site.tolist(), result.call_callee.tolist(), strict=True)
        return {
            "reached": Counter(map(self.method, result.reached.tolist())),
            "calls": Counter((self.site(site), self.method(callee)) for site, callee in calls),
            # (how many pointers without a name there are depends on which methods are entered at once)
            "points to": Counter(set(self._pairs())),
            "derived": Counter(
                (each.rule, each.relation, self.site(each.site), self.detail(each.relation, each.detail))
                for each in result.derived
            ),
            "reflective": self.reflective(),
        }

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Yields (pointer, object) of all sets."""
        for pointer in range(self.result.points_to.representative.size):
            name = self.pointer(pointer)
            for obj in self._sets.objects_of(pointer).tolist():
                yield name, self._objects[obj]

    def reflective(self) -> Rows:
        """Returns the reflective sites with their targets and sources."""
        naming = {"type": self.type, "method": self.method, "field": self.field}
        return Counter(
            (
                self.site(each.site), each.api, each.role, each.status, each.reason,
                tuple(sorted((target.kind, naming[target.kind](target.id)) for target in each.targets)),
                tuple(sorted(self._sources(each.sources))),
                tuple(sorted((name, self.pointer(operand)) for name, operand in each.operands.items())),
            )
            for each in self.result.reflective
        )  # fmt: skip

    def _sources(self, sources: Sequence[NameSource]) -> Iterator[tuple[str, str, str]]:
        """Yields the sources; of many unknown ones, those with the lowest numbers are listed, so these go unnamed."""
        cut = any(each.kind == "unknown" and each.obj < 0 for each in sources)
        for each in sources:
            yield each.kind, each.text, "" if cut and each.kind == "unknown" else self.object(each.obj)

    def detail(self, relation: str, detail: int) -> str:
        """Returns what the last column of a derived row is called; that of a handle may be a method or a field."""
        if relation in {"HandleObject", "HandleTarget"}:
            return ""
        kind = list(get_type_hints(getattr(relations, relation)).values())[1]
        naming: dict[Any, Callable[[int], str]] = {
            Type: self.type, Method: self.method, Field: self.field, CallSite: self.site, Variable: self.pointer,
            Text: self.program.text,
        }  # fmt: skip
        return naming.get(kind, str)(detail)

    def type(self, type_: int) -> str:
        return self.program.name_of_type(type_) if type_ >= 0 else str(type_)

    def method(self, method: int) -> str:
        if method < 0:
            return "the JVM"
        declaring, name, descriptor = self.program.name_of_method(method)
        return f"{self.type(declaring)}.{name}{descriptor}"

    def field(self, field: int) -> str:
        if field < 0:
            return "[]"
        declaring, name, descriptor = self.program.name_of_field(field)
        return f"{self.type(declaring)}.{name} {descriptor}"

    def site(self, site: int) -> str:
        if site < 0:
            return "no call"
        sites = self.result.sites
        at = {name: int(column[site]) for name, column in zip(sites._fields, sites, strict=True)}
        called = (
            self.method(at["callee"])
            if at["callee"] >= 0
            else self.program.name_of_signature(at["signature"])
        )
        place = f"{self.method(at['method'])}@{at['offset']} {at['kind']} {at['origin']} {called}"
        return f"{place} for {self.site(at['cause'])}" if at["cause"] >= 0 else place

    def object(self, obj: int) -> str:
        return self._objects[obj] if obj >= 0 else "no object"

    def _object(self, obj: int) -> str:
        kind, type_, method, offset, payload = (int(column[obj]) for column in self.result.objects)
        naming: dict[int, Callable[[int], str]] = {
            heap.STRING: self.program.text, heap.CLASS_OBJECT: self.type, heap.METHOD_OBJECT: self.method,
            heap.FIELD_OBJECT: self.field, heap.UNKNOWN: self.site, heap.CLASS_OF: self.site,
            heap.MADE_HANDLE: self.site, heap.METHOD_TYPE: self.site,
            heap.TYPE_OBJECT: self.program.text, heap.HANDLE: self._handle,
        }  # fmt: skip
        if kind == heap.REFLECTIVE:
            # (there is one for a class, with the place of the call that was first)
            return f"{kind} {self.type(type_)} {method >= 0}"
        return f"{kind} {self.type(type_)} {self.method(method)}@{offset} {naming.get(kind, str)(payload)}"

    def _handle(self, payload: int) -> str:
        member, kind = payload >> 4, payload & 15
        return f"{kind} {self.field(member) if kind <= 4 else self.method(member)}"

    def pointer(self, pointer: int) -> str:
        if pointer < 0:
            return "no pointer"
        base, field = (
            int(each[pointer]) for each in (self.result.points_to.base, self.result.points_to.field)
        )
        if base >= 0:
            return f"{self.object(base)}: {self.field(field)}"
        if pointer in self._static:
            return self.field(self._static[pointer])
        if pointer in self._variable:
            method, at = self._variable[pointer]
            return f"{self.method(method)}: {at}"
        return str(sorted(self._objects[obj] for obj in self._sets.objects_of(pointer).tolist()))


def named_rows(job: Job, make: MakeSolver, applier: MakeApplier = in_process) -> dict[str, Rows]:
    """Returns what an analysis of its own with such a solver finds, and with rules so applied."""
    loaded = _read(job, Progress(quiet=True), *_open(job))
    program, entries, _ = _link(job, loaded)
    solver = _solver(program, make)
    variables: list[int] = []
    add_methods = solver.add_methods

    def counting(rows: MethodRows) -> None:
        variables.extend(rows.variables.tolist())
        add_methods(rows)

    solver.add_methods = counting  # type: ignore[method-assign]
    result = analyse(program, solver, entries, Options(job.mode, job.scope, applier=applier))
    assert result.complete
    return NamedRows(program, result, variables).all()
