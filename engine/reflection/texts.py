"""Texts that reflection returns: the names of classes and members."""

from __future__ import annotations

from collections.abc import Iterator

from cypher.program import Program
from engine.reflection.names import name_of_class
from engine.reflection.papers import JAVA
from engine.reflection.relations import (
    ClassAt,
    FieldAt,
    MethodAt,
    NameCall,
    TextObject,
    TypeAt,
    UnknownAt,
    UnknownText,
)
from engine.rules import Table, having, joined, rule


@rule("nameOfClass", JAVA)
def name_of_class_object(
    sites: Table[NameCall], classes: Table[ClassAt], program: Program
) -> Iterator[TextObject]:
    """Returns the names of classes as if they were constants.

    textObject(i, s) :- calls(i, "Class.getName"), actual(i, 0, v), points-to(v, c), classObject(c, t), name(t, s).
                        Likewise `getTypeName`.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        name = _known_name(program, site, found.type)
        if name:
            yield TextObject(site.site, program.text_of(name))  # type: ignore[arg-type]


@rule("nameOfMethod", JAVA)
def name_of_method(
    sites: Table[NameCall], methods: Table[MethodAt], program: Program
) -> Iterator[TextObject]:
    """Returns the names of methods as if they were constants; that of a constructor is its class's.

    textObject(i, s) :- calls(i, "Method.getName"), actual(i, 0, v), points-to(v, h), methodObject(h, m), name(m, s).
                        Likewise `Constructor.getName`; `RecordComponent.getName`, of its accessor.
    """
    for site, method in joined(sites, methods, receiver="pointer"):
        declaring, name, _ = program.name_of_method(method.method)
        text = name_of_class(program, declaring) if name == "<init>" else name
        yield TextObject(site.site, program.text_of(text))  # type: ignore[arg-type]


@rule("nameOfField", JAVA)
def name_of_field(sites: Table[NameCall], fields: Table[FieldAt], program: Program) -> Iterator[TextObject]:
    """Returns the names of fields as if they were constants.

    textObject(i, s) :- calls(i, "Field.getName"), actual(i, 0, v), points-to(v, h), fieldObject(h, f), name(f, s).
    """
    for site, field in joined(sites, fields, receiver="pointer"):
        name = program.name_of_field(field.field)[1]
        yield TextObject(site.site, program.text_of(name))  # type: ignore[arg-type]


@rule("unknownName", JAVA)
def unknown_name(
    sites: Table[NameCall], operands: Table[UnknownAt], types: Table[TypeAt]
) -> Iterator[UnknownText]:
    """Returns a text of which nothing is known for an unknown class or member, and for a method type.

    String s = c.getName()    c^u ∈ pt(c)
    -------------------------------------
                 o ∈ pt(s), o no constant
    """
    for site in (*having(sites, operands, receiver="pointer"), *having(sites, types, receiver="pointer")):
        yield UnknownText(site.site, site.receiver)


@rule("namelessClass", JAVA)
def nameless_class(
    sites: Table[NameCall], classes: Table[ClassAt], program: Program
) -> Iterator[UnknownText]:
    """Returns a text of which nothing is known for a class that has no name to be found by.

    String s = c.getName()    c^t ∈ pt(c), no name finds t
    ------------------------------------------------------
                                  o ∈ pt(s), o no constant
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if not _known_name(program, site, found.type):
            yield UnknownText(site.site, found.pointer)


def _known_name(program: Program, site: NameCall, type_: int) -> str:
    """Returns the name of a class, "" for one that the JVM makes, and for what is found by no name."""
    name = name_of_class(program, type_) if type_ >= 0 else ""
    if site.sort == "type name" and name.startswith("["):
        return ""
    return name if program.may_name(program.text_of(name)) else ""
