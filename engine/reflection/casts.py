"""Casts of what reflective calls create tell the classes of which no name tells (Livshits, Whaley, Lam, § 5.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any, TypeVar

from cypher.program import JDK, Program
from cypher.schema import CallSite
from engine.bounded import LISTED_IN_ALL
from engine.reflection.actions import takes
from engine.reflection.members import fits
from engine.reflection.names import Members
from engine.reflection.papers import JAVA, LIVSHITS
from engine.reflection.relations import (
    ClassObject,
    ConstructorCall,
    ForName,
    GetMember,
    ListMembers,
    NewInstanceCall,
    ParameterClass,
    ParameterClasses,
    ResultCast,
    UnknownAt,
)
from engine.rules import Table, concerned, joined, rule

Finds = TypeVar("Finds", GetMember, ListMembers)


def cast_types(casts: Table[ResultCast], site: CallSite, program: Program) -> Iterator[Any]:
    """Yields the classes that can be instantiated and pass all casts of what `site` returns.

    In the JDK's code those are left out that are its own: a name that comes from outside chooses others. Elsewhere those
    of the JDK are left out of which only the JDK can make objects.
    """
    if casts.where(site=site):
        first, *others = casts.everything.where(site=site)
        for type_ in program.concrete_subtypes_of(first.type):
            ours = first.inside and program.flags_of_type(type_) & JDK
            if not (ours or program.is_encapsulated(type_)) and all(
                other.type in program.supertypes_of(type_) for other in others
            ):
                yield type_


def narrows(types: Sized) -> bool:
    """Returns whether casts that let these classes pass tell any, if only the listed constructors are known.

    They don't if these are more classes than a call lists the members of (see `engine.bounded`).
    """
    return len(types) <= LISTED_IN_ALL


@rule("classObjects.casts.1", LIVSHITS)
def cast_new_instance(
    sites: Table[NewInstanceCall], unknown: Table[UnknownAt], casts: Table[ResultCast],
    names: Table[ForName], program: Program,
) -> Iterator[ClassObject]:  # fmt: skip
    """Narrows the classes of an unknown name to those that `Class.newInstance` makes objects of and a cast lets pass.

    classObjects(ic, t) :- calls(i, "Class.newInstance"), actual(i, 0, v), points-to(v, c), ret(i, vret),
                           cast(_, tc, vret), subtype(t, tc), unresolved(ic), points-to(vc, c), ret(ic, vc).

    Differs: `unresolved(ic)` says that a name which is no constant reaches ic, so c is its unknown class object
    and partially resolved calls count as well; of t there are objects, made by a default constructor; and what
    i returns is cast to tc on every way on which the method goes on.
    """
    for site, operand in joined(sites, unknown, receiver="pointer"):
        if names.where(site=operand.made):
            for type_ in cast_types(casts, site.site, program):
                if program.method_of(type_, "<init>", "()V") >= 0:
                    yield ClassObject(operand.made, type_)


@rule("classObjects.casts.2", LIVSHITS)
def cast_constructor(
    sites: Table[ConstructorCall], unknown: Table[UnknownAt], casts: Table[ResultCast],
    lookups: Table[GetMember], classes: Table[UnknownAt], names: Table[ForName],
    lengths: Table[ParameterClasses], parameters: Table[ParameterClass], program: Program, members: Members,
) -> Iterator[ClassObject]:  # fmt: skip
    """Likewise for `Constructor.newInstance`, if the constructor is that of a class of an unknown name.

    classObjects(ic, t) :- calls(i, "Constructor.newInstance"), actual(i, 0, v), points-to(v, n), ret(i, vret),
                           cast(_, tc, vret), subtype(t, tc), calls(ig, "Class.getConstructor"), points-to(vg, n),
                           ret(ig, vg), actual(ig, 0, w), points-to(w, c), unresolved(ic), points-to(vc, c),
                           ret(ic, vc).

    Differs: t has a constructor whose parameters may be those that ig names, and which takes what i passes.
    """
    asked = concerned(lookups, (lengths, parameters), site="site")
    for site, call, finders in _makers(sites, unknown, asked, classes, names):
        for type_ in cast_types(casts, site.site, program):
            if any(
                takes(site, each, members) and fits(call.site, each, lengths, parameters, members)
                for each in members.constructors(type_, bool(call.declared))
            ):
                yield from (ClassObject(finder, type_) for finder in finders)


@rule("classObjects.casts.listed", JAVA)
def cast_listed_constructor(
    sites: Table[ConstructorCall], unknown: Table[UnknownAt], casts: Table[ResultCast],
    lists: Table[ListMembers], classes: Table[UnknownAt], names: Table[ForName],
    program: Program, members: Members,
) -> Iterator[ClassObject]:  # fmt: skip
    """Likewise, if the constructor is one of those that the class lists.

    classObjects(ic, t) :- calls(i, "Constructor.newInstance"), actual(i, 0, v), points-to(v, n), ret(i, vret),
                           cast(_, tc, vret), subtype(t, tc), calls(ig, "Class.getConstructors"),
                           points-to(vg[…], n), ret(ig, vg), actual(ig, 0, w), points-to(w, c), unresolved(ic),
                           points-to(vc, c), ret(ic, vc).

    Here too, t has a constructor that ig lists and which takes what i passes. Of casts that hardly narrow anything, see
    `narrows`.
    """
    for site, call, finders in _makers(sites, unknown, lists, classes, names):
        types = list(cast_types(casts, site.site, program))
        for type_ in types if narrows(types) else ():
            listed = members.listed(type_, call.sort, bool(call.declared))
            if any(takes(site, each, members) for each in listed):
                yield from (ClassObject(finder, type_) for finder in finders)


def _makers(
    sites: Table[ConstructorCall],
    unknown: Table[UnknownAt],
    calls: Table[Finds],
    classes: Table[UnknownAt],
    names: Table[ForName],
) -> Iterator[tuple[ConstructorCall, Finds, list[CallSite]]]:
    """Yields calls of `newInstance`, the calls that find their constructors in unknown classes, and those that find these by name."""
    found, named, unknown_at = calls.by("site"), names.by("site"), classes.by("pointer")
    for site, operand in joined(sites, unknown, receiver="pointer"):
        for call in found.get(operand.made, ()):
            finders: list[Any] = [
                each.made for each in unknown_at.get(call.receiver, ()) if each.made in named
            ]
            if call.sort == "constructor" and finders:
                yield site, call, finders
