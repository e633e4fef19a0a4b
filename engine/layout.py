"""Which fields objects have."""

from __future__ import annotations

from collections.abc import Iterator

from cypher.program import ACC_STATIC, Program


def superclasses(program: Program, type_: int) -> Iterator[int]:
    """Yields a class and its superclasses."""
    while type_ >= 0:
        yield type_
        type_ = program.superclass_of(type_)


def fields_named(program: Program, type_: int, name: str) -> Iterator[int]:
    """Yields the fields of this name that a class declares."""
    for field in program.fields_of(type_):
        if program.name_of_field(field)[1] == name:
            yield field


def reference_fields(program: Program, type_: int) -> Iterator[int]:
    """Yields the fields of an object of a class that hold references."""
    for declaring in superclasses(program, type_):
        for field in program.fields_of(declaring):
            if not program.flags_of_field(field) & ACC_STATIC and program.name_of_field(field)[2][0] in "L[":
                yield field
