"""What an analysis asks of a program: the interface between the loader, which has it, and the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from cypher.schema import Facts, Int32, Int64

# Access flags (JVMS 4.1, 4.5, 4.6).
PUBLIC, PRIVATE, PROTECTED, ACC_STATIC, FINAL = 0x1, 0x2, 0x4, 0x8, 0x10
NATIVE, INTERFACE, ABSTRACT, SYNTHETIC, ANNOTATION, ENUM = 0x100, 0x200, 0x400, 0x1000, 0x2000, 0x4000

# Flag bits of our own, above those of the class file format.
PHANTOM = 1 << 20
APPLICATION = 1 << 21
JDK = 1 << 22  # of types: the JDK defines it
UNREADABLE = 1 << 23  # of methods: the body could not be read

# The bootstrap class by which compilers have strings concatenated: calls of it have the operands as arguments.
STRING_CONCAT = "java/lang/invoke/StringConcatFactory"


class TypeRows(NamedTuple):
    """Types `first`, `first + 1`, …, as arrays of one entry a type.

    `supertypes[supertypes_at[i]:supertypes_at[i + 1]]` are the ids of all supertypes of type `first + i`,
    itself included, ascending. `declared_signature` and `declared_method`, laid out likewise by
    `declared_at` and sorted by signature, are what selection (JVMS 5.4.6) may find in the type: its
    instance methods that are neither private nor constructors, abstract ones included.
    """

    first: int
    superclass: Int32
    element: Int32
    flags: Int32
    supertypes_at: Int64
    supertypes: Int32
    declared_at: Int64
    declared_signature: Int32
    declared_method: Int32


class MethodRows(NamedTuple):
    """Methods `first`, `first + 1`, …, as arrays of one entry a method.

    `parameters` counts the receiver; `variables` is the number of variables, at least `parameters + 2`.
    `returns` is the position of the parameter that every return of the method returns, -1 if there is no such.
    """

    first: int
    declaring: Int32
    signature: Int32
    parameters: Int32
    variables: Int32
    flags: Int32
    returns: Int32


class Program(Protocol):
    """A closed set of classes, whose elements get dense ids when they are first asked for."""

    def new_rows(self) -> tuple[TypeRows, MethodRows]:
        """Returns the types and methods that got an id since the last call, in the order of their ids."""

    def facts_of(self, methods: Int32, first_variable: Int32, first_site: int) -> Facts:
        """Returns the facts of the bodies of `methods`.

        Variable `v` of `methods[i]` becomes `first_variable[i] + v`; call sites count up from `first_site`
        in the order of the rows of `Invoke`. Rows of `Argument` are sorted by site and position.
        """

    # --- types
    def type_named(self, name: str) -> int:
        """Returns the type with this internal name or array descriptor; -1 if no class file defines it."""

    def name_of_type(self, type_: int) -> str:
        """Returns the internal name or array descriptor, as in `java/lang/String` or `[I`."""

    def flags_of_type(self, type_: int) -> int:
        """Returns the access flags, with PHANTOM, APPLICATION and JDK."""

    def superclass_of(self, type_: int) -> int:
        """Returns the direct superclass, -1 for none."""

    def interfaces_of(self, type_: int) -> Sequence[int]:
        """Returns the direct superinterfaces, in the order of the class file."""

    def declaring_class_of(self, type_: int) -> int:
        """Returns the class of which `type_` is a member, -1 for none."""

    def enclosing_class_of(self, type_: int) -> int:
        """Returns the class in whose body `type_` stands, as a member, local or anonymous class; -1 for none."""

    def nest_host_of(self, type_: int) -> int:
        """Returns the host of the nest to which `type_` belongs (JVMS 5.4.4), which may be itself."""

    def member_classes_of(self, type_: int) -> Sequence[int]:
        """Returns the member classes that `type_` declares."""

    def nest_members_of(self, type_: int) -> Sequence[int]:
        """Returns the classes of the nest to which `type_` belongs, the host first."""

    def permitted_subclasses_of(self, type_: int) -> Sequence[int]:
        """Returns the subclasses that `type_` permits if it is sealed (JVMS 4.7.31)."""

    def is_encapsulated(self, type_: int) -> bool:
        """Returns whether only the JDK can make objects of a class of it, because its module keeps it to itself."""

    def is_inaccessible(self, type_: int, flags: int) -> bool:
        """Returns whether only the JDK can use a member of `type_`, with these access flags, by reflection."""

    def supertypes_of(self, type_: int) -> frozenset[int]:
        """Returns all supertypes, `type_` included."""

    def array_of(self, type_: int) -> int:
        """Returns the type of arrays whose elements are of `type_`."""

    def initialisers_of(self, type_: int) -> Sequence[tuple[int, int]]:
        """Returns (type, `<clinit>`) of what initialising `type_` runs, in that order (JVMS 5.5).

        Superclasses come first, then superinterfaces that declare a default method, then the type.
        """

    def concrete_subtypes_of(self, type_: int, application: bool = False) -> Sequence[int]:
        """Returns the classes of the program that can be instantiated and are subtypes of `type_`."""

    def proxy_of(self, interfaces: Sequence[int]) -> int:
        """Returns the class of dynamic proxies that implement `interfaces` (`java.lang.reflect.Proxy`)."""

    def providers_of(self, service: int) -> Sequence[int]:
        """Returns what makes the providers of a service: constructors, and methods called `provider`."""

    def services_of_application(self) -> Sequence[int]:
        """Returns the services of which the application has providers."""

    def types_like(self, prefix: str) -> Sequence[int]:
        """Returns the classes whose internal names begin with `prefix`."""

    def annotation_values(self, annotation: int, element: str) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the types, and the texts, that annotations of a type anywhere give to an element."""

    def annotation_proxy_of(self, type_: int) -> int:
        """Returns the class of the annotations of a type: a dynamic proxy, whose elements return nothing by themselves."""

    def annotation_types(self) -> Sequence[int]:
        """Returns the types of the annotations that are there at run time of what the JDK doesn't define."""

    def generic_of_type(self, type_: int) -> str:
        """Returns the signature that a class file gives a class with generic types (JVMS 4.7.9), "" for none."""

    def generic_of_method(self, method: int) -> str:
        """Likewise of a method."""

    def generic_of_field(self, field: int) -> str:
        """Likewise of a field."""

    # --- members
    def methods_of(self, type_: int) -> Sequence[int]:
        """Returns the methods that `type_` declares, in the order of the class file."""

    def described_methods(self, type_: int) -> Sequence[tuple[int, str, str, int]]:
        """Returns (method, name, descriptor, access flags) of these."""

    def method_of(self, type_: int, name: str, descriptor: str) -> int:
        """Returns the method that `type_` declares with this name and descriptor, or -1."""

    def resolve_method(self, type_: int, name: str, descriptor: str) -> int:
        """Returns the method to which a reference resolves (JVMS 5.4.3.3, 5.4.3.4), or -1."""

    def name_of_method(self, method: int) -> tuple[int, str, str]:
        """Returns (declaring type, name, descriptor)."""

    def flags_of_method(self, method: int) -> int:
        """Returns the access flags, with APPLICATION."""

    def exceptions_of(self, method: int) -> Sequence[int]:
        """Returns the classes of the exceptions that `method` declares."""

    def signature_of(self, method: int) -> int:
        """Returns the signature by which a virtual call of `method` selects."""

    def parameter_types(self, method: int) -> Sequence[int]:
        """Returns the type of each parameter without the receiver; -1 for a primitive one."""

    def fields_of(self, type_: int) -> Sequence[int]:
        """Returns the fields that `type_` declares, in the order of the class file."""

    def described_fields(self, type_: int) -> Sequence[tuple[int, str, str, int]]:
        """Returns (field, name, descriptor, access flags) of these."""

    def made_field(self, type_: int, name: str, descriptor: str) -> int:
        """Returns the instance field of that name that no class file declares, the same each time."""

    def name_of_field(self, field: int) -> tuple[int, str, str]:
        """Returns (declaring type, name, descriptor)."""

    def flags_of_field(self, field: int) -> int:
        """Returns the access flags."""

    def constant_of_field(self, field: int) -> int:
        """Returns the text that a static field holds from the start, if no instruction stores it (JVMS 4.7.2), -1 for none or an empty one."""

    # --- text
    def text(self, text: int) -> str:
        """Returns the string constant."""

    def text_of(self, text: str) -> int:
        """Returns the id of a string constant, which need not be one of the program's."""

    def may_name(self, text: int) -> bool:
        """Returns whether the string constant is the name of a class, or of a member of some class."""

    def names_array_of(self, type_: int) -> bool:
        """Returns whether some instruction or descriptor of the program names the type of arrays of `type_`."""

    def lines_of(self, methods: Int32, offsets: Int32) -> Int32:
        """Returns the source line of each offset, -1 where the class file has none."""
