"""Finds the class library of a Java installation, without running anything of it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from cypher.schema import Diagnostic
from loader.jimage import JImage
from loader.source import FileSource, InputError, Limits, Refused
from loader.zipread import EntryError, Zip

# What HotSpot puts on the boot class path before Java 9, in its order; `ext` comes after.
_BOOT_JARS = ("resources", "rt", "sunrsasign", "jsse", "jce", "charsets", "jfr")
_OBJECT = "java/lang/Object.class"


class JdkNotFound(InputError):
    """There is no Java class library where one was looked for."""

    def __init__(self, text: str) -> None:
        super().__init__(Diagnostic("IN-JDK", "error", text, "soundness"))


class Jdk(NamedTuple):
    """A class library. `version` is 8, 17, …; `kind` is `jimage`, `jmods` or `rt`; `files` are in class path order."""

    home: Path
    version: int
    kind: str
    files: tuple[Path, ...]


def find_jdk(explicit: str | None = None) -> Jdk:
    """Returns the library at `explicit`, else that of JAVA_HOME, else that of `java` on the path.

    Raises `JdkNotFound` if there is none.
    """
    if explicit is not None:
        return at(Path(explicit))
    home = os.environ.get("JAVA_HOME")
    command = shutil.which("java")
    candidates = [Path(home)] if home else []
    candidates += [Path(os.path.realpath(command)).parent.parent] if command else []
    for candidate in candidates:
        found = _library(candidate)
        if found is not None:
            return found
    looked = " and ".join(str(each) for each in candidates) or "JAVA_HOME or on the path"
    raise JdkNotFound(f"no Java class library at {looked}: install a JDK, or name one with --jdk")


def at(home: Path) -> Jdk:
    """Returns the library of the installation at `home`. Raises `JdkNotFound`."""
    found = _library(home)
    if found is None:
        text = f"{home} has no Java class library: neither lib/modules, nor jmods, nor lib/rt.jar"
        raise JdkNotFound(text)
    return found


def _library(home: Path) -> Jdk | None:
    """Returns the library of the installation at `home`, which may also be a part of one."""
    if home.name == "modules" and home.parent.name == "lib" and home.is_file():
        home = home.parent.parent
    if home.name == "rt.jar" and home.is_file():
        home = home.parent
    for each in (home, home / "Contents" / "Home"):
        if (each / "lib" / "modules").is_file():
            return _jdk(each, "jimage", [each / "lib" / "modules"])
        for lib in (each / "jre" / "lib", each / "lib", each):
            if (lib / "rt.jar").is_file():
                return _jdk(each, "rt", _boot_jars(lib))
        for jmods in (each / "jmods", each):
            if (jmods / "java.base.jmod").is_file():
                return _jdk(each, "jmods", _jmods(jmods))
    return None


def _boot_jars(lib: Path) -> list[Path]:
    named = [lib / f"{name}.jar" for name in _BOOT_JARS]
    return [each for each in named if each.is_file()] + sorted((lib / "ext").glob("*.jar"))


def _jmods(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.jmod"), key=lambda each: (each.name != "java.base.jmod", each.name))


def _jdk(home: Path, kind: str, files: list[Path]) -> Jdk:
    for directory in (home, home.parent):
        version = _version_in(release_text(directory))
        if version:
            return Jdk(home, version, kind, tuple(files))
    return Jdk(home, _version_by_class(kind, files), kind, tuple(files))


def release_text(home: Path) -> str:
    """Returns the file that describes an installation, or nothing."""
    try:
        with (home / "release").open("rb") as file:
            return file.read(1 << 16).decode("utf-8", "replace")
    except OSError:
        return ""


def _version_in(text: str) -> int:
    """Returns the version that a `release` file states, 0 if none.

    >>> [_version_in(f'JAVA_VERSION="{each}"') for each in ("17.0.15", "1.8.0_392", "25")]
    [17, 8, 25]
    """
    found = re.search(r'^JAVA_VERSION="(?:1\.)?([0-9]{1,4})', text, re.MULTILINE)
    return int(found[1]) if found else 0


def _version_by_class(kind: str, files: list[Path]) -> int:
    """Returns the release whose class file version `java.lang.Object` has. Raises `JdkNotFound`."""
    for file in files:
        try:
            content = _read(kind, file)
        except (Refused, EntryError, KeyError):
            continue
        if len(content) >= 8:
            return int.from_bytes(content[6:8], "big") - 44
    raise JdkNotFound(f"{files[0]} has no class java.lang.Object")


def _read(kind: str, file: Path) -> bytes:
    """Returns the class file of `java.lang.Object`. Raises `Refused`, `EntryError` or `KeyError`."""
    source = FileSource(file, str(file), Limits().archive_bytes)
    if kind == "jimage":
        return JImage(source, Limits()).read(f"/java.base/{_OBJECT}")
    return Zip(source, Limits()).read(f"classes/{_OBJECT}" if kind == "jmods" else _OBJECT)
