"""Casts of what reflective calls create tell the classes of which no name tells (Livshits, Whaley, Lam, § 5.4)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from cypher.program import JDK, Program
from engine.reflection.papers import JAVA, LIVSHITS
from engine.reflection.relations import (
    ClassObject,
    ConstructorCall,
    ForName,
    GetMember,
    ListMembers,
    NewInstanceCall,
    ResultCast,
    UnknownAt,
)
from engine.rules import Table, joined, rule


def _cast_types(casts: Table[ResultCast], site: Any, program: Program) -> Iterator[int]:
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
            for type_ in _cast_types(casts, site.site, program):
                if program.method_of(type_, "<init>", "()V") >= 0:
                    yield ClassObject(operand.made, type_)  # type: ignore[arg-type]


@rule("classObjects.casts.2", LIVSHITS)
def cast_constructor(
    sites: Table[ConstructorCall], unknown: Table[UnknownAt], casts: Table[ResultCast],
    lookups: Table[GetMember], classes: Table[UnknownAt], names: Table[ForName], program: Program,
) -> Iterator[ClassObject]:  # fmt: skip
    """Likewise for `Constructor.newInstance`, if the constructor is that of a class of an unknown name.

    classObjects(ic, t) :- calls(i, "Constructor.newInstance"), actual(i, 0, v), points-to(v, n), ret(i, vret),
                           cast(_, tc, vret), subtype(t, tc), calls(ig, "Class.getConstructor"), points-to(vg, n),
                           ret(ig, vg), actual(ig, 0, w), points-to(w, c), unresolved(ic), points-to(vc, c),
                           ret(ic, vc).
    """
    for site, operand in joined(sites, unknown, receiver="pointer"):
        types = _cast_types(casts, site.site, program)
        yield from _of_finders(types, lookups.where(site=operand.made), classes, names)


@rule("classObjects.casts.listed", JAVA)
def cast_listed_constructor(
    sites: Table[ConstructorCall], unknown: Table[UnknownAt], casts: Table[ResultCast],
    lists: Table[ListMembers], classes: Table[UnknownAt], names: Table[ForName], program: Program,
) -> Iterator[ClassObject]:  # fmt: skip
    """Likewise, if the constructor is one of those that the class lists.

    classObjects(ic, t) :- calls(i, "Constructor.newInstance"), actual(i, 0, v), points-to(v, n), ret(i, vret),
                           cast(_, tc, vret), subtype(t, tc), calls(ig, "Class.getConstructors"),
                           points-to(vg[…], n), ret(ig, vg), actual(ig, 0, w), points-to(w, c), unresolved(ic),
                           points-to(vc, c), ret(ic, vc).
    """
    for site, operand in joined(sites, unknown, receiver="pointer"):
        types = _cast_types(casts, site.site, program)
        yield from _of_finders(types, lists.where(site=operand.made), classes, names)


def _of_finders(
    types: Iterable[int],
    calls: Iterable[GetMember | ListMembers],
    classes: Table[UnknownAt],
    names: Table[ForName],
) -> Iterator[ClassObject]:
    """Yields `types` as what those calls return that find by name the unknown classes whose constructors `calls` find."""
    finders = [
        found.made
        for call in calls
        if call.sort == "constructor"
        for found in classes.where(pointer=call.receiver)
        if names.where(site=found.made)
    ]
    if finders:
        yield from itertools.starmap(ClassObject, itertools.product(finders, types))
