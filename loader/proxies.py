"""Dynamic proxies: the classes that `java.lang.reflect.Proxy` makes.

Each method of the interfaces, and `toString`, `hashCode` and `equals`, calls the handler with the proxy, the
method object and an array of the arguments, and returns what comes back, cast or unboxed. But what the elements of
annotations return, and their type, isn't in the code of their handler, and isn't in these methods either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cypher.program import ACC_STATIC, APPLICATION, FINAL, JDK, PRIVATE, PUBLIC, SYNTHETIC
from cypher.schema import NONE, ArrayStore, Assign, Cast, Load, MethodConstant, New
from loader.expansion import Body, Linkage, Row
from loader.members import MadeMethod
from loader.names import BOXES, CONSTRUCTOR, OBJECT, PRIMITIVES, parameters, reference_name, result
from loader.resolution import INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL

PROXY = "java/lang/reflect/Proxy"
_HANDLER = "java/lang/reflect/InvocationHandler"
_UNDECLARED = "java/lang/reflect/UndeclaredThrowableException"
_CONSTRUCTOR = f"(L{_HANDLER};)V"
_INVOKE = f"(L{OBJECT};Ljava/lang/reflect/Method;[L{OBJECT};)L{OBJECT};"
_OBJECT_METHODS = {("hashCode", "()I"), ("equals", f"(L{OBJECT};)Z"), ("toString", "()Ljava/lang/String;")}


class ProxyMethod(NamedTuple):
    """A method of a proxy, for `declared` of an interface or of `Object`; -1 for the constructor."""

    declared: int
    returns: bool = True  # what the handler returns


def make_proxy(
    linkage: Linkage, interfaces: Sequence[int], *, annotates: bool = False
) -> tuple[int, list[ProxyMethod]]:
    """Returns the class of proxies that implement `interfaces`, and what its methods are; or that of an annotation."""
    types, methods = linkage.types, linkage.methods
    shapes = []
    for declared in _declared(linkage, interfaces):
        declaring, name, _ = methods.name_of(declared)
        answered = annotates and (declaring in interfaces or name == "annotationType")
        shapes.append(ProxyMethod(declared, not answered))
    made = [MadeMethod(CONSTRUCTOR, _CONSTRUCTOR, PUBLIC | SYNTHETIC, 2, 4)]
    for shape in shapes:
        _, name, descriptor = methods.name_of(shape.declared)
        count = 1 + len(parameters(descriptor))
        # Beside the fixed ones: the handler, the method, the array, the result, what is thrown, the wrapper, and each
        # boxed argument.
        made.append(MadeMethod(name, descriptor, PUBLIC | FINAL | SYNTHETIC, count, count + 2 + 7 + count))
    flags = [types.flags[each] for each in interfaces]
    origin = APPLICATION if any(each & APPLICATION for each in flags) else JDK
    name = "$$Proxy+".join(types.names[each] for each in interfaces) + "$$Annotation" * annotates + "$$Proxy"
    type_ = types.make(name, PUBLIC | FINAL | SYNTHETIC | origin, interfaces, len(made), PROXY)
    methods.add_made(type_, made)
    return type_, [ProxyMethod(NONE), *shapes]


def _declared(linkage: Linkage, interfaces: Sequence[int]) -> Iterator[int]:
    """Yields the methods that a proxy has, one for each name and descriptor."""
    types, methods = linkage.types, linkage.methods
    seen: set[tuple[str, str]] = set()
    above = dict.fromkeys(
        each
        for interface in interfaces
        for each in (interface, *types.supertypes[interface])
        if types.is_interface(each)
    )
    for type_ in (types.object, *above):
        for method in methods.of_type(type_):
            _, name, descriptor = methods.name_of(method)
            key = name, descriptor
            instance = not methods.flags_of(method) & (ACC_STATIC | PRIVATE)
            if key not in seen and (key in _OBJECT_METHODS if type_ == types.object else instance):
                seen.add(key)
                yield method


def proxy_body(linkage: Linkage, method: int, shape: ProxyMethod) -> list[Row]:
    """Returns the rows of a method of a proxy."""
    types, methods, signatures = linkage.types, linkage.methods, linkage.signatures
    type_, _, descriptor = methods.name_of(method)
    if shape.declared < 0:
        return _constructor_body(linkage, method, type_)
    given = parameters(descriptor)
    returned = 1 + len(given)
    thrown, handler, declared, array, value, failure, wrapper, box = range(returned + 1, returned + 9)
    body = Body(method, 0)
    field = linkage.fields.resolve(types.named(PROXY), "h", f"L{_HANDLER};")
    body.add(Load, 0, field, handler)
    body.add(MethodConstant, shape.declared, declared)
    if given:
        body.add(New, types.named(f"[L{OBJECT};"), array)
    for position, each in enumerate(given, start=1):
        source = position
        if not reference_name(each):
            source, box = box, box + 1
            boxed = signatures.of("valueOf", f"({each})L{BOXES[each]};")
            call = linkage.resolver.call(INVOKESTATIC, types.named(BOXES[each]), boxed, type_)
            body.invoke(call, [], source, thrown)
        body.add(ArrayStore, source, position - 1, array)
    invoke = linkage.resolver.call(
        INVOKEINTERFACE, types.named(_HANDLER), signatures.of("invoke", _INVOKE), type_
    )
    arguments = [(0, handler), (1, 0), (2, declared), (3, array if given else NONE)]
    wanted = result(descriptor)
    body.invoke(invoke, arguments, value if wanted != "V" else NONE, failure)
    _wrap(linkage, body, type_, failure, wrapper, thrown)
    if reference_name(wanted) and shape.returns:
        body.add(Cast, value, types.named(reference_name(wanted)), returned)
    elif wanted in BOXES:
        owner = types.named(BOXES[wanted])
        unbox = signatures.of(f"{PRIMITIVES[wanted]}Value", f"(){wanted}")
        if shape.returns:
            body.add(Cast, value, owner, box)
        else:
            body.add(New, owner, box)
        body.invoke(linkage.resolver.call(INVOKEVIRTUAL, owner, unbox, type_), [(0, box)], NONE, thrown)
    return body.rows


def _constructor_body(linkage: Linkage, method: int, type_: int) -> list[Row]:
    body = Body(method, 0)
    signature = linkage.signatures.of(CONSTRUCTOR, _CONSTRUCTOR)
    call = linkage.resolver.call(INVOKESPECIAL, linkage.types.named(PROXY), signature, type_)
    body.invoke(call, [(0, 0), (1, 1)], NONE, 3)
    return body.rows


def _wrap(linkage: Linkage, body: Body, type_: int, failure: int, wrapper: int, thrown: int) -> None:
    """Throws what the handler throws, and the exception around it that stands for an undeclared one."""
    owner = linkage.types.named(_UNDECLARED)
    signature = linkage.signatures.of(CONSTRUCTOR, "(Ljava/lang/Throwable;)V")
    call = linkage.resolver.call(INVOKESPECIAL, owner, signature, type_)
    body.add(Assign, failure, thrown)
    body.add(New, owner, wrapper)
    body.invoke(call, [(0, wrapper), (1, failure)], NONE, thrown)
    body.add(Assign, wrapper, thrown)
