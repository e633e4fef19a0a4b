"""Calls and constants that bootstrap methods of the program link (JVMS 5.4.3.6), as methods that the JVM makes.

invokedynamic n(args)    ⇒    CallSite c = bootstrap(lookup, "n", type, static arguments…);
return c.getTarget().invokeExact(args);
ldc constant n           ⇒    return (T) bootstrap(lookup, "n", T.class, static arguments…);

Call sites of the bootstrap method of a dynamic language (see SHARING) share what calls their targets, which are the
same for all: a method that takes a call site with its arguments in an array, and returns any object.
"""

from __future__ import annotations

from typing import NamedTuple

from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE, PUBLIC, SYNTHETIC
from cypher.schema import (
    NONE,
    ArrayStore,
    Cast,
    ClassConstant,
    HandleConstant,
    Initialises,
    New,
    StringConstant,
)
from loader.expansion import Body, Linkage, Row
from loader.members import MadeMethod
from loader.names import OBJECT, parameters, reference_name, result
from loader.resolution import INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL, Call
from loader.site import FIELD_HANDLES, OPCODES, DynamicCall, Handle, read_handle
from loader.texts import Texts
from loader.unit import CLASS, DYNAMIC, METHOD_HANDLE, METHOD_TYPE, NUMBER, STRING

_LOOKUP, _METHOD_TYPE, _HANDLE, _CALL_SITE = (
    "java/lang/invoke/MethodHandles$Lookup",
    "java/lang/invoke/MethodType",
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/CallSite",
)
_GET_TARGET = "getTarget", f"()L{_HANDLE};"
_OBJECTS = "[Ljava/lang/Object;"
# A bootstrap method that more entries of class files name than this is a dynamic language's: whatever is called
# goes through it, and what it returns may call any method of the program.
SHARING = 64
# The kind of method handles for constructors (JVMS 4.4.8).
_NEW_KIND = 8
# What the JVM passes to every bootstrap method.
_GIVEN = 3


class Linked(NamedTuple):
    """A call site or a constant, linked by a bootstrap method of the program.

    `shared` is the method that calls the target, -1 if the call site does so itself.
    """

    call: DynamicCall
    shared: int

    @property
    def descriptor(self) -> str:
        """The descriptor of the method that is made for it."""
        return f"(){self.call.descriptor}" if self.call.is_constant else self.call.descriptor

    @property
    def variables(self) -> int:
        """How many variables that method has at most."""
        return len(parameters(self.descriptor)) + 2 * len(self.call.static_arguments) + 12


def handle_constant(linkage: Linkage, handle: Handle, caller: int) -> tuple[int, int, int]:
    """Returns the columns kind, callee and field of `HandleConstant`."""
    owner = linkage.types.named(handle.owner)
    if handle.kind <= FIELD_HANDLES:
        return handle.kind, NONE, linkage.fields.resolve(owner, handle.name, handle.descriptor)
    signature = linkage.signatures.of(handle.name, handle.descriptor)
    return handle.kind, linkage.resolver.call(OPCODES[handle.kind], owner, signature, caller).callee, NONE


class Shared(NamedTuple):
    """What calls the targets of call sites that a bootstrap method has linked, a method of `caller`."""

    caller: int

    @property
    def made(self) -> MadeMethod:
        """The method, which takes a call site and an array of arguments."""
        return MadeMethod(
            "call", f"(L{_CALL_SITE};{_OBJECTS})L{OBJECT};", PUBLIC | ACC_STATIC | SYNTHETIC, 2, 5
        )


def shared_body(linkage: Linkage, method: int, shape: Shared) -> list[Row]:
    """Returns the rows of the method that calls the targets of many call sites."""
    given, arguments, returned, thrown, target = range(5)
    body = Body(method, 0)
    get = _virtual(linkage, shape.caller, _CALL_SITE, *_GET_TARGET)
    body.invoke(get, [(0, given)], target, thrown)
    invoke = _virtual(linkage, shape.caller, _HANDLE, "invokeWithArguments", f"({_OBJECTS})L{OBJECT};")
    body.invoke(invoke, [(0, target), (1, arguments)], returned, thrown)
    return body.rows


def _virtual(linkage: Linkage, caller: int, owner: str, name: str, descriptor: str) -> Call:
    signature = linkage.signatures.of(name, descriptor)
    return linkage.resolver.call(INVOKEVIRTUAL, linkage.types.named(owner), signature, caller)


def linked_body(linkage: Linkage, texts: Texts, method: int, shape: Linked) -> list[Row]:
    """Returns the rows of the method that is made for a call site or a constant."""
    return _Writer(linkage, texts, method, shape).rows()


