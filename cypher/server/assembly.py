"""A Neo4j server from its Maven artifacts: fetched by the machine's Maven, copied, and known by size and hash.

Neo4j comes from its makers under their licence (GPL 3); nothing of it is part of this project.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from cypher.connection import Unavailable
from cypher.server.files import private_folder, read_object, write_private
from cypher.server.progress import Tell

# The server with its endpoints, the database itself, the bulk import, and the last Browser in this repository.
ARTIFACTS = (
    "org.neo4j.app:neo4j-server", "org.neo4j:neo4j", "org.neo4j:neo4j-import-tool",
    "org.neo4j.client:neo4j-browser:5.24.0",
)  # fmt: skip
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_MANIFEST = "manifest.json"
_SECONDS = 3600
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DOWNLOADED = re.compile(r"Downloaded from \S+: \S+\.jar \(([\d.]+) ([kMG]?B)")
_UNITS = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
_WHAT = "fetching Neo4j"


class Jar(NamedTuple):
    """What a jar was when it was fetched."""

    size: int
    sha256: str


class Assembly:
    """The jars of one version, in a folder of their own."""

    def __init__(self, folder: Path, version: str) -> None:
        self.folder = folder
        self.version = version
        self._lib = folder / "lib"

    def class_path(self) -> list[Path]:
        """Returns the jars, in the order that Maven gave them."""
        return [self._lib / name for name in self._manifest()]

    def is_known(self) -> bool:
        """Returns whether the jars were fetched before."""
        return bool(self._manifest())

    def damaged(self, *, fully: bool) -> list[str]:
        """Returns the names of jars that are not what was fetched, by size or, fully, by their hash."""
        return [
            name
            for name, jar in self._manifest().items()
            if not _is_whole(self._lib / name, jar, fully=fully)
        ]

    def complete(self, tell: Tell, *, fully: bool = False) -> None:
        """Fetches what is missing or damaged. Raises `Unavailable`."""
        known = self._manifest()
        damaged = self.damaged(fully=fully)
        if known and not damaged:
            return
        for name in damaged[:3]:
            tell(f"{name} is missing or damaged and is fetched again", "")
        private_folder(self.folder.parent)
        private_folder(self.folder)
        private_folder(self._lib)
        files = self._resolve(tell)
        tell("copying the jars", "")
        found: dict[str, Jar] = {}
        for count, file in enumerate(files, 1):
            if file.name in found:
                raise Unavailable(f"Neo4j {self.version} has two jars called {file.name}")
            target, old = self._lib / file.name, known.get(file.name)
            if old is None or file.name in damaged:
                found[file.name] = _copy(file, target)
                if old is not None and found[file.name] != old:
                    target.unlink()
                    raise Unavailable(
                        f"{file} in Maven's repository is not the jar that was fetched first: remove it there, "
                        "and start again"
                    )
            else:
                found[file.name] = old
            tell("copying the jars", f"{count} of {len(files)}")
        write_private(self.folder / _MANIFEST, json.dumps({"jars": found}, indent=1) + "\n")

    def _manifest(self) -> dict[str, Jar]:
        """Returns what is known of each jar, nothing if they were never fetched."""
        document = read_object(self.folder / _MANIFEST)
        if document is None:
            return {}
        try:
            found = {
                str(name): Jar(int(size), str(digest)) for name, (size, digest) in document["jars"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Unavailable(f"{self.folder / _MANIFEST} is damaged; remove it") from None
        if any(Path(name).name != name for name in found):
            raise Unavailable(f"{self.folder / _MANIFEST} names files elsewhere; remove it")
        return found

    def _resolve(self, tell: Tell) -> list[Path]:
        """Returns the files in Maven's repository, after it has fetched them."""
        maven = shutil.which("mvn")
        if maven is None:
            raise Unavailable(
                f"Neo4j {self.version} is fetched with Maven, and there is no Maven (mvn) on the path: install it, "
                "or use a server of your own (--uri) or docker/compose.yaml"
            )
        tell(_WHAT, "")
        pom, listing, log = (self.folder / each for each in ("pom.xml", "class-path", "maven.log"))
        write_private(pom, _pom(self.version))
        command = [
            maven, "-B", "-C", "-Dstyle.color=never", "-f", str(pom), f"{_PLUGIN}:build-classpath",
            "-DincludeScope=runtime", f"-Dmdep.outputFile={listing}",
        ]  # fmt: skip
        output = _run(command, self.folder, tell)
        write_private(log, output.text)
        if output.code:
            reasons = [line[8:].strip() for line in output.text.splitlines() if line.startswith("[ERROR] ")]
            reason = next(filter(None, reasons), "it gave no reason")
            raise Unavailable(f"Maven could not fetch Neo4j {self.version}: {reason} (all of it: {log})")
        try:
            listed = listing.read_text("utf-8")
            listing.unlink()
        except OSError as problem:
            raise Unavailable(f"Maven left no list of jars: {problem.strerror} (see {log})") from None
        return [Path(each) for each in listed.strip().split(os.pathsep) if each]


