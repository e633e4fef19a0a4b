"""The JDK under which the benchmarks run everything, and its version."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.workloads import Unavailable


class Jdk(NamedTuple):
    """A JDK: its folder, its feature version (17) and its full version (17.0.15)."""

    home: Path
    feature: int
    version: str

    def tool(self, name: str) -> str:
        """Returns the path of one of its programs."""
        return str(self.home / "bin" / name)


def find(home: Path | None = None) -> Jdk:
    """Returns the JDK in `home`, or the one that JAVA_HOME names, or that of the `java` on the path.

    Raises Unavailable if there is none.
    """
    if home is None and os.environ.get("JAVA_HOME"):
        home = Path(os.environ["JAVA_HOME"])
    if home is None:
        java = shutil.which("java")
        if java is None:
            raise Unavailable("No JDK: `java` is not on the path, and JAVA_HOME is not set.")
        home = Path(java).resolve().parents[1]
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        raise Unavailable(f"{home} is no JDK: it has no file `release`.") from None
    found = re.search(r'^JAVA_VERSION="((?:1\.)?(\d+)[^"]*)"', release, re.MULTILINE)
    if found is None:
        raise Unavailable(f"{home / 'release'} names no JAVA_VERSION.")
    return Jdk(home, int(found[2]), found[1])
