"""The tables of a unit while they grow, and the unit that they become."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Diagnostic
from loader.compact import Bodies, compact
from loader.frame import Frame
from loader.symbols import Symbols
from loader.unit import RELATIONS, Unit

# Constraints move from lists, which are large, to arrays after this many bodies.
_FLUSH = 512
# Columns that are added to together, row by row. Those that end in `_at` are added as the sizes of groups.
_GROUPS: dict[str, tuple[str, ...]] = {
    "class": (
        "class_type", "class_super", "class_flags", "class_version", "class_source", "class_generic", "class_host",
        "class_declaring", "class_enclosing", "class_entry",
        "class_interfaces_at", "class_fields_at", "class_methods_at", "class_bootstraps_at", "class_annotations_at",
        "class_members_at", "class_permitted_at",
    ),
    "interface": ("class_interfaces",),
    "member_class": ("class_members",),
    "permitted_class": ("class_permitted",),
    "field": ("field_name", "field_descriptor", "field_flags", "field_generic", "field_constant", "field_annotations_at"),
    "method": (
        "method_signature", "method_flags", "method_generic", "method_parameters", "method_variables", "method_code",
        "method_lines_at", "method_annotations_at", "method_exceptions_at",
    ),
    "exception": ("method_exceptions",),
    "bootstrap": ("bootstrap_kind", "bootstrap_method", "bootstrap_arguments_at"),
    "argument": ("bootstrap_argument_kind", "bootstrap_argument_ref"),
    "service": ("service_type", "service_provider", "service_module"),
    "package": ("package_name", "package_opened"),
    "class_annotation": ("class_annotations",),
    "field_annotation": ("field_annotations",),
    "method_annotation": ("method_annotations",),
    "annotation": ("annotation_type", "annotation_element", "annotation_kind", "annotation_value"),
}  # fmt: skip


def _offsets(counts: list[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Returns where each group begins, and where the last ends."""
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))


def _packed(numbers: list[int]) -> bytes:
    """Returns `numbers` as they stand in an array of 32 bits each (in half the time that `fromlist` takes)."""
    return Struct(f"={len(numbers)}i").pack(*numbers)


def _keys(table: Mapping[Any, int], width: int) -> list[NDArray[np.int32]]:
    """Returns the columns of the keys of `table`."""
    keys = np.array(list(table), np.int32).reshape(-1, width)
    return [np.ascontiguousarray(column) for column in keys.T]


