"""Linking: a program over the units of its archives, with ids on demand (see `cypher.program.Program`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby

import numpy as np

from cypher.program import APPLICATION, MethodRows, TypeRows
from cypher.schema import NONE, Diagnostic, Facts, Int32, Int64, listed
from loader.annotations import annotations_of
from loader.bodies import Bodies
from loader.classes import Archive, Classes, Subclasses
from loader.csr import spans
from loader.declarations import Declarations
from loader.dynamic import Dynamics
from loader.expansion import Linkage
from loader.fields import Fields
from loader.hierarchy import ARRAY, PRIMITIVE, Types
from loader.lines import lines_of
from loader.members import Methods
from loader.names import parameters, reference_name
from loader.nests import Nests
from loader.part import Part, combine
from loader.resolution import Resolver
from loader.signatures import Signatures
from loader.texts import Texts
from loader.unit import Unit

_BEFORE_JAVA = 44  # class files of Java n have version 44 + n (JVMS 4.1)


class LinkedProgram:
    """A program over units; each method is documented in `cypher.program.Program`."""

    def __init__(self, parts: Sequence[Part], archives: Sequence[Archive], opened: Sequence[str]) -> None:
        self._parts = parts
        self._classes = Classes(parts, archives)
        types, signatures = Types(self._classes), Signatures()
        methods, fields = Methods(types, signatures), Fields(types)
        self._linkage = Linkage(types, signatures, methods, fields, Resolver(types, methods, signatures))
        self._types, self._methods, self._fields = types, methods, fields
        self._texts = Texts(parts, self._classes)
        self._dynamics = Dynamics(self._linkage, self._texts)
        self._declarations = Declarations(self._linkage, parts, self._texts, opened)
        self._nests = Nests(types)
        self._bodies = Bodies(self._linkage, parts, self._texts, self._dynamics)
        self._subclasses: Subclasses | None = None
        self._concrete: dict[tuple[int, bool], list[int]] = {}
        self._parameter_types: dict[int, list[int]] = {}

    def new_rows(self) -> tuple[TypeRows, MethodRows]:
        return self._methods.new_rows()

    def facts_of(self, methods: Int32, first_variable: Int32, first_site: int) -> Facts:
        return self._bodies.facts_of(methods, first_variable, first_site)

    # --- types
    def type_named(self, name: str) -> int:
        return self._types.defined(name)

    def name_of_type(self, type_: int) -> str:
        return self._types.names[type_]

    def flags_of_type(self, type_: int) -> int:
        return self._types.flags[type_]

    def superclass_of(self, type_: int) -> int:
        return self._types.superclass[type_]

    def interfaces_of(self, type_: int) -> Sequence[int]:
        return self._types.interfaces[type_]

    def declaring_class_of(self, type_: int) -> int:
        return self._nests.declaring(type_)

    def enclosing_class_of(self, type_: int) -> int:
        return self._nests.enclosing(type_)

    def nest_host_of(self, type_: int) -> int:
        return self._nests.host(type_)

    def member_classes_of(self, type_: int) -> Sequence[int]:
        return self._nests.members(type_)

    def nest_members_of(self, type_: int) -> Sequence[int]:
        return self._nests.mates(type_)

    def permitted_subclasses_of(self, type_: int) -> Sequence[int]:
        return self._nests.permitted(type_)

    def is_encapsulated(self, type_: int) -> bool:
        return self._declarations.is_encapsulated(type_)

    def is_inaccessible(self, type_: int, flags: int) -> bool:
        return self._declarations.is_inaccessible(type_, flags)

    def supertypes_of(self, type_: int) -> frozenset[int]:
        return frozenset(self._types.supertypes[type_])

    def array_of(self, type_: int) -> int:
        return self._types.array_of(type_)

    def initialisers_of(self, type_: int) -> Sequence[tuple[int, int]]:
        return self._methods.initialisers(type_)

    def concrete_subtypes_of(self, type_: int, application: bool = False) -> Sequence[int]:
        found = self._concrete.get((type_, application))
        if found is None:
            found = self._concrete[type_, application] = self._concrete_subtypes(type_, application)
        return found

    def _concrete_subtypes(self, type_: int, application: bool) -> list[int]:
        if self._types.number[type_] == ARRAY:
            return [type_] if not application or self._types.flags[type_] & APPLICATION else []
        if self._types.number[type_] == PRIMITIVE:
            return []
        if self._subclasses is None:
            self._subclasses = Subclasses(self._classes)
        numbers = self._subclasses.concrete(self._types.names[type_])
        if application:
            numbers = [each for each in numbers if self._classes.archive(each).role == "application"]
        entered = [self._types.named(self._classes.names[each]) for each in numbers]
        # What the class files say is no supertype where a hierarchy that can't be was cut.
        return [each for each in entered if type_ in self._types.supertypes[each]]

    def proxy_of(self, interfaces: Sequence[int]) -> int:
        return self._dynamics.proxy_of(interfaces, annotates=False)

    def providers_of(self, service: int) -> Sequence[int]:
        return self._declarations.providers_of(service)

    def services_of_application(self) -> Sequence[int]:
        return self._declarations.services_of_application()

    def types_like(self, prefix: str) -> Sequence[int]:
        names = self._sorted_names
        start, end = bisect_left(names, prefix), bisect_left(names, prefix + chr(0x10FFFF))
        return [self._types.named(name) for name in names[start:end]]

    @cached_property
    def _sorted_names(self) -> list[str]:
        return sorted(self._classes.number_of)

    def annotation_values(self, annotation: int, element: str) -> tuple[Sequence[int], Sequence[int]]:
        return self._declarations.annotation_values(annotation, element)

    def annotation_proxy_of(self, type_: int) -> int:
        return self._dynamics.proxy_of([type_], annotates=True)

    def generic_of_type(self, type_: int) -> str:
        return self._declarations.generic_of_type(type_)

    def generic_of_method(self, method: int) -> str:
        return self._declarations.generic_of_method(method)

    def generic_of_field(self, field: int) -> str:
        return self._fields.generic_of(field)

    def annotation_types(self) -> Sequence[int]:
        return self._declarations.annotation_types()

    # --- members
    def methods_of(self, type_: int) -> Sequence[int]:
        return self._methods.of_type(type_)

    def described_methods(self, type_: int) -> Sequence[tuple[int, str, str, int]]:
        return self._methods.described(type_)

    def method_of(self, type_: int, name: str, descriptor: str) -> int:
        return self._methods.declared(type_).get(self._linkage.signatures.of(name, descriptor), NONE)

    def resolve_method(self, type_: int, name: str, descriptor: str) -> int:
        return self._linkage.resolver.resolve(type_, self._linkage.signatures.of(name, descriptor))

    def name_of_method(self, method: int) -> tuple[int, str, str]:
        return self._methods.name_of(method)

    def flags_of_method(self, method: int) -> int:
        return self._methods.flags_of(method)

    def exceptions_of(self, method: int) -> Sequence[int]:
        return self._declarations.exceptions_of(method)

    def signature_of(self, method: int) -> int:
        self._methods.enter()
        return int(self._methods.signature.view[method])

    def parameter_types(self, method: int) -> Sequence[int]:
        found = self._parameter_types.get(method)
        if found is None:
            _, _, descriptor = self._methods.name_of(method)
            names = (reference_name(each) for each in parameters(descriptor))
            found = [self._types.named(name) if name else NONE for name in names]
            self._parameter_types[method] = found
        return found

    def fields_of(self, type_: int) -> Sequence[int]:
        return self._fields.of_type(type_)

    def described_fields(self, type_: int) -> Sequence[tuple[int, str, str, int]]:
        return self._fields.described(type_)

    def made_field(self, type_: int, name: str, descriptor: str) -> int:
        return self._fields.made(type_, name, descriptor)

    def name_of_field(self, field: int) -> tuple[int, str, str]:
        return self._fields.name_of(field)

    def flags_of_field(self, field: int) -> int:
        return self._fields.flags_of(field)

    def constant_of_field(self, field: int) -> int:
        text = self._fields.constant_of(field)
        return self.text_of(text) if text else NONE

    # --- text
    def text(self, text: int) -> str:
        return self._texts.texts[text]

    def text_of(self, text: str) -> int:
        return self._texts.of(text)

    def may_name(self, text: int) -> bool:
        return self._texts.may_name(text)

    def names_array_of(self, type_: int) -> bool:
        return self._texts.names_array_of(self._types.names[type_])

    def lines_of(self, methods: Int32, offsets: Int32) -> Int32:
        self._methods.enter()
        methods, offsets = np.array(methods, np.int32), np.array(offsets, np.int32)
        for place in np.flatnonzero(self._methods.part.view[methods] == NONE).tolist():
            # A method that the JVM makes has the line of the call for which it does.
            methods[place], offsets[place] = self._dynamics.origin(int(methods[place])) or (
                methods[place],
                NONE,
            )
        where, rows = self._methods.part.view[methods], self._methods.row.view[methods]
        lines = np.full(len(methods), NONE, np.int32)
        for number, part in enumerate(self._parts):
            here = np.flatnonzero(where == number)
            if len(here):
                lines[here] = lines_of(part, rows[here], offsets[here])
        return lines

    # --- for reports
    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What linking found wrong so far; what translating found is in the units."""
        found = [
            *self._newer_classes(), *self._declarations.diagnostics, *self._types.diagnostics, *self._dynamics.diagnostics,
        ]  # fmt: skip
        for archive, group in groupby(sorted(self._missing_members()), lambda each: each[0]):
            names = [name for _, name in group]
            text = f"missing members that the program refers to ({len(names):,}): {listed(names)}"
            found.append(Diagnostic("HIE-PHANTOM", "warning", text, "soundness", archive))
        return found

    def _newer_classes(self) -> Iterator[Diagnostic]:
        """Yields a diagnostic for each archive with class files that a JVM of the JDK would refuse as too new."""
        archives = self._classes.archives
        if not any(each.role == "jdk" for each in archives):
            return
        versions = np.concatenate([part.unit.class_version for part in self._parts])
        owners = np.concatenate([part.archive for part in self._parts])
        is_jdk = np.array([each.role == "jdk" for each in archives])[owners]
        limit = int(versions[is_jdk].max(initial=0))
        newer = (versions > limit) & ~is_jdk
        for number in np.unique(owners[newer]).tolist():
            found = versions[newer & (owners == number)]
            text = (
                f"{len(found):,} class files need a newer Java (up to {found.max() - _BEFORE_JAVA}) "
                f"than the JDK's ({limit - _BEFORE_JAVA}), whose JVM refuses them"
            )
            yield Diagnostic("CLS-NEWER", "warning", text, "none", archives[number].label)

    def _missing_members(self) -> Iterator[tuple[str, str]]:
        """Yields (archive, name) of the members that the program refers to and their classes, all known, lack."""
        for type_, signature in self._linkage.resolver.missing:
            owner = self._types.names[type_].replace("/", ".")
            yield self.archive_of_type(type_), f"{owner}.{''.join(self.name_of_signature(signature))}"
        for field in self._fields.missing:
            type_, name, descriptor = self._fields.name_of(field)
            owner = self._types.names[type_].replace("/", ".")
            yield self.archive_of_type(type_), f"{owner}.{name}:{descriptor}"

    def name_of_signature(self, signature: int) -> tuple[str, str]:
        """Returns (name, descriptor) of what a call names."""
        name, descriptor, _ = self._linkage.signatures.names[signature]
        return name, descriptor

    def line_tables(self, methods: Int32) -> tuple[Int64, Int32, Int32]:
        """Returns the line tables of `methods`: where each begins, and (offset, line) as their class files have them.

        A method that the JVM makes has one entry: the line of the call for which it does.
        """
        self._methods.enter()
        counts = np.zeros(len(methods), np.int64)
        offsets, lines = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        order = [np.empty(0, np.int64)]
        where, rows = self._methods.part.view[methods], self._methods.row.view[methods]
        for number, part in enumerate(self._parts):
            here = np.flatnonzero(where == number)
            at = part.unit.method_lines_at
            counts[here] = at[rows[here] + 1] - at[rows[here]]
            entries = spans(at[rows[here]], counts[here])
            offsets.append(part.unit.line_offset[entries])
            lines.append(part.unit.line_number[entries])
            order.append(np.repeat(here, counts[here]))
        made = np.flatnonzero(where == NONE)
        counts[made] = 1
        offsets.append(np.zeros(len(made), np.int32))
        lines.append(self.lines_of(methods[made], offsets[-1]))
        order.append(made)
        sort = np.argsort(np.concatenate(order), kind="stable")
        at = np.concatenate(([0], np.cumsum(counts)))
        return at, np.concatenate(offsets)[sort], np.concatenate(lines)[sort]

    def archive_of_type(self, type_: int) -> str:
        """Returns the label of the archive that defines `type_`, "" if none does."""
        number = self._types.number[type_]
        return self._classes.archive(number).label if number >= 0 else ""

    @property
    def number_of_types(self) -> int:
        """Returns how many types have an id."""
        return len(self._types)

    def archive_number_of(self, type_: int) -> int:
        """Returns the place of the archive that defines `type_` among those linked, -1 if none does."""
        number = self._types.number[type_]
        part, row = self._classes.locate(number) if number >= 0 else (None, 0)
        return NONE if part is None else int(part.archive[row])

    def element_of(self, type_: int) -> int:
        """Returns the element type of an array type, -1 for another type or a primitive element."""
        return self._types.element[type_]

    def application_types(self) -> list[int]:
        """Returns the classes that archives of the application define."""
        return [
            self._types.named(self._classes.names[each])
            for each in self._classes.number_of.values()
            if self._classes.archive(each).role == "application"
        ]

    def annotations(self) -> tuple[Int32, Int32, Int32]:
        """Returns (element, type of its annotation) for the types, methods and fields that have an id."""
        return annotations_of(self._types, self._fields)

    def source_of_type(self, type_: int) -> str:
        """Returns the name of the source file of `type_` as its class file has it, "" if it has none."""
        number = self._types.number[type_]
        if number < 0:
            return ""
        part, row = self._classes.locate(number)
        return part.text_or_empty(int(part.unit.class_source[row]))

    def is_missing(self, type_: int) -> bool:
        """Returns whether no class file defines `type_`."""
        return self._types.is_missing(type_)


def link(units: Sequence[tuple[Unit, str, str]], opened: Sequence[str] = ()) -> LinkedProgram:
    """Returns the program of (unit, role, label), in the order of the class path, the JDK first.

    The packages `opened`, by internal names, are open to reflection besides those that modules and manifests open.
    A role is `jdk`, `application` or `library`; a label is what people call the archive. The first unit is
    used as it is, the others, which should be small beside it, are copied together.
    """
    archives = [Archive(label, role) for _, role, label in units]
    parts: list[Part] = []
    for start, end in ((0, 1), (1, len(units))):
        chosen = [unit for unit, _, _ in units[start:end]]
        if chosen:
            sizes = [len(unit.class_type) for unit in chosen]
            archive = np.repeat(np.arange(start, end, dtype=np.int32), sizes)
            parts.append(Part(combine(chosen), archive))
    return LinkedProgram(parts, archives, opened)
