"""Member-introspecting calls: from a class object and a name to method, constructor and field objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from engine.reflection.names import Members
from engine.reflection.papers import JAVA, LIVSHITS, SOLAR
from engine.reflection.relations import (
    Candidate,
    ClassAt,
    FieldObject,
    GetMember,
    ListMembers,
    LookupCall,
    MethodAt,
    MethodObject,
    ParameterClass,
    ParameterClasses,
    ParameterVariable,
    RelatedCall,
    StringAt,
    UnknownAt,
    UnknownObject,
)
from engine.rules import Table, concerned, having, joined, rule

# Stands for any class among the parameter classes.
ANY_CLASS: Any = -1

Lookup = TypeVar("Lookup", GetMember, LookupCall)


@rule("parameterClass", JAVA)
def parameter_class(variables: Table[ParameterVariable], classes: Table[ClassAt]) -> Iterator[ParameterClass]:
    """Collects the classes that may stand at an index of the parameter classes of a `get…Method` call.

    parameterClass(i, n, t) :- exactArgument(i, n, v), points-to(v, c), classObject(c, t).
    """
    for variable, found in joined(variables, classes, variable="pointer"):
        yield ParameterClass(variable.site, variable.place, found.type)


@rule("unknownParameter", JAVA)
def unknown_parameter(
    variables: Table[ParameterVariable], operands: Table[UnknownAt]
) -> Iterator[ParameterClass]:
    """Admits any class at an index of the parameter classes where an unknown one may stand.

    parameterClass(i, n, ANY) :- exactArgument(i, n, v), points-to(v, c), c^u.
    """
    for variable in having(variables, operands, variable="pointer"):
        yield ParameterClass(variable.site, variable.place, ANY_CLASS)


def named_lookups(
    sites: Table[Lookup], classes: Table[ClassAt], names: Table[StringAt]
) -> Iterator[tuple[Lookup, Sequence[ClassAt], dict[str, None]]]:
    """Yields each lookup of a member, with the classes at its receiver and the constants for its name."""
    if len(classes) <= len(names):
        asked = having(sites, classes, receiver="pointer")
    else:
        asked = having(sites, names, name="pointer")
    for site in asked:
        texts = dict.fromkeys(name.text for name in names.where(pointer=site.name))
        if texts:
            yield site, classes.where(pointer=site.receiver), texts


@rule("memberCandidate", LIVSHITS)
def method_candidates(
    sites: Table[GetMember], classes: Table[ClassAt], names: Table[StringAt], members: Members
) -> Iterator[Candidate]:
    """Finds the methods that the constant name of a `get[Declared]Method` call names.

    string2method(hm, m), of the class objects at the receiver.
    """
    for site, found, texts in named_lookups(sites, classes, names):
        for each in found if site.sort == "method" else ():
            for method in members.methods(each.type, texts, bool(site.declared)):
                yield Candidate(site.site, method)  # type: ignore[arg-type]


@rule("constructorTypes", LIVSHITS)
def constructor_candidates(
    sites: Table[GetMember], classes: Table[ClassAt], members: Members
) -> Iterator[Candidate]:
    """Finds the constructors of the classes on which `get[Declared]Constructor` is called.

    constructorTypes(i, t) :- calls(i, "Class.getConstructor"), actual(i, 0, v), points-to(v, h),
                              classObjects(h, t).
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if site.sort == "constructor":
            for method in members.constructors(found.type, bool(site.declared)):
                yield Candidate(site.site, method)  # type: ignore[arg-type]


def may_be(parameters: Table[ParameterClass], site: int, place: int, type_: int) -> bool:
    """Returns whether the class at `place` that `site` asks for may be `type_`."""
    known: Any = parameters.everything
    return (site, place, type_) in known or (site, place, ANY_CLASS) in known


def fits(
    site: int,
    method: int,
    lengths: Table[ParameterClasses],
    parameters: Table[ParameterClass],
    members: Members,
) -> bool:
    """Returns whether the parameters of a method or constructor may be those that `site` asks for, as far as these are known."""
    known = lengths.everything.by("site").get(site)
    if not known:
        return True
    wanted = members.parameter_classes(method)
    return any(each.length == len(wanted) for each in known) and all(
        may_be(parameters, site, index, each) for index, each in enumerate(wanted)
    )


