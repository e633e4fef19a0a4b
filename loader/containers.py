"""From one path to the archives in it: jars, wars, Spring Boot jars, ears, jmods, jimages and directories."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

from cypher.schema import Diagnostic
from loader import jimage, manifest
from loader.declared import SERVICES
from loader.directory import Directory
from loader.manifest import Manifest
from loader.source import MIB, Changed, FileSource, Limits, Refused, Source, refusal
from loader.views import View, layout_of, nested_archives, view
from loader.zipread import EntryError, Zip

APPLICATION, LIBRARY, JDK = "application", "library", "jdk"

_JMOD_MAGIC = b"JM\1\0"
# What the provider-configuration files of an archive have at most: real ones have some kilobytes.
_MOST_SERVICES = 16 * MIB
_SIGNATURES = (".SF", ".RSA", ".DSA", ".EC")


class Container(Protocol):
    """Entries by name. `diagnostics` are those not yet handed on."""

    diagnostics: list[Diagnostic]

    def names(self) -> Iterator[str]:
        """Yields the names of all entries, each once."""

    def read(self, name: str) -> bytes:
        """Returns the content of an entry. Raises `EntryError`."""

    def nested(self, name: str, label: str) -> Source:
        """Returns an entry as an archive to be read. Raises `EntryError` or `Refused`."""

    def digest(self, salt: str) -> str:
        """Returns the hash of `salt` and of what determines all contents."""

    def check(self) -> None:
        """Raises `Changed` if it is no longer what was opened."""

    def drop(self) -> None:
        """Gives back the memory that can be had again."""


class Archive:
    """One root of the class path.

    `label` is its path for display (`app.war!WEB-INF/lib/x.jar`), `role` whether it is `application`,
    `library` or `jdk`, `manifest` the main attributes. Names are those on the class path: relative to the
    root, without the directory of a versioned entry. `diagnostics` grow as contents are read and belong with
    these contents; those found on opening are in `Inputs.diagnostics`.
    """

    def __init__(
        self, label: str, role: str, container: Container,
        visible: Callable[[], View], salt: str, own: Manifest,
    ) -> None:  # fmt: skip
        self.label = label
        self.role = role
        self.manifest = own.attributes
        self._container = container
        self._visible = visible
        self._salt = salt
        self._diagnostics: dict[Diagnostic, None] = {}

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Returns what was found while contents were read."""
        self._diagnostics |= dict.fromkeys(self._container.diagnostics)
        self._container.diagnostics.clear()
        return list(self._diagnostics)

    @cached_property
    def digest(self) -> str:
        """Returns a hash, in hexadecimal, of all that determines the classes. Raises `Changed`."""
        return self._container.digest(self._salt)

    def classes(self) -> Iterator[tuple[str, bytes]]:
        """Yields (name, class file) of all classes on the class path, those that can't be read left out.

        Raises `Changed` at the end if the archive is no longer the one of `digest`. In a jimage, where each
        module has one, a `module-info.class` has the module before its name.
        """
        digest = self.digest
        for name, entry in self._view.classes.items():
            try:
                content = self._container.read(entry)
            except EntryError as problem:
                self._report(problem, name)
                continue
            if isinstance(self._container, Zip):
                self._container.report_shadowed(entry)
            yield name, content
        self._container.check()
        if self._container.digest(self._salt) != digest:
            text = "changed while it was read"
            raise Changed(Diagnostic("ARC-CHANGED", "error", text, "soundness", self.label))
        self._container.drop()

    def services(self) -> Iterator[tuple[str, bytes]]:
        """Yields (name, content) of the provider-configuration files (`ServiceLoader`), within their limit."""
        left = _MOST_SERVICES
        for name in self.resources():
            if name.startswith(SERVICES) and (content := self.read(name)) is not None:
                left -= len(content)
                if left < 0:
                    text = f"the files that list providers have more than {_MOST_SERVICES:,} bytes, the limit"
                    self._report(EntryError("ARC-BUDGET", text), name)
                    return
                yield name, content

    def class_names(self) -> list[str]:
        """Returns the names of all classes, in the order of `classes`, without reading them."""
        return list(self._view.classes)

    def resources(self) -> list[str]:
        """Returns the names of all other files."""
        return list(self._view.resources)

    def read(self, name: str) -> bytes | None:
        """Returns the content of a class file or other file, None if it isn't there or can't be read.

        Class loaders read as many bytes of a class file as are declared; other files are streams.
        """
        entry = self._view.classes.get(name) or self._view.resources.get(name)
        if entry is None:
            return None
        try:
            if isinstance(self._container, Zip) and name not in self._view.classes:
                return self._container.read_whole(entry)
            return self._container.read(entry)
        except EntryError as problem:
            self._report(problem, name)
            return None

    @cached_property
    def _view(self) -> View:
        return self._visible()

    def _report(self, problem: EntryError, name: str) -> None:
        diagnostic = Diagnostic(problem.code, "warning", str(problem), "soundness", self.label, name)
        self._diagnostics[diagnostic] = None


