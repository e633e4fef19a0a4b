"""Methods of records that `ObjectMethods` makes: `toString`, `hashCode` and `equals` of all components."""

from __future__ import annotations

from typing import NamedTuple

from cypher.program import ACC_STATIC, PUBLIC, SYNTHETIC
from cypher.schema import NONE, Cast, Load, New
from loader.expansion import Body, Linkage, Row
from loader.names import STRING_CLASS, parameters, reference_name
from loader.resolution import INVOKEVIRTUAL
from loader.site import DynamicCall, Handle
from loader.unit import METHOD_HANDLE

_GET_FIELD = 1
_METHODS = {
    "toString": f"()L{STRING_CLASS};",
    "hashCode": "()I",
    "equals": "(Ljava/lang/Object;)Z",
}


class RecordMethod(NamedTuple):
    """A call of `ObjectMethods.bootstrap`: what it makes, and getters of the components that are references."""

    name: str
    components: tuple[Handle, ...]
    caller: int

    @property
    def flags(self) -> int:
        """The access flags of the method that is made."""
        return PUBLIC | ACC_STATIC | SYNTHETIC


def record_method_of(call: DynamicCall) -> RecordMethod | None:
    """Returns what a call site of `ObjectMethods` asks for, None if it makes no sense."""
    if call.name not in _METHODS or not parameters(call.descriptor):
        return None
    handles = [
        call.handle(place) for place, (kind, _) in enumerate(call.static_arguments) if kind == METHOD_HANDLE
    ]
    getters = (each for each in handles if each.kind == _GET_FIELD and reference_name(each.descriptor))
    return RecordMethod(call.name, tuple(getters), call.caller)


def record_body(linkage: Linkage, method: int, shape: RecordMethod) -> list[Row]:
    """Returns the rows of a method that `ObjectMethods` makes: it calls the method on every component."""
    _, _, descriptor = linkage.methods.name_of(method)
    count = len(parameters(descriptor))
    body, variable = Body(method, 0), count + 2
    signature = linkage.signatures.of(shape.name, _METHODS[shape.name])
    if shape.name == "toString":
        string = linkage.types.named(STRING_CLASS)
        body.add(New, string, count)
    bases = [0]
    if shape.name == "equals" and count > 1:
        body.add(Cast, 1, shape.caller, variable)
        bases.append(variable)
        variable += 1
    for component in shape.components:
        field = linkage.fields.resolve(
            linkage.types.named(component.owner), component.name, component.descriptor
        )
        arguments = []
        for position, base in enumerate(bases):
            body.add(Load, base, field, variable)
            arguments.append((position, variable))
            variable += 1
        declared = linkage.types.named(reference_name(component.descriptor))
        call = linkage.resolver.call(INVOKEVIRTUAL, declared, signature, shape.caller)
        body.invoke(call, arguments, NONE, count + 1)
    return body.rows
