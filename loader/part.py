"""Parts of a program: units put together, with lookup arrays from their references to the program's ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Int32, Int64
from loader.csr import TextTable, unseen
from loader.unit import CLASS, DYNAMIC, METHOD_HANDLE, METHOD_TYPE, RELATIONS, STRING, Unit

# Which table the values of a column are rows of; a column that isn't listed holds plain numbers.
_TABLE_OF = {
    "type_text": "text", "signature_name": "text", "signature_descriptor": "text",
    "method_ref_type": "type", "method_ref_signature": "signature",
    "field_ref_type": "type", "field_ref_name": "text", "field_ref_descriptor": "text",
    "class_type": "type", "class_super": "type", "class_source": "text", "class_generic": "text", "class_host": "type",
    "class_declaring": "type", "class_enclosing": "type", "class_members": "type",
    "class_permitted": "type", "method_exceptions": "type",
    "class_entry": "text", "class_interfaces": "type",
    "method_signature": "signature", "method_generic": "text",
    "field_name": "text", "field_descriptor": "text", "field_generic": "text", "field_constant": "text",
    "bootstrap_method": "method_ref",
    "service_type": "type", "service_provider": "type", "package_name": "text",
    "class_annotations": "text", "field_annotations": "text", "method_annotations": "text",
    "annotation_type": "text", "annotation_element": "text", "annotation_value": "text",
}  # fmt: skip
_TABLE_OF_BODY_COLUMN = {
    "type_ref": "type", "field_ref": "field_ref", "method_ref": "method_ref", "signature": "signature",
}  # fmt: skip
_TABLE_OF_KIND = {
    STRING: "text", CLASS: "type", METHOD_TYPE: "text", METHOD_HANDLE: "handle", DYNAMIC: "text",
}  # fmt: skip
_FIELD_HANDLES = 4


class Part:
    """One set of columns: a unit, or several put together.

    `archive[c]` is the number of the archive of class `c`. The arrays `types`, `fields`, `signatures` and
    `texts` map references of the unit to the program's ids, `loader.csr.UNSEEN` where nobody has asked.
    `callee`, `call_signature` and `call_kind` do so for `3 * method_ref + way of calling`.
    """

    def __init__(self, unit: Unit, archive: Int32) -> None:
        self.unit = plain(unit)
        self.archive = archive
        self.text = TextTable(self.unit.text_at, self.unit.text_bytes)
        self.types = unseen(len(unit.type_text))
        self.fields = unseen(len(unit.field_ref_type))
        self.signatures = unseen(len(unit.signature_name))
        self.texts = unseen(len(self.text))
        self.callee = unseen(3 * len(unit.method_ref_type))
        self.call_signature = np.full(len(self.callee), -1, np.int32)
        self.call_kind = np.full(len(self.callee), -1, np.int32)
        # A list answers for one class several times faster than an array.
        self.class_super: list[int] = self.unit.class_super.tolist()
        self.class_flags: list[int] = self.unit.class_flags.tolist()
        self.interfaces_at: list[int] = self.unit.class_interfaces_at.tolist()
        self.interfaces: list[int] = self.unit.class_interfaces.tolist()
        self.methods_at: list[int] = self.unit.class_methods_at.tolist()

    def type_names(self, refs: Int32) -> list[str]:
        """Returns the names of these type references."""
        return self.text.many(self.unit.type_text[refs])

    def type_name(self, ref: int) -> str:
        """Returns the name of this type reference."""
        return self.text.one(int(self.unit.type_text[ref]))

    def text_or_empty(self, ref: int) -> str:
        """Returns a text, "" for -1."""
        return self.text.one(ref) if ref >= 0 else ""

    def signature(self, ref: int) -> tuple[str, str]:
        """Returns the name and the descriptor of this signature."""
        unit = self.unit
        return self.text.one(int(unit.signature_name[ref])), self.text.one(
            int(unit.signature_descriptor[ref])
        )

    def method_ref(self, ref: int) -> tuple[str, str, str]:
        """Returns (class, name, descriptor) of this method reference."""
        unit = self.unit
        return (
            self.type_name(int(unit.method_ref_type[ref])),
            *self.signature(int(unit.method_ref_signature[ref])),
        )

    def field_ref(self, ref: int) -> tuple[str, str, str]:
        """Returns (class, name, descriptor) of this field reference."""
        unit = self.unit
        return (
            self.type_name(int(unit.field_ref_type[ref])),
            self.text.one(int(unit.field_ref_name[ref])),
            self.text.one(int(unit.field_ref_descriptor[ref])),
        )


def plain(unit: Unit) -> Unit:
    """Returns the unit with plain arrays, which index faster than memory maps do."""
    body = {
        name: {each: np.asarray(column) for each, column in part.items()} for name, part in unit.body.items()
    }
    columns = {
        each.name: np.asarray(getattr(unit, each.name))
        for each in fields(unit)
        if each.name not in ("body", "body_at", "diagnostics")
    }
    body_at = {name: np.asarray(at) for name, at in unit.body_at.items()}
    return Unit(**columns, body_at=body_at, body=body, diagnostics=unit.diagnostics)


def combine(units: Sequence[Unit]) -> Unit:
    """Returns one unit with the rows of all `units` (at least one), in their order; diagnostics stay behind."""
    if len(units) == 1:
        return units[0]
    shifts = _shifts(units)
    columns: dict[str, Any] = {}
    for each in fields(Unit):
        name = each.name
        if name in ("body", "body_at", "diagnostics"):
            continue
        arrays = [getattr(unit, name) for unit in units]
        if name.endswith("_at"):
            columns[name] = _joined_offsets(arrays)
        elif name in ("bootstrap_argument_ref", "handle_ref"):
            kinds = [getattr(unit, name.removesuffix("_ref") + "_kind") for unit in units]
            by_kind = _of_handle if name == "handle_ref" else _of_constant
            columns[name] = np.concatenate(
                [by_kind(kind, ref, shift) for kind, ref, shift in zip(kinds, arrays, shifts, strict=True)]
            )
        else:
            columns[name] = _joined(arrays, [shift.get(_TABLE_OF.get(name, ""), 0) for shift in shifts])
    body_at = {name: _joined_offsets([unit.body_at[name] for unit in units]) for name in RELATIONS}
    body = {name: _joined_body(name, units, shifts) for name in RELATIONS}
    return Unit(**columns, body_at=body_at, body=body)


def _shifts(units: Sequence[Unit]) -> list[dict[str, int]]:
    """Returns, for each unit, by table, the number of rows of the units before it."""
    sizes = {
        "text": [len(unit.text_at) - 1 for unit in units],
        "type": [len(unit.type_text) for unit in units],
        "signature": [len(unit.signature_name) for unit in units],
        "method_ref": [len(unit.method_ref_type) for unit in units],
        "field_ref": [len(unit.field_ref_type) for unit in units],
        "handle": [len(unit.handle_kind) for unit in units],
    }
    before = {table: np.cumsum([0, *rows]).tolist() for table, rows in sizes.items()}
    return [{table: rows[number] for table, rows in before.items()} for number in range(len(units))]


def _joined(arrays: Sequence[NDArray[Any]], shifts: Sequence[int]) -> NDArray[Any]:
    return np.concatenate([_shifted(array, shift) for array, shift in zip(arrays, shifts, strict=True)])


def _shifted(array: NDArray[Any], shift: int) -> NDArray[Any]:
    """Returns `array` with `shift` added to what isn't -1."""
    return array + np.int32(shift) * (array >= 0) if shift else array


