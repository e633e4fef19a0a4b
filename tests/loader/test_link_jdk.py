"""The whole class library of a JDK, linked: every type, every method body."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cypher.schema import Invoke
from loader import cache
from loader.containers import Opener
from loader.jdk import JdkNotFound, find_jdk
from loader.link import LinkedProgram, link
from loader.source import Limits
from loader.translate import translate
from loader.unit import Unit

_BATCH = 2000


@pytest.fixture(scope="module")
def library() -> LinkedProgram:
    try:
        found = find_jdk()
    except JdkNotFound:
        pytest.skip("needs a JDK")
    root = Path(os.environ["XDG_CACHE_HOME"]) / "heliograph"
    opener = Opener(Limits(), found.version, [])
    units: list[tuple[Unit, str, str]] = []
    for file in found.files:
        for archive in opener.open(file, str(file), "jdk"):
            unit = cache.load(root, archive.digest)
            if unit is None:
                unit = translate(archive.classes(), archive.label)
                cache.store(root, archive.digest, unit)
            units.append((unit, archive.role, archive.label))
    return link(units)


@pytest.mark.slow
def test_every_reference_of_the_jdk_resolves(library: LinkedProgram) -> None:
    above = library.type_named("java/lang/Object")
    concrete = library.concrete_subtypes_of(above)
    _, methods = library.new_rows()
    assert len(concrete) > 10_000
    done, end, unresolved = 0, len(methods.declaring), 0
    while done < end:
        batch = np.arange(done, min(end, done + _BATCH), dtype=np.int32)
        found = library.facts_of(batch, batch * 0, 0)
        unresolved += int((found[Invoke].callee < 0).sum())
        done = int(batch[-1]) + 1
        _, more = library.new_rows()
        end += len(more.declaring)
    assert end > len(methods.declaring) >= len(concrete)
    assert unresolved == 0
    assert [each for each in library.diagnostics if each.severity != "note"] == []
