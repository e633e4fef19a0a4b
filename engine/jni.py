"""Objects that native methods of the JDK make with constructors and methods of Java, by JNI or in the JVM.

Source: the native code of OpenJDK 17 for `java.net`, `sun.nio.ch` and `sun.management`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, INTERFACE
from cypher.schema import NONE, SPECIAL, STATIC
from engine import heap
from engine.constraints import CLASS, STRING, Constraints
from engine.layout import fields_named, reference_fields

_ADDRESS, _SOCKET_ADDRESS = "java/net/InetAddress", "java/net/InetSocketAddress"
COLLECTOR = "com/sun/management/internal/GarbageCollectorExtImpl"
_INTERFACE, _INTERFACE_ADDRESS = "java/net/NetworkInterface", "java/net/InterfaceAddress"


class Body(NamedTuple):
    """A method that was reached, with the pointers of its parameters."""

    method: int
    first: int
    parameters: int

    @property
    def returned(self) -> int:
        return self.first + self.parameters


def store_texts(constraints: Constraints, type_: int, pointer: int) -> None:
    """Has the JVM set what fields of `type_` there are for texts, such as names of members."""
    for field in reference_fields(constraints.program, type_):
        if constraints.program.name_of_field(field)[2] == f"L{STRING};":
            constraints.add(schema.Store, NONE, NONE, constraints.native_text(), field, pointer)


def construct(
    constraints: Constraints, body: Body, name: str, descriptor: str, arguments: Iterable[int], pointer: int
) -> None:
    """Puts a new object to a pointer, made with that constructor, if there is one."""
    program = constraints.program
    type_ = program.type_named(name)
    constructor = program.method_of(type_, "<init>", descriptor) if type_ >= 0 else NONE
    if constructor < 0:
        return
    made = constraints.fresh()
    constraints.put(made, constraints.object(heap.NATIVE, type_, body.method))
    constraints.initialise([type_], body.method, NONE)
    constraints.call(NONE, SPECIAL, constructor, made, enumerate(arguments, 1), method=body.method)
    constraints.add(schema.Assign, body.method, NONE, made, pointer)


def _array(constraints: Constraints, body: Body, name: str, elements: int, pointer: int) -> None:
    """Puts a new array of a class to a pointer, with those elements."""
    type_ = constraints.program.type_named(f"[L{name};")
    if type_ >= 0:
        constraints.put(pointer, constraints.object(heap.NATIVE, type_, body.method))
        constraints.add(schema.ArrayStore, body.method, NONE, elements, NONE, pointer)


def _return(constraints: Constraints, body: Body, pointer: int) -> None:
    """Returns what is at a pointer, in an array if the method returns one."""
    descriptor = constraints.program.name_of_method(body.method)[2].rpartition(")")[2]
    if descriptor.startswith("[L"):
        _array(constraints, body, descriptor[2:-1], pointer, body.returned)
    else:
        constraints.add(schema.Assign, body.method, NONE, pointer, body.returned)


def _addresses(constraints: Constraints, body: Body) -> int:
    """Returns the pointer to an address of each kind."""
    found = constraints.fresh()
    for name in ("java/net/Inet4Address", "java/net/Inet6Address"):
        construct(constraints, body, name, "()V", (), found)
    return found


def return_address(constraints: Constraints, body: Body) -> None:
    """Returns addresses (`NET_SockaddrToInetAddress`, `lookupAllHostAddr`)."""
    _return(constraints, body, _addresses(constraints, body))


def accept(constraints: Constraints, body: Body) -> None:
    """Puts the address of who connects into the array that is the third parameter (`Net.accept`)."""
    remote, address = constraints.fresh(), _addresses(constraints, body)
    construct(constraints, body, _SOCKET_ADDRESS, f"(L{_ADDRESS};I)V", [address], remote)
    constraints.add(schema.ArrayStore, body.method, NONE, remote, NONE, body.first + 2)


def return_interface(constraints: Constraints, body: Body) -> None:
    """Returns network interfaces, with the fields that are set of them (`createNetworkInterface`)."""
    interface, bound, addresses = constraints.fresh(), constraints.fresh(), _addresses(constraints, body)
    construct(constraints, body, _INTERFACE, "()V", (), interface)
    construct(constraints, body, _INTERFACE_ADDRESS, "()V", (), bound)
    store_texts(constraints, constraints.program.type_named(_INTERFACE), interface)
    for name in ("address", "broadcast"):
        _set(constraints, body, _INTERFACE_ADDRESS, name, addresses, bound)
    arrays = (
        ("addrs", _ADDRESS, addresses),
        ("bindings", _INTERFACE_ADDRESS, bound),
        ("childs", _INTERFACE, interface),
    )
    for name, element, elements in arrays:
        listed = constraints.fresh()
        _array(constraints, body, element, elements, listed)
        _set(constraints, body, _INTERFACE, name, listed, interface)
    _set(constraints, body, _INTERFACE, "parent", interface, interface)
    _return(constraints, body, interface)


def _set(constraints: Constraints, body: Body, owner: str, name: str, source: int, base: int) -> None:
    type_ = constraints.program.type_named(owner)
    for field in fields_named(constraints.program, type_, name) if type_ >= 0 else ():
        constraints.add(schema.Store, body.method, NONE, source, field, base)


def return_made_by(*makers: tuple[str, str]) -> Callable[[Constraints, Body], None]:
    """Returns what static methods of Java make that the JVM calls with texts, each an owner and a name."""

    def means(constraints: Constraints, body: Body) -> None:
        made = constraints.fresh()
        for owner, name in makers:
            _call(constraints, body, owner, name, result=made)
        _return(constraints, body, made)

    return means


def notify_collection(constraints: Constraints, body: Body) -> None:
    """Has the JVM tell of garbage collections from now on (`GCNotifier::sendNotification`)."""
    _call(constraints, body, COLLECTOR, "createGCNotification", receiver=body.first)


def use_sensor(constraints: Constraints, body: Body) -> None:
    """Has the JVM tell a sensor, which is the last parameter, of the use of memory (`SensorInfo::trigger`, `clear`)."""
    for name in ("trigger", "clear"):
        _call(constraints, body, "sun/management/Sensor", name, receiver=body.returned - 1)


def transform(constraints: Constraints, body: Body) -> None:
    """Has the JVM show classes to the transformers of an agent, which `body` adds one to."""
    _call(constraints, body, "sun/instrument/InstrumentationImpl", "transform", receiver=body.first)


def _call(
    constraints: Constraints, body: Body, owner: str, name: str, receiver: int = NONE, result: int = NONE
) -> None:
    """Calls the methods of that name, static ones if there is no receiver, with new objects of the types of parameters."""
    program = constraints.program
    type_ = program.type_named(owner)
    for method in program.methods_of(type_) if type_ >= 0 else ():
        static = bool(program.flags_of_method(method) & ACC_STATIC)
        if program.name_of_method(method)[1] != name or static != (receiver < 0):
            continue
        arguments = []
        for position, each in enumerate(program.parameter_types(method), not static):
            if each >= 0 and not program.flags_of_type(each) & (ABSTRACT | INTERFACE):
                given = constraints.fresh()
                kind = heap.UNKNOWN if program.name_of_type(each) == CLASS else heap.NATIVE
                constraints.put(given, constraints.object(kind, each, body.method))
                arguments.append((position, given))
        if static:
            constraints.initialise([type_], body.method, NONE)
        constraints.call(
            NONE, STATIC if static else SPECIAL, method, receiver, arguments, result, method=body.method
        )