class _Output(NamedTuple):
    code: int
    text: str


def _run(command: list[str], folder: Path, tell: Tell) -> _Output:
    """Runs Maven and tells how much it has downloaded."""
    count, megabytes = 0, 0.0
    lines = []
    try:
        with subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        ) as process:  # fmt: skip
            limit = threading.Timer(_SECONDS, process.kill)
            limit.daemon = True
            limit.start()
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    lines.append(_COLOUR.sub("", line))
                    if found := _DOWNLOADED.search(line):
                        count += 1
                        megabytes += float(found[1]) * _UNITS[found[2]]
                        tell(_WHAT, f"{count} jars, {megabytes:.0f} MB")
            except BaseException:
                process.kill()
                raise
            finally:
                limit.cancel()
    except OSError as problem:
        raise Unavailable(f"Maven can't be run: {problem.strerror}") from None
    return _Output(process.returncode, "".join(lines))


def _pom(version: str) -> str:
    """Returns a project that depends on the server. The version was matched, so it needs no escapes."""
    dependencies = []
    for artifact in ARTIFACTS:
        group, name, number = f"{artifact}:{version}".split(":")[:3]
        dependencies.append(
            f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{number}</version></dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n  <modelVersion>4.0.0</modelVersion>\n'
        "  <groupId>local</groupId><artifactId>neo4j</artifactId><version>1</version><packaging>pom</packaging>\n"
        "  <dependencies>\n" + "\n".join(dependencies) + "\n  </dependencies>\n</project>\n"
    )


def _is_whole(file: Path, jar: Jar, *, fully: bool) -> bool:
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size != jar.size:
            return False
        return not fully or _sha256(file) == jar.sha256
    except OSError:
        return False


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _copy(file: Path, target: Path) -> Jar:
    """Copies a jar out of Maven's repository, where it must be what the remote repository said it is."""
    handle, aside = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    strong, published = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    size = 0
    try:
        with os.fdopen(handle, "wb") as output, file.open("rb") as stream:
            while block := stream.read(1 << 20):
                size += output.write(block)
                strong.update(block)
                published.update(block)
        if (said := _published(file)) and said != published.hexdigest():
            raise Unavailable(f"{file} in Maven's repository is damaged: remove it there, and start again")
        Path(aside).replace(target)
    except OSError as problem:
        raise Unavailable(f"{file} can't be copied to {target.parent}: {problem.strerror}") from None
    finally:
        Path(aside).unlink(missing_ok=True)
    return Jar(size, strong.hexdigest())


def _published(file: Path) -> str:
    """Returns the checksum that Maven has kept beside a jar since its download, "" if it did not."""
    try:
        words = file.with_name(file.name + ".sha1").read_text("ascii", errors="replace").split()
    except OSError:
        return ""
    return words[0].lower() if words and re.fullmatch(r"[0-9a-fA-F]{40}", words[0]) else ""
