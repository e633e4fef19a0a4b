"""Which outside input reaches reflective calls, and along which way.

Names are followed back over every flow between pointers that may hold strings of unknown text, and over the
operations that compute such strings from others; ways end where a call of an input source returns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.explain import Place
from cli.export.origins import Origins
from cli.export.outside import Outside
from cli.phrases import is_content
from cli.run import Run
from cli.strings import string_objects
from cli.summary import application_sites
from cli.text import shown
from cypher.schema import NONE
from engine import flow, gaps, heap
from engine.computed import Computations
from engine.flows import KINDS, Flows, flows_of
from engine.gaps import Gap
from engine.provenance import SUBJECTS
from engine.reflection import sources
from engine.reflection.sources import COMPUTED, NAME
from engine.result import ReflectiveSite
from engine.sets import Index

_SILENT = frozenset({flow.ASSIGN, flow.CAST, flow.CATCH, flow.UNCAUGHT})
_CALLS = {
    flow.ARGUMENT: "passed to", flow.RECEIVER: "the receiver of", flow.RETURN: "returned by", flow.THROWN: "thrown by",
}  # fmt: skip
_PART = -1  # stands for a flow from a part of a string to the string


class Location(NamedTuple):
    """What happens at a place."""

    place: Place
    text: str


class Input(NamedTuple):
    """Input of a `kind` that comes along `way`, from where it enters to the call; `text` says what it is."""

    kind: str
    text: str
    way: tuple[Location, ...]


class Reached(NamedTuple):
    """A reflective call and the input that reaches it, the nearest first; each source stands once."""

    site: ReflectiveSite
    inputs: tuple[Input, ...]


class _Step(NamedTuple):
    """What is at a pointer goes on to `target`, by the flow of that row (_PART: as a part, by the call `site`)."""

    target: int
    row: int
    site: int = NONE


class _Entry(NamedTuple):
    """Input of a `kind` that enters at `place`, if that is told; `text` says what it is."""

    kind: str
    text: str
    place: Place | None


class _Behind(NamedTuple):
    """What comes to a pointer: from others, by steps, and as input."""

    steps: list[tuple[int, _Step]]
    entry: _Entry | None = None


class Inputs:
    """Looks for the input that reaches reflective calls of one run."""

    def __init__(self, run: Run) -> None:
        self.origins = Origins(run)
        self._run, self._provenance, self._phrases = run, self.origins.provenance, self.origins.phrases
        self._flow = self._provenance.flow
        self._evidence = self._flow.evidence
        self._objects = self._evidence.objects
        self._computations = Computations(self._flow, run.names)
        self._outside = Outside(run)
        self._known_kinds: dict[int, str] = {}
        self._known_behind: dict[int, _Behind] = {}  # by pointer: many calls are come to by the same ways

    def all(self) -> Iterator[Reached]:
        """Yields the calls of the application that input reaches, by name."""
        return self.reaching(application_sites(self._run.result, self._run.names))

    def reaching(self, sites: Iterable[ReflectiveSite]) -> Iterator[Reached]:
        """Yields those of the calls that input reaches, by name."""
        for site in sorted(sites, key=lambda each: self._order(each.site)):
            found: dict[tuple[str, str, Place], Input] = {}
            for each in self._inputs(site.site):
                found.setdefault((each.kind, each.text, each.way[0].place), each)
            if found:
                yield Reached(site, tuple(found.values()))

    def _order(self, site: int) -> tuple[str, int]:
        place = self.origins.place_of(site)
        return place.method, place.offset

    # --- where ways end
    def _inputs(self, site: int) -> Iterator[Input]:
        """Yields what input comes to a call, the nearest first, by way of the calls that make its operands too."""
        ends: dict[int, tuple[Location, ...]] = {}
        pending: deque[tuple[int, tuple[Location, ...]]] = deque([(site, ())])
        seen = {site}
        while pending:
            at, after = pending.popleft()
            for name, pointer in self.origins.reflective[at].operands.items():
                operand = SUBJECTS.get(self.origins.reflective[at].role, name) if name == "subject" else name
                here = Location(
                    self.origins.place_of(at), f"it is the {operand} of {self.origins.api_of(at)}"
                )
                if pointer >= 0 and self._is_open[pointer]:
                    ends.setdefault(pointer, (here, *after))
                for other in self._made_by(pointer):
                    if other in self.origins.reflective and other not in seen:
                        seen.add(other)
                        pending.append((other, (here, *after)))
            yield from self._missing(at, after)
        yield from self._entering(ends)

    def _made_by(self, pointer: int) -> Iterator[int]:
        """Yields the reflective calls that return unknown class or member objects to a pointer."""
        for obj in self._flow.sets.objects_of(pointer).tolist() if pointer >= 0 else ():
            if int(self._objects.kind[obj]) == heap.UNKNOWN:
                yield int(self._objects.payload[obj])

    def _missing(self, site: int, after: tuple[Location, ...]) -> Iterator[Input]:
        """Yields the input of which the analysis knows no value, so that nothing arrives."""
        for question in self._provenance.missing(site):
            text = f"it is the {question.operand} of {self.origins.api_of(site)}"
            here = Location(self.origins.place_of(site), text)
            for gap in self._provenance.answer(site, question).gaps:
                yield from self._unknown(gap, (here, *after))

    def _unknown(self, gap: Gap, way: tuple[Location, ...]) -> Iterator[Input]:
        if gap.kind != gaps.INPUT:
            return
        for callee in self._flow.callees(gap.detail).tolist():
            if self._is_input(self._kind(callee)):
                yield self._input(self._of_call(gap.detail, callee), way)

    def _input(self, entry: _Entry, way: tuple[Location, ...]) -> Input:
        """Returns the input that enters and comes along `way`."""
        place = entry.place if entry.place is not None else way[0].place
        return Input(entry.kind, entry.text, (Location(place, entry.text), *way))

    def _of_call(self, site: int, callee: int) -> _Entry:
        """Returns the input that a call of a source brings."""
        text = (
            self._phrases.gap(Gap(gaps.INPUT, NONE, NONE, site))
            .removeprefix("it is ")
            .partition(", of which")[0]
        )
        return _Entry(self._kind(callee), text, self.origins.place_of(site))

    # --- the way back
    def _entering(self, ends: dict[int, tuple[Location, ...]]) -> Iterator[Input]:
        """Yields the input at pointers from which there is a way to one of `ends`; each way is a shortest one."""
        came: dict[int, _Step | None] = dict.fromkeys(ends)
        queue = deque(ends)
        while queue:
            pointer = queue.popleft()
            behind = self._behind(pointer)
            if behind.entry is not None:
                yield self._input(behind.entry, self._way(pointer, came, ends))
            for source, step in behind.steps:
                if source not in came:
                    came[source] = step
                    queue.append(source)

    def _behind(self, pointer: int) -> _Behind:
        """Returns what comes to a pointer."""
        found = self._known_behind.get(pointer)
        if found is None:
            found = self._known_behind[pointer] = self._look_behind(pointer)
        return found

    def _look_behind(self, pointer: int) -> _Behind:
        site, callee = self._called.get(pointer, (NONE, NONE))
        computing = self._computations.by(pointer) if callee < 0 else NONE
        if computing >= 0:
            return _Behind(self._parts(pointer, computing, COMPUTED))
        if callee < 0:
            steps = list(self._into(pointer))
            return _Behind(steps, self._passed_in(pointer, not steps))
        if not self._is_input(self._kind(callee)):
            return _Behind(self._parts(pointer, site, self._kind(callee)))
        return _Behind([], self._of_call(site, callee) if self._is_asked_for(site) else None)

    def _is_asked_for(self, site: int) -> bool:
        """Returns whether code outside the JDK asks for input: what the JDK's own code reads is its own affair."""
        method = int(self._evidence.sites.method[site])
        return method >= 0 and self._outside.is_method(method)

    def _into(self, pointer: int) -> Iterator[tuple[int, _Step]]:
        for row in self._by_target.of(pointer):
            yield int(self._sources[row]), _Step(pointer, int(self._rows[row]))

    def _parts(self, pointer: int, site: int, kind: str) -> list[tuple[int, _Step]]:
        """Returns what a string is computed from; the name of a program element is from nothing outside."""
        operands = self._computations.operands(site) if kind == COMPUTED else []
        return [
            (each, _Step(pointer, _PART, site))
            for each in operands
            if self._is_open[each] or each in self._called
        ]

    def _passed_in(self, pointer: int, begins: bool) -> _Entry | None:
        """Returns the input that an unknown caller, or native code, puts into a pointer."""
        if pointer >= len(self._is_given) or not self._is_given[pointer]:
            return None
        owner = self._flow.method_of(pointer)
        if not begins and owner not in self._entries:
            return None
        held = self._flow.sets.objects_of(pointer)
        for obj in held[self._given[held]].tolist():
            kind = int(self._objects.kind[obj])
            own = owner == (int(self._objects.method[obj]), int(self._objects.payload[obj]))
            if not begins and not (kind == heap.ENTRY and own):
                continue
            if kind == heap.ENTRY:
                at, text = sources.ARGUMENT, "a string that the JVM or an unknown caller passes in"
            else:
                native = int(self._objects.method[obj])
                name = shown(self._run.names.method(native).qualified) if native >= 0 else "the JVM"
                at, text = sources.NATIVE, f"a string that native code of {name} makes"
            return _Entry(at, text, self.origins.place(owner[0], 0) if owner else None)
        return None

    def _way(
        self, pointer: int, came: dict[int, _Step | None], ends: dict[int, tuple[Location, ...]]
    ) -> tuple[Location, ...]:
        """Returns what happens from a pointer on; copies within a method are not told."""
        found: list[Location] = []
        while (step := came[pointer]) is not None:
            if step.row == _PART:
                found.append(Location(self.origins.place_of(step.site), "it becomes a part of a string"))
            else:
                found += self._told(step.row, pointer)
            pointer = step.target
        return (*found, *ends[pointer])

    def _told(self, row: int, source: int) -> Iterator[Location]:
        """Yields what a flow does, in words; nothing for one that no instruction of interest makes."""
        flows = self._flows
        kind, target = KINDS[int(flows.kind[row])], int(flows.target[row])
        text = ""
        if kind in (flow.LOAD, flow.STORE):
            field = int(flows.set_field[(source if kind == flow.LOAD else target) - flows.first_set])
            if is_content(self._run.names, field, int(flows.method[row])):
                text = f"{'taken from' if kind == flow.LOAD else 'put into'} a collection"
            else:
                text = f"{'read from' if kind == flow.LOAD else 'assigned to'} field {self._field(field)}"
        elif kind in (flow.STATIC_LOAD, flow.STATIC_STORE):
            field = self._flow.field_of_static[source if kind == flow.STATIC_LOAD else target]
            verb = "read from" if kind == flow.STATIC_LOAD else "assigned to"
            text = f"{verb} static field {self._field(field)}"
        elif kind in (flow.ARRAY_LOAD, flow.ARRAY_STORE):
            text = "taken from an array" if kind == flow.ARRAY_LOAD else "put into an array"
        elif kind in (flow.ARGUMENT, flow.RECEIVER, flow.RETURN, flow.THROWN):
            owner = self._flow.method_of(target if kind in flow.INTO_CALL else source)
            name = shown(self._run.names.method(owner[0]).qualified) if owner else "a method"
            text = f"{_CALLS[kind]} {name}"
        if text and int(flows.method[row]) >= 0:
            place = self.origins.place(int(flows.method[row]), int(flows.offset[row]))
            yield Location(place, f"it is {text}")

    def _field(self, field: int) -> str:
        return shown(self._run.names.field(field))

    # --- kinds
    def _kind(self, method: int) -> str:
        known = self._known_kinds.get(method)
        if known is None:
            source = self._provenance.source_of(method)
            known = self._known_kinds[method] = source.kind if source is not None else ""
        return known

    def _is_input(self, kind: str) -> bool:
        return kind not in ("", COMPUTED, NAME)

    # --- columns
    @cached_property
    def _strings(self) -> NDArray[np.bool_]:
        """Which objects are strings of unknown text."""
        return string_objects(self._run, constant=False)

    @cached_property
    def _is_open(self) -> NDArray[np.bool_]:
        """Which pointers may hold a string of unknown text."""
        return self._flow.sets.holding(self._strings)

    @cached_property
    def _is_given(self) -> NDArray[np.bool_]:
        """Which pointers may hold a string that an unknown caller or native code makes."""
        return self._flow.sets.holding(self._given)

    @cached_property
    def _given(self) -> NDArray[np.bool_]:
        """Which objects are strings that an unknown caller or native code makes."""
        return self._strings & np.isin(self._objects.kind, (heap.ENTRY, heap.NATIVE))

    @cached_property
    def _entries(self) -> frozenset[tuple[int, int]]:
        """The parameters for which an unknown caller makes strings: a method and a position."""
        objects = self._objects
        made = self._strings & (np.asarray(objects.kind) == heap.ENTRY)
        return frozenset(zip(objects.method[made].tolist(), objects.payload[made].tolist(), strict=True))

    @cached_property
    def _called(self) -> dict[int, tuple[int, int]]:
        """The calls of input sources, with the source, by the pointers to which they return."""
        evidence = self._evidence
        methods = [each for each in np.unique(evidence.call_callee).tolist() if self._kind(each)]
        rows = np.flatnonzero(np.isin(evidence.call_callee, methods))
        sites, callees = evidence.call_site[rows], evidence.call_callee[rows]
        results = evidence.sites.result[sites].tolist()
        return dict(zip(results, zip(sites.tolist(), callees.tolist(), strict=True), strict=True))

    @cached_property
    def _flows(self) -> Flows:
        return flows_of(self._evidence)

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """The flows between pointers that may hold a string of unknown text; of fields of sets all."""
        flows = self._flows
        size = max(flows.first_set + len(flows.set_of), len(self._is_open))
        open_ = np.ones(size, np.bool_)
        open_[: len(self._is_open)] = self._is_open
        return np.flatnonzero(open_[flows.source] & open_[flows.target])

    @cached_property
    def _sources(self) -> NDArray[np.int32]:
        return self._flows.source[self._rows]

    @cached_property
    def _by_target(self) -> Index:
        return Index(self._flows.target[self._rows])