class Opener:
    """Opens paths within the limits of a run. What is found on the way is added to `report`."""

    def __init__(self, limits: Limits, release: int, report: list[Diagnostic]) -> None:
        self._limits = limits
        self._release = release
        self._report = report
        self._inflated = 0
        self._nested: set[tuple[str, str]] = set()
        self._too_deep: Counter[str] = Counter()  # archives that are not read, by the one that holds them

    def open(self, path: str | Path, label: str, role: str) -> list[Archive]:
        """Returns the archives at `path`, in class path order. Raises `Refused` if there are none."""
        archives = self._open(path, label, role)
        if self._too_deep:
            # One for all: there may be thousands.
            first = next(iter(self._too_deep))
            text = (
                f"{self._too_deep.total():,} archives, as in {first}, are nested too deeply and are not read"
            )
            self._report.append(Diagnostic("ARC-NEST", "warning", text, "soundness", label))
            self._too_deep.clear()
        return archives

    def _open(self, path: str | Path, label: str, role: str) -> list[Archive]:
        suffix = PurePosixPath(path).suffix.lower()
        if not str(path):
            raise refusal("IN-MISSING", "an empty name is no file", label)
        try:
            is_directory = stat.S_ISDIR(Path(path).stat().st_mode)
        except (OSError, ValueError):
            is_directory = False  # opening it says why
        if is_directory:
            return self._roots(Directory(path, label, self._limits), label, role, suffix, 0)
        source = FileSource(path, label, self._limits.archive_bytes)
        if PurePosixPath(path).name == "modules" or jimage.has_magic(source):
            return [self._jimage(source, role, str(source.modified))]
        return self._archive(source, role, suffix, 0)

    def _jimage(self, source: Source, role: str, salt: str) -> Archive:
        image = jimage.JImage(source, self._limits)
        salt = f"jimage {salt} "
        return Archive(source.label, role, image, lambda: jimage_view(image), salt, manifest.EMPTY)

    def _archive(self, source: Source, role: str, suffix: str, depth: int) -> list[Archive]:
        """Returns the archives in a zip or jmod. Raises `Refused`."""
        is_jmod = source.read(0, 4) == _JMOD_MAGIC
        if suffix == ".jmod" and not is_jmod:
            raise refusal("ARC-JMOD", "doesn't begin like a jmod", source.label)
        try:
            container = Zip(source, self._limits)
        except Refused as problem:
            if not is_jmod:
                raise
            raise Refused(replace(problem.diagnostic, code="ARC-JMOD")) from None
        if not is_jmod:
            return self._roots(container, source.label, role, suffix, depth)
        found = view(container.names(), "classes/")
        self._charge(container, list(found.classes.values()), self._limits.entry_bytes)
        self._hand_on(container)
        return [Archive(source.label, role, container, lambda: found, "jmod ", manifest.EMPTY)]

    def _roots(self, container: Container, label: str, role: str, suffix: str, depth: int) -> list[Archive]:
        """Returns the roots of the class path in `container`, then those of the archives in it."""
        own = _manifest_of(container)
        layout = layout_of(container.names(), suffix, own.get("Spring-Boot-Classes"))
        archives: list[Archive] = []
        if layout.prefix is not None:
            is_jar = layout.kind == "jar" and isinstance(container, Zip)
            release = self._release if is_jar and own.multi_release else 0
            root = f"{label}!{layout.prefix.rstrip('/')}" if layout.prefix else label
            archives.append(self._root(container, root, role, own, layout.prefix, release))
        if layout.launcher:
            launcher = self._root(container, label, LIBRARY, own, "", 0, ("BOOT-INF/", "WEB-INF/"))
            archives += [launcher] if launcher.class_names() else []
        self._hand_on(container)
        if depth:
            # Here, while the bytes are at hand.
            archives = list(self._unless_known(archives))
        nested = nested_archives(container.names(), layout.kind)
        if isinstance(container, Directory) and layout.kind == "jar":
            # The JVM sees no jars inside a directory; one that has no classes is taken as its jars.
            has_classes = bool(archives[0].class_names())
            nested = [] if has_classes else [(name, True) for name, _ in nested if "/" not in name]
        archives += self._inside(container, label, role, nested, depth)
        container.drop()
        return archives

    def _root(
        self, container: Container, label: str, role: str, own: Manifest,
        prefix: str, release: int, excluded: tuple[str, ...] = (),
    ) -> Archive:  # fmt: skip
        """Returns the root at `prefix`. Raises `Refused` if its classes are over the limits."""
        found = view(container.names(), prefix, release, excluded)
        if isinstance(container, Zip):
            self._charge(container, list(found.classes.values()), self._limits.entry_bytes)
        if found.ignored and not excluded:
            of_what = f"for a release above {release}" if release else "for certain releases"
            text = f"{found.ignored:,} class files {of_what} are ignored"
            self._report.append(Diagnostic("ARC-RELEASE", "note", text, "none", label))
        if role != JDK and any(_is_signature(name) for name in found.resources):
            text = "is signed; its signatures are not verified"
            self._report.append(Diagnostic("ARC-SIGNED", "note", text, "none", label))
        # Only what the classes depend on: a jar without versioned entries is the same for every release.
        salt = f"{type(container).__name__} {prefix!r} {excluded} {release} "
        return Archive(label, role, container, lambda: found, salt, own)

    def _inside(
        self, container: Container, label: str, role: str, nested: list[tuple[str, bool]], depth: int
    ) -> list[Archive]:
        """Returns the archives inside `container`; what is refused or too deep becomes a diagnostic."""
        if not nested:
            return []
        if depth == self._limits.nesting:
            self._too_deep[label] += len(nested)
            return []
        if isinstance(container, Zip):
            self._charge(container, [name for name, _ in nested], self._limits.nested_bytes)
        archives: list[Archive] = []
        for name, is_application in nested:
            inner = f"{label}!{name}"
            suffix = PurePosixPath(name).suffix.lower()
            try:
                source = container.nested(name, inner)
                inner_role = role if is_application else min(role, LIBRARY, key=_ROLES.index)
                archives += self._archive(source, inner_role, suffix, depth + 1)
            except Refused as problem:
                self._report.append(replace(problem.diagnostic, severity="warning"))
            except EntryError as problem:
                self._report.append(Diagnostic(problem.code, "warning", str(problem), "soundness", inner))
        return archives

    def _unless_known(self, archives: list[Archive]) -> Iterator[Archive]:
        """Yields those that no other nested archive equals."""
        for archive in archives:
            key = archive.digest, archive.role
            if key not in self._nested:
                self._nested.add(key)
                yield archive

    def _charge(self, container: Zip, names: list[str], limit: int) -> None:
        """Takes what reading `names` may inflate from the budget of the run. Raises `Refused`."""
        self._hand_on(container)  # what is odd about it may be why it is refused
        self._inflated += container.inflated_bound(names, limit)
        if self._inflated > self._limits.inflated_per_run:
            text = "would inflate beyond the limit of the run"
            raise refusal("ARC-BUDGET", text, container.source.label)

    def _hand_on(self, container: Container) -> None:
        self._report.extend(container.diagnostics)
        container.diagnostics.clear()