class _Writer:
    def __init__(self, linkage: Linkage, texts: Texts, method: int, shape: Linked) -> None:
        self._linkage, self._texts, self._call = linkage, texts, shape.call
        self._shared = shape.shared
        self._parameters = parameters(shape.descriptor)
        self._returned = len(self._parameters)
        self._thrown = self._returned + 1
        self._next = self._returned + 2
        self._body = Body(method, 0)

    def rows(self) -> list[Row]:
        call, linkage, body = self._call, self._linkage, self._body
        made = self._variable()
        self._run_bootstrap(made)
        wanted = reference_name(result(call.descriptor))
        value = made
        if not call.is_constant:
            value = self._variable() if wanted else NONE
            passed = [position for position, each in enumerate(self._parameters) if reference_name(each)]
            if self._shared >= 0:
                declaring, name, descriptor = linkage.methods.name_of(self._shared)
                signature = linkage.signatures.of(name, descriptor)
                resolved = linkage.resolver.call(INVOKESTATIC, declaring, signature, call.caller)
                array = self._collected(_OBJECTS, passed)
                body.invoke(resolved, [(0, made), (1, array)], value, self._thrown)
            else:
                target = self._variable()
                arguments = [(0, target), *((each + 1, each) for each in passed)]
                get = _virtual(linkage, call.caller, _CALL_SITE, *_GET_TARGET)
                body.invoke(get, [(0, made)], target, self._thrown)
                resolved = _virtual(linkage, call.caller, _HANDLE, "invokeExact", call.descriptor)
                body.invoke(resolved, arguments, value, self._thrown)
        if wanted:
            body.add(Cast, value, linkage.types.named(wanted), self._returned)
        return body.rows

    def _variable(self) -> int:
        self._next += 1
        return self._next - 1

    def _run_bootstrap(self, made: int) -> None:
        call, linkage, body = self._call, self._linkage, self._body
        owner = linkage.types.named(call.bootstrap_class)
        signature = linkage.signatures.of(call.bootstrap_name, call.bootstrap_descriptor)
        opcode = INVOKESPECIAL if call.bootstrap_kind == _NEW_KIND else INVOKESTATIC
        target = linkage.resolver.call(opcode, owner, signature, call.caller)
        wanted = parameters(call.bootstrap_descriptor)
        given = [self._new(_LOOKUP), self._string(call.name), self._type()]
        given += [self._argument(kind, ref) for kind, ref in call.static_arguments]
        arguments = list(enumerate(given))
        last = len(wanted) - 1
        if last >= _GIVEN and wanted[last].startswith("[") and len(given) >= last:
            arguments = [*arguments[:last], (last, self._collected(wanted[last], given[last:]))]
        if target.callee >= 0:
            body.add(Initialises, linkage.methods.declaring_type(target.callee))
        if opcode == INVOKESPECIAL:
            body.add(New, owner, made)
            arguments = [(0, made), *((position + 1, variable) for position, variable in arguments)]
        body.invoke(target, arguments, NONE if opcode == INVOKESPECIAL else made, self._thrown)

    def _new(self, name: str) -> int:
        variable = self._variable()
        self._body.add(New, self._linkage.types.named(name), variable)
        return variable

    def _string(self, text: str) -> int:
        variable = self._variable()
        self._body.add(StringConstant, self._texts.of(text), variable)
        return variable

    def _type(self) -> int:
        if not self._call.is_constant:
            return self._new(_METHOD_TYPE)
        name = reference_name(self._call.descriptor)
        return self._class(name) if name else NONE

    def _class(self, name: str) -> int:
        variable = self._variable()
        self._body.add(ClassConstant, self._linkage.types.named(name), variable)
        return variable

    def _argument(self, kind: int, ref: int) -> int:
        """Returns the variable of a static argument, -1 if nothing is known of it."""
        part = self._call.part
        if kind == STRING:
            return self._string(part.text.one(ref))
        if kind == CLASS:
            return self._class(part.type_name(ref))
        if kind == METHOD_TYPE:
            return self._new(_METHOD_TYPE)
        if kind == NUMBER:
            return self._new("java/lang/Integer")
        if kind == METHOD_HANDLE:
            variable = self._variable()
            columns = handle_constant(self._linkage, read_handle(part, ref), self._call.caller)
            self._body.add(HandleConstant, *columns, variable)
            return variable
        name = reference_name(part.text.one(ref)) if kind == DYNAMIC and ref >= 0 else ""
        instantiable = name and not self._linkage.types.flags[self._linkage.types.named(name)] & (
            ABSTRACT | INTERFACE
        )
        return self._new(name) if instantiable else NONE

    def _collected(self, array: str, given: list[int]) -> int:
        """Returns a variable with an array of the last arguments, as for a method of variable arity."""
        variable = self._new(array)
        for each in given:
            if each >= 0:
                self._body.add(ArrayStore, each, NONE, variable)
        return variable
