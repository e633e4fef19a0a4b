"""Entry calls: from a name to a class object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cypher.program import INTERFACE, PUBLIC, Program
from cypher.schema import NONE
from engine.reflection.names import Members, class_named, class_of_descriptor, parameter_descriptors
from engine.reflection.papers import JAVA, LIVSHITS, SOLAR
from engine.reflection.relations import (
    ClassAt,
    ClassObject,
    FieldAt,
    ForName,
    InitialiseCall,
    InitialisedBy,
    Local,
    MethodAt,
    RelatedCall,
    StringAt,
    UnknownAt,
    UnknownObject,
)
from engine.rules import Table, having, joined, rule


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
    sites: Table[RelatedCall], classes: Table[ClassAt], members: Members
) -> Iterator[ClassObject]:
    """Finds superclasses, superinterfaces and components of classes, classes that stand in others, and those of properties.

    classObjects(i, u) :- calls(i, "Class.getSuperclass"), actual(i, 0, v), points-to(v, c), classObject(c, t),
                          superclass(t, u).   Likewise `getInterfaces`, `getComponentType`, `arrayType`,
                          `getDeclaringClass`, `getEnclosingClass`, `getNestHost`, `getNestMembers`,
                          `getPermittedSubclasses`, `getDeclaredClasses` and `getClasses`. Likewise
                          `PropertyDescriptor.getPropertyType`, of any bean of which descriptions are asked for.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        for related in _related(members, found.type, site.sort):
            if related != NONE:
                yield ClassObject(site.site, related)  # type: ignore[arg-type]


def _related(members: Members, type_: int, sort: str) -> Iterator[int]:
    """Yields the classes that a class leads to, -1 for some that are none; a primitive type leads to its arrays only."""
    program = members.program
    if type_ < 0:
        if sort == "array":
            yield program.type_named(f"[{chr(-type_)}")
        return
    match sort:
        case "superclass":
            yield NONE if program.flags_of_type(type_) & INTERFACE else program.superclass_of(type_)
        case "component":
            name = program.name_of_type(type_)
            yield class_of_descriptor(program, name[1:]) if name.startswith("[") else NONE
        case "array":
            yield program.array_of(type_)
        case "interfaces":
            yield from program.interfaces_of(type_)
        case "declaring":
            yield program.declaring_class_of(type_)
        case "enclosing":
            yield program.enclosing_class_of(type_)
        case "host":
            yield program.nest_host_of(type_)
        case "mates":
            yield from program.nest_members_of(type_)
        case "permitted":
            yield from program.permitted_subclasses_of(type_)
        case "members":
            yield from program.member_classes_of(type_)
        case "public members":
            yield from _public_members(program, type_)
        case "property" | "indexed property":
            yield from members.property_types(type_, indexed=sort != "property")


def _public_members(program: Program, type_: int) -> Iterator[int]:
    """Yields the public member classes that a class has and inherits, and protected ones, which look the same."""
    while type_ >= 0:
        members = program.member_classes_of(type_)
        yield from (each for each in members if program.flags_of_type(each) & PUBLIC)
        type_ = program.superclass_of(type_)


@rule("classesOfMethod", JAVA)
def classes_of_method(
    sites: Table[RelatedCall], methods: Table[MethodAt], program: Program
) -> Iterator[ClassObject]:
    """Finds the classes that the declaration of a method or constructor names, and the one that declares it.

    classObjects(i, u) :- calls(i, "Method.getReturnType"), actual(i, 0, v), points-to(v, h), methodObject(h, m),
                          returns(m, u).   Likewise `getParameterTypes`, `getExceptionTypes` and `getDeclaringClass`;
                          `RecordComponent.getType` and `getDeclaringRecord`, of its accessor; `Parameter.getType`, of all
                          parameters of its method.
    """
    for site, found in joined(sites, methods, receiver="pointer"):
        declaring, _, descriptor = program.name_of_method(found.method)
        match site.sort:
            case "declaring":
                yield ClassObject(site.site, declaring)  # type: ignore[arg-type]
            case "exceptions":
                for type_ in program.exceptions_of(found.method):
                    yield ClassObject(site.site, type_)  # type: ignore[arg-type]
            case "parameters":
                for each in parameter_descriptors(descriptor):
                    yield from _declared_class(program, site, each)
            case "type":
                yield from _declared_class(program, site, descriptor.rpartition(")")[2])


@rule("classesOfField", JAVA)
def classes_of_field(
    sites: Table[RelatedCall], fields: Table[FieldAt], program: Program
) -> Iterator[ClassObject]:
    """Finds the class of a field, and the class that declares it.

    classObjects(i, u) :- calls(i, "Field.getType"), actual(i, 0, v), points-to(v, h), fieldObject(h, f), type(f, u).
                          Likewise `getDeclaringClass`.
    """
    for site, found in joined(sites, fields, receiver="pointer"):
        declaring, _, descriptor = program.name_of_field(found.field)
        if site.sort == "declaring":
            yield ClassObject(site.site, declaring)  # type: ignore[arg-type]
        else:
            yield from _declared_class(program, site, descriptor)


def _declared_class(program: Program, site: RelatedCall, descriptor: str) -> Iterator[ClassObject]:
    type_: Any = class_of_descriptor(program, descriptor)
    if type_ != NONE:
        yield ClassObject(site.site, type_)


@rule("unknownRelated", JAVA)
def unknown_related(sites: Table[RelatedCall], operands: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps what class is found by way of an unknown class or member as an unknown class object.

    Class d = c.getSuperclass()    c^u ∈ pt(c)
    ------------------------------------------
                  c^u ∈ pt(d)
    """
    for site in having(sites, operands, receiver="pointer"):
        yield UnknownObject(site.site, site.receiver)


@rule("P-ForName", SOLAR)
def unknown_class(sites: Table[ForName], names: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the class of an unknown name as the unknown class object c^u.

    Class c = Class.forName(s)    o ∈ pt(s), o no constant
    ------------------------------------------------------
                     c^u ∈ pt(c)
    """
    for site in having(sites, names, name="pointer"):
        yield UnknownObject(site.site, site.name)