class Tables:
    """Columns that classes and methods are added to, one after the other."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self.members: set[int] = set()  # texts that name a field or method declared here
        self.frame = Frame({name: [] for name in RELATIONS})
        self._columns: dict[str, array[int]] = {group: array("i") for group in _GROUPS}
        self._rows: dict[str, array[int]] = {name: array("i") for name in RELATIONS}
        self._bodies = array("i")  # methods that have one
        self._sizes: list[NDArray[np.int64]] = []
        self._waiting: list[int] = []  # sizes of the lists of rows at the start of each body, after a flush
        self._lines = bytearray()

    def add(self, group: str, values: Iterable[int]) -> None:
        """Adds a row, or several one after the other, to a group of columns."""
        self._columns[group].extend(values)

    def add_lines(self, tables: list[bytes]) -> int:
        """Adds the line numbers of the next method, as they stand in the class file; returns how many."""
        count = 0
        for table in tables:
            whole = len(table) & ~3
            self._lines += table[:whole]
            count += whole >> 2
        return count

    def make_room(self) -> None:
        """Says that a body begins, so that what there is of constraints is complete."""
        if len(self._waiting) >= _FLUSH * len(RELATIONS):
            self._flush()

    def take_body(self) -> None:
        """Says that the constraints that the frame has added are those of the method that is added next."""
        self._bodies.append(len(self._columns["method"]) // len(_GROUPS["method"]))
        self._waiting += self.frame.begun

    def _flush(self) -> None:
        """Moves constraints from lists to arrays."""
        before = np.array([len(rows) for rows in self._rows.values()], np.int64)
        self._sizes.append(
            before + np.frombuffer(_packed(self._waiting), np.int32).reshape(-1, len(RELATIONS))
        )
        self._waiting.clear()
        for name, listed in self.frame.rows.items():
            self._rows[name].frombytes(_packed(listed))
            listed.clear()

    def unit(self, diagnostics: list[Diagnostic]) -> Unit:
        """Returns the unit of all that has been added."""
        symbols = self.symbols
        plain = self._plain_columns()
        texts = symbols.texts.encoded
        names = np.zeros(len(texts), np.uint8)
        names[list(self.members)] = 1
        signature_name, signature_descriptor = _keys(symbols.signatures, 2)
        method_ref_type, method_ref_signature, method_ref_interface = _keys(symbols.method_refs, 3)
        field_ref_type, field_ref_name, field_ref_descriptor = _keys(symbols.field_refs, 3)
        handle_kind, handle_ref = _keys(symbols.handles, 2)
        bodies = self._compacted(plain["method_parameters"], plain.pop("method_variables"))
        line_offset, line_number = self._line_columns(plain["method_lines_at"])
        return Unit(
            text_at=_offsets([len(text) for text in texts]),
            text_bytes=np.frombuffer(b"".join(texts), np.uint8),
            text_member=names,
            type_text=np.array(list(symbols.types), np.int32),
            signature_name=signature_name,
            signature_descriptor=signature_descriptor,
            method_ref_type=method_ref_type,
            method_ref_signature=method_ref_signature,
            method_ref_interface=method_ref_interface,
            field_ref_type=field_ref_type,
            field_ref_name=field_ref_name,
            field_ref_descriptor=field_ref_descriptor,
            handle_kind=handle_kind,
            handle_ref=handle_ref,
            method_variables=bodies.variables,
            line_offset=line_offset,
            line_number=line_number,
            body_at=bodies.at,
            body=bodies.columns,
            diagnostics=diagnostics,
            **plain,
        )

    def _plain_columns(self) -> dict[str, Any]:
        """Returns the columns that are as they were added."""
        plain: dict[str, Any] = {}
        for group, names in _GROUPS.items():
            table = np.array(self._columns[group], np.int32).reshape(-1, len(names))
            for place, name in enumerate(names):
                column = table[:, place]
                plain[name] = _offsets(column) if name.endswith("_at") else column.copy()
        return plain

    def _compacted(self, parameters: NDArray[np.int32], variables: NDArray[np.int32]) -> Bodies:
        """Returns the constraints of all methods, as columns."""
        self._flush()
        rows = self._rows
        ends = np.array([[len(each) for each in rows.values()]], np.int64)
        widths = np.array([len(columns) for columns in RELATIONS.values()], np.int64)
        counts = np.diff(np.concatenate([*self._sizes, ends]), axis=0) // widths
        methods = len(parameters)
        bodies = np.array(self._bodies, np.int64)
        at: dict[str, NDArray[np.int64]] = {}
        body: dict[str, dict[str, NDArray[np.int32]]] = {}
        for place, (name, columns) in enumerate(RELATIONS.items()):
            of_methods = np.zeros(methods, np.int64)
            of_methods[bodies] = counts[:, place]
            at[name] = _offsets(of_methods)
            table = np.frombuffer(rows.pop(name), np.int32).reshape(-1, len(columns))
            body[name] = {each: table[:, column].copy() for column, each in enumerate(columns)}
        return compact(at, body, parameters, variables)

    def _line_columns(self, at: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """Returns bytecode offset and line of each row of the line number tables, by method and offset."""
        table = np.frombuffer(self._lines, ">u2").reshape(-1, 2).astype(np.int32)
        key = np.repeat(np.arange(len(at) - 1, dtype=np.int64) << 16, np.diff(at)) + table[:, 0]
        if (key[1:] < key[:-1]).any():
            table = table[np.argsort(key, kind="stable")]
        return [np.ascontiguousarray(column) for column in table.T]
