"""Why nothing arrives at an operand: where the ways that lead to it begin, when no object comes along any of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cypher import schema
from cypher.schema import NONE, STATIC
from engine.flow import RETURN, THROWN, Flow, Relation

# Kinds of gap.
UNWRITTEN, UNCALLED, NO_TARGET, NO_RESULT, REJECTED, NULL, INPUT = (
    "unwritten", "uncalled", "no-target", "no-result", "rejected", "null", "input",
)  # fmt: skip
_VISITED = 3_000


class Gap(NamedTuple):
    """A beginning without an object, at `offset` of `method`.

    UNWRITTEN: nothing is stored in field `detail` (-1: array elements). UNCALLED: nobody calls `method` or
    passes its parameter. NO_TARGET: call `detail` (a site) runs no method. NO_RESULT: method `detail` returns
    nothing known. REJECTED: nothing passes a cast to type `detail`. NULL: nothing is assigned, or null.
    INPUT: call `detail` (a site) is of an input source.
    """

    kind: str
    method: int
    offset: int
    detail: int


class Gaps:
    """Looks for gaps."""

    def __init__(self, flow: Flow, is_source: Callable[[int], bool]) -> None:
        self._flow, self._is_source = flow, is_source
        self._static = dict(
            zip(flow.evidence.static_field.tolist(), flow.evidence.static_pointer.tolist(), strict=True)
        )

    def behind(self, pointer: int, most: int) -> list[Gap]:
        """Returns up to `most` gaps behind an empty pointer, the nearest first."""
        seen, queue = {pointer}, deque([pointer])
        found: dict[Gap, None] = {}
        while queue and len(found) < most and len(seen) < _VISITED:
            at = queue.popleft()
            for each in self._before(at):
                if isinstance(each, Gap):
                    found[each] = None
                elif each not in seen and self._flow.sets.is_empty(each):
                    seen.add(each)
                    queue.append(each)
        telling = [each for each in found if each.kind != NULL]
        return (telling or list(found))[:most]

    def _before(self, pointer: int) -> Iterator[Gap | int]:
        """Yields the pointers from which `pointer` might get something, and gaps."""
        rows = list(self._flow.rows_into(pointer))
        for relation, row in rows:
            yield from self._by_row(relation, row)
        owner = self._flow.method_of(pointer)
        if owner is not None and owner[1] < self._flow.parameters_of(owner[0]):
            yield from self._arguments(*owner)
        elif not rows and owner is None:
            yield Gap(NULL, NONE, NONE, NONE)

    def _by_row(self, relation: Relation, row: int) -> Iterator[Gap | int]:
        facts = self._flow.evidence.facts
        if relation in (RETURN, THROWN):
            yield from self._result(str(relation), row)
        elif relation in (schema.Load, schema.ArrayLoad):
            yield from self._load(relation, row)
        elif relation is schema.StaticLoad:
            yield from self._static_load(row)
        else:
            rows = facts[relation]
            source = int(rows.source[row])
            yield source
            if relation is schema.Cast and not self._flow.sets.is_empty(source):
                yield Gap(REJECTED, int(rows.method[row]), int(rows.offset[row]), int(rows.type[row]))

    def _load(self, relation: Relation, row: int) -> Iterator[Gap | int]:
        rows = self._flow.evidence.facts[relation]
        base = int(rows.base[row])
        if self._flow.sets.is_empty(base):
            yield base
            return
        field = int(rows.field[row]) if relation is schema.Load else NONE
        # Elements are stored all over a program: which stores are of this array is known only if they matter.
        stores = self._flow.rows_of(schema.Store, "field", field) if field >= 0 else []
        written = self._flow.evidence.facts[schema.Store].take(np.array(stores, np.int64))
        alike = self._flow.sets.meeting(written.base, self._flow.sets.objects_of(base))
        empty = [each for each in written.source[alike].tolist() if self._flow.sets.is_empty(each)]
        yield from empty
        if not empty:
            yield Gap(UNWRITTEN, int(rows.method[row]), int(rows.offset[row]), field)

    def _static_load(self, row: int) -> Iterator[Gap | int]:
        rows = self._flow.evidence.facts[schema.StaticLoad]
        field = int(rows.field[row])
        stores = self._flow.rows_of(schema.StaticStore, "field", field)
        sources = [int(self._flow.evidence.facts[schema.StaticStore].source[each]) for each in stores]
        yield from (each for each in sources if each >= 0)
        if not any(each >= 0 for each in sources):
            yield Gap(UNWRITTEN, int(rows.method[row]), int(rows.offset[row]), field)

    def _result(self, kind: str, site: int) -> Iterator[Gap | int]:
        sites = self._flow.evidence.sites
        at = int(sites.method[site]), int(sites.offset[site])
        callees = self._flow.callees(site).tolist()
        if any(map(self._is_source, callees)):
            yield Gap(INPUT, *at, site)
            return
        receiver = self._flow.argument(site, 0) if int(sites.kind[site]) != STATIC else NONE
        if receiver >= 0 and self._flow.sets.is_empty(receiver):
            yield receiver
        elif int(sites.cut[site]) or not callees:
            yield Gap(NO_TARGET, *at, site)
        for callee in callees if not int(sites.cut[site]) else ():
            returned = self._flow.variable(callee, self._flow.parameters_of(callee) + (kind == THROWN))
            if next(self._flow.rows_into(returned), None) is None:
                if kind == RETURN:
                    yield Gap(NO_RESULT, *at, callee)
            else:
                yield returned

    def _arguments(self, method: int, position: int) -> Iterator[Gap | int]:
        arguments = self._flow.argument_of(self._flow.callers(method), position)
        known: list[int] = arguments[arguments >= 0].tolist()
        yield from known
        if not known:
            yield Gap(UNCALLED, method, 0, position)
