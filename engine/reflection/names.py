"""From strings to classes and members: `string2class`, `string2method` and `string2field` of the papers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from cypher.program import ACC_STATIC, INTERFACE, PUBLIC, Program
from cypher.schema import NONE

_Rows = TypeVar("_Rows")
RECORD = "java/lang/Record"
_OF_PROPERTIES = ("getter", "setter", "indexed getter", "indexed setter")
# Names that no class has, and `Class.forName` doesn't find.
PRIMITIVES = frozenset({"boolean", "byte", "char", "short", "int", "long", "float", "double", "void"})


def class_named(program: Program, text: str) -> int:
    """Returns the type that `Class.forName(text)` yields, or -1.

    That is a class's name with dots, or an array's descriptor with dots (JLS 13.1, `Class.getName`).
    """
    return NONE if "/" in text or text in PRIMITIVES else program.type_named(text.replace(".", "/"))


def name_of_class(program: Program, type_: int) -> str:
    """Returns the name of a class that is not primitive, as `Class.getName` does."""
    return program.name_of_type(type_).replace("/", ".")


def parameter_descriptors(descriptor: str) -> list[str]:
    """Returns the descriptors of the parameters.

    >>> parameter_descriptors("(I[JLjava/lang/String;)V")
    ['I', '[J', 'Ljava/lang/String;']
    """
    found = []
    at = 1
    while descriptor[at] != ")":
        start = at
        while descriptor[at] == "[":
            at += 1
        at = descriptor.index(";", at) + 1 if descriptor[at] == "L" else at + 1
        found.append(descriptor[start:at])
    return found


def is_of_property(name: str, descriptor: str, sort: str) -> bool:
    """Returns whether a method is a getter or setter, as `sort` says, of a property of a bean (JavaBeans 1.01, 8.3).

    >>> is_of_property("getName", "()Ljava/lang/String;", "getter"), is_of_property("isOpen", "()Z", "getter")
    (True, True)
    >>> is_of_property("setName", "(ILjava/lang/String;)V", "indexed setter"), is_of_property("get", "()I", "getter")
    (True, False)
    """
    parameters = parameter_descriptors(descriptor)
    places = 0
    if sort.startswith("indexed "):
        if parameters[:1] != ["I"]:
            return False
        places = 1
    returned = descriptor.rpartition(")")[2]
    if sort.endswith("setter"):
        return len(name) > 3 and name.startswith("set") and len(parameters) == places + 1 and returned == "V"
    if len(parameters) != places or returned == "V":
        return False
    return (len(name) > 3 and name.startswith("get")) or (
        len(name) > 2 and name.startswith("is") and returned == "Z" and not places
    )


def class_of_descriptor(program: Program, descriptor: str) -> int:
    """Returns the type of a descriptor; a primitive one is `-ord` of its letter."""
    if len(descriptor) == 1:
        return -ord(descriptor)
    return program.type_named(descriptor[1:-1] if descriptor.startswith("L") else descriptor)


def _named(index: Mapping[str, _Rows], names: Collection[str]) -> list[_Rows]:
    """Returns the rows of those `names` that the index has, in the order of the smaller one: no hash decides it."""
    if len(index) < len(names):
        return [found for name, found in index.items() if name in names]
    return [index[name] for name in names if name in index]


class Members:
    """Finds members of classes by name, as `java.lang.Class` does; what a class declares is indexed once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._described: dict[int, Sequence[tuple[int, str, str, int]]] = {}
        self._methods: dict[int, dict[str, list[int]]] = {}
        self._inherited: dict[int, dict[str, list[int]]] = {}
        self._inherited_fields: dict[int, dict[str, int]] = {}
        self._public: dict[int, dict[str, list[int]]] = {}
        self._own_public: dict[int, list[tuple[tuple[str, str], int, bool]]] = {}
        self._fields: dict[int, dict[str, list[int]]] = {}
        self._own_fields: dict[int, dict[str, list[int]]] = {}
        self._found_fields: dict[int, dict[str, list[int]]] = {}
        self._orders: dict[int, list[int]] = {}
        self._elements: dict[int, list[int]] = {}
        self._parameters: dict[int, list[int]] = {}
        self._usable_methods: dict[int, bool] = {}
        self._usable_fields: dict[int, bool] = {}

    def _described_methods(self, type_: int) -> Sequence[tuple[int, str, str, int]]:
        """Returns (method, name, descriptor, access flags) of the methods that a class declares."""
        found = self._described.get(type_)
        if found is None:
            found = self._described[type_] = self.program.described_methods(type_)
        return found

    def _declared_methods(self, type_: int) -> dict[str, list[int]]:
        """Returns, by name, the methods that a class declares."""
        index = self._methods.get(type_)
        if index is None:
            index = self._methods[type_] = {}
            for method, name, _, _ in self._described_methods(type_):
                index.setdefault(name, []).append(method)
        return index

    def methods(self, type_: int, names: Collection[str], declared: bool) -> list[int]:
        """Returns the methods that `get[Declared]Method(name, …)` may find for any of `names`, whatever the parameters."""
        rows = _named(self.methods_by_name(type_, declared), names) if type_ >= 0 else ()
        return [each for found in rows for each in found]

    def methods_by_name(self, type_: int, declared: bool) -> Mapping[str, list[int]]:
        """Returns, by name, all methods that `get[Declared]Method` may find in a class."""
        return self._declared_methods(type_) if declared else self._public_methods(type_)

    def _public_methods(self, type_: int) -> dict[str, list[int]]:
        """Returns, by name, the public methods of a class, its superclasses and its superinterfaces.

        Overridden ones are left out, and static ones of superinterfaces.
        """
        found = self._public.get(type_)
        if found is None:
            found = self._public[type_] = {}
            seen: set[tuple[str, str]] = set()
            for each in self._member_order(type_):
                inherited = each != type_ and bool(self.program.flags_of_type(each) & INTERFACE)
                for key, method, is_static in self._own_public_methods(each):
                    if key not in seen and not (inherited and is_static):
                        seen.add(key)
                        found.setdefault(key[0], []).append(method)
        return found

    def _own_public_methods(self, type_: int) -> list[tuple[tuple[str, str], int, bool]]:
        """Returns ((name, descriptor), method, whether it is static) of the public methods that a class declares."""
        own = self._own_public.get(type_)
        if own is None:
            own = self._own_public[type_] = [
                ((name, descriptor), method, bool(flags & ACC_STATIC))
                for method, name, descriptor, flags in self._described_methods(type_)
                if flags & PUBLIC
            ]
        return own

    def _member_order(self, type_: int) -> list[int]:
        """Returns a class, its superclasses from below, then its superinterfaces; interfaces have no superclass."""
        program = self.program
        interfaces = [
            each for each in sorted(program.supertypes_of(type_)) if program.flags_of_type(each) & INTERFACE
        ]
        order = [type_]
        while order[-1] not in interfaces and (above := program.superclass_of(order[-1])) >= 0:
            order.append(above)
        return order + interfaces

    def inherited_methods(self, type_: int, names: Collection[str]) -> list[int]:
        """Returns the methods of these names of a class and its supertypes, whoever may call them; no overridden ones."""
        rows = _named(self._inherited_methods(type_), names) if type_ >= 0 else ()
        return [each for found in rows for each in found]

    def _inherited_methods(self, type_: int) -> dict[str, list[int]]:
        """Returns, by name, the methods of a class and its supertypes that are not overridden."""
        index = self._inherited.get(type_)
        if index is None:
            index = self._inherited[type_] = {}
            seen: set[tuple[str, str]] = set()
            for each in self._lookup_order(type_):
                for method, name, descriptor, _ in self._described_methods(each):
                    if (name, descriptor) not in seen:
                        seen.add((name, descriptor))
                        index.setdefault(name, []).append(method)
        return index

    def inherited_fields(self, type_: int, names: Collection[str]) -> Iterator[int]:
        """Yields the fields to which references of these names resolve (JVMS 5.4.3.2)."""
        if type_ >= 0:
            index = self._inherited_fields.get(type_)
            if index is None:
                index = self._inherited_fields[type_] = {}
                for each in self._lookup_order(type_):
                    for name, (field, *_) in self._declared_fields(each).items():
                        index.setdefault(name, field)
            yield from _named(index, names)

    def constructors(self, type_: int, declared: bool) -> Iterator[int]:
        """Yields the constructors that `get[Declared]Constructor(…)` may find, whatever the parameters."""
        for method in self._declared_methods(type_).get("<init>", ()) if type_ >= 0 else ():
            if declared or self.program.flags_of_method(method) & PUBLIC:
                yield method

    def parameter_classes(self, method: int) -> list[int]:
        """Returns the class of each parameter, as `class_of_descriptor` has it."""
        found = self._parameters.get(method)
        if found is None:
            found = self._parameters[method] = [
                class_of_descriptor(self.program, each)
                for each in parameter_descriptors(self.program.name_of_method(method)[2])
            ]
        return found

    def may_use_method(self, method: int) -> bool:
        """Returns whether code outside the JDK may use a method or constructor by reflection."""
        found = self._usable_methods.get(method)
        if found is None:
            declaring, flags = self.program.name_of_method(method)[0], self.program.flags_of_method(method)
            found = self._usable_methods[method] = not self.program.is_inaccessible(declaring, flags)
        return found

    def may_use_field(self, field: int) -> bool:
        """Returns whether code outside the JDK may use a field by reflection."""
        found = self._usable_fields.get(field)
        if found is None:
            declaring, flags = self.program.name_of_field(field)[0], self.program.flags_of_field(field)
            found = self._usable_fields[field] = not self.program.is_inaccessible(declaring, flags)
        return found

    def listed(self, type_: int, sort: str, declared: bool) -> Iterator[int]:
        """Yields what `get[Declared]Methods`, `…Constructors` or `…Fields` lists, the accessors of a record, or methods of properties.

        As `sort` says.
        """
        if type_ < 0:
            return
        if sort == "accessor":
            yield from self._accessors(type_)
        elif sort == "constructor":
            yield from self.constructors(type_, declared)
        elif sort in _OF_PROPERTIES:
            yield from self._of_properties(type_, sort)
        elif sort == "method":
            for name, methods in self.methods_by_name(type_, declared).items():
                yield from methods if not name.startswith("<") else ()
        else:
            for found in self.fields_by_name(type_, declared).values():
                yield from found

    def _accessors(self, type_: int) -> Iterator[int]:
        """Yields the accessors of a record: its fields that aren't static are its components (JLS 8.10.3)."""
        program = self.program
        if program.superclass_of(type_) != program.type_named(RECORD):
            return
        for _, name, descriptor, flags in program.described_fields(type_):
            if not flags & ACC_STATIC and (method := program.method_of(type_, name, f"(){descriptor}")) >= 0:
                yield method

    def _of_properties(self, type_: int, sort: str) -> Iterator[int]:
        """Yields the methods that are named for properties of a bean (JavaBeans 1.01, 8.3)."""
        for name, methods in self._public_methods(type_).items():
            for method in methods:
                descriptor = self.program.name_of_method(method)[2]
                static = self.program.flags_of_method(method) & ACC_STATIC
                if not static and is_of_property(name, descriptor, sort):
                    yield method

    def property_types(self, type_: int, indexed: bool) -> Iterator[int]:
        """Yields the classes of the properties of a bean, as `class_of_descriptor` has them."""
        infix = "indexed " if indexed else ""
        for getter in self._of_properties(type_, f"{infix}getter"):
            returned = self.program.name_of_method(getter)[2].rpartition(")")[2]
            yield class_of_descriptor(self.program, returned)
        for setter in self._of_properties(type_, f"{infix}setter"):
            yield self.parameter_classes(setter)[-1]

    def fields(self, type_: int, names: Collection[str], declared: bool) -> Iterator[int]:
        """Yields the fields that `get[Declared]Field(name)` finds for `names` (JVMS 5.4.3.2 for the public ones)."""
        if type_ >= 0:
            for found in _named(self.fields_by_name(type_, declared), names):
                yield found[0]

    def fields_by_name(self, type_: int, declared: bool) -> Mapping[str, list[int]]:
        """Returns, by name, the fields among which `get[Declared]Field` finds the first."""
        return self._declared_fields(type_) if declared else self._public_fields(type_)

    def _public_fields(self, type_: int) -> dict[str, list[int]]:
        """Returns, by name, the public field of a class and its supertypes that is found first."""
        found = self._found_fields.get(type_)
        if found is None:
            found = self._found_fields[type_] = {}
            for each in reversed(self._lookup_order(type_)):
                found.update(self._own_public_fields(each))
        return found

    def _own_public_fields(self, type_: int) -> dict[str, list[int]]:
        """Returns, by name, the public fields that a class declares."""
        own = self._own_fields.get(type_)
        if own is None:
            own = self._own_fields[type_] = {}
            for field, name, _, flags in self.program.described_fields(type_):
                if flags & PUBLIC:
                    own.setdefault(name, [field])
        return own

    def _declared_fields(self, type_: int) -> dict[str, list[int]]:
        index = self._fields.get(type_)
        if index is None:
            index = self._fields[type_] = {}
            for field, name, _, _ in self.program.described_fields(type_):
                index.setdefault(name, []).append(field)
        return index

    def named_elements(self, type_: int) -> list[int]:
        """Returns the nearest supertypes of which the program names arrays: `type_` itself if it does so of that."""
        found = self._elements.get(type_)
        if found is None:
            supertypes_of = self.program.supertypes_of
            named = [each for each in supertypes_of(type_) if self.program.names_array_of(each)]
            above = {other for each in named for other in supertypes_of(each) if other != each}
            found = self._elements[type_] = sorted(set(named) - above)
        return found

    def _lookup_order(self, type_: int) -> list[int]:
        """Returns the class, its superinterfaces and its superclasses, in the order of field lookup (JVMS 5.4.3.2)."""
        order = self._orders.get(type_)
        if order is None:
            found: dict[int, None] = {}
            pending = [type_]
            while pending:
                current = pending.pop()
                if current >= 0 and current not in found:
                    found[current] = None
                    pending.append(self.program.superclass_of(current))
                    pending.extend(reversed(self.program.interfaces_of(current)))
            order = self._orders[type_] = list(found)
        return order
