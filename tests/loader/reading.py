"""Reads the facts of a linked program back as names, for assertions."""

from __future__ import annotations

from typing import Any

import numpy as np

from cypher.schema import Facts, Invoke
from loader.link import LinkedProgram, link
from loader.unit import Unit
from tests.loader.units import Class, jdk, unit_of

KINDS = ("STATIC", "SPECIAL", "VIRTUAL")


def program_of(*classes: Class, library: tuple[Class, ...] = ()) -> LinkedProgram:
    """Returns the program of a tiny JDK with the library classes, and an application of `classes`."""
    units: list[tuple[Unit, str, str]] = [
        (jdk(*library), "jdk", "jdk"),
        (unit_of(*classes), "application", "app.jar"),
    ]
    return link(units)


def method(program: LinkedProgram, named: str) -> int:
    """Returns the method written `a/B.m(I)V` or, if it has no parameters and returns nothing, `a/B.m`."""
    owner, _, rest = named.partition(".")
    name, parenthesis, descriptor = rest.partition("(")
    type_ = program.type_named(owner)
    assert type_ >= 0, owner
    found = program.method_of(type_, name, parenthesis + descriptor or "()V")
    assert found >= 0, named
    return found


def written(program: LinkedProgram, method_: int) -> str:
    """Returns the name of a method as `method` reads it, "" for -1."""
    if method_ < 0:
        return ""
    type_, name, descriptor = program.name_of_method(method_)
    return f"{program.name_of_type(type_)}.{name}" + ("" if descriptor == "()V" else descriptor)


def facts(program: LinkedProgram, *named: str) -> Facts:
    """Returns the facts of these methods; variable v is still v in the first, v + 1000 in the second, …"""
    methods = np.array([method(program, each) for each in named], np.int32)
    return program.facts_of(methods, np.arange(len(methods), dtype=np.int32) * 1000, 0)


def listed(facts_: Facts, relation: type[tuple[Any, ...]], *columns: str) -> list[tuple[int, ...]]:
    """Returns some columns of a relation's rows."""
    return list(zip(*(getattr(facts_[relation], column).tolist() for column in columns), strict=True))


def calls(program: LinkedProgram, *named: str) -> list[tuple[str, str]]:
    """Returns (kind, callee) of the calls in these methods."""
    rows = listed(facts(program, *named), Invoke, "kind", "callee")
    return [(KINDS[kind], written(program, callee)) for kind, callee in rows]


def selected(program: LinkedProgram, receiver: str, resolved: str) -> str:
    """Returns what a virtual call that resolves to `resolved` selects in the class `receiver` (JVMS 5.4.6)."""
    table = Selection(program)
    return written(
        program, table.select(program.type_named(receiver), program.signature_of(method(program, resolved)))
    )


class Selection:
    """Selection over the rows that a program reports."""

    def __init__(self, program: LinkedProgram) -> None:
        program.type_named("java/lang/Object")
        rows, methods = program.new_rows()
        assert rows.first == 0, "rows were read before"
        self._program = program
        self._superclass = rows.superclass.tolist()
        self._supertypes = [
            rows.supertypes[start:end].tolist()
            for start, end in zip(rows.supertypes_at[:-1], rows.supertypes_at[1:], strict=True)
        ]
        self._declared = [
            dict(
                zip(
                    rows.declared_signature[start:end].tolist(),
                    rows.declared_method[start:end].tolist(),
                    strict=True,
                )
            )
            for start, end in zip(rows.declared_at[:-1], rows.declared_at[1:], strict=True)
        ]
        self._flags = methods.flags.tolist()

    def select(self, receiver: int, signature: int) -> int:
        each = receiver
        while each >= 0:
            if signature in self._declared[each]:
                return int(self._declared[each][signature])
            each = self._superclass[each]
        found = [each for each in self._supertypes[receiver] if signature in self._declared[each]]
        below = {above for each in found for above in self._supertypes[each] if above != each}
        concrete = [
            self._declared[each][signature]
            for each in found
            if each not in below and not self._flags[self._declared[each][signature]] & 0x400
        ]
        return concrete[0] if len(concrete) == 1 else -1
