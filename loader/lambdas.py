"""Lambdas and method references: the classes that `LambdaMetafactory` makes.

Each call site gets a class of its own. It keeps the captured values in fields and declares the method of the
functional interface, whose body calls the implementation as the method handle says (JVMS 4.4.8, 5.4.3.5). If it is
serializable, it declares `writeReplace`, which describes the lambda (`java.lang.invoke.SerializedLambda`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cypher.program import APPLICATION, FINAL, JDK, PRIVATE, PUBLIC, SYNTHETIC
from cypher.schema import (
    NONE,
    ArrayStore,
    Assign,
    Cast,
    ClassConstant,
    Initialises,
    Load,
    New,
    Store,
    StringConstant,
)
from loader.expansion import Body, Linkage, Row
from loader.members import MadeMethod
from loader.names import BOXES, OBJECT, SERIALIZABLE, parameters, reference_name, result
from loader.resolution import INVOKESTATIC
from loader.site import OPCODES, DynamicCall, Handle, host_name
from loader.texts import Texts
from loader.unit import CLASS, METHOD_HANDLE, METHOD_TYPE, NUMBER

# Kinds of method handles (JVMS 4.4.8).
_INVOKE_STATIC, _NEW = 6, 8

_REPLACE, _REPLACE_DESCRIPTOR = "writeReplace", f"()L{OBJECT};"
_SERIALIZED, _CLASS, _STRING = "java/lang/invoke/SerializedLambda", "Ljava/lang/Class;", "Ljava/lang/String;"
_SERIALIZED_DESCRIPTOR = f"({_CLASS}{3 * _STRING}I{4 * _STRING}[L{OBJECT};)V"

# Flags of `altMetafactory`.
_SERIALIZABLE, _MARKERS, _BRIDGES = 1, 2, 4


class Lambda(NamedTuple):
    """A call of `LambdaMetafactory`.

    `name` is that of the method of the functional interface, `descriptors` are its own and those of its bridges;
    `fields` are those that keep captured values, -1 for a primitive one.
    """

    caller: int
    name: str
    captured: tuple[str, ...]
    fields: tuple[int, ...]
    interfaces: tuple[str, ...]
    handle: Handle
    instantiated: str
    descriptors: tuple[str, ...]


def lambda_of(call: DynamicCall) -> Lambda | None:
    """Returns what a call site of `LambdaMetafactory` asks for, None if its arguments make no sense."""
    kinds = [kind for kind, _ in call.static_arguments]
    if call.bootstrap_name not in ("metafactory", "altMetafactory"):
        return None
    interface = reference_name(result(call.descriptor))
    if kinds[:3] != [METHOD_TYPE, METHOD_HANDLE, METHOD_TYPE] or not interface:
        return None
    handle = call.handle(1)
    if handle.kind not in OPCODES:
        return None
    markers, bridges = _extras(call) if call.bootstrap_name == "altMetafactory" else ([], [])
    return Lambda(
        call.caller,
        call.name,
        parameters(call.descriptor),
        (),
        tuple(dict.fromkeys((interface, *markers))),
        handle,
        call.text(2),
        tuple(dict.fromkeys((call.text(0), *bridges))),
    )


def _extras(call: DynamicCall) -> tuple[list[str], list[str]]:
    """Returns the marker interfaces and the descriptors of bridges that `altMetafactory` is asked for."""
    rest = call.static_arguments[3:]
    if not rest or rest[0][0] != NUMBER:
        return [], []
    flags, place = rest[0][1], 1
    markers = [SERIALIZABLE] if flags & _SERIALIZABLE else []
    bridges: list[str] = []
    if flags & _MARKERS and place < len(rest):
        count = rest[place][1]
        listed = rest[place + 1 : place + 1 + count]
        markers += [call.part.type_name(ref) for kind, ref in listed if kind == CLASS]
        place += 1 + count
    if flags & _BRIDGES and place < len(rest):
        count = rest[place][1]
        listed = rest[place + 1 : place + 1 + count]
        bridges += [call.part.text.one(ref) for kind, ref in listed if kind == METHOD_TYPE]
    return markers, bridges


def make_lambda(linkage: Linkage, body: Body, call: DynamicCall, shape: Lambda) -> tuple[int, Lambda]:
    """Returns the class for a call site, with its fields, and adds the rows that instantiate it."""
    types = linkage.types
    interfaces = [types.named(each) for each in shape.interfaces]
    flags = FINAL | SYNTHETIC | (types.flags[call.caller] & (APPLICATION | JDK))
    methods = [_method(each, shape) for each in shape.descriptors]
    if SERIALIZABLE in shape.interfaces:
        # Beside the fixed ones: a class, seven strings, an array and its elements.
        variables = 3 + 9 + len(shape.captured)
        methods.append(MadeMethod(_REPLACE, _REPLACE_DESCRIPTOR, PRIVATE | FINAL | SYNTHETIC, 1, variables))
    type_ = types.make(host_name(linkage, call, "Lambda"), flags, interfaces, len(methods))
    linkage.methods.add_made(type_, methods)
    fields = tuple(
        linkage.fields.add(type_, f"cap{place}", each, PRIVATE | FINAL | SYNTHETIC)
        if reference_name(each)
        else NONE
        for place, each in enumerate(shape.captured)
    )
    if call.result != NONE:
        body.add(New, type_, call.result)
        for place, field in enumerate(fields):
            source = call.arguments.get(place, NONE)
            if NONE not in (field, source):
                body.add(Store, source, field, call.result)
    return type_, shape._replace(fields=fields)


def _method(descriptor: str, shape: Lambda) -> MadeMethod:
    values = len(parameters(descriptor)) + len(shape.captured)
    count = 1 + len(parameters(descriptor))
    # Beside the fixed ones: each value loaded or cast, and boxed; a new object; a result before its cast.
    return MadeMethod(shape.name, descriptor, PUBLIC | SYNTHETIC, count, count + 2 + 2 * values + 2)


class _Values:
    """Writes the body of one method of a lambda: values with their descriptors, in variables."""

    def __init__(self, linkage: Linkage, body: Body, first: int, thrown: int, caller: int) -> None:
        self._linkage = linkage
        self._body = body
        self._next = first
        self._thrown = thrown
        self._caller = caller

    def new_variable(self) -> int:
        self._next += 1
        return self._next - 1

    def cast(self, variable: int, name: str) -> int:
        """Returns a variable that holds what `variable` does, cast to the type `name`."""
        target = self.new_variable()
        self.cast_to(variable, name, target)
        return target

    def cast_to(self, variable: int, name: str, target: int) -> None:
        self._body.add(Cast, variable, self._linkage.types.named(name), target)

    def box(self, primitive: str, target: int) -> None:
        """Makes `target` hold a boxed value of the primitive type with this descriptor."""
        self.call(INVOKESTATIC, BOXES[primitive], "valueOf", f"({primitive})L{BOXES[primitive]};", [], target)

    def call(
        self,
        opcode: int,
        owner: str,
        name: str,
        descriptor: str,
        arguments: Sequence[tuple[int, int]],
        target: int,
    ) -> None:
        """Calls a method, and initialises its class where the instruction does so."""
        linkage, body = self._linkage, self._body
        type_ = linkage.types.named(owner)
        signature = linkage.signatures.of(name, descriptor)
        call = linkage.resolver.call(opcode, type_, signature, self._caller)
        if opcode == INVOKESTATIC and call.callee >= 0:
            self.initialise(linkage.methods.declaring_type(call.callee))
        body.invoke(call, arguments, target, self._thrown)

    def initialise(self, type_: int) -> None:
        self._body.add(Initialises, type_)


def lambda_body(linkage: Linkage, texts: Texts, method: int, shape: Lambda) -> list[Row]:
    """Returns the rows of a method of a lambda's class: it calls the implementation with what it has."""
    _, name, descriptor = linkage.methods.name_of(method)
    if (name, descriptor) == (_REPLACE, _REPLACE_DESCRIPTOR) and SERIALIZABLE in shape.interfaces:
        return _replace_body(linkage, texts, method, shape)
    count = 1 + len(parameters(descriptor))
    body = Body(method, 0)
    values = _Values(linkage, body, count + 2, count + 1, shape.caller)
    passed = [*_captured(values, body, shape), *_parameters(values, descriptor, shape.instantiated)]
    handle = shape.handle
    wanted = parameters(handle.descriptor)
    arguments: list[tuple[int, int]] = []
    has = result(handle.descriptor)
    raw, returned = NONE, result(descriptor)
    if handle.kind == _NEW:
        has = f"L{handle.owner};"
        raw = values.new_variable()
        type_ = linkage.types.named(handle.owner)
        body.add(New, type_, raw)
        values.initialise(type_)
        arguments.append((0, raw))
    elif handle.kind != _INVOKE_STATIC:
        wanted = (f"L{handle.owner};", *wanted)
    for position, ((variable, descriptor_of_value), each) in enumerate(
        zip(passed, wanted, strict=False), start=len(arguments)
    ):
        boxed = variable
        if reference_name(each) and not reference_name(descriptor_of_value):
            boxed = values.new_variable()
            values.box(descriptor_of_value, boxed)
        if reference_name(each):
            arguments.append((position, boxed))
    if handle.kind != _NEW:
        raw = values.new_variable() if reference_name(returned) and reference_name(has) else NONE
    target = NONE if handle.kind == _NEW else raw
    values.call(OPCODES[handle.kind], handle.owner, handle.name, handle.descriptor, arguments, target)
    if reference_name(returned) and has in BOXES:
        values.box(has, count)
    elif reference_name(returned) and raw != NONE:
        wanted_name = reference_name(result(shape.instantiated))
        if wanted_name in ("", OBJECT, reference_name(has)):
            body.add(Assign, raw, count)
        else:
            values.cast_to(raw, wanted_name, count)
    return body.rows


