"""What a program gathers texts in: string builders and joiners, arrays of characters or references, collections.

Builders are followed over arguments and fields of such types; who shares one is not told apart by object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, partial
from typing import Protocol

import numpy as np

from cypher import schema
from cypher.schema import NONE
from engine.constraints import BUILDERS, STRING
from engine.flow import RETURN, Flow
from engine.reflection.names import parameter_descriptors
from engine.sets import Bools

_BUILDERS = (*BUILDERS, "java/util/StringJoiner", "java/io/StringWriter", "java/io/CharArrayWriter")
# As what a builder is handed on.
_TRAVELS = frozenset(
    {*(f"L{each};" for each in _BUILDERS), "Ljava/lang/Appendable;", "Ljava/io/Writer;", "[C"}
)
_CHARACTERS = ("[C", "[B")
_PUTTING = frozenset(
    {"<init>", "append", "insert", "replace", "write", "add", "addAll", "addFirst", "addLast", "merge"}
)
# What returns the characters of a string, and what returns a collection of its arguments.
_EXPLODING = frozenset({"toCharArray", "getBytes"})
_LISTING = frozenset({("java/util/List", "of"), ("java/util/Set", "of"), ("java/util/Arrays", "asList")})


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


class ElementNames(Protocol):
    """Names of methods, fields and types."""

    def method(self, method: int) -> MemberName:
        """Returns a method by name."""

    def field_parts(self, field: int) -> tuple[str, str, str]:
        """Returns (internal name of the declaring type, name, descriptor) of a field."""

    def internal_type(self, type_: int) -> str:
        """Returns the internal name or array descriptor of a type."""


class Gathered:
    """Takes apart what texts are gathered in."""

    def __init__(self, flow: Flow, names: ElementNames) -> None:
        self._flow, self._names = flow, names
        self._facts, self._sites = flow.evidence.facts, flow.evidence.sites
        # Each is asked of the same variables for many texts.
        self._sources = cache(partial(self._led, self._before))
        self._targets = cache(partial(self._led, self._after))
        self._parts = cache(lambda variable: list(self._puts(variable)))

    def texts(self, variables: Iterable[int], method: int) -> Iterator[int]:
        """Yields the variables, each in which texts are gathered behind what is put into it.

        What `method` puts into it comes first, in the order of its code.
        """
        pending, seen = list(variables)[::-1], set[int]()
        while pending:
            variable = pending.pop()
            if variable in seen:
                continue
            seen.add(variable)
            gathers = self._gathers[variable] and not self._strings[variable]
            inside = self._inside(variable, method) if gathers else []
            if not inside:
                yield variable
            pending += inside[::-1]

    def _inside(self, variable: int, method: int) -> list[int]:
        """Returns what is put into what a variable refers to."""
        above = self._closure([variable], self._sources)
        found: set[tuple[bool, int, int, int]] = set()
        for alias in self._closure(above, self._targets):
            found.update((at != method, at, offset, put) for at, offset, put in self._parts(alias))
        inside = [put for *_, put in sorted(found) if put >= 0]
        return list(dict.fromkeys(inside)) or self._elements(variable)

    def _closure(self, start: Iterable[int], more: Callable[[int], list[int]]) -> list[int]:
        """Returns the variables to which `more` leads, over fields as well."""
        found = dict.fromkeys(start)
        pending = list(found)
        while pending:
            for each in more(pending.pop()):
                if each not in found:
                    found[each] = None
                    pending.append(each)
        return [each for each in found if each >= 0]

    def _led(self, more: Callable[[int], Iterator[int]], at: int) -> list[int]:
        """Returns where `more` leads from a variable; from a field (see `_shared`), the variables that share it."""
        led = more(at) if at >= 0 else self._sharing(_shared(at))
        return [each for each in dict.fromkeys(led) if each != NONE]

    def _elements(self, variable: int) -> list[int]:
        """Returns the pointers to elements of the arrays of references to which a variable refers."""
        objects = self._flow.sets.objects_of(variable)
        return [self._element_of[each] for each in objects.tolist() if each in self._element_of]

    # --- what refers to the same
    def _before(self, variable: int) -> Iterator[int]:
        """Yields the variables from which a variable gets what it refers to."""
        for relation, row in self._flow.rows_into(variable):
            if relation is schema.Assign or relation is schema.Cast:
                yield int(self._facts[relation].source[row])
            elif relation == RETURN:
                yield from self._returning(row)
            elif relation is schema.Load or relation is schema.StaticLoad:
                yield _shared(int(self._facts[relation].field[row]))
        owner = self._flow.method_of(variable)
        if owner is not None and self._travels(*owner):
            yield from self._flow.argument_of(self._flow.callers(owner[0]), owner[1]).tolist()

    def _after(self, variable: int) -> Iterator[int]:
        """Yields the variables that get what a variable refers to."""
        for relation in (schema.Assign, schema.Cast):
            for row in self._flow.rows_of(relation, "source", variable):
                yield int(self._facts[relation].target[row])
        for stores in (schema.Store, schema.StaticStore):
            for row in self._flow.rows_of(stores, "source", variable):
                yield _shared(int(self._facts[stores].field[row]))
        for row in self._flow.rows_of(schema.Argument, "variable", variable):
            site, position = self._argument(row)
            found = self._callee(site)
            if found is not None and position == 0 and self._is_fluent(found):
                yield int(self._sites.result[site])
                continue
            for callee in self._flow.callees(site).tolist():
                if self._travels(callee, position):
                    yield self._flow.variable(callee, position)

    def _returning(self, site: int) -> Iterator[int]:
        """Yields the variables that a call may return: the receiver, of a method of builders that returns it."""
        found = self._callee(site)
        if found is None:
            return
        if self._is_fluent(found):
            yield self._flow.argument(site, 0)
        elif found.descriptor.rpartition(")")[2] in _TRAVELS and found.declaring != STRING:
            for callee in self._flow.callees(site).tolist():
                yield self._flow.variable(callee, self._flow.parameters_of(callee))

    def _sharing(self, field: int) -> Iterator[int]:
        """Yields what is stored in and loaded from a field, if it holds builders."""
        if self._names.field_parts(field)[2] not in _TRAVELS:
            return
        for relation, column in (
            (schema.Store, "source"), (schema.StaticStore, "source"), (schema.Load, "target"), (schema.StaticLoad, "target"),
        ):  # fmt: skip
            for row in self._flow.rows_of(relation, "field", field):
                yield int(getattr(self._facts[relation], column)[row])

    def _travels(self, method: int, position: int) -> bool:
        """Returns whether a parameter takes builders, of a method that is not theirs."""
        found = self._names.method(method)
        parameters = parameter_descriptors(found.descriptor)
        place = position - (self._flow.parameters_of(method) - len(parameters))
        return (
            found.declaring not in _BUILDERS
            and 0 <= place < len(parameters)
            and parameters[place] in _TRAVELS
        )

    def _is_fluent(self, method: MemberName) -> bool:
        return method.declaring in _BUILDERS and method.descriptor.rpartition(")")[2] in _TRAVELS

    def _argument(self, row: int) -> tuple[int, int]:
        """Returns (site, position) of a row of `Argument`."""
        rows = self._facts[schema.Argument]
        return int(rows.site[row]), int(rows.position[row])

    def _callee(self, site: int) -> MemberName | None:
        """Returns the method that a call names, None if it resolves to none."""
        callee = int(self._sites.callee[site])
        return self._names.method(callee) if callee >= 0 else None

    # --- what is put there
    def _puts(self, variable: int) -> Iterator[tuple[int, int, int]]:
        """Yields (method, offset, variable) of what is put into what a variable refers to."""
        for row in self._flow.rows_of(schema.Argument, "variable", variable):
            site, position = self._argument(row)
            found = self._callee(site)
            if found is not None and position == 0 and self._puts_more(found):
                yield from self._given(site, 1)
        for row in self._flow.rows_of(schema.ArrayStore, "base", variable):
            rows = self._facts[schema.ArrayStore]
            yield int(rows.method[row]), int(rows.offset[row]), int(rows.source[row])
        for relation, row in self._flow.rows_into(variable):
            found = self._callee(row) if relation == RETURN else None
            if found is None:
                continue
            explodes = found.declaring == STRING and found.name in _EXPLODING
            if explodes or (found.declaring, found.name) in _LISTING:
                yield from self._given(row, 0)

    def _puts_more(self, method: MemberName) -> bool:
        in_collection = method.declaring.startswith("java/util/") and method.name != "<init>"
        return method.name in _PUTTING and (in_collection or method.declaring in _BUILDERS)

    def _given(self, site: int, first: int) -> Iterator[tuple[int, int, int]]:
        method, offset = int(self._sites.method[site]), int(self._sites.offset[site])
        for variable in self._flow.arguments(site)[first:]:
            yield method, offset, variable

    # --- columns
    @cached_property
    def _gathers(self) -> Bools:
        """Which pointers may refer to something in which texts are gathered."""
        return self._flow.sets.holding(self._of_types(_is_gathering))

    @cached_property
    def _strings(self) -> Bools:
        """Which pointers may refer to strings."""
        return self._flow.sets.holding(self._of_types(lambda name: name == STRING))

    def _of_types(self, wanted: Callable[[str], bool]) -> Bools:
        types = self._flow.evidence.objects.type
        chosen = [
            each
            for each in np.unique(types).tolist()
            if each >= 0 and wanted(self._names.internal_type(each))
        ]
        found: Bools = np.isin(types, chosen)
        return found

    @cached_property
    def _element_of(self) -> dict[int, int]:
        """The pointers to elements of arrays, by array."""
        rows = self._flow.evidence.points_to
        pointers = np.flatnonzero((rows.base >= 0) & (rows.field == NONE))
        pointers = pointers[self._of_types(_is_array_of_references)[rows.base[pointers]]]
        return dict(zip(rows.base[pointers].tolist(), pointers.tolist(), strict=True))


def _shared(field: int) -> int:
    """Returns the number that stands for a field among variables, or the field of such a number; -1 is none.

    >>> _shared(0), _shared(_shared(7)), _shared(-1)
    (-2, 7, -1)
    """
    return field if field == NONE else -2 - field


def _is_gathering(name: str) -> bool:
    collects = name.startswith("java/util/") and name.endswith(
        ("List", "Set", "Deque", "Queue", "Vector", "ListN", "List12")
    )
    return name in _BUILDERS or name in _CHARACTERS or _is_array_of_references(name) or collects


def _is_array_of_references(name: str) -> bool:
    return name.startswith(("[L", "[["))
