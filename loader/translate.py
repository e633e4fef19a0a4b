"""The class files of one archive as a unit: names, hierarchy, members and constraints of method bodies."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from cypher.program import ABSTRACT, ACC_STATIC, NATIVE
from cypher.schema import NONE, Diagnostic
from loader.bytecode import translate_body
from loader.classfile import (
    DYNAMIC,
    MAJOR_FIRST,
    MAJOR_LAST,
    MODULE_FLAG,
    Bootstrap,
    ClassFile,
    Code,
    MalformedClass,
    Member,
    Nesting,
    read_class,
    text_of,
)
from loader.declared import SERVICES, Annotations, module_of, packages_in, providers_in
from loader.manifest import EMPTY, Manifest
from loader.symbols import Pool
from loader.tables import Tables
from loader.unit import CLASS, DROPPED, NO_CODE, STRING, TRANSLATED, Unit

# Classes between two reports of progress.
_STEP = 64
_PREVIEW = 65535


class _Declared(NamedTuple):
    """A field or method of the class: texts of its name, descriptor and generic signature, and where the rest of it is."""

    name: int
    descriptor: int
    generic: int
    member: Member


class _Class(NamedTuple):
    """What a class file says outside of method bodies, in ids of the unit."""

    file: ClassFile
    pool: Pool
    name: bytes
    bootstraps: list[Bootstrap]
    superclass: int
    interfaces: list[int]
    source: int
    generic: int
    host: int
    nesting: Nesting
    fields: list[_Declared]
    constants: list[int]
    methods: list[_Declared]
    annotations: Annotations


def translate(
    classes: Iterable[tuple[str, bytes]],
    label: str,
    progress: Callable[[int], None] | None = None,
    services: Iterable[tuple[str, bytes]] = (),
    manifest: Manifest = EMPTY,
) -> Unit:
    """Returns the unit of an archive called `label`, given (entry name, content) of its class files.

    `services` are its provider-configuration files; of its `manifest`, what opens modules counts. Calls `progress` with
    the number of class files done so far. What can't be read is left out, with a diagnostic.
    """
    with _without_collector():
        return _translated(classes, label, progress, services, manifest)


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Stops the search for cycles: nothing here makes any, and it would visit all that is kept."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _translated(
    classes: Iterable[tuple[str, bytes]],
    label: str,
    progress: Callable[[int], None] | None,
    services: Iterable[tuple[str, bytes]],
    manifest: Manifest,
) -> Unit:
    translator = _Translator(label)
    translator.add_manifest(manifest)
    for entry, content in services:
        translator.add_service(entry, content)
    misnamed: list[tuple[str, bytes]] = []
    done = 0
    for done, (entry, content) in enumerate(classes, 1):
        if not translator.add(entry, content):
            misnamed.append((entry, content))
        if progress is not None and not done % _STEP:
            progress(done)
    # The JVM doesn't find these by their own names, so that they come after the ones that it does.
    for entry, content in misnamed:
        translator.add(entry, content, misnamed=True)
    if progress is not None and done % _STEP:
        progress(done)
    return translator.tables.unit(translator.diagnostics)


class _Translator:
    """Adds one class after the other to the tables of a unit."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.tables = Tables()
        self.symbols = self.tables.symbols
        self.diagnostics: list[Diagnostic] = []
        self.names: set[bytes] = set()
        self.entry = ""

    def report(
        self, problem: MalformedClass, method: str = "", severity: str = "warning", effect: str = "soundness"
    ) -> None:
        """Adds a diagnostic on the present class or one of its methods."""
        self.diagnostics.append(
            Diagnostic(problem.code, severity, problem.text, effect, self.label, self.entry, method)
        )

    def add(self, entry: str, content: bytes, *, misnamed: bool = False) -> bool:
        """Adds the class in `content`; returns whether its name is that of its entry, or doesn't matter."""
        self.entry = entry
        try:
            file = read_class(content)
            if file.flags & MODULE_FLAG:
                self._check_module(file)
                return True
            name = file.name
            if not misnamed and text_of(name) + ".class" != entry:
                return False
            described = self._describe(file, name)
        except MalformedClass as problem:
            self.report(problem)
            return True
        if misnamed:
            self.report(MalformedClass("CLS-WRONG-NAME", f"the entry holds the class {text_of(name)}"))
        if name not in self.names:
            self._check_version(file)
            if file.extra:
                self.report(
                    MalformedClass("CLS-EXTRA", f"{file.extra} bytes behind the class"), effect="none"
                )
            self.names.add(name)
            self._add(described)
        return True

    def add_service(self, entry: str, content: bytes) -> None:
        """Adds the providers that a provider-configuration file lists."""
        service = entry.removeprefix(SERVICES).replace(".", "/")
        for provider in providers_in(content):
            self._add_provider(_modified(service), _modified(provider), in_module=False)

    def add_manifest(self, manifest: Manifest) -> None:
        """Adds the packages that a manifest exports and opens to what `java -jar` starts."""
        for attribute, opened in (("Add-Exports", 0), ("Add-Opens", 1)):
            for package in packages_in(manifest.get(attribute)):
                self.tables.add("package", (self.symbols.texts[_modified(package)], opened))

    def _add_provider(self, service: bytes, provider: bytes, *, in_module: bool) -> None:
        row = self.symbols.type(service), self.symbols.type(provider), int(in_module)
        self.tables.add("service", row)

    def _annotations(self, file: ClassFile) -> Annotations:
        found = Annotations(file)
        try:
            found.read(file)
        except MalformedClass as problem:
            self.report(problem)
        return found

    def _add_annotations(self, annotations: Annotations) -> None:
        texts = self.symbols.texts
        tables = self.tables
        tables.add("class_annotation", [texts[each] for each in annotations.of_class])
        for group, found in (
            ("field_annotation", annotations.of_fields),
            ("method_annotation", annotations.of_methods),
        ):
            tables.add(group, [texts[each] for types in found for each in types])
        for visible in annotations.visible:
            tables.add("annotation", (texts[visible], texts[b""], NONE, texts[b""]))
        for value in annotations.values:
            kind = CLASS if value.is_class else STRING
            row = (texts[value.annotation], texts[value.element], kind, texts[value.content])
            tables.add("annotation", row)

    def _check_version(self, file: ClassFile) -> None:
        major, minor = file.version
        if not MAJOR_FIRST <= major <= MAJOR_LAST:
            problem = MalformedClass("CLS-VERSION", f"class file version {major}.{minor}")
            self.report(problem, effect="none")
        elif minor == _PREVIEW and major > 55:
            problem = MalformedClass("CLS-VERSION", f"class file version {major} with preview features")
            self.report(problem, severity="note", effect="none")

    def _check_module(self, file: ClassFile) -> None:
        if file.methods.rows or file.fields.rows:
            self.report(MalformedClass("CLS-MODULE", "a module declaration with members"), effect="none")
        module = module_of(file)
        for service, provider in module.provided:
            self._add_provider(service, provider, in_module=True)
        for packages, opened in ((module.exported, 0), (module.opened, 1)):
            for package in packages:
                self.tables.add("package", (self.symbols.texts[package], opened))

    def _describe(self, file: ClassFile, name: bytes) -> _Class:
        """Returns what `file` says outside of method bodies, before anything of it is added."""
        bootstraps = self._bootstraps(file)
        pool = Pool(file.pool, self.symbols, len(bootstraps))
        attributes = file.attributes.rows
        source = file.index_attribute(b"SourceFile", attributes)
        host = file.index_attribute(b"NestHost", attributes)
        fields = self._declared(file, pool, file.fields.rows)
        return _Class(
            file,
            pool,
            name,
            bootstraps,
            pool.type(file.superclass) if file.superclass else NONE,
            [pool.type(index) for index in file.interfaces],
            pool.text(source) if source else NONE,
            self._generic(file, pool, attributes),
            pool.type(host) if host else NONE,
            self._nesting(file, pool),
            fields,
            [self._field_constant(file, pool, each.member) for each in fields],
            self._declared(file, pool, file.methods.rows),
            self._annotations(file),
        )

    def _bootstraps(self, file: ClassFile) -> list[Bootstrap]:
        try:
            return file.bootstraps()
        except MalformedClass as problem:
            self.report(problem)
            return []

    def _nesting(self, file: ClassFile, pool: Pool) -> Nesting:
        """Returns which class stands in which, as types, -1 for none."""
        try:
            declaring, enclosing, members, permitted = file.nesting()
            return Nesting(
                pool.type(declaring) if declaring else NONE,
                pool.type(enclosing) if enclosing else NONE,
                [pool.type(each) for each in members],
                [pool.type(each) for each in permitted],
            )
        except MalformedClass as problem:
            self.report(problem)
            return Nesting(NONE, NONE, [], [])

    def _declared(self, file: ClassFile, pool: Pool, members: list[Member]) -> list[_Declared]:
        text, generic = pool.text, self._generic
        return [
            tuple.__new__(
                _Declared,
                (text(member.name), text(member.descriptor), generic(file, pool, member.attributes), member),
            )
            for member in members
        ]

    def _generic(self, file: ClassFile, pool: Pool, attributes: list[tuple[int, int, int]]) -> int:
        """Returns the text of a generic signature (JVMS 4.7.9), -1 for none."""
        if not attributes:
            return NONE
        try:
            index = file.index_attribute(b"Signature", attributes)
            return pool.text(index) if index else NONE
        except MalformedClass as problem:
            self.report(problem)
            return NONE

    def _field_constant(self, file: ClassFile, pool: Pool, member: Member) -> int:
        """Returns the text that a static field holds from the start, -1 for none."""
        if not member.attributes or not member.flags & ACC_STATIC:
            return NONE
        index = file.index_attribute(b"ConstantValue", member.attributes)
        if not index:
            return NONE
        kind, ref, _ = pool.constant(index)
        return ref if kind == STRING else NONE

    def _add(self, described: _Class) -> None:
        """Adds a class and its members to the tables."""
        file, tables = described.file, self.tables
        tables.add("interface", described.interfaces)
        tables.add("member_class", described.nesting.members)
        tables.add("permitted_class", described.nesting.permitted)
        annotations = described.annotations
        for declared, constant, types in zip(
            described.fields, described.constants, annotations.of_fields, strict=True
        ):
            tables.members.add(declared.name)
            flags = declared.member.flags
            row = declared.name, declared.descriptor, flags, declared.generic, constant, len(types)
            tables.add("field", row)
        for declared, types in zip(described.methods, annotations.of_methods, strict=True):
            tables.members.add(declared.name)
            self._add_method(described, declared, len(types))
        self._add_bootstraps(described)
        tables.add(
            "class",
            (
                self.symbols.type(described.name),
                described.superclass,
                file.flags,
                file.version[0],
                described.source,
                described.generic,
                described.host,
                described.nesting.declaring,
                described.nesting.enclosing,
                self.symbols.texts[_modified(self.entry)],
                len(described.interfaces),
                len(described.fields),
                len(described.methods),
                len(described.bootstraps),
                len(annotations.of_class),
                len(described.nesting.members),
                len(described.nesting.permitted),
            ),
        )
        self._add_annotations(annotations)
        if described.pool.dangling:
            self.report(MalformedClass("CLS-INDY", "a constant names a bootstrap method that isn't there"))

    def _add_method(self, described: _Class, declared: _Declared, annotations: int) -> None:
        symbols, tables = self.symbols, self.tables
        file, member = described.file, declared.member
        flags = member.flags
        static = bool(flags & ACC_STATIC)
        if not static and file.version[0] < 51 and file.pool.utf8(member.name) == b"<clinit>":
            static = True  # as the JVM has it for these class files
            flags |= ACC_STATIC
        state = NO_CODE
        lines = 0
        parameters = int(not static)
        variables = parameters + 3
        try:
            shape = symbols.shapes.get(declared.descriptor) or symbols.shape(
                file.pool.utf8(member.descriptor)
            )
            parameters += shape.positions
            variables = parameters + 3
            code = self._code(file, member)
            if code is not None:
                lines = tables.add_lines(code.lines)
                tables.make_room()
                try:
                    variables = translate_body(tables.frame, code, described.pool, shape, static)
                finally:
                    tables.take_body()
                state = TRANSLATED
        except MalformedClass as problem:
            state = DROPPED
            left_out = MalformedClass(
                problem.code, f"{problem.text}; the method is taken to return anything and to do nothing else"
            )
            self.report(left_out, self._method_name(described, member))
        exceptions = self._exceptions(described, member)
        tables.add("exception", exceptions)
        signature = symbols.signature(declared.name, declared.descriptor)
        generic = declared.generic
        row = signature, flags, generic, parameters, variables, state, lines, annotations, len(exceptions)
        tables.add("method", row)

    def _exceptions(self, described: _Class, member: Member) -> list[int]:
        """Returns the types of the exceptions that a method declares."""
        try:
            listed = described.file.index_list(b"Exceptions", member.attributes)
            return [described.pool.type(each) for each in listed]
        except MalformedClass as problem:
            self.report(problem)
            return []

    def _code(self, file: ClassFile, member: Member) -> Code | None:
        """Returns the code of a method that should have some."""
        code = file.code(member)
        if (code is None) != bool(member.flags & (NATIVE | ABSTRACT)):
            raise MalformedClass(
                "CLS-CODE", "a method without code" if code is None else "a method with code"
            )
        return code

    def _method_name(self, described: _Class, member: Member) -> str:
        pool = described.file.pool
        name, descriptor = text_of(pool.utf8(member.name)), text_of(pool.utf8(member.descriptor))
        return f"{text_of(described.name).replace('/', '.')}.{name}{descriptor}"

    def _add_bootstraps(self, described: _Class) -> None:
        tables = self.tables
        for row in described.bootstraps:
            try:
                kind, method = self._bootstrap_method(described.pool, row)
                arguments = [described.pool.constant(index)[:2] for index in row.arguments]
            except MalformedClass as problem:
                code = problem.code if problem.code == "CLS-CP-CYCLE" else "CLS-INDY"
                self.report(MalformedClass(code, problem.text))
                kind, method, arguments = 0, NONE, []
            tables.add("bootstrap", (kind, method, len(arguments)))
            for argument, ref in arguments:
                tables.add("argument", (argument, ref))
        if self._is_cyclic(described):
            self.report(
                MalformedClass("CLS-CP-CYCLE", "a dynamic constant is an argument of its own bootstrap")
            )

    def _bootstrap_method(self, pool: Pool, row: Bootstrap) -> tuple[int, int]:
        kind, reference = pool.pool.handle(row.handle)
        if not 5 <= kind <= 9:
            raise MalformedClass("CLS-INDY", "a bootstrap method that is no method")
        return kind, pool.method_ref(reference)

    def _is_cyclic(self, described: _Class) -> bool:
        """Returns whether dynamic constants among the arguments of bootstrap methods go in circles."""
        pool = described.file.pool
        needs: dict[int, set[int]] = {}
        for number, row in enumerate(described.bootstraps):
            for index in row.arguments:
                if 0 < index < len(pool.at) and pool.at[index] and pool.tag(index) == DYNAMIC:
                    needs.setdefault(number, set()).add(pool.pair_in(index, DYNAMIC)[0])
        while needs:
            # A row that needs none of the others can't be on a circle.
            free = [number for number, needed in needs.items() if not needed & needs.keys()]
            if not free:
                return True
            for number in free:
                del needs[number]
        return False


def _modified(text: str) -> bytes:
    """Returns modified UTF-8 of `text`: supplementary characters as two surrogates, each of three bytes."""
    if text.isascii():
        return text.encode()
    units = text.encode("utf-16-le", "surrogatepass")
    halves = "".join(chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2))
    return halves.encode("utf-8", "surrogatepass")
