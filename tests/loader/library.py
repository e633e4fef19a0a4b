"""The class library of the machine's JDK as units, which are kept for the next test."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from loader import cache as units
from loader.containers import Opener
from loader.jdk import JdkNotFound, find_jdk
from loader.source import Limits
from loader.translate import translate
from loader.unit import Unit


@cache
def library() -> tuple[int, tuple[tuple[Unit, str, str], ...]]:
    """Returns the version of the JDK and the units of its library; skips the test where there is none."""
    try:
        found = find_jdk()
    except JdkNotFound as missing:
        pytest.skip(str(missing))
    root = Path(os.environ["XDG_CACHE_HOME"]) / "heliograph"
    opener = Opener(Limits(), found.version, [])
    listed: list[tuple[Unit, str, str]] = []
    for file in found.files:
        for archive in opener.open(file, str(file), "jdk"):
            unit = units.load(root, archive.digest)
            if unit is None:
                unit = translate(archive.classes(), archive.label)
                units.store(root, archive.digest, unit)
            listed.append((unit, archive.role, archive.label))
    return found.version, tuple(listed)
