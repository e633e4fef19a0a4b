"""Method handles, and fields that are found by name or by offset without reflection (java.lang.invoke, Unsafe)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cypher.program import ACC_STATIC, Program
from cypher.schema import Method, Variable
from engine.reflection.api import (
    CALL_STATIC,
    CALL_VIRTUAL,
    GET_FIELD,
    GET_STATIC,
    NEW,
    PUT_FIELD,
    PUT_STATIC,
)
from engine.reflection.members import may_be, named_lookups
from engine.reflection.names import Members, class_of_descriptor
from engine.reflection.papers import JAVA
from engine.reflection.relations import (
    ArrayHandleCall,
    ClassAt,
    FieldAt,
    FieldObject,
    HandleAt,
    HandleCall,
    HandleCandidate,
    HandleObject,
    HandleTarget,
    LookupCall,
    MadeAt,
    MadeHandle,
    MadeTarget,
    MakeCall,
    MemoryAccess,
    MemoryCall,
    MethodAt,
    MethodTypeAt,
    MethodTypeCall,
    MethodTypeObject,
    OffsetCall,
    OffsetField,
    ParameterClass,
    ParameterClasses,
    StringAt,
    UnknownAt,
    UnknownObject,
    UnreflectCall,
)
from engine.rules import Table, concerned, having, joined, rule

# Stands for a field in `FieldObject`.
ELEMENTS: Any = -1
_OF_FIELDS = frozenset({GET_FIELD, GET_STATIC, PUT_FIELD, PUT_STATIC})
_OF_STATICS = frozenset({GET_STATIC, PUT_STATIC, CALL_STATIC})


@rule("offsetField", JAVA)
def offset_field(
    sites: Table[OffsetCall], found: Table[FieldObject], fields: Table[FieldAt]
) -> Iterator[OffsetField]:
    """Finds the fields for whose offsets the program asks.

    offsetField(i, f) :- calls(i, "Unsafe.objectFieldOffset(Class, String)"), fieldObject(i, f).
    offsetField(i, f) :- calls(i, "Unsafe.objectFieldOffset(Field)"), actual(i, 1, v), points-to(v, h),
                         fieldObject(h, f).   Likewise `staticFieldOffset`; `newUpdater` of atomic field updaters.
    """
    for site in sites:
        for row in found.where(site=site.site) if site.receiver < 0 else fields.where(pointer=site.receiver):
            yield OffsetField(site.site, row.field, site.scope)


@rule("memoryAccess", JAVA)
def memory_access(calls: Table[MemoryCall], offsets: Table[OffsetField]) -> Iterator[MemoryAccess]:
    """Takes an access by offset for one to each field whose offset was asked for in the same scope.

    memoryAccess(i, f) :- calls(i, "Unsafe.putReference"), scope(i, c), offsetField(j, f), scope(j, c).
    """
    for call, offset in joined(calls, offsets, scope="scope"):
        yield MemoryAccess(call.site, offset.field)


@rule("handleCandidate", JAVA)
def handle_candidates(
    sites: Table[LookupCall],
    classes: Table[ClassAt],
    names: Table[StringAt],
    members: Members,
    program: Program,
) -> Iterator[HandleCandidate]:
    """Finds the members that `Lookup.find…` names.

    handleCandidate(i, m) :- calls(i, "Lookup.findStatic"), actual(i, 1, v), points-to(v, c), classObject(c, t),
                             actual(i, 2, w), points-to(w, s), member(t, s, m).
                             Likewise `Lookup.bind`, of the class t of its receiver.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if site.kind == NEW:
            for method in members.constructors(found.type, declared=True):
                yield HandleCandidate(site.site, method, site.kind)  # type: ignore[arg-type]
    for site, at_receiver, texts in named_lookups(sites, classes, names):
        for found in at_receiver:
            if site.kind in _OF_FIELDS:
                for field in members.inherited_fields(found.type, texts):
                    yield HandleCandidate(site.site, field, site.kind)  # type: ignore[arg-type]
                continue
            for method in members.inherited_methods(found.type, texts):
                if bool(program.flags_of_method(method) & ACC_STATIC) == (site.kind in _OF_STATICS):
                    yield HandleCandidate(site.site, method, site.kind)  # type: ignore[arg-type]


