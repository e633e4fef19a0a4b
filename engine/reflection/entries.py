"""Entry calls: from a name to a class object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cypher.program import INTERFACE, Program
from cypher.schema import NONE
from engine.reflection.names import class_named, class_of_descriptor
from engine.reflection.papers import JAVA, LIVSHITS, SOLAR
from engine.reflection.relations import (
    ClassAt,
    ClassObject,
    ForName,
    InitialiseCall,
    InitialisedBy,
    Local,
    RelatedCall,
    StringAt,
    UnknownAt,
    UnknownObject,
)
from engine.rules import Table, joined, rule


@rule("classObjects", LIVSHITS)
def class_objects(sites: Table[ForName], names: Table[StringAt], program: Program) -> Iterator[ClassObject]:
    """Resolves the constant names of `Class.forName` and `ClassLoader.loadClass`.

    classObjects(i, t) :- calls(i, "Class.forName"), actual(i, 1, v), points-to(v, s), string2class(s, t).
    """
    return _found(program, joined(sites, names, name="pointer"))


@rule("classObjects.local", LIVSHITS)
def local_class_objects(
    sites: Table[ForName], local: Table[Local], names: Table[StringAt], program: Program
) -> Iterator[ClassObject]:
    """Resolves `Class.forName` if all its names are constants of its method (§ 6.3).

    classObjects(i, t) :- calls(i, "Class.forName"), actual(i, 1, v), local(i, v), points-to(v, s),
                          string2class(s, t).
    """
    constants = joined(sites, local, site="site")
    return _found(
        program, ((site, name) for site, at in constants for name in names.where(pointer=at.pointer))
    )


def _found(program: Program, named: Iterable[tuple[ForName, StringAt]]) -> Iterator[ClassObject]:
    """Yields the class of each name at a call, if there is one."""
    for site, name in named:
        type_ = class_named(program, name.text)
        if type_ >= 0:
            yield ClassObject(site.site, type_)  # type: ignore[arg-type]


@rule("calls.clinit", LIVSHITS)
def initialised(sites: Table[ForName], classes: Table[ClassObject]) -> Iterator[InitialisedBy]:
    """Initialises what `Class.forName` returns; `loadClass` does not.

    calls(i, m) :- classObjects(i, t), m = t + ".<clinit>".
    """
    for site, found in joined(sites, classes, site="site"):
        if site.initialises:
            yield InitialisedBy(found.site, found.type)


@rule("ensureInitialized", JAVA)
def ensure_initialised(sites: Table[InitialiseCall], classes: Table[ClassAt]) -> Iterator[InitialisedBy]:
    """Initialises the classes that a program says shall be.

    calls(i, m) :- calls(i, "Lookup.ensureInitialized"), actual(i, 1, v), points-to(v, c), classObject(c, t),
                   m = t + ".<clinit>".   Likewise `Unsafe.ensureClassInitialized`.
    """
    for site, found in joined(sites, classes, operand="pointer"):
        if found.type >= 0:
            yield InitialisedBy(site.site, found.type)


@rule("relatedClass", JAVA)
def related_class(
    sites: Table[RelatedCall], classes: Table[ClassAt], program: Program
) -> Iterator[ClassObject]:
    """Finds superclasses and component types of classes.

    classObjects(i, u) :- calls(i, "Class.getSuperclass"), actual(i, 0, v), points-to(v, c), classObject(c, t),
                          superclass(t, u).   Likewise `Class.getComponentType`.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        related = _related(program, found.type, site.sort)
        if related >= 0:
            yield ClassObject(site.site, related)  # type: ignore[arg-type]


def _related(program: Program, type_: int, sort: str) -> int:
    if type_ < 0:
        return NONE
    if sort == "superclass":
        return NONE if program.flags_of_type(type_) & INTERFACE else program.superclass_of(type_)
    name = program.name_of_type(type_)
    return class_of_descriptor(program, name[1:]) if name.startswith("[") else NONE


@rule("unknownRelated", JAVA)
def unknown_related(sites: Table[RelatedCall], operands: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the superclass or component type of an unknown class as an unknown class object.

    Class d = c.getSuperclass()    c^u ∈ pt(c)
    ------------------------------------------
                  c^u ∈ pt(d)
    """
    for site, operand in joined(sites, operands, receiver="pointer"):
        yield UnknownObject(site.site, operand.pointer)


@rule("P-ForName", SOLAR)
def unknown_class(sites: Table[ForName], names: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the class of an unknown name as the unknown class object c^u.

    Class c = Class.forName(s)    o ∈ pt(s), o no constant
    ------------------------------------------------------
                     c^u ∈ pt(c)
    """
    for site, name in joined(sites, names, name="pointer"):
        yield UnknownObject(site.site, name.pointer)
