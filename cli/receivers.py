"""Why no receiver comes to a call: it is read from a field, and what stores to that may not run according to the run.

Where nothing comes from is found in the run: fields to which nothing is stored, and casts that nothing passes, such
as of what is taken out of a collection. What would have stored there is among the observed methods that the run
lacks, whose class files are read for it, and among the observed calls of `Field.set`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cli.evidence import evidence
from cli.matching import Graph
from cli.observed import Method, ReflectiveCall
from cli.phrases import is_content
from cli.text import class_name
from cypher import schema
from cypher.schema import NONE
from engine.flow import COPIES, RETURN, FactRelation, Flow
from engine.gaps import REJECTED, UNWRITTEN, Gap, Gaps
from loader.csr import TextTable
from loader.translate import translate
from loader.unit import Unit

_FIELD_SET = "java.lang.reflect.Field.set"
_GAPS = 20
# What methods do to fields: store to them, or pass one of their parameters to a call on what is there.
_STORES, _ADDS = "stores to", "adds to"


class Store(NamedTuple):
    """What `event`, which the run lacks, does to a field, named `a.b.C.f`."""

    event: Method | ReflectiveCall
    does: str
    field: str


class _Field(NamedTuple):
    """A field as an instruction names it; `owner` may inherit it."""

    owner: str
    name: str
    descriptor: str


class Receivers:
    """Finds the fields from which receivers come, and what was observed to store to them.

    `missing` are the reflective calls that the run lacks.
    """

    def __init__(self, graph: Graph, missing: Iterable[ReflectiveCall]) -> None:
        self._graph = graph
        self._setting: dict[str, list[ReflectiveCall]] = {}
        for each in missing:
            if each.api == _FIELD_SET:
                self._setting.setdefault(each.target, []).append(each)

    def stores(self, sites: Sequence[int]) -> list[Store]:
        """Returns what would have stored the receivers of calls; nothing if one of them has a receiver."""
        receivers = [self._flow.argument(each, 0) for each in sites]
        if not all(each >= 0 and self._flow.sets.is_empty(each) for each in receivers):
            return []
        return list(dict.fromkeys(store for each in receivers for store in self._nearest(each)))

    @cached_property
    def _flow(self) -> Flow:
        return Flow(evidence(self._graph.run))

    def _nearest(self, pointer: int) -> list[Store]:
        """Returns the stores to the nearest field behind an empty pointer to which something would have stored."""
        gaps = Gaps(self._flow, lambda _: False).behind(pointer, _GAPS)
        return next(filter(None, map(self._stores_behind, gaps)), [])

    def _stores_behind(self, gap: Gap) -> list[Store]:
        if gap.kind == REJECTED:
            return self._adds_to(self._at(schema.Cast, gap, "source"))
        if gap.kind == UNWRITTEN and is_content(self._graph.names, gap.detail, gap.method):
            return self._adds_to(self._at(schema.Load, gap, "base"))
        if gap.kind == UNWRITTEN and gap.detail >= 0:
            return self._stores_to(gap.detail, _STORES)
        return []

    def _at(self, relation: FactRelation, gap: Gap, column: str) -> list[int]:
        """Returns the variables in a column of a relation's rows at the place of a gap."""
        rows = self._flow.evidence.facts[relation]
        at = [
            row
            for row in self._flow.rows_of(relation, "method", gap.method)
            if int(rows.offset[row]) == gap.offset
        ]
        found: list[int] = getattr(rows, column)[at].tolist()
        return found

    def _adds_to(self, taken: list[int]) -> list[Store]:
        """Returns what adds to what one of the variables is, or is taken out of."""
        return [
            store
            for field in self._collections(taken)
            for store in self._stores_to(field, _ADDS) or self._stores_to(field, _STORES)
        ]

    def _collections(self, waiting: list[int]) -> list[int]:
        """Returns the fields that hold what variables are, or are taken out of, as their method reads it."""
        found, seen = [], set(waiting)
        while waiting:
            for relation, row in self._flow.rows_into(waiting.pop()):
                source = NONE
                if relation in (schema.Load, schema.StaticLoad):
                    found.append(int(self._flow.evidence.facts[relation].field[row]))
                elif relation == RETURN:
                    source = self._flow.argument(row, 0)
                elif relation in COPIES:
                    source = int(self._flow.evidence.facts[relation].source[row])
                if source >= 0 and source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return found

    def _stores_to(self, field: int, does: str) -> list[Store]:
        wanted = _Field(*self._graph.names.field_parts(field))
        name = f"{class_name(wanted.owner)}.{wanted.name}"
        writers = (
            method
            for owner, method in self._writers.get((does, *wanted[1:]), ())
            if wanted.owner in self._graph.with_superclasses(owner)
        )
        setting = self._setting.get(name, ()) if does == _STORES else ()
        return [Store(each, does, name) for each in (*writers, *setting)]

    @cached_property
    def _writers(self) -> dict[tuple[str, ...], list[tuple[str, Method]]]:
        """What observed methods that may not run do to fields of a name and descriptor, as (owner named, method)."""
        unreached = {each for each in self._graph.methods if not self._graph.reaches(each)}
        unit = translate(self._graph.class_files({each.declaring for each in unreached}), "")
        found: dict[tuple[str, ...], list[tuple[str, Method]]] = {}
        for does, rows in ((_STORES, _storing(unit)), (_ADDS, _adding(unit))):
            for method, field in _named(unit, rows):
                if method in unreached:
                    found.setdefault((does, *field[1:]), []).append((field.owner, method))
        return found


