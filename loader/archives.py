"""What a run reads: its inputs, their class path and the JDK, as archives in the order of resolution."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from cypher.schema import Diagnostic
from loader import jdk as jdks
from loader import manifest, maven
from loader.containers import APPLICATION, JDK, LIBRARY, Archive, Opener
from loader.jdk import Jdk
from loader.source import Changed, InputError, Limits, Refused

__all__ = ["Archive", "Changed", "InputError", "Inputs", "Limits", "NoInput", "Refused", "open_inputs"]

_DEFAULT_RELEASE = 17  # for multi-release jars if neither a release nor a JDK is given

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


class NoInput(InputError):
    """No application class is left to analyse. `diagnostics` say what became of the inputs."""


@dataclass(frozen=True)
class Inputs:
    """What a run reads. `archives` are in the order of resolution: of two classes of one name, the first counts.

    `diagnostics` are those of opening; each archive has those of reading. `main_class` is what the first
    manifest that names one starts, `agents` are the classes of agents that manifests name. `release` is the one that
    multi-release jars are read for.
    """

    archives: list[Archive]
    diagnostics: list[Diagnostic]
    main_class: str | None
    release: int
    jdk: Jdk | None = field(default=None)
    agents: tuple[str, ...] = ()


def open_inputs(
    inputs: Sequence[str],
    classpath: Sequence[str] = (),
    jdk: Path | None = None,
    release: int | None = None,
    limits: Limits | None = None,
) -> Inputs:
    """Returns the archives of `inputs`, `classpath` and the JDK at the home `jdk`.

    An input is a file, a directory or Maven coordinates; an entry of the class path may also list several, as
    for `java -cp`. Raises `NoInput` if no class is left to analyse, `JdkNotFound`, `MavenFailed`, and
    `Refused` if the JDK can't be read.
    """
    library = jdks.at(jdk) if jdk is not None else None
    if release is None:
        release = library.version if library else _DEFAULT_RELEASE
    report: list[Diagnostic] = []
    opener = Opener(limits or Limits(), release, report)
    archives: list[Archive] = []
    for file in library.files if library else ():
        archives += opener.open(file, str(file), JDK)
    archives += _walk(_places(inputs, classpath), opener, report)
    application = [each for each in archives if each.role == APPLICATION]
    if not any(each.class_names() for each in application):
        text = "no class to analyse is in " + (", ".join(inputs) or "the inputs: there are none")
        raise NoInput(Diagnostic("IN-NONE", "error", text, "soundness"), *report)
    manifests = [manifest.Manifest(each.manifest) for each in application]
    main = next((each.main_class for each in manifests if each.main_class), None)
    agents = tuple(name for each in manifests for name in each.agents)
    return Inputs(archives, report, main, release, library, agents)


class _Place(NamedTuple):
    path: str
    role: str


def _places(inputs: Sequence[str], classpath: Sequence[str]) -> list[_Place]:
    """Returns the files and directories that are given, in class path order."""
    applications: list[_Place] = []
    libraries: list[_Place] = []
    for each in inputs:
        if maven.is_coordinates(each):
            artifact = maven.resolve(each)
            applications.append(_Place(str(artifact.file), APPLICATION))
            libraries += [_Place(str(file), LIBRARY) for file in artifact.runtime]
        else:
            applications.append(_Place(each, APPLICATION))
    named = [_Place(path, LIBRARY) for each in classpath for path in _listed(each)]
    return applications + named + libraries


def _listed(entry: str) -> list[str]:
    """Returns the paths that an entry of the class path stands for: `a:b` lists two, `dir/*` the jars there."""
    paths = [entry] if os.path.lexists(entry) else [each for each in entry.split(os.pathsep) if each]
    found: list[str] = []
    for path in paths:
        directory, last = os.path.split(path)
        if last == "*":
            # The JVM leaves the order open.
            found += _jars(directory or ".")
        else:
            found.append(path)
    return found


def _jars(directory: str) -> list[str]:
    try:
        names = sorted(each.name for each in Path(directory).iterdir())
    except (OSError, ValueError):
        return []
    return [str(Path(directory, name)) for name in names if name.endswith((".jar", ".JAR"))]


def _walk(places: list[_Place], opener: Opener, report: list[Diagnostic]) -> Iterator[Archive]:
    """Yields the archives of `places`, each followed by those that its manifest's `Class-Path` names."""
    roles: dict[str, str] = {}
    for place in places:
        roles.setdefault(_real(place.path), place.role)
    roots = _roots(places)
    waiting = places[::-1]
    seen: set[str] = set()
    while waiting:
        place = waiting.pop()
        real = _real(place.path)
        if real in seen:
            continue
        seen.add(real)
        role = roles.get(real, place.role)
        try:
            archives = opener.open(place.path, place.path, role)
        except Refused as problem:
            # The JVM passes over an entry of the class path that is missing or malformed.
            severity = "error" if role == APPLICATION else "warning"
            report.append(replace(problem.diagnostic, severity=severity))
            continue
        yield from archives
        if archives and stat.S_ISREG(_mode(place.path)):
            waiting += reversed(list(_class_path(archives[0], place.path, roots, roles, report)))


def _roots(places: list[_Place]) -> list[str]:
    """Returns the directories that are given, and those in which the files lie that are given."""
    reals = (_real(place.path) for place in places)
    return sorted({real if stat.S_ISDIR(_mode(real)) else str(Path(real).parent) for real in reals})


def _class_path(
    archive: Archive, path: str, roots: list[str], roles: dict[str, str], report: list[Diagnostic]
) -> Iterator[_Place]:
    """Yields the places that the manifest of the archive at `path` names, if they lie where inputs do."""
    beside = Path(path).parent
    for token in manifest.Manifest(archive.manifest).get("Class-Path").split():
        scheme = _SCHEME.match(token)
        if scheme and scheme[1].lower() != "file":
            report.append(_not_followed(archive, token))
            continue
        relative = unquote(token[len(scheme[0]) :] if scheme else token)
        target = str(beside / re.sub("^//+", "/", relative))
        real = _real(target)
        if real in roles or any(os.path.commonpath((root, real)) == root for root in roots):
            if _mode(real):
                yield _Place(target, LIBRARY)
            else:
                text = f"names {token} on its class path, which does not exist"
                report.append(Diagnostic("ARC-CLASSPATH", "note", text, "none", archive.label))
        else:
            report.append(_not_followed(archive, token))


def _not_followed(archive: Archive, token: str) -> Diagnostic:
    text = f"names {token} on its class path, which is not among the inputs and not read"
    return Diagnostic("ARC-CLASSPATH", "warning", text, "soundness", archive.label)


def _mode(path: str) -> int:
    """Returns kind and permissions of the file at `path`, 0 if there is none."""
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return 0


def _real(path: str) -> str:
    """Returns the path without links; a name that no file can have stays as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path
