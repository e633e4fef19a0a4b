"""The reflective API as a table: which methods play which role, and where their operands stand."""

from __future__ import annotations

from typing import NamedTuple

CLASS, METHOD, CONSTRUCTOR, FIELD, ARRAY = (
    "java/lang/Class",
    "java/lang/reflect/Method",
    "java/lang/reflect/Constructor",
    "java/lang/reflect/Field",
    "java/lang/reflect/Array",
)

# Roles.
FOR_NAME, GET_MEMBER, CLASS_NEW, CONSTRUCTOR_NEW, INVOKE, FIELD_GET, FIELD_SET, RELATED, ARRAY_NEW = (
    "class-by-name", "member", "class-new-instance", "constructor-new-instance", "invoke", "field-get", "field-set",
    "related-class", "array-new-instance",
)  # fmt: skip


class Api(NamedTuple):
    """A method of the reflective API.

    Operands are argument positions (the receiver of an instance method is 0), -1 where there is none:
    `subject` is the class, method or field object that it works on, `name` the string, `classes` the array of
    parameter classes, `target` the object on which it acts, `arguments` the array of arguments or the value.
    `initialises` says whether it initialises the class it finds.
    """

    owner: str
    name: str
    descriptor: str
    role: str
    subject: int = -1
    named: int = -1
    classes: int = -1
    target: int = -1
    arguments: int = -1
    sort: str = ""
    declared: bool = False
    initialises: bool = False


_STRING, _CLASSES, _OBJECT = "Ljava/lang/String;", "[Ljava/lang/Class;", "Ljava/lang/Object;"
_PRIMITIVES = {
    "Boolean": "Z", "Byte": "B", "Char": "C", "Short": "S", "Int": "I", "Long": "J", "Float": "F", "Double": "D",
}  # fmt: skip

API: tuple[Api, ...] = (
    Api(CLASS, "forName", f"({_STRING})L{CLASS};", FOR_NAME, named=0, initialises=True),
    Api(CLASS, "forName", f"({_STRING}ZLjava/lang/ClassLoader;)L{CLASS};", FOR_NAME, named=0, initialises=True),
    Api(CLASS, "forName", f"(Ljava/lang/Module;{_STRING})L{CLASS};", FOR_NAME, named=1),
    Api("java/lang/ClassLoader", "loadClass", f"({_STRING})L{CLASS};", FOR_NAME, named=1),
    *(
        Api(CLASS, f"get{infix}Method", f"({_STRING}{_CLASSES})L{METHOD};", GET_MEMBER, 0, 1, 2,
            sort="method", declared=bool(infix))
        for infix in ("", "Declared")
    ),
    *(
        Api(CLASS, f"get{infix}Constructor", f"({_CLASSES})L{CONSTRUCTOR};", GET_MEMBER, 0, -1, 1,
            sort="constructor", declared=bool(infix))
        for infix in ("", "Declared")
    ),
    *(
        Api(CLASS, f"get{infix}Field", f"({_STRING})L{FIELD};", GET_MEMBER, 0, 1,
            sort="field", declared=bool(infix))
        for infix in ("", "Declared")
    ),
    Api(CLASS, "getSuperclass", f"()L{CLASS};", RELATED, 0, sort="superclass"),
    Api(CLASS, "getComponentType", f"()L{CLASS};", RELATED, 0, sort="component"),
    Api(ARRAY, "newInstance", f"(L{CLASS};I){_OBJECT}", ARRAY_NEW, 0),
    Api(ARRAY, "newInstance", f"(L{CLASS};[I){_OBJECT}", ARRAY_NEW, 0),
    Api(CLASS, "newInstance", f"(){_OBJECT}", CLASS_NEW, 0),
    Api(CONSTRUCTOR, "newInstance", f"([{_OBJECT}){_OBJECT}", CONSTRUCTOR_NEW, 0, arguments=1),
    Api(METHOD, "invoke", f"({_OBJECT}[{_OBJECT}){_OBJECT}", INVOKE, 0, target=1, arguments=2),
    Api(FIELD, "get", f"({_OBJECT}){_OBJECT}", FIELD_GET, 0, target=1),
    Api(FIELD, "set", f"({_OBJECT}{_OBJECT})V", FIELD_SET, 0, target=1, arguments=2),
    *(Api(FIELD, f"get{name}", f"({_OBJECT}){letter}", FIELD_GET, 0, target=1) for name, letter in _PRIMITIVES.items()),
    *(Api(FIELD, f"set{name}", f"({_OBJECT}{letter})V", FIELD_SET, 0, target=1) for name, letter in _PRIMITIVES.items()),
)  # fmt: skip
