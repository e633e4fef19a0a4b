"""Facts of method bodies: rows of units, gathered and renumbered many methods at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher.schema import (
    FACTS,
    NONE,
    STATIC,
    Argument,
    ArrayLoad,
    ArrayStore,
    Assign,
    Cast,
    Catch,
    ClassConstant,
    ExactArgument,
    Facts,
    HandleConstant,
    Initialises,
    Int32,
    Int64,
    Invoke,
    Load,
    New,
    ResultCast,
    Rows,
    StaticLoad,
    StaticStore,
    Store,
    StringConstant,
    Uncaught,
    concatenate,
    empty,
)
from loader.bootstrap import handle_constant
from loader.csr import spans
from loader.dynamic import Dynamics
from loader.expansion import Linkage, Row, emit
from loader.part import Part
from loader.site import read_handle
from loader.texts import Texts
from loader.unit import CLASS, METHOD_HANDLE, METHOD_TYPE, RELATIONS, STRING

# Relations of units whose rows are, column for column, those of a relation of the schema.
_DIRECT: dict[str, type[Row]] = {
    "new": New, "assign": Assign, "cast": Cast, "load": Load, "store": Store, "array_load": ArrayLoad,
    "array_store": ArrayStore, "static_load": StaticLoad, "static_store": StaticStore, "catch": Catch,
    "uncaught": Uncaught,
}  # fmt: skip
_VARIABLES = frozenset({"target", "source", "base", "result", "thrown", "variable"})
_METHOD_TYPE_CLASS = "java/lang/invoke/MethodType"


class Batch(NamedTuple):
    """Methods of one part: their ids, rows of the unit, and first variables."""

    part: Part
    methods: Int32
    rows: Int32
    first_variable: Int32


class Gathered(NamedTuple):
    """Rows of one relation for a batch: the place in the batch of each row's method, and the unit's columns."""

    owner: Int64
    counts: Int64
    columns: dict[str, Int32]


class Trigger(NamedTuple):
    """Instructions that may trigger initialisation: columns of `Initialises`."""

    method: Int32
    offset: Int32
    type: Int32


class Bodies:
    """Answers for the facts of methods."""

    def __init__(self, linkage: Linkage, parts: Sequence[Part], texts: Texts, dynamics: Dynamics) -> None:
        self._linkage = linkage
        self._parts = parts
        self._texts = texts
        self._dynamics = dynamics

    def facts_of(self, methods: Int32, first_variable: Int32, first_site: int) -> Facts:
        """Returns the facts of the bodies of `methods`, as `cypher.program.Program` says."""
        known = self._linkage.methods
        known.enter()
        where, rows = known.part.view[methods], known.row.view[methods]
        pieces: dict[type[Row], list[Rows]] = {relation: [] for relation in FACTS}
        triggers: list[Trigger] = []
        bodies: list[tuple[Sequence[Row], int]] = []
        site = first_site
        for number, part in enumerate(self._parts):
            here = np.flatnonzero(where == number)
            if len(here):
                batch = Batch(part, methods[here], rows[here], first_variable[here])
                site = self._add(batch, site, pieces, triggers)
                bodies += self._dynamic_calls(batch)
        made = np.flatnonzero(where == NONE)
        for method, first in zip(methods[made].tolist(), first_variable[made].tolist(), strict=True):
            bodies.append((self._dynamics.body(method), first))
        for relation, emitted in emit(bodies, site)[0].items():
            if relation is Initialises:
                triggers.append(Trigger(*emitted))
            else:
                pieces[relation].append(emitted)
        facts = {relation: _joined(relation, each) for relation, each in pieces.items()}
        facts[Initialises] = self._initialises(triggers)
        return facts

    def _add(
        self, batch: Batch, site: int, pieces: dict[type[Row], list[Rows]], triggers: list[Trigger]
    ) -> int:
        """Adds the rows of a batch and returns the number of the next call site."""
        for name, relation in _DIRECT.items():
            gathered = _gather(batch, name)
            if gathered is None:
                continue
            columns = [self._column(batch, gathered, each) for each in RELATIONS[name]]
            found = Rows(relation, [batch.methods[gathered.owner], *columns])
            if name in ("new", "static_load", "static_store"):
                triggers.append(self._trigger(found))
            if name == "static_load":
                found = found.take(found.target >= 0)
            elif name == "static_store":
                found = found.take(found.source >= 0)
            pieces[relation].append(found)
        constants = _gather(batch, "constant")
        if constants is not None:
            self._add_constants(batch, constants, pieces)
        invokes = _gather(batch, "invoke")
        if invokes is None:
            return site
        calls = self._invokes(batch, invokes, site)
        pieces[Invoke].append(calls)
        triggers.append(self._static_calls(calls))
        first = np.cumsum(invokes.counts) - invokes.counts + site
        for name, relation in (("argument", Argument), ("exact_argument", ExactArgument)):
            gathered = _gather(batch, name)
            if gathered is not None:
                pieces[relation].append(_arguments(batch, gathered, relation, name, first))
        casts = _gather(batch, "result_cast")
        if casts is not None:
            sites = (first[casts.owner] + casts.columns["ordinal"]).astype(np.int32)
            pieces[ResultCast].append(Rows(ResultCast, [sites, self._column(batch, casts, "type_ref")]))
        return site + len(calls)

    def _column(self, batch: Batch, gathered: Gathered, name: str) -> Int32:
        """Returns a column of a unit's relation in the numbers of the program."""
        values = gathered.columns[name]
        if name in _VARIABLES:
            return _rebased(batch, gathered.owner, values)
        if name == "type_ref":
            return self._linkage.types.of_refs(batch.part, values)
        if name == "field_ref":
            return self._linkage.fields.of_refs(batch.part, values)
        return values

    def _trigger(self, found: Rows) -> Trigger:
        """Returns what `new`, or an access to a static field, may initialise."""
        if found.relation is New:
            return Trigger(found.method, found.offset, found.type)
        return Trigger(found.method, found.offset, self._linkage.fields.declaring.view[found.field])

    def _static_calls(self, calls: Rows) -> Trigger:
        static = np.flatnonzero((calls.kind == STATIC) & (calls.callee >= 0))
        declaring = self._linkage.methods.declaring.view[calls.callee[static]]
        return Trigger(calls.method[static], calls.offset[static], declaring)

    def _invokes(self, batch: Batch, invokes: Gathered, site: int) -> Rows:
        columns = invokes.columns
        methods = batch.methods[invokes.owner]
        callers = self._linkage.methods.declaring.view[methods]
        calls = self._linkage.resolver.calls(batch.part, columns["opcode"], columns["method_ref"], callers)
        sites = np.arange(site, site + len(methods), dtype=np.int32)
        result, thrown = (_rebased(batch, invokes.owner, columns[each]) for each in ("result", "thrown"))
        return Rows(Invoke, [sites, methods, columns["offset"], *calls, result, thrown])

    def _add_constants(self, batch: Batch, gathered: Gathered, pieces: dict[type[Row], list[Rows]]) -> None:
        kind, ref, offset = (gathered.columns[each] for each in ("kind", "ref", "offset"))
        methods, target = batch.methods[gathered.owner], self._column(batch, gathered, "target")

        def add(here: NDArray[np.int64], relation: type[Row], what: Int32) -> None:
            pieces[relation].append(Rows(relation, [methods[here], offset[here], what, target[here]]))

        strings, classes = np.flatnonzero(kind == STRING), np.flatnonzero(kind == CLASS)
        if len(strings):
            add(strings, StringConstant, self._texts.of_refs(batch.part, ref[strings]))
        if len(classes):
            add(classes, ClassConstant, self._linkage.types.of_refs(batch.part, ref[classes]))
        here = np.flatnonzero(kind == METHOD_TYPE)
        if len(here):
            add(here, New, np.full(len(here), self._linkage.types.named(_METHOD_TYPE_CLASS), np.int32))
        here = np.flatnonzero(kind == METHOD_HANDLE)
        if len(here):
            callers = self._linkage.methods.declaring.view[methods[here]]
            columns = [
                handle_constant(self._linkage, read_handle(batch.part, each), caller)
                for each, caller in zip(ref[here].tolist(), callers.tolist(), strict=True)
            ]
            table = np.array(columns, np.int32).T
            rows = Rows(HandleConstant, [methods[here], offset[here], *table, target[here]])
            pieces[HandleConstant].append(rows)

    def _dynamic_calls(self, batch: Batch) -> list[tuple[Sequence[Row], int]]:
        """Returns rows for the `invokedynamic` instructions of a batch, with first variables."""
        at = batch.part.unit.body_at["dynamic"]
        here = np.flatnonzero(at[batch.rows + 1] > at[batch.rows])
        chosen = zip(batch.methods[here].tolist(), batch.first_variable[here].tolist(), strict=True)
        return [(self._dynamics.call_sites(method), first) for method, first in chosen]

    def _initialises(self, triggers: Sequence[Trigger]) -> Rows:
        """Returns one row for each method and type whose initialisation runs something, with the first offset."""
        if not triggers:
            return empty(Initialises)
        self._linkage.methods.enter()
        method, offset, type_ = (np.concatenate(each) for each in zip(*triggers, strict=True))
        runs = np.flatnonzero(self._linkage.methods.runs.view[type_])
        method, offset, type_ = method[runs], offset[runs], type_[runs]
        order = np.lexsort((offset, type_, method))
        method, offset, type_ = method[order], offset[order], type_[order]
        first = np.ones(len(method), np.bool_)
        first[1:] = (np.diff(method) != 0) | (np.diff(type_) != 0)
        return Rows(Initialises, [method[first], offset[first], type_[first]])


