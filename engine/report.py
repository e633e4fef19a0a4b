"""The soundness report: what each reflective site resolves to, what is unknown of it, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np

from cypher.program import Program
from cypher.schema import NONE, Int32
from engine import heap
from engine.bounded import LISTED_IN_ALL
from engine.constraints import STRING, Constraints
from engine.models import SiteCall
from engine.openness import Openness, operands
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.actions import default_constructor, may_access, may_use, takes
from engine.reflection.api import Api
from engine.reflective import Reflection
from engine.result import PART, PARTIAL, RESOLVED, UNRESOLVED, NameSource, ReflectiveSite, Target

# Which derived relation holds the targets of a role, and of what kind they are.
TARGETS: dict[str, tuple[type, str, str]] = {
    api.FOR_NAME: (rel.ClassObject, "type", "type"),
    api.GET_MEMBER: (rel.MethodObject, "method", "method"),
    api.LIST_MEMBERS: (rel.MethodObject, "method", "method"),
    api.CLASS_NEW: (rel.NewInstanceTarget, "method", "method"),
    api.CONSTRUCTOR_NEW: (rel.NewInstanceTarget, "method", "method"),
    api.INVOKE: (rel.ResolvedInvoke, "method", "method"),
    api.FIELD_GET: (rel.ResolvedField, "field", "field"),
    api.FIELD_SET: (rel.ResolvedField, "field", "field"),
    # (of handles, the kind says whether the member is a field)
    api.FIND_HANDLE: (rel.HandleObject, "member", ""),
    api.UNREFLECT: (rel.HandleObject, "member", ""),
    api.CALL_HANDLE: (rel.HandleTarget, "member", ""),
}
ABSENT_REASONS = {
    api.FOR_NAME: "class-absent", api.GET_MEMBER: "member-absent", api.LIST_MEMBERS: "member-absent",
    api.FIND_HANDLE: "member-absent",
}  # fmt: skip
UNKNOWN_REASONS = {
    api.FOR_NAME: "unknown-name",
    api.LIST_MEMBERS: "unknown-class",
    api.CLASS_NEW: "unknown-class",
    api.CONSTRUCTOR_NEW: "unknown-constructor",
    api.INVOKE: "unknown-method",
    api.FIELD_GET: "unknown-field",
    api.FIELD_SET: "unknown-field",
    api.UNREFLECT: "unknown-member",
    api.CALL_HANDLE: "unknown-handle",
}

# Which relation holds the calls of a role that acts on what others found.
_CALLS: dict[str, Any] = {
    api.CLASS_NEW: rel.NewInstanceCall, api.CONSTRUCTOR_NEW: rel.ConstructorCall, api.INVOKE: rel.InvokeCall,
    api.FIELD_GET: rel.FieldCall, api.FIELD_SET: rel.FieldCall,
}  # fmt: skip

# Kinds of object at an operand that leave nothing unknown.
KNOWN = frozenset({
    NONE, heap.STRING, heap.CLASS_OBJECT, heap.METHOD_OBJECT, heap.FIELD_OBJECT, heap.TYPE_OBJECT, heap.GENERIC,
    heap.HANDLE, heap.MADE_HANDLE,
})  # fmt: skip
# How many unknown objects of an operand are listed, and how many operands of the combined handles that a call calls.
MOST_UNKNOWN, MOST_PARTS = 20, 20
TOO_MANY = f"one of more than {LISTED_IN_ALL} classes"


def report(
    constraints: Constraints, reflection: Reflection, number: Callable[[int], int]
) -> tuple[ReflectiveSite, ...]:
    """Returns all reflective sites that are reachable, in the order of their ids.

    `number` gives the id of an object in results.
    """
    targets, openness = _targets(reflection), reflection.openness()
    # (combined handles have operands in common)
    sources_of = cache(lambda pointer: _sources(constraints, reflection, pointer, openness, number))
    return tuple(
        _report_site(constraints, reflection, site, each, call, targets, openness, sources_of)
        for site, (each, call) in sorted(reflection.sites.items())
        if each.role in TARGETS
    )


def _targets(reflection: Reflection) -> dict[tuple[type, int], list[Target]]:
    found: dict[tuple[type, int], list[Target]] = defaultdict(list)
    # Roles share relations, and a table has each row once.
    for relation, column, kind in dict.fromkeys((*TARGETS.values(), (rel.FieldObject, "field", "field"))):
        for row in reflection.rules.tables[relation] if kind else ():
            found[relation, row.site].append(Target(kind, int(getattr(row, column))))
    for (relation, site), handles in reflection.handles_at.items():
        members = dict.fromkeys((kind <= api.PUT_STATIC, member) for member, kind in handles)
        found[relation, site] = [
            Target("field" if of_field else "method", member) for of_field, member in members
        ]
    return found


def _report_site(
    constraints: Constraints, reflection: Reflection, site: int, each: Api, call: SiteCall,
    targets: dict[tuple[type, int], list[Target]], openness: Openness,
    sources_of: Callable[[int], tuple[list[NameSource], bool]],
) -> ReflectiveSite:  # fmt: skip
    relation = rel.FieldObject if each.sort == "field" else TARGETS[each.role][0]
    found = tuple(targets.get((relation, site), ()))
    pointers = operands(each, call)
    status, reason = RESOLVED, ""
    sources: list[NameSource] = []
    assumes: tuple[str, ...] = ()
    if not reflection.counts(each):
        status, reason = UNRESOLVED, "mode-ignores-reflection"
    elif reflection.is_local and not (each.always or reflection.is_within_method(site)):
        status, reason = UNRESOLVED, "not-local"
    else:
        unknown = []
        for operand, pointer in pointers.items():
            at, is_open = sources_of(pointer)
            sources += at
            if is_open and not openness.settles(site, operand):
                unknown.append(operand)
        # (the open ones first)
        parts = sorted(reflection.combined.get(site, ()), key=lambda part: not sources_of(part)[1])
        if parts and sources_of(parts[0])[1]:
            unknown.append(PART)
        pointers |= {f"{PART}{number}": part for number, part in enumerate(parts[:MOST_PARTS], 1)}
        sources = list(
            dict.fromkeys((*sources, *(each for part in parts[:MOST_PARTS] for each in sources_of(part)[0])))
        )
        reason = _reason(constraints, reflection, site, each, call, unknown, bool(found))
        if unknown:
            status = PARTIAL if found else UNRESOLVED
        else:
            assumes = openness.leans_on(site)
    name = f"{each.owner.replace('/', '.')}.{each.name}"
    return ReflectiveSite(site, name, each.role, status, reason, found, tuple(sources), pointers, assumes)


def _refusal(program: Program, reflection: Reflection, site: int, each: Api, call: SiteCall) -> str:
    """Returns why a call acts on none of the classes or members that come to it."""
    if each.role not in _CALLS:
        return "nothing-to-act-on"
    tables, members, at = reflection.rules.tables, reflection.members, call.argument(each.subject)
    (row,) = tables[_CALLS[each.role]].where(site=site)
    if each.role in (api.FIELD_GET, api.FIELD_SET):
        usable = [may_access(row, found.field, members) for found in tables[rel.FieldAt].where(pointer=at)]
        return "nothing-to-act-on" if all(usable) else "inaccessible"
    if each.role == api.CLASS_NEW:
        made = [default_constructor(program, found.type) for found in tables[rel.ClassAt].where(pointer=at)]
        methods = [method for method in made if method >= 0]
    else:
        methods = [found.method for found in tables[rel.MethodAt].where(pointer=at)]
    if not all(may_use(row, method, members) for method in methods):
        return "inaccessible"
    if each.role != api.CLASS_NEW and not all(takes(row, method, members) for method in methods):
        return "argument-count"
    return "nothing-to-act-on"


def _sources(
    constraints: Constraints,
    reflection: Reflection,
    pointer: int,
    openness: Openness,
    number: Callable[[int], int],
) -> tuple[list[NameSource], bool]:
    """Returns the constants and the unknown objects at an operand, and whether any of these is open."""
    if pointer < 0:
        return [], False
    objects = constraints.solver.objects_of(pointer)
    found = [NameSource("constant", text, NONE) for text in reflection.texts_within_jdk(pointer)]
    within = reflection.unknown_within_jdk(pointer)
    unknown, is_open = 0, False
    kinds, payloads = constraints.heap.kinds_and_payloads(objects)
    listed = np.flatnonzero((kinds == heap.STRING) | ~np.isin(kinds, list(KNOWN)))
    for obj, kind, payload in zip(
        objects[listed].tolist(), kinds[listed].tolist(), payloads[listed].tolist(), strict=True
    ):
        if kind == heap.CLASS_OF and reflection.tells_classes(pointer, payload):
            continue
        if kind == heap.STRING:
            found.append(NameSource("constant", constraints.program.text(payload), number(obj)))
            continue
        unknown += 1
        is_open |= not (kind == heap.UNKNOWN and openness.is_closed(payload))
        if unknown <= MOST_UNKNOWN:
            found.append(NameSource("unknown", "", number(obj)))
    if reflection.is_exceeded(pointer):
        found.append(NameSource("unknown", TOO_MANY, NONE))
        is_open = True
    if unknown > MOST_UNKNOWN:
        found.append(NameSource("unknown", f"{unknown - MOST_UNKNOWN} more", NONE))
    elif unknown == 0 and (within or _is_generic(constraints, objects)):
        found.append(NameSource("unknown", "something that the JDK keeps in a field or an array", NONE))
        is_open = not within
    return found, is_open or not all(map(openness.is_closed, within))


def _is_generic(constraints: Constraints, objects: Int32) -> bool:
    """Returns whether there is nothing but what stands for class or member objects that the JDK's code has."""
    if objects.size != 1 or constraints.heap.entry(int(objects[0]))[0] not in (NONE, heap.GENERIC):
        return False
    type_ = int(constraints.solver.types_of(objects)[0])
    return (
        int(objects[0]) < constraints.heap.tracked_from and constraints.program.name_of_type(type_) != STRING
    )


def _reason(
    constraints: Constraints, reflection: Reflection, site: int, each: Api, call: SiteCall,
    unknown: Collection[str], found: bool,
) -> str:  # fmt: skip
    """Returns why a site has no target, or not all; `unknown` are the operands of which that is not known."""
    if unknown:
        if each.role not in api.FINDING:
            return UNKNOWN_REASONS[each.role]
        return "unknown-name" if "name" in unknown else "unknown-class"
    if found:
        return ""
    empty = [
        name
        for name, pointer in operands(each, call).items()
        if pointer < 0 or constraints.solver.objects_of(pointer).size == 0
    ]
    if empty:
        return f"no-{empty[0]}-arrives"
    if each.role in ABSENT_REASONS:
        return ABSENT_REASONS[each.role]
    return _refusal(constraints.program, reflection, site, each, call)
