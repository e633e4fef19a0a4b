"""Side-effect calls: creation, invocation and field access by way of class, method and field objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cypher.program import ABSTRACT, INTERFACE, Program
from cypher.schema import NONE
from engine.constraints import OBJECT
from engine.reflection.names import Members
from engine.reflection.papers import JAVA, LIVSHITS
from engine.reflection.relations import (
    ArrayCall,
    ClassAt,
    ConstructorCall,
    FieldAt,
    FieldCall,
    InvokeCall,
    Local,
    MethodAt,
    NewArray,
    NewInstanceCall,
    NewInstanceTarget,
    ResolvedField,
    ResolvedInvoke,
    UnknownAt,
)
from engine.rules import Table, having, joined, rule

# Dimensions of arrays that are told apart though the program names none such.
DEEPEST_ARRAY = 2
# Dimensions that a call adds which takes an array of lengths.
MOST_LENGTHS = 3


def instantiable(program: Program, type_: int) -> bool:
    """Returns whether there are objects of a class; of a primitive type there are none."""
    return type_ >= 0 and not program.flags_of_type(type_) & (ABSTRACT | INTERFACE)


def default_constructor(program: Program, type_: int) -> int:
    """Returns the constructor without parameters of a class that can be instantiated, or -1."""
    return program.method_of(type_, "<init>", "()V") if instantiable(program, type_) else NONE


def may_use(site: NewInstanceCall | ConstructorCall | InvokeCall, method: int, members: Members) -> bool:
    """Returns whether a call may use a method or constructor, as far as modules of the JDK go."""
    return bool(site.trusted) or members.may_use_method(method)


def may_access(site: FieldCall, field: int, members: Members) -> bool:
    """Returns whether a call may access a field, as far as modules of the JDK go."""
    return bool(site.trusted) or members.may_use_field(field)


def takes(site: ConstructorCall | InvokeCall, method: int, members: Members) -> bool:
    """Returns whether a method or constructor takes as many arguments as a call passes."""
    return site.length in (NONE, len(members.parameter_classes(method)))


@rule("newInstanceTargets.1", LIVSHITS)
def class_new_instance(
    sites: Table[NewInstanceCall], classes: Table[ClassAt], program: Program, members: Members
) -> Iterator[NewInstanceTarget]:
    """Finds the default constructors that `Class.newInstance` runs.

    newInstanceTargets(i, t) :- calls(i, "Class.newInstance"), actual(i, 0, v), points-to(v, c),
                                points-to(vc, c), ret(ic, vc), classObjects(ic, t).
    calls(i, m) :- newInstanceTargets(i, t), m = t + ".<init>".

    Differs: here and in the rules below, a member that only the JDK may use is none that other code uses.
    """
    return _constructed(program, members, joined(sites, classes, receiver="pointer"))


@rule("newInstanceTargets.local", LIVSHITS)
def local_new_instance(
    sites: Table[NewInstanceCall], local: Table[Local], classes: Table[ClassAt],
    program: Program, members: Members,
) -> Iterator[NewInstanceTarget]:  # fmt: skip
    """Finds the default constructors that `Class.newInstance` runs if its classes are constants of its method (§ 6.3).

    newInstanceTargets(i, t) :- calls(i, "Class.newInstance"), actual(i, 0, v), local(i, v), points-to(v, c),
                                classObject(c, t).
    """
    constants = joined(sites, local, site="site")
    found = ((site, found) for site, at in constants for found in classes.where(pointer=at.pointer))
    return _constructed(program, members, found)


def _constructed(
    program: Program, members: Members, found: Iterable[tuple[NewInstanceCall, ClassAt]]
) -> Iterator[NewInstanceTarget]:
    """Yields the default constructor of each class at a call, if it has one that runs."""
    for site, class_ in found:
        constructor = default_constructor(program, class_.type)
        if constructor >= 0 and may_use(site, constructor, members):
            yield NewInstanceTarget(site.site, constructor)  # type: ignore[arg-type]


@rule("newInstanceTargets.2", LIVSHITS)
def constructor_new_instance(
    sites: Table[ConstructorCall], constructors: Table[MethodAt], program: Program, members: Members
) -> Iterator[NewInstanceTarget]:
    """Finds the constructors that `Constructor.newInstance` runs.

    newInstanceTargets(i, t) :- calls(i, "Constructor.newInstance"), actual(i, 0, v), points-to(v, c),
                                points-to(vc, c), ret(ic, vc), constructorTypes(ic, t).

    Differs: the paper prints `Class.newInstance` in this rule, which the text before it corrects. Here and in the rule
    below, a member that takes more or fewer arguments than are passed isn't called.
    """
    for site, found in joined(sites, constructors, receiver="pointer"):
        declaring, name, _ = program.name_of_method(found.method)
        if (
            name == "<init>"
            and instantiable(program, declaring)
            and may_use(site, found.method, members)
            and takes(site, found.method, members)
        ):
            yield NewInstanceTarget(site.site, found.method)


@rule("newArray", JAVA)
def new_array(
    sites: Table[ArrayCall], classes: Table[ClassAt], program: Program, members: Members
) -> Iterator[NewArray]:
    """Finds the types of arrays that `Array.newInstance` makes.

    newArray(i, a) :- calls(i, "Array.newInstance"), actual(i, 0, v), points-to(v, c), classObject(c, t),
                      arrayOf(t, a).

    Without a bound, the class of an array that was made would lead to ever deeper ones: beyond DEEPEST_ARRAY dimensions,
    `Object[]` stands for those that the program doesn't name. A call that takes an array of lengths makes arrays of up to
    MOST_LENGTHS dimensions more. If the classes are many, arrays of the nearest supertypes that the program names stand
    for those of a class of which it names none.
    """
    for site, found in joined(sites, classes, few="pointer"):
        yield from _new_arrays(program, site, found.type)
    for site, found in joined(sites, classes, component="pointer"):
        if found.type in members.named_elements(found.type):
            yield from _new_arrays(program, site, found.type)
    for site, found in joined(sites, classes, many="pointer"):
        for each in members.named_elements(found.type) if _has_arrays(program, found.type) else ():
            if each != found.type:
                yield NewArray(site.site, program.array_of(each), 1)  # type: ignore[arg-type]


@rule("unknownArray", JAVA)
def unknown_array(
    sites: Table[ArrayCall], operands: Table[UnknownAt], program: Program
) -> Iterator[NewArray]:
    """Has `Object[]` stand for the arrays that `Array.newInstance` makes of an unknown class.

    Object a = Array.newInstance(c, n)    c^u ∈ pt(c)
    -------------------------------------------------
                  Object[] ∈ pt(a)
    """
    for site in having(sites, operands, few="pointer"):
        yield NewArray(site.site, program.array_of(program.type_named(OBJECT)), 1)  # type: ignore[arg-type]


def _new_arrays(program: Program, site: ArrayCall, element: int) -> Iterator[NewArray]:
    """Yields the arrays that a call makes of a class."""
    for _ in range(MOST_LENGTHS if site.lengths else 1):
        if not _has_arrays(program, element):
            if element >= 0:
                yield NewArray(site.site, program.array_of(program.type_named(OBJECT)), 1)  # type: ignore[arg-type]
            return
        yield NewArray(site.site, program.array_of(element), 0)  # type: ignore[arg-type]
        element = program.array_of(element)


def _has_arrays(program: Program, type_: int) -> bool:
    """Returns whether arrays of a type are told from others: if it is no primitive, and has few dimensions or is named."""
    if type_ < 0:
        return False
    return not program.name_of_type(type_).startswith("[" * DEEPEST_ARRAY) or program.names_array_of(type_)


@rule("resolvedInvoke", LIVSHITS)
def resolved_invoke(
    sites: Table[InvokeCall], methods: Table[MethodAt], program: Program, members: Members
) -> Iterator[ResolvedInvoke]:
    """Finds the methods that `Method.invoke` calls.

    resolvedInvoke(i, m) :- calls(i, "Method.invoke(Object, Object[])"), actual(i, 0, v), points-to(v, h),
                            methodObject(h, m).
    """
    for site, found in joined(sites, methods, receiver="pointer"):
        if (
            program.name_of_method(found.method)[1] != "<init>"
            and may_use(site, found.method, members)
            and takes(site, found.method, members)
        ):
            yield ResolvedInvoke(site.site, found.method)


@rule("load, store", LIVSHITS)
def resolved_field(
    sites: Table[FieldCall], fields: Table[FieldAt], members: Members
) -> Iterator[ResolvedField]:
    """Finds the fields that `Field.get…` and `Field.set…` access.

    load(v1, f, v2) :- calls(i, "Field.get(Object, Object)"), actual(i, 0, v), points-to(v, h),
                       fieldObject(h, f), actual(i, 1, v1), ret(i, v2).
    store(v1, f, v2) :- calls(i, "Field.set(Object, Object)"), actual(i, 0, v), points-to(v, h),
                        fieldObject(h, f), actual(i, 1, v1), actual(i, 2, v2).
    """
    for site, found in joined(sites, fields, receiver="pointer"):
        if may_access(site, found.field, members):
            yield ResolvedField(site.site, found.field)
