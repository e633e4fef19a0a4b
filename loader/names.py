"""Names and descriptors of types and methods as class files write them (JVMS 4.2, 4.3)."""

from __future__ import annotations

import re
from functools import lru_cache

OBJECT = "java/lang/Object"
STRING_CLASS = "java/lang/String"
CLONEABLE = "java/lang/Cloneable"
SERIALIZABLE = "java/io/Serializable"
INITIALISER = "<clinit>"
CONSTRUCTOR = "<init>"

PRIMITIVES = {
    "Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double",
    "V": "void",
}  # fmt: skip
BOXES = {
    "Z": "java/lang/Boolean", "B": "java/lang/Byte", "C": "java/lang/Character", "S": "java/lang/Short",
    "I": "java/lang/Integer", "J": "java/lang/Long", "F": "java/lang/Float", "D": "java/lang/Double",
}  # fmt: skip

# An array type has at most this many dimensions (JVMS 4.4.1).
MOST_DIMENSIONS = 255

_FIELD_DESCRIPTOR = re.compile(r"\[*+(?:[BCDFIJSZ]|L[^;]*;)")


@lru_cache(maxsize=65536)
def parameters(descriptor: str) -> tuple[str, ...]:
    """Returns the descriptors of the parameters of a method descriptor.

    >>> parameters("(I[JLa/B;)V")
    ('I', '[J', 'La/B;')
    """
    found = []
    place, end = 1, descriptor.rfind(")")
    # (and no further than where it is no descriptor: to look for the next one could take very long)
    while match := _FIELD_DESCRIPTOR.match(descriptor, place, end):
        found.append(match[0])
        place = match.end()
    return tuple(found)


def result(descriptor: str) -> str:
    """Returns the descriptor of what a method with this descriptor returns.

    >>> result("(I)[La/B;")
    '[La/B;'
    """
    return descriptor[descriptor.rfind(")") + 1 :]


def reference_name(descriptor: str) -> str:
    """Returns the name of the reference type with this field descriptor, "" if it is a primitive one.

    >>> reference_name("La/B;"), reference_name("[I"), reference_name("I")
    ('a/B', '[I', '')
    """
    if descriptor.startswith("L"):
        return descriptor[1:-1]
    return descriptor if descriptor.startswith("[") else ""


def array_name(element: str) -> str:
    """Returns the descriptor of an array whose elements are of the reference type with this name.

    >>> array_name("a/B"), array_name("[I")
    ('[La/B;', '[[I')
    """
    return "[" + element if element.startswith("[") else f"[L{element};"


def is_array(name: str) -> bool:
    """Returns whether `name` is a well-formed array descriptor.

    >>> is_array("[I"), is_array("I"), is_array("[Q"), is_array("[La/B")
    (True, False, False, False)
    """
    if not name.startswith("["):
        return False
    element = name.lstrip("[")
    if len(name) - len(element) > MOST_DIMENSIONS:
        return False
    primitive = len(element) == 1 and element in PRIMITIVES and element != "V"
    return primitive or (len(element) > 2 and element[0] == "L" and element.find(";") == len(element) - 1)


def package_of(name: str) -> str:
    """Returns the package of a class with this internal name.

    >>> package_of("a/b/C"), package_of("C")
    ('a/b', '')
    """
    return name.rpartition("/")[0]
