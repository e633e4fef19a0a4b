"""Generic types: what declarations name in their `Signature` (JVMS 4.7.9), as `java.lang.reflect.Type` shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cypher.program import INTERFACE, Program
from cypher.schema import NONE
from engine.reflection.names import class_of_descriptor, parameter_descriptors
from engine.reflection.papers import JAVA
from engine.reflection.relations import (
    ClassAt,
    ClassObject,
    FieldAt,
    MethodAt,
    RelatedCall,
    TypeAt,
    TypeObject,
)
from engine.rules import Table, joined, rule

_OBJECT = "Ljava/lang/Object;"
# Interfaces of `java.lang.reflect` that types implement which are no classes, by how their signatures begin.
_INTERFACE_OF = {
    "L": "ParameterizedType", "[": "GenericArrayType", "T": "TypeVariable", "*": "WildcardType", "+": "WildcardType",
    "-": "WildcardType",
}  # fmt: skip
INTERFACES = tuple(dict.fromkeys(_INTERFACE_OF.values()))


def is_class(signature: str) -> bool:
    """Returns whether a type signature is the descriptor of a class, an array of one or a primitive type.

    >>> is_class("[Ljava/lang/String;"), is_class("Ljava/util/List<Ljava/lang/String;>;"), is_class("[TT;")
    (True, False, False)
    """
    return "<" not in signature and signature.lstrip("[")[0] not in "T*+-"


def interface_of(signature: str) -> str:
    """Returns the interface of `java.lang.reflect` that a type implements which is no class."""
    return _INTERFACE_OF[signature[0]]


def _end_of(text: str, at: int) -> int:
    """Returns where the type signature ends that begins at a place of a text. Raises ValueError if it is malformed."""
    while text[at : at + 1] in ("[", "+", "-"):
        at += 1
    if text[at : at + 1] == "T":
        return text.index(";", at) + 1
    if text[at : at + 1] != "L":
        if text[at : at + 1] not in tuple("BCDFIJSZV*"):
            raise ValueError
        return at + 1
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "<") - (text[place] == ">")
        if text[place] == ";" and depth == 0:
            return place + 1
    raise ValueError


def listed(text: str) -> list[str]:
    """Returns the type signatures of which a text consists, none if it is malformed.

    >>> listed("ILjava/util/List<+TT;>;[J")
    ['I', 'Ljava/util/List<+TT;>;', '[J']
    """
    found, at = [], 0
    try:
        while at < len(text):
            end = _end_of(text, at)
            found.append(text[at:end])
            at = end
    except ValueError:
        return []
    return found


def without_parameters(signature: str) -> str:
    """Returns what stands behind the type parameters of a class or a method.

    >>> without_parameters("<T:Ljava/lang/Object;>Lp/A<TT;>;Lp/B;")
    'Lp/A<TT;>;Lp/B;'
    """
    depth = 0
    for place, each in enumerate(signature):
        depth += (each == "<") - (each == ">")
        if depth == 0:
            return signature[place + 1 :] if each == ">" else signature
    return ""


class Parameterized(NamedTuple):
    """The signature of a class, taken apart: its descriptor, its arguments, and the signature of what `.` puts it in."""

    raw: str
    arguments: list[str]
    owner: str


def parameterized(signature: str) -> Parameterized:
    """Returns what the signature of a class consists of.

    >>> parameterized("Lp/A<TT;>.B<*[I>;")
    Parameterized(raw='Lp/A$B;', arguments=['*', '[I'], owner='Lp/A<TT;>;')
    """
    raw, owner, arguments, depth, start = "", "", "", 0, 0
    for place, each in enumerate(signature):
        if each == "<":
            start = place + 1 if depth == 0 else start
            depth += 1
        elif each == ">":
            depth -= 1
            arguments = signature[start:place] if depth == 0 else arguments
        elif depth == 0 and each == ".":
            raw, owner, arguments = raw + "$", signature[:place] + ";", ""
        elif depth == 0:
            raw += each
    return Parameterized(raw, listed(arguments), owner)


def _parts(program: Program, signature: str, sort: str) -> list[str]:
    """Returns the types to which a method of `ParameterizedType`, `WildcardType` or `GenericArrayType` leads."""
    match interface_of(signature), sort:
        case "ParameterizedType", "arguments":
            return parameterized(signature).arguments
        case "ParameterizedType", "raw":
            return [parameterized(signature).raw]
        case "ParameterizedType", "owner":
            return _owner(program, parameterized(signature))
        case "WildcardType", "upper":
            return [signature[1:] if signature[0] == "+" else _OBJECT]
        case "WildcardType", "lower" if signature[0] == "-":
            return [signature[1:]]
        case "GenericArrayType", "generic component":
            return [signature[1:]]
    return []


def _owner(program: Program, type_: Parameterized) -> list[str]:
    if type_.owner:
        return [type_.owner]
    raw = class_of_descriptor(program, type_.raw)
    declaring = program.declaring_class_of(raw) if raw >= 0 else NONE
    return [f"L{program.name_of_type(declaring)};"] if declaring >= 0 else []


def _descriptor_of(program: Program, type_: int) -> str:
    name = program.name_of_type(type_)
    return name if name.startswith("[") else f"L{name};"


def _found(program: Program, site: RelatedCall, types: Iterable[str]) -> Iterator[TypeObject]:
    for each in types:
        signature: Any = program.text_of(each)
        yield TypeObject(site.site, signature)


@rule("genericOfClass", JAVA)
def generic_of_class(
    sites: Table[RelatedCall], classes: Table[ClassAt], program: Program
) -> Iterator[TypeObject]:
    """Finds the superclass and the superinterfaces of a class, with the arguments that it gives them.

    typeObject(i, s) :- calls(i, "Class.getGenericSuperclass"), actual(i, 0, v), points-to(v, c), classObject(c, t),
                        genericSuperclass(t, s).   Likewise `getGenericInterfaces`.
    """
    for site, found in joined(sites, classes, receiver="pointer"):
        if found.type >= 0:
            yield from _found(program, site, _supertypes(program, found.type, site.sort))


def _supertypes(program: Program, type_: int, sort: str) -> list[str]:
    """Returns the generic superclass of a class, one or none, or its generic superinterfaces."""
    named = listed(without_parameters(program.generic_of_type(type_)))
    match sort:
        case "generic superclass":
            superclass = program.superclass_of(type_)
            if superclass < 0 or program.flags_of_type(type_) & INTERFACE:
                return []
            return named[:1] or [_descriptor_of(program, superclass)]
        case "generic interfaces":
            return named[1:] or [_descriptor_of(program, each) for each in program.interfaces_of(type_)]
    return []


@rule("genericOfMethod", JAVA)
def generic_of_method(
    sites: Table[RelatedCall], methods: Table[MethodAt], program: Program
) -> Iterator[TypeObject]:
    """Finds the types of the parameters and of the result that the declaration of a method or constructor names.

    typeObject(i, s) :- calls(i, "Method.getGenericReturnType"), actual(i, 0, v), points-to(v, h), methodObject(h, m),
                        genericReturns(m, s).   Likewise `getGenericParameterTypes`; `RecordComponent.getGenericType`, of
                        its accessor; `Parameter.getParameterizedType`, of all parameters of its method.
    """
    for site, found in joined(sites, methods, receiver="pointer"):
        descriptor = program.name_of_method(found.method)[2]
        _, _, generic = without_parameters(program.generic_of_method(found.method)).partition("(")
        parameters, _, returned = generic.partition(")")
        match site.sort:
            case "generic parameters":
                # (parameters that the compiler adds have no generic type: then none has)
                erased, named = parameter_descriptors(descriptor), listed(parameters)
                yield from _found(program, site, named if len(named) == len(erased) else erased)
            case "generic type":
                named = listed(returned.partition("^")[0])
                yield from _found(program, site, named or [descriptor.rpartition(")")[2]])


@rule("genericOfField", JAVA)
def generic_of_field(
    sites: Table[RelatedCall], fields: Table[FieldAt], program: Program
) -> Iterator[TypeObject]:
    """Finds the type that the declaration of a field names.

    typeObject(i, s) :- calls(i, "Field.getGenericType"), actual(i, 0, v), points-to(v, h), fieldObject(h, f),
                        genericType(f, s).
    """
    for site, found in joined(sites, fields, receiver="pointer"):
        if site.sort == "generic type":
            named = listed(program.generic_of_field(found.field))
            yield from _found(program, site, named or [program.name_of_field(found.field)[2]])


@rule("partOfType", JAVA)
def part_of_type(sites: Table[RelatedCall], types: Table[TypeAt], program: Program) -> Iterator[TypeObject]:
    """Finds the arguments of a parameterized type, its class and its owner, the bounds of wildcards, and components of arrays.

    typeObject(i, u) :- calls(i, "ParameterizedType.getActualTypeArguments"), actual(i, 0, v), points-to(v, h),
                        typeObject(h, s), argument(s, u).   Likewise `getRawType` and `getOwnerType`;
                        `WildcardType.getUpperBounds` and `getLowerBounds`; `GenericArrayType.getGenericComponentType`.
    """
    for site, found in joined(sites, types, receiver="pointer"):
        yield from _found(program, site, _parts(program, program.text(found.signature), site.sort))


@rule("classOfType", JAVA)
def class_of_type(types: Table[TypeObject], program: Program) -> Iterator[ClassObject]:
    """Returns the class object of a type that is a class.

    classObjects(i, t) :- typeObject(i, s), string2class(s, t).
    """
    for found in types:
        signature = program.text(found.signature)
        type_: Any = class_of_descriptor(program, signature) if is_class(signature) else NONE
        if type_ != NONE:
            yield ClassObject(found.site, type_)