def _gather(batch: Batch, relation: str) -> Gathered | None:
    """Returns the rows of a relation of the unit for the methods of a batch, None if there are none."""
    unit = batch.part.unit
    at = unit.body_at[relation]
    starts = at[batch.rows]
    counts = at[batch.rows + 1] - starts
    if not counts.any():
        return None
    positions = spans(starts, counts)
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return Gathered(owner, counts, {name: column[positions] for name, column in unit.body[relation].items()})


def _rebased(batch: Batch, owner: Int64, values: Int32) -> Int32:
    """Returns variables of methods in the numbers of the program; -1 stays."""
    rebased = values + batch.first_variable[owner]
    none = values < 0
    if none.any():
        rebased[none] = NONE
    return rebased


def _arguments(batch: Batch, gathered: Gathered, relation: type[Row], name: str, first: Int64) -> Rows:
    """Returns rows of arguments by site and position; `first` is the first call site of each method."""
    columns = gathered.columns
    site = (first[gathered.owner] + columns["ordinal"]).astype(np.int32)
    variable = _rebased(batch, gathered.owner, columns["variable"])
    others = [columns[each] for each in RELATIONS[name][1:-1]]
    found = Rows(relation, [site, *others, variable])
    key = site.astype(np.int64) << 16 | columns["position"]
    return found if (np.diff(key) >= 0).all() else found.take(np.argsort(key, kind="stable"))


def _joined(relation: type[Row], pieces: Sequence[Rows]) -> Rows:
    if len(pieces) == 1:
        return pieces[0]
    return concatenate(pieces) if pieces else empty(relation)
