"""Resolves Maven coordinates with the machine's Maven, which knows its repositories, mirrors and proxies."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from cypher.schema import Diagnostic
from loader.source import InputError

_COORDINATES = re.compile(r"[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+){2,4}")
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_SECONDS = 900
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>inputs</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
    <type>{type}</type>{classifier}
  </dependency></dependencies>
</project>
"""


class MavenFailed(InputError):
    """Coordinates could not be resolved; the text says what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(Diagnostic("IN-MAVEN", "error", text, "soundness"))


class Coordinates(NamedTuple):
    """What names an artifact, in Maven's order `group:artifact[:type[:classifier]]:version`."""

    group: str
    artifact: str
    type: str
    classifier: str
    version: str


class Artifact(NamedTuple):
    """A downloaded artifact and what it needs at run time, in class path order."""

    file: Path
    runtime: tuple[Path, ...]


def is_coordinates(text: str) -> bool:
    r"""Returns whether `text` names an artifact and no existing file.

    >>> [is_coordinates(each) for each in ("org.hsqldb:hsqldb:2.7.3", "a.jar", "C:\\a.jar", "/a:/b:/c")]
    [True, False, False, False]
    """
    return _COORDINATES.fullmatch(text) is not None and not os.path.lexists(text)


def parse(text: str) -> Coordinates:
    """Returns the parts of coordinates.

    >>> parse("g:a:war:1").type
    'war'
    """
    parts = text.split(":")
    group, artifact, version = parts[0], parts[1], parts[-1]
    type_ = parts[2] if len(parts) > 3 else "jar"
    return Coordinates(group, artifact, type_, parts[3] if len(parts) > 4 else "", version)


def resolve(text: str) -> Artifact:
    """Returns the artifact that `text` names, with its run-time dependencies. Raises `MavenFailed`."""
    command = shutil.which("mvn")
    if command is None:
        raise MavenFailed(
            f"{text} are Maven coordinates, and there is no Maven (mvn) on the path to resolve them: "
            "install Maven, or download the jars and name them as files"
        )
    coordinates = parse(text)
    with tempfile.TemporaryDirectory(prefix="heliograph-") as directory:
        pom, listing = Path(directory, "pom.xml"), Path(directory, "class-path")
        pom.write_text(_pom(coordinates), "utf-8")
        if coordinates.type == "jar":
            _run(
                command,
                pom,
                "build-classpath",
                text,
                f"-Dmdep.outputFile={listing}",
                "-DincludeScope=runtime",
            )
            return _from_class_path(listing.read_text("utf-8"), text)
        # A war brings its libraries with it, and is no part of a class path.
        options = ("-DexcludeTransitive=true", "-DoutputAbsoluteArtifactFilename=true")
        _run(command, pom, "list", text, f"-DoutputFile={listing}", *options)
        return _from_listing(listing.read_text("utf-8"), coordinates, text)


def _pom(coordinates: Coordinates) -> str:
    """Returns a project that depends on the artifact. The parts were matched, so they need no escapes."""
    classifier = f"<classifier>{coordinates.classifier}</classifier>" if coordinates.classifier else ""
    return _POM.format_map(coordinates._asdict() | {"classifier": classifier})


def _run(command: str, pom: Path, goal: str, text: str, *options: str) -> None:
    """Runs a goal of the dependency plugin. Raises `MavenFailed` with Maven's own reason."""
    line = [command, "-q", "-B", "-f", str(pom), f"{_PLUGIN}:{goal}", *options]
    try:
        done = subprocess.run(
            line, cwd=pom.parent, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise MavenFailed(f"Maven could not resolve {text}: {problem}") from None
    if done.returncode:
        # Even without a terminal Maven resets colours.
        output = _COLOUR.sub("", (done.stdout + done.stderr).decode("utf-8", "replace"))
        reasons = [line[8:].strip() for line in output.splitlines() if line.startswith("[ERROR] ")]
        reason = next(filter(None, reasons), output.strip()[:500] or "it gave no reason")
        raise MavenFailed(f"Maven could not resolve {text}: {reason}")


def _from_class_path(listed: str, text: str) -> Artifact:
    """Returns the artifact that `text` names, which comes first, and the rest of the class path."""
    files = [Path(each) for each in listed.strip().split(os.pathsep) if each]
    if not files:
        raise MavenFailed(f"Maven found no jar for {text}: it may be a project without code of its own")
    return Artifact(files[0], tuple(files[1:]))


def _from_listing(listed: str, coordinates: Coordinates, text: str) -> Artifact:
    """Returns the artifact from lines `group:artifact:type[:classifier]:version:scope:path`."""
    wanted = f"{coordinates.group}:{coordinates.artifact}:{coordinates.type}:"
    for line in listed.splitlines():
        found = re.search(r":(?:compile|runtime):(.+?)(?: -- module .*)?$", line.strip())
        if found and line.strip().startswith(wanted):
            return Artifact(Path(found[1]), ())
    raise MavenFailed(f"Maven found no {coordinates.type} for {text}")
