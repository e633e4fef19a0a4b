"""The analysis: Andersen's closure, models and reflection rules, run together to the fixpoint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cypher import schema
from cypher.program import Program
from cypher.schema import NONE, Facts, Int32
from engine.closed import ClosedLibrary
from engine.constraints import Constraints, Precision
from engine.contents import Contents
from engine.entry import Entries, call_library, run_mains
from engine.heap import dense, padded
from engine.machine import start_machine
from engine.management import Management
from engine.models import Models
from engine.natives import native_methods
from engine.reflection.modes import DEFAULT
from engine.reflection.relations import OffsetField
from engine.reflective import Reflection
from engine.report import report
from engine.result import Derived, Result
from engine.rules import MakeApplier, in_process
from engine.serialization import Serialization
from engine.solver import EXHAUSTED, FIXPOINT, PointsToRows, Solver, Statistics
from engine.specification import Specification
from engine.thrown import Thrown

# What can be switched off, by the name that a user gives it.
SWITCHES = (
    "merged-strings",
    "merged-builders",
    "merged-throwables",
    "merged-tables",
    "told-collections",
    "filtered-array-stores",
    "passed-arguments",
    "bounded-lists",
    "confined-jdk",
)

# What is analysed: all code that is reached, or that of the application only.
PROGRAM, APPLICATION = "program", "application"

# Work units between two looks at the clock; a unit is a few nanoseconds of propagation.
BUDGET = 20_000_000


@dataclass(frozen=True)
class Options:
    """What is analysed and how.

    `scope` is PROGRAM or APPLICATION (see `engine.closed`). `confine_jdk`: see `engine.confined`. `tick` is called
    with the sizes a few times a second and ends the run if it returns True. `applier` makes what applies the rules of
    reflection that aren't left to their functions.
    """

    mode: str = DEFAULT
    scope: str = PROGRAM
    confine_jdk: bool = True
    precision: Precision = field(default_factory=Precision)
    tick: Callable[[Statistics], bool] = lambda _: False
    budget: int = BUDGET
    specification: Specification = field(default_factory=Specification)
    applier: MakeApplier = in_process


def without(switches: Collection[str]) -> dict[str, Any]:
    """Returns the options that switch off what is named, out of SWITCHES."""
    on = [name not in switches for name in SWITCHES]
    return {"precision": Precision(*on[:-1]), "confine_jdk": on[-1]}


def analyse(program: Program, solver: Solver, entries: Entries, options: Options) -> Result:
    """Returns the points-to sets, the call graph and the reflective sites of `program` from `entries`."""
    analysis = Analysis(program, solver, options)
    try:
        return analysis.run(entries)
    finally:
        analysis.release()


class Analysis:
    """One run."""

    def __init__(self, program: Program, solver: Solver, options: Options) -> None:
        self._program, self._solver, self._options = program, solver, options
        precision = options.precision
        self._constraints = Constraints(program, solver, precision, options.confine_jdk)
        self._models = Models(self._constraints, options.scope == PROGRAM)
        self._serialization = Serialization(self._constraints, self._models)
        self._management = Management(self._constraints, self._models)
        self._reflection = Reflection(
            self._constraints, options.mode, self._models, options.specification, options.applier
        )
        self._constraints.on_sites = self._on_sites
        self._constraints.opaque = self._reflection.is_api
        self._constraints.on_field = self._models.on_field
        self._constraints.on_constants = self._reflection.on_constants
        self._closed: ClosedLibrary | None = None
        self._contents: Contents | None = None
        self._constraints.on_rows = self._models.on_rows
        if options.scope == APPLICATION:
            self._close_library()
        elif precision.tell_collections:
            self._contents = Contents(self._constraints)

    def _close_library(self) -> None:
        constraints = self._constraints
        closed = self._closed = ClosedLibrary(constraints, self._models.supplies, self._reflection.handles)
        constraints.on_rows = closed.on_rows
        self._reflection.on_derived[OffsetField] = closed.open_field

        def on_field(field: int, pointer: int) -> None:
            self._models.on_field(field, pointer)
            closed.on_field(field, pointer)

        constraints.on_field = on_field

    def _on_sites(self, facts: Facts) -> Int32:
        cut = (self._models.on_sites(facts), self._reflection.on_sites(facts))
        found: Int32 = np.concatenate(cut).astype(np.int32)
        return found

    def run(self, entries: Entries) -> Result:
        self._constraints.synchronise()
        self._constraints.on_handlers = Thrown(self._constraints).with_thrown
        if self._closed:
            self._closed.start()
        else:
            start_machine(self._constraints)
        self._constraints.initialise(entries.started, NONE, NONE)
        run_mains(self._constraints, entries.mains)
        call_library(self._constraints, entries.library)
        complete = self._close()
        return self._result(complete)

    def release(self) -> None:
        """Lets go of what only a run needs: its parts know each other, so they would stay until Python looks for cycles."""
        for part in (self._reflection, self._constraints, self):
            vars(part).clear()

    def _close(self) -> bool:
        """Alternates between the solver, the facts of new methods, and the rules; returns whether it got to the end."""
        constraints, solver, reflection = self._constraints, self._solver, self._reflection
        while True:
            if self._closed:
                self._closed.flush()
            constraints.flush()
            reflection.flush()
            status = solver.solve(self._options.budget)
            if status == EXHAUSTED or self._options.tick(solver.statistics()):
                return False
            methods, firsts = solver.take_reached()
            if methods.size:
                self._activate(methods, firsts)
            pointers, objects = solver.take_watched()
            if pointers.size:
                self._observe(pointers, objects)
            derived = reflection.derive()
            if status == FIXPOINT and not (methods.size or pointers.size or derived or constraints.pending()):
                reflection.search()
                self._serialization.extend(solver)
                self._management.extend(solver)
                waiting = reflection.derive() or constraints.pending()
                if not (
                    waiting
                    or reflection.take_bounded()
                    or reflection.casts.tell()
                    or reflection.specified.names.tell()
                ):
                    return True

    def _activate(self, methods: Int32, firsts: Int32) -> None:
        """Enters the bodies of methods that were reached."""
        constraints = self._constraints
        if self._closed:
            own = self._closed.is_open(methods)
            self._closed.on_methods(methods[~own], firsts[~own])
            methods, firsts = methods[own], firsts[own]
        facts = self._program.facts_of(methods, firsts, constraints.sites.number)
        constraints.enter(facts)
        self._models.on_methods(methods, firsts)
        if self._closed:
            self._closed.on_facts(facts)

    def _observe(self, pointers: Int32, objects: Int32) -> None:
        types = self._constraints.class_types(objects)
        self._reflection.observe(pointers, objects, types)
        if self._contents:
            self._contents.observe(pointers, objects)
        if self._closed:
            self._closed.observe(pointers, objects, types)

    def _result(self, complete: bool) -> Result:
        constraints, solver = self._constraints, self._solver
        statistics = solver.statistics()
        class_objects, class_types = solver.class_object_types()
        types = solver.types_of(np.arange(statistics.objects, dtype=np.int32))
        first = solver.tracked_from
        tracked = solver.types_of(np.arange(first, first + statistics.tracked, dtype=np.int32))
        reached = solver.reached()
        sites, callees, _ = solver.calls_made()
        fields, pointers = constraints.static_fields.items()
        return Result(
            mode=self._options.mode,
            complete=complete,
            reached=reached,
            first_variable=solver.first_variables(reached),
            facts={each: schema.joined(each, constraints.batches) for each in schema.FACTS},
            sites=constraints.sites.finish(),
            call_site=sites,
            call_callee=callees,
            objects=constraints.heap.finish(types, tracked, class_objects, class_types),
            points_to=_dense_rows(solver.points_to(), types.size, first),
            static_field=fields,
            static_pointer=pointers,
            reflective=report(constraints, self._reflection, lambda obj: dense(obj, types.size, first)),
            derived=tuple(self._derived()),
            statistics=statistics,
            diagnostics=tuple(native_methods(self._program, reached, self._models.is_modelled)),
            passing=self._options.precision.pass_arguments,
        )

    def _derived(self) -> Iterator[Derived]:
        for rule, rows in self._reflection.derivations:
            name, paper, head = rule.name, rule.paper, rule.head.__name__
            yield from (Derived(name, paper, head, row[0], row[1]) for row in rows)


def _dense_rows(rows: PointsToRows, ordinary: int, tracked_from: int) -> PointsToRows:
    """Returns the rows with the object ids of results (see `heap.dense`)."""
    key = np.where(
        rows.key >= tracked_from >> 6, rows.key - (tracked_from >> 6) + (padded(ordinary) >> 6), rows.key
    )
    base = np.where(rows.base >= tracked_from, rows.base - tracked_from + padded(ordinary), rows.base)
    return rows._replace(key=key.astype(np.int32), base=base.astype(np.int32))
