"""From strings to classes and members: `string2class`, `string2method` and `string2field` of the papers."""

from __future__ import annotations

from collections.abc import Iterator

from cypher.program import ACC_STATIC, PUBLIC, Program

PRIMITIVES = "ZBCSIJFDV"


def class_named(program: Program, text: str) -> int:
    """Returns the type that `Class.forName(text)` yields, or -1.

    That is a class's name with dots, or an array's descriptor with dots (JLS 13.1, `Class.getName`).
    """
    if "/" in text or not text:
        return -1
    if text.startswith("["):
        element = text.lstrip("[")
        if element.startswith("L") and element.endswith(";"):
            known = program.type_named(element[1:-1].replace(".", "/")) >= 0
        else:
            known = len(element) == 1 and element in PRIMITIVES[:-1]
        return program.type_named(text.replace(".", "/")) if known else -1
    return program.type_named(text.replace(".", "/"))


def parameter_descriptors(descriptor: str) -> list[str]:
    """Returns the descriptors of the parameters.

    >>> parameter_descriptors("(I[JLjava/lang/String;)V")
    ['I', '[J', 'Ljava/lang/String;']
    """
    found = []
    at = 1
    while descriptor[at] != ")":
        start = at
        while descriptor[at] == "[":
            at += 1
        at = descriptor.index(";", at) + 1 if descriptor[at] == "L" else at + 1
        found.append(descriptor[start:at])
    return found


def class_of_descriptor(program: Program, descriptor: str) -> int:
    """Returns the type of a descriptor; a primitive one is `-ord` of its letter."""
    if len(descriptor) == 1:
        return -ord(descriptor)
    return program.type_named(descriptor[1:-1] if descriptor.startswith("L") else descriptor)


def methods_found(program: Program, type_: int, name: str, declared: bool) -> Iterator[int]:
    """Yields the methods that `get[Declared]Method(name, …)` on a class may find, whatever the parameters."""
    if declared:
        for method in program.methods_of(type_):
            if program.name_of_method(method)[1] == name:
                yield method
        return
    for method in _public_members(program, type_):
        if program.name_of_method(method)[1] == name:
            yield method


def _public_members(program: Program, type_: int) -> Iterator[int]:
    """Yields the public methods of a class, then of its superclasses and superinterfaces, overridden ones left out."""
    seen: set[tuple[str, str]] = set()
    current = type_
    while current >= 0:
        for method in program.methods_of(current):
            _, name, descriptor = program.name_of_method(method)
            if program.flags_of_method(method) & PUBLIC and (name, descriptor) not in seen:
                seen.add((name, descriptor))
                yield method
        current = program.superclass_of(current)
    for interface in sorted(program.supertypes_of(type_)):
        for method in program.methods_of(interface):
            _, name, descriptor = program.name_of_method(method)
            flags = program.flags_of_method(method)
            if (
                flags & PUBLIC
                and (interface == type_ or not flags & ACC_STATIC)
                and (name, descriptor) not in seen
            ):
                seen.add((name, descriptor))
                yield method


def constructors_found(program: Program, type_: int, declared: bool) -> Iterator[int]:
    """Yields the constructors that `get[Declared]Constructor(…)` may find, whatever the parameters."""
    for method in program.methods_of(type_):
        if program.name_of_method(method)[1] == "<init>" and (
            declared or program.flags_of_method(method) & PUBLIC
        ):
            yield method


def fields_found(program: Program, type_: int, name: str, declared: bool) -> Iterator[int]:
    """Yields the fields that `get[Declared]Field(name)` may find (JVMS 5.4.3.2 for the public ones)."""
    supertypes = [type_] if declared else _field_order(program, type_)
    for each in supertypes:
        for field in program.fields_of(each):
            if program.name_of_field(field)[1] == name and (
                declared or program.flags_of_field(field) & PUBLIC
            ):
                yield field
                return


def _field_order(program: Program, type_: int) -> list[int]:
    """Returns the class, its superinterfaces and its superclasses, in the order of field lookup."""
    order: dict[int, None] = {}
    pending = [type_]
    while pending:
        current = pending.pop()
        if current < 0 or current in order:
            continue
        order[current] = None
        pending.append(program.superclass_of(current))
        pending.extend(reversed(program.interfaces_of(current)))
    return list(order)