def _replace_body(linkage: Linkage, texts: Texts, method: int, shape: Lambda) -> list[Row]:
    """Returns the rows of `writeReplace`: it describes the lambda by names, and by an array of the captured values."""
    body, types = Body(method, 0), linkage.types
    returned, thrown = 1, 2
    values = _Values(linkage, body, 3, thrown, shape.caller)
    body.add(New, types.named(_SERIALIZED), returned)
    host = values.new_variable()
    body.add(ClassConstant, shape.caller, host)
    arguments = [(0, returned), (1, host)]
    handle, interface = shape.handle, shape.interfaces[0]
    names = (
        (2, interface), (3, shape.name), (4, shape.descriptors[0]),
        (6, handle.owner), (7, handle.name), (8, handle.descriptor), (9, shape.instantiated),
    )  # fmt: skip
    for position, name in names:
        variable = values.new_variable()
        body.add(StringConstant, texts.of(name), variable)
        arguments.append((position, variable))
    array = values.new_variable()
    body.add(New, types.named(f"[L{OBJECT};"), array)
    for variable, _ in _captured(values, body, shape):
        if variable != NONE:
            body.add(ArrayStore, variable, NONE, array)
    arguments.append((10, array))
    values.call(OPCODES[_NEW], _SERIALIZED, "<init>", _SERIALIZED_DESCRIPTOR, arguments, NONE)
    return body.rows


def _captured(values: _Values, body: Body, shape: Lambda) -> list[tuple[int, str]]:
    """Returns (variable, descriptor) of the captured values, -1 for a primitive one."""
    found: list[tuple[int, str]] = []
    for field, descriptor in zip(shape.fields, shape.captured, strict=True):
        variable = NONE
        if field != NONE:
            variable = values.new_variable()
            body.add(Load, 0, field, variable)
        found.append((variable, descriptor))
    return found


def _parameters(values: _Values, descriptor: str, instantiated: str) -> list[tuple[int, str]]:
    """Returns (variable, descriptor) of the parameters, cast to what the call site instantiates them with."""
    found: list[tuple[int, str]] = []
    pairs = zip(parameters(descriptor), parameters(instantiated), strict=False)
    for variable, (declared, actual) in enumerate(pairs, start=1):
        name = reference_name(actual)
        if not reference_name(declared):
            found.append((NONE, declared))
        elif name in ("", OBJECT) or actual == declared:
            found.append((variable, declared))
        else:
            found.append((values.cast(variable, name), actual))
    return found
