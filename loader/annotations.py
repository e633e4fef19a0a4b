"""The annotations of the types, methods and fields of a program."""

from __future__ import annotations

import numpy as np

from cypher.schema import Int32, Int64
from loader.fields import Fields
from loader.hierarchy import Types
from loader.names import reference_name
from loader.part import Part


def annotations_of(types: Types, fields: Fields) -> tuple[Int32, Int32, Int32]:
    """Returns (element, type of its annotation) for the types, methods and fields that have an id."""
    number = np.array(types.number, np.int64)
    first_method = np.array(types.first_method, np.int64)
    first_field = np.array([fields.first_of(each) for each in range(len(number))], np.int64)
    found: tuple[list[Int32], ...] = ([], [], [])
    for which, part in enumerate(types.classes.parts):
        low, high = types.classes.first[which : which + 2]
        here = np.flatnonzero((number >= low) & (number < high))
        type_of = np.full(high - low, -1, np.int64)
        type_of[number[here] - low] = here
        unit = part.unit
        names = _Names(types, part)
        rows = _rows(unit.class_annotations_at)
        found[0].append(names.pairs(type_of[rows], unit.class_annotations))
        for place, (at, members_at, firsts, refs) in enumerate(
            (
                (unit.method_annotations_at, unit.class_methods_at, first_method, unit.method_annotations),
                (unit.field_annotations_at, unit.class_fields_at, first_field, unit.field_annotations),
            ),
            1,
        ):
            rows = _rows(at)
            owner = np.searchsorted(members_at, rows, "right") - 1
            type_ = type_of[owner]
            first = np.where(type_ >= 0, firsts[type_], -1)
            ids = np.where(first >= 0, first + rows - members_at[owner], -1)
            found[place].append(names.pairs(ids, refs))
    types_of, methods_of, fields_of = (np.concatenate(each) for each in found)
    return types_of, methods_of, fields_of


def _rows(at: Int64) -> Int64:
    """Returns the group of each entry of a table of groups."""
    return np.repeat(np.arange(len(at) - 1), np.diff(at))


class _Names:
    """The types that descriptors of a part name."""

    def __init__(self, types: Types, part: Part) -> None:
        self._types = types
        self._part = part
        self._known: dict[int, int] = {}

    def pairs(self, elements: Int64, texts: Int32) -> Int32:
        """Returns (element, type that the descriptor names) for the elements that have an id, each once."""
        kept = np.flatnonzero(elements >= 0)
        chosen, inverse = np.unique(texts[kept], return_inverse=True)
        types = np.array([self._type(text) for text in chosen.tolist()], np.int32)
        annotations = types[inverse] if len(types) else np.empty(0, np.int32)
        table = np.stack((elements[kept].astype(np.int32), annotations), axis=1)
        return np.unique(table[annotations >= 0], axis=0)

    def _type(self, text: int) -> int:
        name = reference_name(self._part.text.one(text))
        return self._types.named(name) if name else -1
