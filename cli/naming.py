"""Names of the elements of a program, as columns that a run keeps: integers there, text here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cli.text import class_name
from cypher import schema
from cypher.program import APPLICATION, Program
from cypher.schema import NONE, Int32, Int64, UInt8
from engine.heap import STRING
from engine.result import Result

# An offset in a method needs fewer bits (JVMS 4.7.3).
OFFSET_BITS = 17


class ReportingProgram(Program, Protocol):
    """A program that also answers what only reports need."""

    def name_of_signature(self, signature: int) -> tuple[str, str]:
        """Returns (name, descriptor) of what a call names."""

    @property
    def number_of_types(self) -> int:
        """Returns how many types have an id."""

    def application_types(self) -> Sequence[int]:
        """Returns the classes that archives of the application define."""

    def line_tables(self, methods: Int32) -> tuple[Int64, Int32, Int32]:
        """Returns where the line table of each method begins, and the (offset, line) of all of them."""


class MethodName(NamedTuple):
    """A method by name; `declaring` is an internal name."""

    declaring: str
    name: str
    descriptor: str
    flags: int

    @property
    def qualified(self) -> str:
        """Returns the name without parameters, as in `a.b.C.m`."""
        return f"{class_name(self.declaring)}.{self.name}"

    def __str__(self) -> str:
        return f"{class_name(self.declaring)}.{self.name}{self.descriptor}"


class Columns(NamedTuple):
    """What a run stores of names.

    Texts are in UTF-8 with surrogates, text `i` at `text_at[i]`. `types` has (text, flags) by type id.
    `methods` and `fields` have (id, declaring type, text of the name, text of the descriptor, flags), sorted
    by id, `signatures` (id, text of the name, text of the descriptor), `constants` (id, text).
    Method row `i` has its lines at `line_at[i]`: `lines` are (offset, line).
    """

    text_at: Int64
    text_bytes: UInt8
    types: Int32
    methods: Int32
    fields: Int32
    signatures: Int32
    constants: Int32
    line_at: Int64
    lines: Int32


class _Texts:
    """Interns texts."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def of(self, text: str) -> int:
        return self.ids.setdefault(text, len(self.ids))

    def columns(self) -> tuple[Int64, UInt8]:
        """Returns where each text begins, and all of them."""
        encoded = [each.encode("utf-8", "surrogatepass") for each in self.ids]
        at = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(each) for each in encoded], out=at[1:])
        return at, np.frombuffer(b"".join(encoded), np.uint8)


class Members(NamedTuple):
    """The ids of methods and fields, ascending."""

    methods: Int32
    fields: Int32


def members_in(program: ReportingProgram, result: Result) -> Members:
    """Returns the members that `result` mentions, and all those of the application."""
    own = program.application_types()
    return Members(
        _distinct(*_methods_in(result), _joined(program.methods_of, own)),
        _distinct(*_fields_in(result), _joined(program.fields_of, own)),
    )


def columns_of(program: ReportingProgram, result: Result, members: Members) -> Columns:
    """Returns the names of all types, of `members` and of what else `result` mentions."""
    texts = _Texts()
    method_rows = _members(texts, members.methods, program.name_of_method, program.flags_of_method)
    field_rows = _members(texts, members.fields, program.name_of_field, program.flags_of_field)
    unresolved = _distinct(result.sites.signature[result.sites.callee < 0])
    signatures = ((each, *map(texts.of, program.name_of_signature(each))) for each in unresolved.tolist())
    objects = result.objects
    constants = _distinct(
        result.facts[schema.StringConstant].text, objects.payload[objects.kind == STRING]
    ).tolist()
    types = range(program.number_of_types)
    type_rows = ((texts.of(program.name_of_type(each)), program.flags_of_type(each)) for each in types)
    columns = (
        _table(2, type_rows), method_rows, field_rows, _table(3, signatures),
        _table(2, ((each, texts.of(program.text(each))) for each in constants)),
    )  # fmt: skip
    line_at, offsets, lines = program.line_tables(members.methods)
    return Columns(*texts.columns(), *columns, line_at, np.stack((offsets, lines), axis=1).astype(np.int32))


def _joined(members_of: Callable[[int], Sequence[int]], types: Sequence[int]) -> Int32:
    """Returns the members of all `types`."""
    found = [each for type_ in types for each in members_of(type_)]
    return np.array(found, np.int32)


def _methods_in(result: Result) -> Iterator[Int32]:
    yield from (result.reached, result.call_callee, result.sites.method, result.sites.callee)
    yield from (result.objects.method, _targets_in(result, "method"))


def _fields_in(result: Result) -> Iterator[Int32]:
    yield from (result.static_field, result.points_to.field, _targets_in(result, "field"))
    for relation in (schema.Load, schema.Store, schema.StaticLoad, schema.StaticStore):
        yield result.facts[relation].field


def _targets_in(result: Result, kind: str) -> Int32:
    found = (target.id for each in result.reflective for target in each.targets if target.kind == kind)
    return np.fromiter(found, np.int32)


def _distinct(*columns: Int32) -> Int32:
    """Returns the ids in `columns`, ascending, without -1."""
    found: Int32 = np.unique(np.concatenate(columns)).astype(np.int32)
    return found[found >= 0]