@rule("handleObject", JAVA)
def handle_object(
    candidates: Table[HandleCandidate],
    sites: Table[LookupCall],
    types: Table[MethodTypeAt],
    lengths: Table[ParameterClasses],
    parameters: Table[ParameterClass],
    unknown: Table[UnknownAt],
    members: Members,
) -> Iterator[HandleObject]:
    """Keeps the candidates that have the type for which `Lookup.find…` asks.

    handleObject(i, m) :- handleCandidate(i, m), actual(i, 3, v), points-to(v, t), methodType(t), type(m) = t.
    """
    of_types = concerned(types, (lengths, parameters), made="site")
    for site in concerned(sites, (of_types, unknown), type="pointer"):
        known = [row.made for row in types.everything.where(pointer=site.type)]
        free = site.type < 0 or bool(unknown.everything.where(pointer=site.type))
        for candidate in candidates.where(site=site.site):
            if free or any(_has_type(members, candidate, made, lengths, parameters) for made in known):
                yield HandleObject(candidate.site, candidate.member, candidate.kind)


def _has_type(
    members: Members,
    candidate: HandleCandidate,
    made: int,
    lengths: Table[ParameterClasses],
    parameters: Table[ParameterClass],
) -> bool:
    returned = members.program.name_of_method(candidate.member)[2].rpartition(")")[2]
    wanted = members.parameter_classes(candidate.member)
    return (
        any(row.length == len(wanted) for row in lengths.everything.where(site=made))
        and may_be(parameters, made, -1, class_of_descriptor(members.program, returned))
        and all(may_be(parameters, made, place, each) for place, each in enumerate(wanted))
    )