def _joined_offsets(arrays: Sequence[Int64]) -> Int64:
    ends = np.cumsum([0, *(int(array[-1]) for array in arrays)])
    return np.concatenate(
        [arrays[0], *(array[1:] + end for array, end in zip(arrays[1:], ends[1:], strict=False))]
    )


def _joined_body(relation: str, units: Sequence[Unit], shifts: Sequence[dict[str, int]]) -> dict[str, Int32]:
    joined: dict[str, Int32] = {}
    for name in RELATIONS[relation]:
        arrays = [unit.body[relation][name] for unit in units]
        if name == "ref":
            kinds = [unit.body[relation]["kind"] for unit in units]
            arrays = [
                _of_constant(kind, ref, shift) for kind, ref, shift in zip(kinds, arrays, shifts, strict=True)
            ]
        joined[name] = _joined(
            arrays, [shift.get(_TABLE_OF_BODY_COLUMN.get(name, ""), 0) for shift in shifts]
        )
    return joined


def _of_constant(kind: Int32, ref: Int32, shift: dict[str, int]) -> Int32:
    """Returns `ref` shifted by the table that the kind of constant refers to."""
    by_kind = np.zeros(max(_TABLE_OF_KIND) + 2, np.int32)
    for number, table in _TABLE_OF_KIND.items():
        by_kind[number] = shift[table]
    return ref + by_kind[kind] * (ref >= 0)


def _of_handle(kind: Int32, ref: Int32, shift: dict[str, int]) -> Int32:
    is_field = kind <= _FIELD_HANDLES
    return ref + np.where(is_field, shift["field_ref"], shift["method_ref"]).astype(np.int32) * (ref >= 0)
