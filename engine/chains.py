"""Shortest chains: how an object gets from where it is made, or enters the program, to a pointer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cypher import schema
from cypher.schema import NONE
from engine import heap
from engine.flow import INTO_CALL, LOCAL, OUT_OF_CALL, PASSED, RETURN, Fact, FactRelation, Flow, Step
from engine.hops import Hop, Hops, steps_of

# Kinds of origin.
CONSTANT, CLASS_LITERAL, NEW, MADE, RULE, CLASS_OF, NAME_OF, SOURCE, NATIVE, ENTRY, GIVEN = (
    "constant", "class-literal", "new", "made", "rule", "class-of", "name-of", "source", "native", "entry", "given",
)  # fmt: skip
# The most calls that a chain may have entered and not left, and the most states met before chains are allowed
# to leave calls at other places than those where they entered them.
_DEPTH, _STATES = 12, 30_000
_MADE = {
    heap.CLASS_OBJECT: "ClassObject", heap.METHOD_OBJECT: "MethodObject", heap.FIELD_OBJECT: "FieldObject",
    heap.UNKNOWN: "UnknownObject", heap.REFLECTIVE: "NewInstanceTarget", heap.HANDLE: "HandleObject",
    heap.MADE_HANDLE: "MadeHandle",
}  # fmt: skip
_FOUND = ("ClassObject", "MethodObject", "FieldObject")
_NAMED = "TextObject"
# What rules say that calls return, by which object or text it is.
RETURNED = (*_FOUND, _NAMED)
_KNOWN = frozenset({heap.STRING, heap.GENERIC, heap.CLASS_OBJECT, heap.METHOD_OBJECT, heap.FIELD_OBJECT})


class Origin(NamedTuple):
    """How an object first comes to `pointer`.

    MADE: a new string that `site` computes, a concatenation or constructor call. RULE: `site` is the reflective call,
    `relation` what was derived there; CLASS_OF: a call of `getClass`; NAME_OF: one that asks a class or member for its
    name; SOURCE: a call of the input source `callee`; NATIVE: `callee` is the method; GIVEN: by a model of the JVM.
    """

    kind: str
    pointer: int
    method: int
    offset: int
    facts: tuple[Fact, ...]
    site: int = NONE
    callee: int = NONE
    relation: str = ""

    @property
    def text(self) -> int:
        """The string constant of a CONSTANT, or the text that a NAME_OF returns."""
        return self.facts[0].row[2 if self.kind == CONSTANT else 1]


class Chain(NamedTuple):
    """The way of `obj` from its origin to a pointer, in the order in which it goes."""

    obj: int
    origin: Origin
    steps: tuple[Step, ...]


class Marks(NamedTuple):
    """What ends a chain besides facts.

    `derives(site, relation, payload)` says whether a rule made a call return a metaobject, `deriving(payload)` at which
    calls one may have, and `is_source(method)` whether a method is an input source; `computing(pointer)` is the call
    that computes the new string at a pointer, or -1.
    """

    derives: Callable[[int, str, int], bool]
    deriving: Callable[[int], Sequence[int]]
    is_source: Callable[[int], bool]
    computing: Callable[[int], int] = lambda _: NONE


# A pointer, and the calls that lead to it and have to be left where they were entered, innermost last.
_State = tuple[int, tuple[int, ...]]


class Chains:
    """Finds chains. Those that leave each call where it was entered come first; a heap access may do so anywhere."""

    def __init__(self, flow: Flow, marks: Marks) -> None:
        self._flow, self.marks = flow, marks
        self._found: dict[tuple[int, int, int], Chain] = {}

    def to(self, pointer: int, obj: int, wanted: int = NONE, *, exact: bool = True) -> Chain:
        """Returns a shortest chain of `obj` to `pointer`, which holds it; steps within a method count nothing.

        Unless it is `exact`, calls need not be left where they were entered. `wanted` says which text, type or member
        a generic object is to be.
        """
        found = self._found.get((pointer, obj, wanted))
        if found is None:
            found = self._search(pointer, obj, wanted, exact=True) if exact else None
            found = found or self._search(pointer, obj, wanted, exact=False)
            assert found is not None
            self._found[pointer, obj, wanted] = found
        return found

    def _search(self, pointer: int, obj: int, wanted: int, *, exact: bool) -> Chain | None:
        """Goes back breadth first, hops within a method before others."""
        hops = Hops(self._flow, obj, exact=exact)
        start: _State = (pointer, ())
        came: dict[_State, tuple[_State, Hop] | None] = {}
        queue: deque[tuple[_State, tuple[_State, Hop] | None]] = deque([(start, None)])
        seen: set[int] = set()
        while queue:
            state, by = queue.popleft()
            if state in came:
                continue
            came[state] = by
            if state[0] not in seen:
                seen.add(state[0])
                origin = self.origin(state[0], obj, hops, wanted)
                if origin is not None:
                    return Chain(obj, origin, self._steps(state, came))
            if exact and len(came) + len(queue) > _STATES:
                return None
            entered = state[1][-1] if state[1] else NONE
            for hop in hops.into(state[0], entered):
                context = _before(hop, state[1]) if exact else ()
                if len(context) <= _DEPTH and (before := (hop.source, context)) not in came:
                    if hop.kind in LOCAL:
                        queue.appendleft((before, (state, hop)))
                    else:
                        queue.append((before, (state, hop)))
        end = next((state for state in came if hops.is_end(state[0])), None)
        if end is None and exact:
            return None
        end = end or start
        return Chain(obj, self.given(end[0], obj), self._steps(end, came))

    def _steps(self, state: _State, came: dict[_State, tuple[_State, Hop] | None]) -> tuple[Step, ...]:
        """Returns the steps from `state` on, those that leave a call elsewhere than it was entered marked."""
        steps: list[Step] = []
        while (by := came[state]) is not None:
            state, hop = by
            steps += steps_of(self._flow, hop)
        return tuple(marked(steps))

    # --- origins
    def origin(self, pointer: int, obj: int, hops: Hops, wanted: int = NONE) -> Origin | None:
        """Returns how `obj` is put into `pointer`, None if it only comes from other pointers; `wanted` as for `to`."""
        for relation, row in self._flow.rows_into(pointer):
            if (
                relation is schema.New
                or relation is schema.StringConstant
                or relation is schema.ClassConstant
            ):
                origin = self._by_fact(relation, row, pointer, obj, wanted)
            elif relation == RETURN:
                origin = self._by_call(row, pointer, obj, hops, wanted)
            else:
                continue
            if origin is not None:
                return origin
        return self._by_list(pointer, obj, hops, wanted) or self._by_native(pointer, obj)

    def _by_fact(
        self, relation: FactRelation, row: int, pointer: int, obj: int, wanted: int
    ) -> Origin | None:
        objects, rows = self._flow.evidence.objects, self._flow.evidence.facts[relation]
        kind, payload = int(objects.kind[obj]), int(objects.payload[obj])
        method, offset = int(rows.method[row]), int(rows.offset[row])
        if relation is schema.StringConstant:
            text = int(rows.text[row])
            # Any constant may be behind the generic string; behind the plain one, those without a name.
            generic = kind == heap.GENERIC and (obj == self.plain_string) != (text in self._named)
            if wanted != NONE:
                generic = kind == heap.GENERIC and text == wanted
            known = payload == text if kind == heap.STRING else generic
            found = CONSTANT
        elif relation is schema.ClassConstant:
            type_ = wanted if kind == heap.GENERIC else payload
            known = kind in (heap.CLASS_OBJECT, heap.GENERIC) and type_ == int(rows.type[row])
            found = CLASS_LITERAL
        else:
            same = (int(objects.method[obj]), int(objects.offset[obj])) == (method, offset)
            known = int(objects.type[obj]) == int(rows.type[row]) and (
                kind == heap.MERGED or (kind == heap.ALLOCATED and same)
            )
            found = NEW
        facts = (self._flow.fact(relation, row),)
        site = self.marks.computing(pointer) if found == NEW and known else NONE
        if site >= 0:
            sites = self._flow.evidence.sites
            joined = Fact("Invoke", self._flow.invoke(site))
            method, offset = int(sites.method[site]), int(sites.offset[site])
            return Origin(MADE, pointer, method, offset, (*facts, joined), site)
        return Origin(found, pointer, method, offset, facts) if known else None

    @cached_property
    def _named(self) -> frozenset[int]:
        """The string constants that are objects of their own."""
        objects = self._flow.evidence.objects
        return frozenset(objects.payload[objects.kind == heap.STRING].tolist())

    @cached_property
    def plain_string(self) -> int:
        """The object that stands for the string constants that name nothing, -1 if it is not known."""
        objects, strings = self._flow.evidence.objects, self._flow.evidence.facts[schema.StringConstant]
        candidates = set(np.flatnonzero(objects.kind == heap.GENERIC).tolist())
        for target in strings.target[~np.isin(strings.text, list(self._named))].tolist():
            candidates &= set(self._flow.sets.objects_of(target).tolist())
            if len(candidates) == 1:
                return candidates.pop()
        return NONE

    def _by_call(self, site: int, pointer: int, obj: int, hops: Hops, wanted: int) -> Origin | None:
        """Returns the origin if the call at `site` is reflective, of `getClass`, or of an input source."""
        objects, sites = self._flow.evidence.objects, self._flow.evidence.sites
        kind = int(objects.kind[obj])
        method, offset = int(sites.method[site]), int(sites.offset[site])
        put = Fact("PointsTo", (pointer, obj))
        if int(sites.cut[site]):
            payload = int(objects.payload[obj])
            own = kind != heap.UNKNOWN or payload == site
            if kind == heap.REFLECTIVE:
                payload = int(objects.type[obj])
            elif kind == heap.HANDLE:
                payload = heap.member_of_handle(payload)
            made = _MADE.get(kind, "") if own else ""
            if kind == heap.GENERIC and wanted != NONE:
                payload = wanted
                made = next((each for each in _FOUND if self.marks.derives(site, each, payload)), "")
            if made and self.marks.derives(site, made, payload):
                facts = (Fact(made, (site, payload)), put) if made in _FOUND else (put,)
                return Origin(RULE, pointer, method, offset, facts, site, relation=made)
            text = payload if kind == heap.STRING else wanted
            if kind in (heap.STRING, heap.GENERIC) and self.marks.derives(site, _NAMED, text):
                return Origin(NAME_OF, pointer, method, offset, (Fact(_NAMED, (site, text)), put), site)
            if kind == heap.GENERIC and wanted != NONE:
                return None
            asked = kind == heap.CLASS_OF and payload == site
            if asked or (kind == heap.UNKNOWN and not own and site in self._asking):
                return Origin(CLASS_OF, pointer, method, offset, (put,), site)
        if kind in _KNOWN:
            return None
        # (what a model says that a call returns, its callees need not return)
        callees = self._flow.callees(site).tolist() if int(sites.cut[site]) else hops.handing(RETURN, site)
        specified = kind == heap.UNKNOWN and int(objects.payload[obj]) == site
        callee = next(filter(self.marks.is_source, callees), callees[0] if specified and callees else NONE)
        if callee == NONE:
            return None
        return Origin(SOURCE, pointer, method, offset, (put, Fact("Calls", (site, callee))), site, callee)

    @cached_property
    def _asking(self) -> frozenset[int]:
        """The calls of getClass."""
        objects = self._flow.evidence.objects
        return frozenset(objects.payload[objects.kind == heap.CLASS_OF].tolist())

    def _by_list(self, pointer: int, obj: int, hops: Hops, wanted: int) -> Origin | None:
        """Returns the origin of a member object that is in an array that a reflective call returns."""
        facts = self._flow.evidence.facts
        stores, copies = facts[schema.ArrayStore], facts[schema.Assign]
        made = _MADE.get(int(self._flow.evidence.objects.kind[obj]))
        if made is None or next(self._flow.rows_into(pointer), None) is not None:
            return None
        arrays = (int(stores.base[row]) for row in self._flow.rows_of(schema.ArrayStore, "source", pointer))
        copied = (row for array in arrays for row in self._flow.rows_of(schema.Assign, "source", array))
        for result in map(int, copies.target[list(copied)]):
            for relation, site in self._flow.rows_into(result):
                origin = self._by_call(site, pointer, obj, hops, wanted) if relation == RETURN else None
                if origin is not None and origin.kind == RULE:
                    return origin
        return None

    def _by_native(self, pointer: int, obj: int) -> Origin | None:
        objects = self._flow.evidence.objects
        kind, made_by = int(objects.kind[obj]), int(objects.method[obj])
        if kind not in (heap.NATIVE, heap.UNKNOWN):
            return None
        owner = self._flow.method_of(pointer)
        if owner is None or owner[1] != self._flow.parameters_of(owner[0]):
            return None
        # (by the native methods that return what the JVM keeps)
        shared = kind == heap.NATIVE and made_by == NONE and self._returns_kept(pointer)
        if not (shared or made_by == owner[0]) or int(objects.offset[obj]) != NONE:
            return None
        put = Fact("PointsTo", (pointer, obj))
        return Origin(NATIVE, pointer, owner[0], 0, (put,), callee=owner[0])

    def _returns_kept(self, pointer: int) -> bool:
        """Returns whether a model says what a method returns; no instruction that returns something is at offset 0."""
        offset = self._flow.evidence.facts[schema.Assign].offset
        into = [row for relation, row in self._flow.rows_into(pointer) if relation is schema.Assign]
        return any(int(offset[row]) == 0 for row in into)

    def given(self, pointer: int, obj: int) -> Origin:
        """Returns the origin of what comes to a pointer by nothing that the program says."""
        kind = ENTRY if int(self._flow.evidence.objects.kind[obj]) == heap.ENTRY else GIVEN
        return Origin(kind, pointer, NONE, NONE, (Fact("PointsTo", (pointer, obj)),))


def _before(hop: Hop, context: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the calls to be left before `hop`."""
    if hop.kind in LOCAL or hop.kind == PASSED:
        return context
    if hop.kind in OUT_OF_CALL:
        return (*context, hop.row)
    return context[:-1] if hop.kind in INTO_CALL else ()


def marked(steps: Iterable[Step]) -> Iterator[Step]:
    """Yields steps in the order of the flow; `mixed` is set where a call returns to where it wasn't made."""
    entered: list[int] = []
    for step in steps:
        if step.kind in INTO_CALL:
            entered.append(step.site)
        elif step.kind in OUT_OF_CALL:
            if entered and entered.pop() != step.site:
                yield step._replace(mixed=True)
                continue
        elif step.kind not in LOCAL and step.kind != PASSED:
            entered.clear()
        yield step