@rule("P-Lookup", JAVA)
def unknown_handle(sites: Table[LookupCall], operands: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the handle of a member of unknown class or name as an unknown one.

    MethodHandle h = lookup.findStatic(c, s, …)    c^u ∈ pt(c), or o ∈ pt(s), o no constant
    ---------------------------------------------------------------------------------------
                                        h^u ∈ pt(h)
    """
    for column in ("receiver", "name"):
        for site in having(sites, operands, **{column: "pointer"}):
            yield UnknownObject(site.site, getattr(site, column))


@rule("unreflect", JAVA)
def unreflect(
    sites: Table[UnreflectCall], methods: Table[MethodAt], program: Program
) -> Iterator[HandleObject]:
    """Turns method and constructor objects into handles.

    handleObject(i, m) :- calls(i, "Lookup.unreflect"), actual(i, 1, v), points-to(v, h), methodObject(h, m).
    """
    for site, method in joined(sites, methods, receiver="pointer"):
        if site.kind >= 0:
            yield HandleObject(site.site, method.method, site.kind or kind_of(program, method.method))


@rule("unreflectField", JAVA)
def unreflect_field(
    sites: Table[UnreflectCall], fields: Table[FieldAt], program: Program
) -> Iterator[HandleObject]:
    """Turns field objects into handles.

    handleObject(i, f) :- calls(i, "Lookup.unreflectGetter"), actual(i, 1, v), points-to(v, h), fieldObject(h, f).
                          Likewise `unreflectSetter`, and of a var handle `VarHandle.toMethodHandle`.
    """
    for site, field in joined(sites, fields, receiver="pointer"):
        if site.kind in _OF_FIELDS:
            kind = site.kind + is_static(program, field.field)
            yield HandleObject(site.site, field.field, kind)  # type: ignore[arg-type]


@rule("unreflectVarHandle", JAVA)
def unreflect_var_handle(sites: Table[UnreflectCall], fields: Table[FieldAt]) -> Iterator[FieldObject]:
    """Turns field objects into var handles.

    fieldObject(i, f) :- calls(i, "Lookup.unreflectVarHandle"), actual(i, 1, v), points-to(v, h), fieldObject(h, f).
    """
    for site, field in joined(sites, fields, receiver="pointer"):
        if site.kind < 0:
            yield FieldObject(site.site, field.field)


@rule("arrayVarHandle", JAVA)
def array_var_handle(sites: Table[ArrayHandleCall]) -> Iterator[FieldObject]:
    """Takes the elements of arrays for a field.

    fieldObject(i, elements) :- calls(i, "MethodHandles.arrayElementVarHandle").
    fieldObject(i, elements) :- calls(i, "MethodHandles.byteArrayViewVarHandle").
    fieldObject(i, elements) :- calls(i, "MethodHandles.byteBufferViewVarHandle").

    Views of bytes bring numbers: an array or buffer of them has no other elements.
    """
    for site in sites:
        yield FieldObject(site.site, ELEMENTS)


@rule("methodType", JAVA)
def method_type(sites: Table[MethodTypeCall]) -> Iterator[MethodTypeObject]:
    """Tells method types apart by the calls that return them.

    methodTypeObject(i, i) :- calls(i, "MethodType.methodType").
    """
    for site in sites:
        yield MethodTypeObject(site.site, site.site)


@rule("madeHandle", JAVA)
def made_handle(sites: Table[MakeCall]) -> Iterator[MadeHandle]:
    """Tells handles that are made of others apart by the calls that make them.

    madeHandle(i, i) :- calls(i, "MethodHandles.filterReturnValue").   Likewise all combinations.
    """
    for site in sites:
        yield MadeHandle(site.site, site.site)


def is_static(program: Program, field: int) -> bool:
    """Returns whether a field is static; elements of arrays are not."""
    return field != ELEMENTS and bool(program.flags_of_field(field) & ACC_STATIC)


def kind_of(program: Program, method: int) -> int:
    """Returns the reference kind of the handle that a method object is turned into."""
    return CALL_STATIC if program.flags_of_method(method) & ACC_STATIC else CALL_VIRTUAL


@rule("P-Unreflect", JAVA)
def unknown_unreflected(sites: Table[UnreflectCall], operands: Table[UnknownAt]) -> Iterator[UnknownObject]:
    """Keeps the handle of an unknown member as an unknown one.

    MethodHandle h = lookup.unreflect(m)    m^u ∈ pt(m)
    ---------------------------------------------------
                      h^u ∈ pt(h)
    """
    for site in having(sites, operands, receiver="pointer"):
        yield UnknownObject(site.site, site.receiver)


@rule("handleTarget", JAVA)
def handle_target(calls: Table[HandleCall], handles: Table[HandleAt]) -> Iterator[HandleTarget]:
    """Finds the members that calls of method handles call or access.

    handleTarget(i, m) :- calls(i, "MethodHandle.invokeExact"), actual(i, 0, v), points-to(v, h), handle(h, m).
    """
    # Combined handles have operands in common, and these have handles in common.
    at: dict[Variable, dict[tuple[Method, int], None]] = {}
    for site, asked in concerned(calls, (handles,), receiver="pointer").by("site").items():
        found: dict[tuple[Method, int], None] = {}
        for pointer in (call.receiver for call in asked):
            if pointer not in at:
                at[pointer] = dict.fromkeys((row.member, row.kind) for row in handles.where(pointer=pointer))
            found.update(at[pointer])
        for member, kind in found:
            yield HandleTarget(site, member, kind)


@rule("madeTarget", JAVA)
def made_target(calls: Table[HandleCall], handles: Table[MadeAt]) -> Iterator[MadeTarget]:
    """Finds the combined handles that are called; each calls those of which it is made.

    madeTarget(i, j) :- calls(i, "MethodHandle.invokeExact"), actual(i, 0, v), points-to(v, h), madeHandle(j, h).
    """
    for call, handle in joined(calls, handles, receiver="pointer"):
        yield MadeTarget(call.site, handle.made)
