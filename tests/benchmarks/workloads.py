"""The programs that the benchmarks analyse, fetched by Maven coordinates into the user's cache folder."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

TABLE = Path(__file__).with_name("workloads.tsv")
COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
HELLO = """\
public class Hello {
    public static void main(String[] arguments) {
        System.out.println("Hello, world");
    }
}
"""
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>heliograph.benchmark</groupId>
  <artifactId>workload</artifactId>
  <version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
DEPENDENCY = (
    "    <dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
)


class Unavailable(Exception):
    """A program that cannot be had here; the text is a sentence for the user."""


class Program(NamedTuple):
    """A row of the table. No coordinates: the hello class. No main class: analysed as a library."""

    name: str
    coordinates: tuple[str, ...]
    main: str | None
    why: str


class Workload(NamedTuple):
    """A program on this machine: `inputs` are the application, `classpath` its libraries."""

    name: str
    inputs: tuple[Path, ...]
    classpath: tuple[Path, ...]
    main: str | None

    @property
    def library(self) -> bool:
        """Whether the program has no main class, so that its public methods are the entries."""
        return self.main is None

    def arguments(self) -> list[str]:
        """Returns what `heliograph analyze` takes to analyse it."""
        listed = [str(each) for each in self.inputs]
        for each in self.classpath:
            listed += ["--classpath", str(each)]
        return [*listed, "--library"] if self.main is None else [*listed, "--main", self.main]


def programs() -> dict[str, Program]:
    """Returns the rows of the table by name, in its order."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        listed = [
            Program(row["name"], tuple(row["coordinates"].split()), row["main"] or None, row["why"])
            for row in rows
        ]
    return {each.name: each for each in listed}


def cache_folder() -> Path:
    """Returns the folder that holds what was fetched; it may be deleted at any time."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "heliograph-bench"


def fetch(name: str) -> Workload:
    """Returns the program `name` of the table, fetched or compiled first unless the cache has it.

    Raises KeyError for a name that is not in the table, Unavailable if a tool or the network is missing.
    """
    program = programs()[name]
    if not program.coordinates:
        return Workload(name, (compile_class("Hello", HELLO),), (), program.main)
    jars = fetch_jars(program.coordinates)
    wanted = [jar_name(each) for each in program.coordinates]
    inputs = tuple(each for label in wanted for each in jars if each.name == label)
    if len(inputs) != len(wanted):
        raise Unavailable(f"Maven did not deliver {', '.join(wanted)}.")
    return Workload(name, inputs, tuple(each for each in jars if each not in inputs), program.main)


def jar_name(coordinates: str) -> str:
    """Returns how the jar of `group:artifact:version` is called in the cache.

    >>> jar_name("org.hsqldb:hsqldb:2.7.3")
    'org.hsqldb.hsqldb-2.7.3.jar'
    """
    group, artifact, version = coordinates.split(":")
    return f"{group}.{artifact}-{version}.jar"


def fetch_jars(coordinates: Sequence[str]) -> list[Path]:
    """Returns the jars of the artifacts and all they need at run time, sorted by name.

    Raises Unavailable without Maven, or when it fails.
    """
    if not coordinates or not all(re.fullmatch(r"[\w.-]+(:[\w.-]+){2}", each) for each in coordinates):
        raise ValueError(f"not group:artifact:version: {coordinates}")
    folder = cache_folder() / "maven" / _key(" ".join(coordinates), coordinates[0].split(":")[1])
    if not folder.is_dir():
        maven = _tool("mvn", "Apache Maven")
        with _staged(folder) as staging:
            _write_pom(staging, coordinates)
            command = [maven, "-B", "-q", "-f", str(staging / "pom.xml"), COPY_DEPENDENCIES]
            command += [
                "-DincludeScope=runtime",
                "-Dmdep.prependGroupId=true",
                f"-DoutputDirectory={staging}",
            ]
            _run(command)
    return sorted(folder.glob("*.jar"))


def compile_class(name: str, source: str) -> Path:
    """Returns a folder that holds the class file of the Java class `name`.

    Raises Unavailable without `javac`.
    """
    folder = cache_folder() / "classes" / _key(source, name)
    if not folder.is_dir():
        javac = _tool("javac", "a JDK")
        with _staged(folder) as staging, tempfile.TemporaryDirectory() as sources:
            file = Path(sources, f"{name}.java")
            file.write_text(source, encoding="utf-8")
            _run([javac, "-d", str(staging), str(file)])
    return folder


def _key(content: str, label: str) -> str:
    return f"{label}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def _tool(name: str, product: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"`{name}` is not on the path; {product} is needed to prepare the workloads.")
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise Unavailable(f"{Path(command[0]).name} failed:\n{tail}")


def _write_pom(folder: Path, coordinates: Sequence[str]) -> None:
    listed = (DEPENDENCY.format(*map(escape, each.split(":"))) for each in coordinates)
    (folder / "pom.xml").write_text(POM.format(dependencies="\n".join(listed)), encoding="utf-8")


@contextlib.contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """Yields a folder beside `folder` to be filled, which is moved there only if all went well."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder.parent))
    try:
        yield staging
        try:
            staging.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def main() -> int:
    """Fetches the programs named on the command line, or all, and prints where they are."""
    status = 0
    for name in sys.argv[1:] or programs():
        try:
            workload = fetch(name)
        except (KeyError, Unavailable) as failure:
            print(f"{name}: {failure}", file=sys.stderr)
            status = 1
            continue
        print(f"{name} ({workload.main or 'library'})")
        print("".join(f"  {each}\n" for each in workload.inputs), end="")
        print("".join(f"    {each}\n" for each in workload.classpath), end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