def _storing(unit: Unit) -> set[tuple[int, int]]:
    """Returns the (method, field reference) of stores."""
    return {
        pair
        for relation in ("store", "static_store")
        for pair in zip(_methods(unit, relation), unit.body[relation]["field_ref"].tolist(), strict=True)
    }


def _adding(unit: Unit) -> set[tuple[int, int]]:
    """Returns the (method, field reference) of calls on the field's value to which the method passes a parameter."""
    columns = (unit.body["argument"][each].tolist() for each in ("ordinal", "position", "variable"))
    rows = list(zip(_methods(unit, "argument"), *columns, strict=True))
    passing = {
        (method, ordinal)
        for method, ordinal, position, variable in rows
        if position > 0 and variable < unit.method_parameters[method]
    }
    called_on = {
        (method, variable)
        for method, ordinal, position, variable in rows
        if position == 0 and (method, ordinal) in passing
    }
    return {
        (method, field)
        for relation in ("load", "static_load")
        for method, target, field in zip(
            _methods(unit, relation),
            *(unit.body[relation][each].tolist() for each in ("target", "field_ref")),
            strict=True,
        )
        if (method, target) in called_on
    }


def _methods(unit: Unit, relation: str) -> list[int]:
    """Returns the method of each row of a relation."""
    found: list[int] = np.repeat(np.arange(len(unit.method_flags)), np.diff(unit.body_at[relation])).tolist()
    return found


def _named(unit: Unit, rows: Iterable[tuple[int, int]]) -> Iterator[tuple[Method, _Field]]:
    """Yields the (method, field reference) of `rows` by name."""
    texts = TextTable(unit.text_at, unit.text_bytes)
    for method, field in sorted(rows):
        class_ = int(np.searchsorted(unit.class_methods_at, method, "right")) - 1
        signature = int(unit.method_signature[method])
        yield (
            Method(
                texts.one(int(unit.type_text[unit.class_type[class_]])),
                texts.one(int(unit.signature_name[signature])),
                texts.one(int(unit.signature_descriptor[signature])),
            ),
            _Field(
                texts.one(int(unit.type_text[unit.field_ref_type[field]])),
                texts.one(int(unit.field_ref_name[field])),
                texts.one(int(unit.field_ref_descriptor[field])),
            ),
        )
