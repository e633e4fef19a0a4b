"""Which entries of a container are on the class path under one of its roots, and under what name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# JVMS 4.2.2: names have no `.`, `;`, `[` and no empty segments. The JVM looks for nothing else, and finds
# nothing that begins like a drive, which it takes for the protocol of a URL.
_CLASS = re.compile(r"(?![A-Za-z]:)(?:[^./;\[]+/)*[^./;\[]+\.class")
_VERSIONED = re.compile(r"META-INF/versions/([1-9][0-9]{0,8})/(.+)", re.DOTALL)
# What makes the JVM look for entries of a version, though it finds only those that are spelt as above.
_KNOWN_VERSION = re.compile(r"META-INF/versions/([1-9][0-9]{0,8})/.*[^/]", re.DOTALL | re.IGNORECASE)

_NESTED = (".jar", ".war", ".ear", ".rar", ".zip")

# Both `java.util.jar` and this reader begin here, although the first release with versioned entries was 9.
_FIRST_VERSION = 8


class View(NamedTuple):
    """Names on the class path, each with the name of its entry in the container, in the container's order.

    `ignored` counts class files for releases other than the one looked at.
    """

    classes: dict[str, str]
    resources: dict[str, str]
    ignored: int


class Layout(NamedTuple):
    """How a container is made up: where its application classes are and its libraries.

    `prefix` is the root of the application classes, None if it has none of its own. `launcher` says that
    classes at the root of the container are on the class path besides.
    """

    kind: str  # jar, war, boot or ear
    prefix: str | None
    launcher: bool


def is_class(name: str) -> bool:
    """Returns whether the JVM may look for `name` when it loads a class.

    >>> [is_class(each) for each in ("a/B.class", "/B.class", "a/../B.class", "B.CLASS", "a//B.class")]
    [True, False, False, False, False]
    """
    return _CLASS.fullmatch(name) is not None


def view(names: Iterable[str], prefix: str = "", release: int = 0, excluded: tuple[str, ...] = ()) -> View:
    """Returns what is visible under `prefix`, without names that begin with one of `excluded`.

    An entry `A.class/` is the class A, unless there is an entry `A.class`, as it is to the JVM.
    With a `release`, entries for it and for those before it, newest first, replace those without one, as in
    multi-release jars; with 0 they are left out.
    """
    classes: dict[str, str] = {}
    resources: dict[str, str] = {}
    versions: dict[str, int] = {}
    known: set[str] = set()
    directories: list[tuple[int, str, str]] = []  # versioned classes that are called like directories
    ignored = 0
    for entry in names:
        if not entry.startswith(prefix) or (excluded and entry.startswith(excluded)):
            continue
        name = entry[len(prefix) :]
        version = 0
        if release and name[:1] in "Mm" and (spelt := _KNOWN_VERSION.fullmatch(name)):
            known.add(spelt[1])
        if name.startswith("META-INF/versions/") and (not name.endswith("/") or name.endswith(".class/")):
            found = _VERSIONED.fullmatch(name)
            version = int(found[1]) if found else 0
            name = found[2] if found else name
            if not found or not _FIRST_VERSION <= version <= release or name.startswith("META-INF/"):
                ignored += name.endswith((".class", ".class/"))
                continue
            if name.endswith("/"):
                directories.append((version, name[:-1], entry))
                continue
        is_directory = name.endswith(".class/")
        if is_directory:
            name = name[:-1]
        # What is called so without the slash counts, wherever it stands.
        if versions.get(name, 0) > version or (is_directory and name in classes):
            continue
        if version:
            versions[name] = version
        if name.endswith(".class") and is_class(name):
            classes[name] = entry
        elif name and not name.endswith("/"):
            resources[name] = entry
    for version, name, entry in directories:
        if str(version) in known and versions.get(name, 0) < version and is_class(name):
            classes[name], versions[name] = entry, version
        else:
            ignored += 1
    return View(classes, resources, ignored)


def layout_of(names: Iterable[str], suffix: str, boot_classes: str) -> Layout:
    """Returns the layout of a container with these entries, whose file name ends with `suffix`.

    `boot_classes` is where its manifest says that a Spring Boot application has its classes, if it does.
    """
    war = ear = boot = False
    for name in names:
        boot = boot or name.startswith(("BOOT-INF/classes/", "BOOT-INF/lib/"))
        war = war or name.startswith(("WEB-INF/classes/", "WEB-INF/lib/"))
        ear = ear or name == "META-INF/application.xml"
    if boot:
        return Layout("boot", boot_classes or "BOOT-INF/classes/", launcher=True)
    if war or suffix == ".war":
        return Layout("war", "WEB-INF/classes/", launcher=bool(boot_classes))
    if ear or suffix == ".ear":
        return Layout("ear", None, launcher=False)
    return Layout("jar", "", launcher=False)


def nested_archives(names: Iterable[str], kind: str) -> list[tuple[str, bool]]:
    """Returns the archives inside a container of this kind: (entry, whether it is application code)."""
    nested = [name for name in names if name.lower().endswith(_NESTED)]
    if kind == "war":
        return [(name, False) for name in nested if re.fullmatch(r"WEB-INF/lib(?:-provided)?/[^/]+", name)]
    if kind == "boot":
        return [(name, False) for name in nested if re.match(r"(?:BOOT|WEB)-INF/", name)]
    if kind == "ear":
        return [(name, "/" not in name or name.lower().endswith(".war")) for name in nested]
    return [(name, False) for name in nested]