# Weakest claim first: a library inside an application is a library, and whatever is inside the JDK is of it.
_ROLES = (JDK, LIBRARY, APPLICATION)


def jimage_view(image: Container) -> View:
    """Returns the resources of a jimage without their modules; of equal names the first."""
    classes: dict[str, str] = {}
    resources: dict[str, str] = {}
    for entry in image.names():
        module, _, name = entry[1:].partition("/")
        if name.endswith(".class"):
            classes.setdefault(f"{module}/{name}" if name == "module-info.class" else name, entry)
        elif module not in {"modules", "packages"}:
            resources.setdefault(name, entry)
    return View(classes, resources, 0)


def _manifest_of(container: Container) -> Manifest:
    """Returns the manifest: of several whose names differ in case only, the last, as the JVM.

    Where the JVM refuses to read it, it ignores versioned entries.
    """
    found = None
    for name in container.names():
        if len(name) == len(manifest.NAME) and name.upper() == manifest.NAME:
            found = name
    if found is None:
        return manifest.EMPTY
    try:
        own = manifest.parse(container.read(found))
    except EntryError:
        return manifest.EMPTY
    if own.multi_release and isinstance(container, Zip) and not container.has_declared_size(found):
        return own._replace(multi_release=False)
    return own


def _is_signature(name: str) -> bool:
    return name.startswith("META-INF/") and name.count("/") == 1 and name.upper().endswith(_SIGNATURES)
