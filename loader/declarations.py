"""Providers of services, values of annotations and exceptions of methods, over all parts of a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from cypher.program import ACC_STATIC, JDK, PROTECTED, PUBLIC
from cypher.schema import NONE, Diagnostic
from loader.expansion import Linkage
from loader.names import CONSTRUCTOR, OBJECT, reference_name
from loader.nests import defined
from loader.part import Part
from loader.texts import Texts
from loader.unit import CLASS

# The version of class files (JVMS 4.1) since which the JDK's modules are closed to reflection (JEP 396).
_STRONG = 60
_LANG = OBJECT.rpartition("/")[0]


class Declarations:
    """Answers for what is declared beside code (see `loader.declared`)."""

    def __init__(self, linkage: Linkage, parts: Sequence[Part], texts: Texts, opened: Sequence[str]) -> None:
        self._linkage, self._parts, self._texts, self._asked = linkage, parts, texts, dict.fromkeys(opened)

    def providers_of(self, service: int) -> list[int]:
        """Returns what makes the providers of a service (`ServiceLoader`): constructors and provider methods."""
        found: dict[int, None] = {}
        for name, in_module in self._services.get(self._linkage.types.names[service], ()):
            type_ = self._linkage.types.defined(name)
            if type_ >= 0:
                found |= dict.fromkeys(self._makers(type_, in_module))
        return list(found)

    def services_of_application(self) -> list[int]:
        """Returns the services of which the application has providers."""
        types, classes = self._linkage.types, self._linkage.types.classes
        found = []
        for service, listed in self._services.items():
            numbers = (classes.number_of.get(provider) for provider, _ in listed)
            own = any(each is not None and classes.archive(each).role == "application" for each in numbers)
            if own and (type_ := types.defined(service)) >= 0:
                found.append(type_)
        return found

    def _makers(self, type_: int, in_module: bool) -> list[int]:
        methods, signatures = self._linkage.methods, self._linkage.signatures
        static = PUBLIC | ACC_STATIC
        if in_module:
            for method in methods.of_type(type_):
                _, name, descriptor = methods.name_of(method)
                fits = name == "provider" and descriptor.startswith("()L")
                if fits and methods.flags_of(method) & static == static:
                    return [method]
        constructor = methods.declared(type_).get(signatures.of(CONSTRUCTOR, "()V"), NONE)
        return [constructor] if constructor >= 0 else []

    @cached_property
    def _services(self) -> dict[str, list[tuple[str, bool]]]:
        found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        for part in self._parts:
            unit = part.unit
            rows = (part.type_names(unit.service_type), part.type_names(unit.service_provider))
            for service, provider, in_module in zip(*rows, unit.service_module.tolist(), strict=True):
                found[service].append((provider, bool(in_module)))
        return found

    def exceptions_of(self, method: int) -> list[int]:
        """Returns the exceptions that `method` declares, of those that are there."""
        part, row = self._locate(method)
        if part is None:
            return []
        at = part.unit.method_exceptions_at
        names = part.type_names(part.unit.method_exceptions[at[row] : at[row + 1]])
        return defined(self._linkage.types, names)

    def generic_of_type(self, type_: int) -> str:
        """Returns the generic signature that the class file gives a type, "" for none."""
        types = self._linkage.types
        if types.number[type_] < 0:
            return ""
        part, row = types.classes.locate(types.number[type_])
        return part.text_or_empty(int(part.unit.class_generic[row]))

    def generic_of_method(self, method: int) -> str:
        """Returns the generic signature that the class file gives a method, "" for none."""
        part, row = self._locate(method)
        return "" if part is None else part.text_or_empty(int(part.unit.method_generic[row]))

    def _locate(self, method: int) -> tuple[Part | None, int]:
        """Returns the part and the row of a method, None for the part of one that no class file declares."""
        methods = self._linkage.methods
        methods.enter()
        which, row = int(methods.part.view[method]), int(methods.row.view[method])
        return (self._parts[which] if which >= 0 else None), row

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The packages that are to be opened and have no class."""
        names = self._linkage.types.classes.names if self._asked else []
        known = {name.rpartition("/")[0] for name in names}
        absent = [package.replace("/", ".") for package in self._asked if package not in known]
        text = "there is no class in package {}, which is to be opened"
        return [Diagnostic("HIE-PACKAGE", "warning", text.format(each)) for each in absent]

    def is_encapsulated(self, type_: int) -> bool:
        """Returns whether code outside the JDK can't make objects of a class of the JDK: its module keeps it to itself.

        A package must be opened or, for a public class, exported (JLS 7.7). Before JDK 16, such code may do so.
        """
        flags = self._linkage.types.flags[type_]
        package = self._package_of_closed(type_)
        return bool(package) and (package not in self._exported or not flags & PUBLIC)

    def is_inaccessible(self, type_: int, flags: int) -> bool:
        """Returns whether code outside the JDK can't use a member of a class, with these access flags, by reflection.

        That is one of a class that is encapsulated, or neither public nor protected: `setAccessible` refuses (JEP 396).
        """
        if flags & (PUBLIC | PROTECTED):
            return self.is_encapsulated(type_)
        return bool(self._package_of_closed(type_))

    def _package_of_closed(self, type_: int) -> str:
        """Returns the package of a class of the JDK that is not open to other code, "" for other classes."""
        types = self._linkage.types
        if not types.flags[type_] & JDK or types.number[type_] < 0 or not self._is_closed:
            return ""
        package = types.names[type_].rpartition("/")[0]
        return "" if package in self._opened else package

    @cached_property
    def _is_closed(self) -> bool:
        """Whether the JDK has modules that are closed to other code."""
        types = self._linkage.types
        if types.number[types.object] < 0 or _LANG not in self._exported:
            return False
        part, row = types.classes.locate(types.number[types.object])
        return int(part.unit.class_version[row]) >= _STRONG

    @cached_property
    def _opened(self) -> frozenset[str]:
        return self._packages(opened=True) | self._asked.keys()

    @cached_property
    def _exported(self) -> frozenset[str]:
        return self._packages(opened=False)

    def _packages(self, *, opened: bool) -> frozenset[str]:
        found: set[str] = set()
        for part in self._parts:
            unit = part.unit
            found.update(part.text.many(unit.package_name[unit.package_opened == opened]))
        return frozenset(found)

    def annotation_values(self, annotation: int, element: str) -> tuple[list[int], list[int]]:
        """Returns the types, and the texts, that annotations of a type anywhere give to an element."""
        classes, texts = self._values.get((self._linkage.types.names[annotation], element), ([], []))
        types = defined(self._linkage.types, dict.fromkeys(classes))
        return types, [self._texts.of(each) for each in dict.fromkeys(texts)]

    def annotation_types(self) -> list[int]:
        """Returns the types of the annotations that are there at run time of what the JDK doesn't define."""
        archives = self._linkage.types.classes.archives
        found: dict[str, None] = {}
        for part in self._parts:
            if any(archives[each].role != "jdk" for each in np.unique(part.archive).tolist()):
                visible = part.unit.annotation_type[part.unit.annotation_kind == NONE]
                found |= dict.fromkeys(map(reference_name, part.text.many(np.unique(visible))))
        return defined(self._linkage.types, found)

    @cached_property
    def _values(self) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
        found: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for part in self._parts:
            unit, given = part.unit, part.unit.annotation_kind != NONE
            columns = (
                part.text.many(each[given])
                for each in (unit.annotation_type, unit.annotation_element, unit.annotation_value)
            )
            for annotation, element, value, kind in zip(
                *columns, unit.annotation_kind[given].tolist(), strict=True
            ):
                classes, texts = found[reference_name(annotation), element]
                if kind != CLASS:
                    texts.append(value)
                elif reference_name(value):
                    classes.append(reference_name(value))
        return found