@rule("methodObject", LIVSHITS)
def method_object(
    candidates: Table[Candidate],
    lengths: Table[ParameterClasses],
    parameters: Table[ParameterClass],
    members: Members,
) -> Iterator[MethodObject]:
    """Keeps the candidates whose parameters may be those that the call names.

    methodObject(h, m) :- getMethod(mi), calls(i, mi), freshi2h(i, h), actual(i, 1, v), points-to(v, hm),
                          string2method(hm, m).

    Differs: the paper takes every method of that name; a class object at the receiver, and the parameter
    classes where they are known, are required here too.
    """
    for candidate in concerned(candidates, (lengths, parameters), site="site"):
        if fits(candidate.site, candidate.method, lengths, parameters, members):
            yield MethodObject(candidate.site, candidate.method)


@rule("fieldObject", LIVSHITS)
def field_object(
    sites: Table[GetMember], classes: Table[ClassAt], names: Table[StringAt], members: Members
) -> Iterator[FieldObject]:
    """Resolves `get[Declared]Field` with a constant name.

    fieldObject(h, f) :- getField(mf), calls(i, mf), freshi2h(i, h), actual(i, 1, v), points-to(v, hf),
                         string2field(hf, f).

    Differs: a class object at the receiver is required too.
    """
    for site, found, texts in named_lookups(sites, classes, names):
        for each in found if site.sort == "field" else ():
            for field in members.fields(each.type, texts, bool(site.declared)):
                yield FieldObject(site.site, field)  # type: ignore[arg-type]


@rule("P-GetMtd", SOLAR)
def unknown_member(sites: Table[GetMember], operands: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the member of an unknown class or of an unknown name as the unknown member object m^u.

    Method m = c.getMethod(s, …)    c^u ∈ pt(c), or o ∈ pt(s), o no constant
    ------------------------------------------------------------------------
                                 m^u ∈ pt(m)
    """
    for column in ("receiver", "name"):
        for site in having(sites, operands, **{column: "pointer"}):
            yield UnknownObject(site.site, getattr(site, column))


@rule("listedMethods", JAVA)
def listed_methods(
    sites: Table[ListMembers], classes: Table[ClassAt], members: Members
) -> Iterator[MethodObject]:
    """Finds what `get[Declared]Methods` and `…Constructors` list, the accessors of record components, and methods of properties.

    methodObject(h, m) :- calls(i, "Class.getMethods"), freshi2h(i, h), actual(i, 0, v), points-to(v, c),
                          classObject(c, t), method(t, m).   Likewise `getRecordComponents`, with accessor(t, m), and
                          `PropertyDescriptor.getReadMethod` with getter(t, m) of any bean of which descriptions are
                          asked for.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if site.sort != "field":
            for method in members.listed(found.type, site.sort, bool(site.declared)):
                yield MethodObject(site.site, method)  # type: ignore[arg-type]


@rule("executable", JAVA)
def executable(sites: Table[RelatedCall], parts: Table[MethodAt]) -> Iterator[MethodObject]:
    """Finds the accessor of a record component, and the method that has a parameter: these stand for it.

    methodObject(h, m) :- calls(i, "RecordComponent.getAccessor"), freshi2h(i, h), actual(i, 0, v), points-to(v, hc),
                          methodObject(hc, m).   Likewise `Parameter.getDeclaringExecutable`, and `Method.getParameters`
                          the other way.
    """
    for site, found in joined(sites, parts, receiver="pointer"):
        if site.sort == "executable":
            yield MethodObject(site.site, found.method)


@rule("listedFields", JAVA)
def listed_fields(
    sites: Table[ListMembers], classes: Table[ClassAt], members: Members
) -> Iterator[FieldObject]:
    """Finds what `get[Declared]Fields` lists.

    fieldObject(h, f) :- calls(i, "Class.getFields"), freshi2h(i, h), actual(i, 0, v), points-to(v, c),
                         classObject(c, t), field(t, f).
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if site.sort == "field":
            for field in members.listed(found.type, site.sort, bool(site.declared)):
                yield FieldObject(site.site, field)  # type: ignore[arg-type]


@rule("unknownListed", JAVA)
def unknown_listed(sites: Table[ListMembers], operands: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the members of an unknown class as the unknown member object m^u.

    Method[] a = c.getMethods()    c^u ∈ pt(c)
    ------------------------------------------
                 m^u ∈ pt(a[…])
    """
    for site in having(sites, operands, receiver="pointer"):
        yield UnknownObject(site.site, site.receiver)
