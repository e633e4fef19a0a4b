"""Where a program starts: `main`, and the entries of a library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE, PROTECTED, PUBLIC, Program
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL
from engine import heap
from engine.constraints import STRING, STRING_ARRAY, Constraints
from engine.machine import entry_object
from engine.models import UNCAUGHT
from engine.sites import ENTRY_POINT
from engine.unknown import UnknownObjects


class Entries(NamedTuple):
    """`mains` are `main` methods, `library` methods that unknown code may call, `started` the main classes."""

    mains: Sequence[int]
    library: Sequence[int] = ()
    started: Sequence[int] = ()


def run_mains(constraints: Constraints, mains: Sequence[int]) -> None:
    """Calls each `main` with an array of unknown strings (JLS 12.1.4; instance mains of JDK 25, JEP 512)."""
    program = constraints.program
    array, element = entry_object(constraints, STRING_ARRAY), entry_object(constraints, STRING)
    constraints.add(schema.ArrayStore, NONE, NONE, element, NONE, array)
    uncaught = constraints.pool(UNCAUGHT)
    for main in mains:
        declaring = program.name_of_method(main)[0]
        constraints.initialise([declaring], NONE, NONE)
        if program.flags_of_method(main) & ACC_STATIC:
            constraints.call(NONE, STATIC, main, NONE, [(0, array)], thrown=uncaught, origin=ENTRY_POINT)
            continue
        receiver = constraints.fresh()
        constraints.put(receiver, constraints.object(heap.ENTRY, declaring))
        constructor = program.method_of(declaring, "<init>", "()V")
        if constructor >= 0:
            constraints.call(NONE, SPECIAL, constructor, receiver, origin=ENTRY_POINT)
        constraints.call(NONE, SPECIAL, main, receiver, [(1, array)], thrown=uncaught, origin=ENTRY_POINT)


def is_library_entry(program: Program, method: int) -> bool:
    """Returns whether unknown code may call `method`: public and protected ones of public types."""
    declaring, name, _ = program.name_of_method(method)
    visible = program.flags_of_type(declaring) & PUBLIC and program.flags_of_method(method) & (
        PUBLIC | PROTECTED
    )
    return bool(visible) and name != "<clinit>"


def call_library(constraints: Constraints, methods: Sequence[int]) -> None:
    """Calls each library entry on unknown objects of its declared types."""
    program = constraints.program
    unknown = UnknownObjects(constraints)
    for method in methods:
        declaring, name, _ = program.name_of_method(method)
        flags = program.flags_of_method(method)
        constraints.initialise([declaring], NONE, NONE)
        shift = 0 if flags & ACC_STATIC else 1
        arguments = [
            (position + shift, unknown.pointer(type_))
            for position, type_ in enumerate(program.parameter_types(method))
            if type_ >= 0
        ]
        if flags & ACC_STATIC:
            constraints.call(NONE, STATIC, method, NONE, arguments, origin=ENTRY_POINT)
        elif name == "<init>":
            if not program.flags_of_type(declaring) & (ABSTRACT | INTERFACE):
                receiver = constraints.fresh()
                constraints.put(receiver, unknown.of_class(declaring))
                constraints.call(NONE, SPECIAL, method, receiver, arguments, origin=ENTRY_POINT)
        elif flags & ABSTRACT:
            constraints.call(
                NONE,
                VIRTUAL,
                program.signature_of(method),
                unknown.pointer(declaring),
                arguments,
                origin=ENTRY_POINT,
            )
        else:
            constraints.call(NONE, SPECIAL, method, unknown.pointer(declaring), arguments, origin=ENTRY_POINT)
