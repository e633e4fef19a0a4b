"""The machine's Java: the first one that is new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cypher.connection import Unavailable

# Where systems keep what they have installed, one folder each.
_HOMES = (Path("/usr/lib/jvm"), Path("/Library/Java/JavaVirtualMachines"), Path("/opt/homebrew/opt"))
_SECONDS = 30


def find_java(least: int, purpose: str) -> str:
    """Returns the `java` of JAVA_HOME, of the path, or the newest installed one, of version `least` at least.

    Raises `Unavailable` if none will do.
    """
    seen: dict[str, int] = {}
    for candidate in _named():
        seen[candidate] = version_of(candidate)
        if seen[candidate] >= least:
            return candidate
    installed = {each: version_of(each) for each in _installed()}
    newest = max(installed, key=lambda each: installed[each], default=None)
    if newest is not None and installed[newest] >= least:
        return newest
    found = ", ".join(f"{number} at {path}" for path, number in {**seen, **installed}.items() if number)
    raise Unavailable(
        f"{purpose} needs Java {least} or newer; {f'there is only {found}' if found else 'there is no Java'}: "
        "install one, or let JAVA_HOME name it"
    )


def _named() -> Iterator[str]:
    home = os.environ.get("JAVA_HOME")
    if home and (java := shutil.which("java", path=str(Path(home, "bin")))):
        yield java
    if java := shutil.which("java"):
        yield java


def _installed() -> list[str]:
    patterns = (
        "*/bin/java",
        "*/Contents/Home/bin/java",
        "openjdk*/libexec/openjdk.jdk/Contents/Home/bin/java",
    )
    found = (each for folder in _HOMES for pattern in patterns for each in folder.glob(pattern))
    return sorted({str(each.resolve()) for each in found})


def version_of(java: str) -> int:
    """Returns the feature version of a `java`, 0 if it doesn't say."""
    command = [java, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    # Java 8 calls itself 1.8.
    found = re.search(rb"java\.specification\.version = (?:1\.)?(\d{1,3})", done.stdout + done.stderr)
    return int(found[1]) if found else 0