def _members(
    texts: _Texts, ids: Int32, name_of: Callable[[int], tuple[int, str, str]], flags_of: Callable[[int], int]
) -> Int32:
    """Returns the rows of `Columns.methods` or `Columns.fields` for `ids`."""

    def rows() -> Iterator[tuple[int, ...]]:
        for each in ids.tolist():
            declaring, name, descriptor = name_of(each)
            yield each, declaring, texts.of(name), texts.of(descriptor), flags_of(each)

    return _table(5, rows())


def _table(width: int, rows: Iterable[tuple[int, ...]]) -> Int32:
    return np.array(list(rows), np.int32).reshape(-1, width)


def place_of(table: Int32, wanted: int) -> int:
    """Returns at which row the id `wanted` is, or would be, in the first column of a table, ascending by it."""
    # The dtype has to be that of the column, or numpy converts the whole column.
    return int(table[:, 0].searchsorted(np.int32(wanted)))


class Names:
    """Looks names up by id."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._methods: dict[int, MethodName] = {}

    @cached_property
    def texts(self) -> list[str]:
        """All texts."""
        data, at = self.columns.text_bytes.tobytes(), self.columns.text_at.tolist()
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(at)]

    @cached_property
    def type_ids(self) -> dict[str, int]:
        """The type of each internal name or array descriptor."""
        return {self.texts[text]: type_ for type_, text in enumerate(self.columns.types[:, 0].tolist())}

    def internal_type(self, type_: int) -> str:
        """Returns the internal name or array descriptor of a type."""
        return self.texts[int(self.columns.types[type_, 0])]

    def type(self, type_: int) -> str:
        """Returns the name of a type in Java's notation."""
        return class_name(self.internal_type(type_))

    def type_flags(self, type_: int) -> int:
        """Returns the access flags of a type, with PHANTOM and APPLICATION."""
        return int(self.columns.types[type_, 1])

    def method(self, method: int) -> MethodName:
        """Returns a method by name."""
        found = self._methods.get(method)
        if found is None:
            _, declaring, name, descriptor, flags = self.columns.methods[self._method_rows[method]].tolist()
            texts = self.texts
            found = MethodName(self.internal_type(declaring), texts[name], texts[descriptor], flags)
            self._methods[method] = found
        return found

    def field(self, field: int) -> str:
        """Returns a field as `a.b.C.f`; -1 stands for the elements of arrays, which var handles access, too."""
        if field == NONE:
            return "elements of an array"
        declaring, name, _ = self.field_parts(field)
        return f"{class_name(declaring)}.{name}"

    def field_parts(self, field: int) -> tuple[str, str, str]:
        """Returns (internal name of the declaring type, name, descriptor) of a field."""
        _, declaring, name, descriptor, _ = self._row(self.columns.fields, field)
        return self.internal_type(declaring), self.texts[name], self.texts[descriptor]

    def constant(self, text: int) -> str:
        """Returns a string constant."""
        return self.texts[self._row(self.columns.constants, text)[1]]

    def signature(self, signature: int) -> tuple[str, str]:
        """Returns (name, descriptor) of what a call names that resolves to no method."""
        _, name, descriptor = self._row(self.columns.signatures, signature)
        return self.texts[name], self.texts[descriptor]

    def is_application(self, methods: Int32) -> NDArray[np.bool_]:
        """Returns which of `methods` the application declares."""
        rows = np.searchsorted(self.columns.methods[:, 0], methods)
        found: NDArray[np.bool_] = (self.columns.methods[rows, 4] & APPLICATION) != 0
        return found

    def declaring(self, methods: Int32) -> Int32:
        """Returns the type that declares each of `methods`."""
        found: Int32 = self.columns.methods[np.searchsorted(self.columns.methods[:, 0], methods), 1]
        return found

    def lines(self, methods: Int32, offsets: Int32) -> Int32:
        """Returns the source line of each (method, offset), -1 where there is none."""
        at, table = self.columns.line_at, self.columns.lines
        rows = np.searchsorted(self.columns.methods[:, 0], methods)
        owner = np.repeat(np.arange(len(at) - 1), np.diff(at))
        key = owner << OFFSET_BITS | table[:, 0]
        order = np.argsort(key, kind="stable")
        key = key[order]
        place = np.searchsorted(key, rows.astype(np.int64) << OFFSET_BITS | offsets, "right") - 1
        known = (place >= 0) & (methods >= 0) & (offsets >= 0)
        known[known] = owner[order[place[known]]] == rows[known]
        lines = np.full(len(rows), NONE, np.int32)
        lines[known] = table[order[place[known]], 1]
        return lines

    def line(self, method: int, offset: int) -> int:
        """Returns the source line of one instruction, -1 if there is none."""
        if method < 0 or offset < 0:
            return NONE
        row = self._method_rows[method]
        start, end = self.columns.line_at[row : row + 2].tolist()
        table = self.columns.lines[start:end]
        before = table[table[:, 0] <= offset]
        return int(before[np.argmax(before[:, 0]), 1]) if len(before) else NONE

    @cached_property
    def _method_rows(self) -> dict[int, int]:
        return {method: row for row, method in enumerate(self.columns.methods[:, 0].tolist())}

    def _row(self, table: Int32, wanted: int) -> list[int]:
        row = place_of(table, wanted)
        if row == len(table) or table[row, 0] != wanted:
            raise KeyError(wanted)
        found: list[int] = table[row].tolist()
        return found
