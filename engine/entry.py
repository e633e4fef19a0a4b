"""Where a program starts: what the JVM does before `main`, `main` itself, and the entries of a library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE, PHANTOM, PROTECTED, PUBLIC, Program
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL
from engine import heap
from engine.constraints import STRING, Constraints
from engine.models import THREAD
from engine.sites import ENTRY_POINT

GROUP, SYSTEM = "java/lang/ThreadGroup", "java/lang/System"
STRING_ARRAY = f"[L{STRING};"
# HotSpot initialises these by itself, before and after System.initPhase1 (`Threads::create_vm`).
INITIALISED = (
    STRING, SYSTEM, "java/lang/Class", GROUP, THREAD, "java/lang/Module", "java/lang/reflect/Method",
    "java/lang/ref/Finalizer", "java/lang/ref/Reference", "java/lang/StackTraceElement",
)  # fmt: skip
# JDK 9 and later run three phases, JDK 8 and earlier one.
SYSTEM_PHASES = (
    ("initPhase1", "()V"), ("initPhase2", "(ZZ)I"), ("initPhase3", "()V"), ("initializeSystemClass", "()V"),
)  # fmt: skip


class Entries(NamedTuple):
    """`mains` are `main` methods, `library` methods that unknown code may call."""

    mains: Sequence[int]
    library: Sequence[int] = ()


def start_machine(constraints: Constraints) -> None:
    """Adds what the JVM does before `main`: the main thread, its groups, and the phases of `System`."""
    program = constraints.program
    constraints.initialise((t for t in map(program.type_named, INITIALISED) if t >= 0), NONE, NONE)
    name = _entry_object(constraints, STRING)
    thread, group = _entry_object(constraints, THREAD), _entry_object(constraints, GROUP)
    constraints.add(schema.Assign, NONE, NONE, thread, constraints.running_threads)
    _call(constraints, GROUP, "<init>", "()V", group)
    _call(constraints, GROUP, "<init>", f"(L{GROUP};L{STRING};)V", group, (1, group), (2, name))
    _call(constraints, THREAD, "<init>", f"(L{GROUP};L{STRING};)V", thread, (1, group), (2, name))
    _call(constraints, THREAD, "exit", "()V", thread)
    for phase, descriptor in SYSTEM_PHASES:
        _call(constraints, SYSTEM, phase, descriptor, NONE)


def _entry_object(constraints: Constraints, name: str) -> int:
    """Returns a fresh pointer to a new object that the JVM made."""
    pointer = constraints.fresh()
    type_ = constraints.program.type_named(name)
    if type_ >= 0:
        constraints.put(pointer, constraints.object(heap.ENTRY, type_))
    return pointer


def _call(
    constraints: Constraints,
    owner: str,
    name: str,
    descriptor: str,
    receiver: int,
    *arguments: tuple[int, int],
) -> None:
    program = constraints.program
    type_ = program.type_named(owner)
    method = program.method_of(type_, name, descriptor) if type_ >= 0 else NONE
    if method >= 0:
        kind = STATIC if receiver < 0 else SPECIAL
        constraints.call(NONE, kind, method, receiver, arguments, origin=ENTRY_POINT)


def run_mains(constraints: Constraints, mains: Sequence[int]) -> None:
    """Calls each `main` with an array of unknown strings (JLS 12.1.4; instance mains of JDK 25, JEP 512)."""
    program = constraints.program
    array, element = _entry_object(constraints, STRING_ARRAY), _entry_object(constraints, STRING)
    constraints.add(schema.ArrayStore, NONE, NONE, element, NONE, array)
    for main in mains:
        declaring = program.name_of_method(main)[0]
        constraints.initialise([declaring], NONE, NONE)
        if program.flags_of_method(main) & ACC_STATIC:
            constraints.call(NONE, STATIC, main, NONE, [(0, array)], origin=ENTRY_POINT)
            continue
        receiver = constraints.fresh()
        constraints.put(receiver, constraints.object(heap.ENTRY, declaring))
        constructor = program.method_of(declaring, "<init>", "()V")
        if constructor >= 0:
            constraints.call(NONE, SPECIAL, constructor, receiver, origin=ENTRY_POINT)
        constraints.call(NONE, SPECIAL, main, receiver, [(1, array)], origin=ENTRY_POINT)


def is_library_entry(program: Program, method: int) -> bool:
    """Returns whether unknown code may call `method`: public and protected ones of public types."""
    declaring, name, _ = program.name_of_method(method)
    visible = program.flags_of_type(declaring) & PUBLIC and program.flags_of_method(method) & (
        PUBLIC | PROTECTED
    )
    return bool(visible) and name != "<clinit>"


class UnknownObjects:
    """The unknown objects of declared types: one object a class, whatever the declared types."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        self._pointers: dict[int, int] = {}
        self._objects: dict[int, int] = {}

    def of_class(self, type_: int) -> int:
        """Returns the unknown object of exactly this type."""
        if type_ not in self._objects:
            self._objects[type_] = self._constraints.object(heap.ENTRY, type_)
        return self._objects[type_]

    def pointer(self, type_: int) -> int:
        """Returns a pointer to the unknown objects of `type_`: one of each class that it may have.

        Application classes if there are any, else all of the class path; an array type has its elements.
        """
        known = self._pointers.get(type_)
        if known is not None:
            return known
        constraints = self._constraints
        program = constraints.program
        pointer = self._pointers[type_] = constraints.fresh()
        name = program.name_of_type(type_)
        if name.startswith("["):
            constraints.put(pointer, self.of_class(type_))
            if name[1] in "L[":
                element = program.type_named(name[2:-1] if name[1] == "L" else name[1:])
                if element >= 0:
                    constraints.add(schema.ArrayStore, NONE, NONE, self.pointer(element), NONE, pointer)
            return pointer
        if program.flags_of_type(type_) & PHANTOM:
            return pointer
        subtypes = program.concrete_subtypes_of(type_, True) or program.concrete_subtypes_of(type_)
        for subtype in subtypes:
            constraints.put(pointer, self.of_class(subtype))
        return pointer


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
