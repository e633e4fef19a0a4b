"""What the product makes of a file: the calls of a run from bytes to facts, and whether the file was accepted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from loader.archives import Archive, Changed, InputError, Limits, open_inputs
from loader.containers import JDK, Opener
from loader.link import link
from loader.manifest import Manifest
from loader.names import array_name
from loader.translate import translate
from loader.unit import Unit
from tests.badinputs.zips import class_file
from tests.fuzz.classformat import layout_of
from tests.fuzz.corpus import Mutant

MIB = 1 << 20
LIMITS = Limits(
    archive_bytes=16 * MIB, nested_bytes=MIB, entries=5_000, entry_bytes=MIB, inflated_per_archive=16 * MIB,
    inflated_per_run=32 * MIB, ratio_bytes=8 * MIB,
)  # fmt: skip
RELEASE = 17

# Given a folder to write to and mutants of different files; returns which were accepted.
Reader = Callable[["Files", Sequence[Mutant]], list[bool]]


class Files:
    """Files that are open for writing before anything is watched, so that reading may forbid it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, int] = {}

    def prepare(self, names: Sequence[str]) -> None:
        """Opens files."""
        for name in names:
            if name not in self._open:
                self._open[name] = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def write(self, name: str, data: bytes) -> str:
        """Returns the path of a file that holds `data`."""
        file = self._open[name]
        os.ftruncate(file, 0)
        os.pwrite(file, data, 0)
        return str(self.folder / name)


def read_classes(files: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Reads class files as one archive: to their unit, to a program, to the facts of all methods."""
    unit = translate([(each.file, each.data) for each in mutants], "x.jar")
    use(unit)
    accepted = entries_of(unit)
    found = [each.file in accepted for each in mutants]
    reported = {each.entry for each in unit.diagnostics}
    for at, each in enumerate(mutants):
        if not found[at] and each.file not in reported and len(mutants) > 1:
            # A class that is called like another one here, or a module: nobody refused it.
            found[at] = read_classes(files, [each])[0]
    return found


def entries_of(unit: Unit) -> set[str]:
    """Returns the entries whose classes are in the unit."""
    texts, at = unit.text_bytes.tobytes(), unit.text_at.tolist()
    return {
        texts[at[text] : at[text + 1]].decode("utf-8", "surrogatepass") for text in unit.class_entry.tolist()
    }


@cache
def jdk() -> Unit:
    """Returns the classes that no program does without."""
    found = []
    for name in ("Object", "String", "Class", "Cloneable", "Throwable"):
        model = layout_of(class_file(f"java/lang/{name}")).model
        model = replace(model, superclass=0) if name == "Object" else model
        model = replace(model, flags=0x601) if name == "Cloneable" else model
        found.append((f"java/lang/{name}.class", model.encoded()))
    return translate(found, "jdk")


def use(unit: Unit) -> None:
    """Links the unit as an application and asks for all that an analysis may ask for."""
    program = link([(jdk(), "jdk", "jdk"), (unit, "application", "x.jar")])
    names = unit.type_text[unit.class_type]
    texts, at = unit.text_bytes.tobytes(), unit.text_at.tolist()
    methods: list[int] = []
    for text in names.tolist():
        type_ = program.type_named(texts[at[text] : at[text + 1]].decode("utf-8", "surrogatepass"))
        if type_ < 0:
            continue
        methods += program.methods_of(type_)
        program.supertypes_of(type_)
        program.interfaces_of(type_)
        program.superclass_of(type_)
        program.initialisers_of(type_)
        program.concrete_subtypes_of(type_)
        program.type_named(array_name(program.name_of_type(type_)))
        program.source_of_type(type_)
        program.providers_of(type_)
        program.annotation_values(type_, "value")
        program.generic_of_type(type_)
        for field in program.fields_of(type_):
            program.name_of_field(field)
            program.flags_of_field(field)
            program.generic_of_field(field)
    program.annotation_types()
    for method in methods:
        _, name, descriptor = program.name_of_method(method)
        program.parameter_types(method)
        program.generic_of_method(method)
        program.resolve_method(program._methods.declaring_type(method), name, descriptor)
    program.new_rows()
    chosen = np.array(methods, np.int32)
    program.facts_of(chosen, np.arange(len(chosen), dtype=np.int32) * 100_000, 0)
    program.line_tables(chosen)
    program.lines_of(chosen, np.zeros(len(chosen), np.int32))
    assert program.diagnostics is not None


def read_zips(files: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Opens each archive as an input, and reads all of it and of the archives in it."""
    return [_read_zip(files.write(each.file, each.data)) for each in mutants]


def _read_zip(path: str) -> bool:
    try:
        inputs = open_inputs([path], release=RELEASE, limits=LIMITS)
    except Changed:
        raise  # nobody changed it
    except InputError as problem:
        if any(each.code != "IN-NONE" and each.severity == "error" for each in problem.diagnostics):
            return False
        # No class in it, but perhaps something else.
        return _read_container(path, "application")
    for archive in inputs.archives:
        _read_archive(archive)
    return bool(inputs.archives)


def _read_container(path: str, role: str) -> bool:
    try:
        archives = Opener(LIMITS, RELEASE, []).open(path, "x", role)
        for archive in archives:
            _read_archive(archive)
    except Changed:
        raise
    except InputError:
        return False
    return True


def _read_archive(archive: Archive) -> None:
    """Reads all of an archive as a run does."""
    manifest = Manifest(archive.manifest)
    unit = translate(archive.classes(), archive.label, services=archive.services(), manifest=manifest)
    use(unit)
    for name in archive.resources():
        archive.read(name)
    assert manifest.main_class is None or isinstance(manifest.main_class, str)
    assert archive.diagnostics is not None


def read_images(files: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Opens each jimage or jmod as a library of a JDK, and reads all of it."""
    return [_read_container(files.write(each.file, each.data), JDK) for each in mutants]


READERS: dict[str, Reader] = {"class": read_classes, "zip": read_zips, "image": read_images}
