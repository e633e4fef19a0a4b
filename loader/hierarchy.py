"""The types of a program: ids on demand, supertypes, phantoms for what is missing.

A type gets an id after all its supertypes, so ids of supertypes are smaller and the supertypes of a type end
with itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from cypher.program import ABSTRACT, APPLICATION, FINAL, INTERFACE, JDK, PHANTOM, PUBLIC
from cypher.schema import NONE, Diagnostic, Int32
from loader.classes import Classes
from loader.csr import look_up
from loader.names import CLONEABLE, OBJECT, PRIMITIVES, SERIALIZABLE, array_name, is_array, reference_name
from loader.part import Part

# What `Types.number` holds for a type that isn't a class of an archive.
MISSING, ARRAY, PRIMITIVE, MADE = -1, -2, -3, -4

_SHOWN = 200
# Those of all types together: a hundred times those of large programs, and no more than a few hundred megabytes.
_MOST_SUPERTYPES = 100_000_000


# What the role of an archive says of its types.
ROLES = {"application": APPLICATION, "jdk": JDK}


class Types:
    """All types that were asked for, as lists with one entry a type.

    `number` is the class number, or MISSING, ARRAY, PRIMITIVE or MADE; `first_method` the id of the first
    method that the type declares: those of a type have consecutive ids.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.names: list[str] = []
        self.number: list[int] = []
        self.flags: list[int] = []
        self.superclass: list[int] = []
        self.interfaces: list[tuple[int, ...]] = []
        self.supertypes: list[array[int]] = []
        self.element: list[int] = []
        self.first_method: list[int] = []
        self.methods = 0
        self.ids: dict[str, int] = {}
        self._primitives: dict[str, int] = {}
        self._room = _MOST_SUPERTYPES
        self._cut = 0  # types without their supertypes
        self._reports: list[Diagnostic] = []
        if OBJECT not in classes.number_of:
            text = "no archive defines java.lang.Object; name the JDK with --jdk"
            self._reports.append(Diagnostic("HIE-NO-OBJECT", "error", text, "soundness"))
        self.object = self.named(OBJECT)

    def __len__(self) -> int:
        return len(self.names)

    # --- asking
    def named(self, name: str) -> int:
        """Returns the id of the class or array type `name`; a phantom if no class file defines it."""
        found = self.ids.get(name)
        return self._enter(name) if found is None else found

    def primitive(self, name: str) -> int:
        """Returns the id of the primitive type with this Java name."""
        found = self._primitives.get(name)
        if found is None:
            found = self._primitives[name] = self._append(
                name, PRIMITIVE, PUBLIC | FINAL | ABSTRACT, NONE, ()
            )
        return found

    def defined(self, name: str) -> int:
        """Returns the id of the class, array or primitive type `name`, -1 if no class file defines it."""
        known = self.ids.get(name)
        if known is not None:
            return NONE if self.flags[known] & PHANTOM or self.number[known] == MADE else known
        if name in self.classes.number_of:
            return self.named(name)
        if is_array(name):
            element = reference_name(name.lstrip("["))
            return self.named(name) if not element or self.defined(element) >= 0 else NONE
        return self.primitive(name) if name in PRIMITIVES.values() else NONE

    def of_refs(self, part: Part, refs: Int32) -> Int32:
        """Returns the types of these type references of `part`."""
        return look_up(part.types, refs, lambda fresh: map(self.named, part.type_names(fresh)))

    def array_of(self, element: int) -> int:
        """Returns the type of arrays whose elements are of type `element`."""
        name = self.names[element]
        if self.number[element] == PRIMITIVE:
            return self.named("[" + next(letter for letter, word in PRIMITIVES.items() if word == name))
        return self.named(array_name(name))

    def is_interface(self, type_: int) -> bool:
        """Returns whether `type_` is an interface."""
        return bool(self.flags[type_] & INTERFACE)

    def is_missing(self, type_: int) -> bool:
        """Returns whether no class file defines `type_`."""
        return bool(self.flags[type_] & PHANTOM)

    def has_phantom(self, type_: int) -> bool:
        """Returns whether `type_` or one of its supertypes is missing."""
        return any(self.flags[each] & PHANTOM for each in self.supertypes[type_])

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was wrong with the hierarchy so far."""
        missing = [name for name, number in zip(self.names, self.number, strict=True) if number == MISSING]
        grouped = []
        if missing:
            shown = ", ".join(name.replace("/", ".") for name in missing[:_SHOWN])
            more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
            text = f"missing classes that the program refers to ({len(missing):,}): {shown}{more}"
            grouped.append(Diagnostic("HIE-PHANTOM", "warning", text, "soundness"))
        if self._cut:
            text = (
                f"{self._cut} types have no supertypes but java.lang.Object here, because there are too many"
            )
            grouped.append(Diagnostic("HIE-LIMIT", "warning", text, "soundness"))
        return [*self.classes.diagnostics, *self._reports, *grouped]

    # --- entering
    def make(
        self, name: str, flags: int, interfaces: Sequence[int], methods: int, superclass: str = OBJECT
    ) -> int:
        """Returns a new type that stands for a class that the JVM makes at run time."""
        type_ = self._append(name, MADE, flags, self.named(superclass), tuple(interfaces))
        self.methods += methods
        if name not in self.classes.number_of:
            self.ids[name] = type_
        return type_

    def _enter(self, wanted: str) -> int:
        """Returns the new id of `wanted`, after those of its supertypes; without recursion, however deep."""
        waiting = [wanted]
        opened: set[str] = set()
        while waiting:
            name = waiting[-1]
            if name in self.ids:
                waiting.pop()
                continue
            opened.add(name)
            needed = [each for each in self._needed(name) if each not in self.ids and each not in opened]
            if needed:
                waiting += reversed(needed)
                continue
            waiting.pop()
            opened.discard(name)
            self.ids[name] = self._enter_with_supertypes(name)
        return self.ids[wanted]

    def _needed(self, name: str) -> list[str]:
        """Returns the names of types that need an id before `name` gets one."""
        if name == OBJECT:
            return []
        number = self.classes.number_of.get(name)
        if number is not None:
            superclass, interfaces = self._declared_supertypes(number)
            return [each for each in (superclass, *interfaces) if each and not is_array(each)]
        if not is_array(name):
            return [OBJECT]
        element = reference_name(name[1:])
        if element and element not in self.ids:
            return [element]
        return [OBJECT, CLONEABLE, SERIALIZABLE, *self._arrays_above(element)]

    def _arrays_above(self, element: str) -> list[str]:
        """Returns the names of the array types above the arrays of `element`."""
        if not element:
            return []
        return [array_name(self.names[each]) for each in self.supertypes[self.ids[element]][:-1]]

    def _declared_supertypes(self, number: int) -> tuple[str, list[str]]:
        """Returns the names of superclass and superinterfaces of a class as its class file has them."""
        part, row = self.classes.locate(number)
        superclass = part.class_super[row]
        interfaces = part.interfaces[part.interfaces_at[row] : part.interfaces_at[row + 1]]
        return (
            self._name(part, superclass) if superclass >= 0 else "",
            [self._name(part, each) for each in interfaces],
        )

    def _name(self, part: Part, ref: int) -> str:
        known = part.types[ref]
        return self.names[known] if known >= 0 else part.type_name(ref)

    def _enter_with_supertypes(self, name: str) -> int:
        number = self.classes.number_of.get(name)
        if number is not None:
            return self._enter_class(name, number)
        if is_array(name):
            return self._enter_array(name)
        superclass = NONE if name == OBJECT else self.ids[OBJECT]
        return self._append(name, MISSING, PHANTOM | PUBLIC, superclass, ())

    def _enter_class(self, name: str, number: int) -> int:
        part, row = self.classes.locate(number)
        above, interface_names = self._declared_supertypes(number)
        if name == OBJECT:
            if above or interface_names:
                self._report("HIE-KIND", number, "has a superclass or superinterface", "none")
            superclass, interfaces = NONE, []
        else:
            superclass = self._superclass(number, above)
            interfaces = [self.ids[each] for each in interface_names if self._may_implement(number, each)]
        flags = part.class_flags[row]
        flags |= ROLES.get(self.classes.archive(number).role, 0)
        type_ = self._append(name, number, flags, superclass, tuple(dict.fromkeys(interfaces)))
        self.methods += part.methods_at[row + 1] - part.methods_at[row]
        return type_

    def _superclass(self, number: int, name: str) -> int:
        """Returns the superclass of a class whose class file says it is `name`."""
        if not name or is_array(name):
            self._report("HIE-KIND", number, "has no class as its superclass", "none")
            return self.object
        found = self.ids.get(name)
        if found is None:
            self._report(
                "HIE-CYCLE", number, f"extends {name.replace('/', '.')}, its own subclass", "soundness"
            )
            return self.object
        if self.is_interface(found):
            self._report("HIE-KIND", number, f"extends {name.replace('/', '.')}, an interface", "none")
            return self.object
        if self.flags[found] & FINAL:
            self._report("HIE-KIND", number, f"extends {name.replace('/', '.')}, which is final", "none")
        return found

    def _may_implement(self, number: int, name: str) -> bool:
        """Returns whether class `number` may have the superinterface `name`."""
        found = self.ids.get(name)
        if is_array(name):
            self._report("HIE-KIND", number, f"implements {name}, an array type", "none")
            return False
        if found is None:
            self._report(
                "HIE-CYCLE", number, f"implements {name.replace('/', '.')}, its own subtype", "soundness"
            )
            return False
        if self.flags[found] & (INTERFACE | PHANTOM):
            return True
        self._report("HIE-KIND", number, f"implements {name.replace('/', '.')}, a class", "none")
        return False

    def _enter_array(self, name: str) -> int:
        element = self.ids[reference_name(name[1:])] if reference_name(name[1:]) else NONE
        flags = PUBLIC | FINAL
        if element >= 0:
            flags |= self.flags[element] & (PHANTOM | APPLICATION | JDK)
        implemented = (self.ids[CLONEABLE], self.ids[SERIALIZABLE])
        above = [self.ids[each] for each in self._arrays_above(reference_name(name[1:]))]
        return self._append(name, ARRAY, flags, self.object, implemented, element, above)

    def _append(
        self,
        name: str,
        number: int,
        flags: int,
        superclass: int,
        interfaces: tuple[int, ...],
        element: int = NONE,
        also: Sequence[int] = (),
    ) -> int:
        """Returns the id of a new type; `also` are supertypes of arrays, with all that are above these."""
        type_ = len(self.names)
        parents = (superclass, *interfaces) if superclass >= 0 else interfaces
        if len(parents) == 1:
            supertypes = self.supertypes[parents[0]][:]
        else:
            above = set().union(*(self.supertypes[each] for each in parents))
            supertypes = array("i", sorted(above.union(also)))
        supertypes.append(type_)
        if len(supertypes) > self._room:
            self._cut += 1
            superclass, interfaces = self.object, ()
            supertypes = array("i", (*self.supertypes[self.object], type_))
        self._room -= len(supertypes)
        self.names.append(name)
        self.number.append(number)
        self.flags.append(flags)
        self.superclass.append(superclass)
        self.interfaces.append(interfaces)
        self.supertypes.append(supertypes)
        self.element.append(element)
        self.first_method.append(self.methods)
        return type_

    def _report(self, code: str, number: int, what: str, effect: str) -> None:
        part, row = self.classes.locate(number)
        entry = part.text.one(int(part.unit.class_entry[row]))
        text = f"{self.classes.names[number].replace('/', '.')} {what}"
        label = self.classes.archive(number).label
        self._reports.append(Diagnostic(code, "warning", text, effect, archive=label, entry=entry))
