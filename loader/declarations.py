"""Providers of services and values of annotations, over all parts of a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from cypher.program import ACC_STATIC, PUBLIC
from cypher.schema import NONE
from loader.expansion import Linkage
from loader.names import CONSTRUCTOR, reference_name
from loader.part import Part
from loader.texts import Texts
from loader.unit import CLASS


class Declarations:
    """Answers for what is declared beside code (see `loader.declared`)."""

    def __init__(self, linkage: Linkage, parts: Sequence[Part], texts: Texts) -> None:
        self._linkage, self._parts, self._texts = linkage, parts, texts

    def providers_of(self, service: int) -> list[int]:
        """Returns what makes the providers of a service (`ServiceLoader`): constructors and provider methods."""
        found: dict[int, None] = {}
        for name, in_module in self._services.get(self._linkage.types.names[service], ()):
            type_ = self._linkage.types.defined(name)
            if type_ >= 0:
                found |= dict.fromkeys(self._makers(type_, in_module))
        return list(found)

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

    def annotation_values(self, annotation: int, element: str) -> tuple[list[int], list[int]]:
        """Returns the types, and the texts, that annotations of a type anywhere give to an element."""
        classes, texts = self._values.get((self._linkage.types.names[annotation], element), ([], []))
        types = [self._linkage.types.defined(name) for name in dict.fromkeys(classes)]
        return [each for each in types if each >= 0], [self._texts.of(each) for each in dict.fromkeys(texts)]

    @cached_property
    def _values(self) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
        found: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for part in self._parts:
            unit, many = part.unit, part.text.many
            columns = (
                many(each) for each in (unit.annotation_type, unit.annotation_element, unit.annotation_value)
            )
            for annotation, element, value, kind in zip(*columns, unit.annotation_kind.tolist(), strict=True):
                classes, texts = found[reference_name(annotation), element]
                if kind != CLASS:
                    texts.append(value)
                elif reference_name(value):
                    classes.append(reference_name(value))
        return found
