"""The whole class library of a JDK, linked: every type, every method body."""

from __future__ import annotations

import numpy as np
import pytest

from cypher.program import STRING_CONCAT
from cypher.schema import Invoke
from loader.link import LinkedProgram, link
from tests.loader.library import library

_BATCH = 2000


@pytest.fixture(scope="module", name="library")
def linked_library() -> LinkedProgram:
    return link(library()[1])


@pytest.mark.slow
def test_every_reference_of_the_jdk_resolves(library: LinkedProgram) -> None:
    above = library.type_named("java/lang/Object")
    concrete = library.concrete_subtypes_of(above)
    _, methods = library.new_rows()
    assert len(concrete) > 10_000
    joins = library.type_named(STRING_CONCAT)  # nothing is called where `+` joins strings
    done, end, unresolved = 0, len(methods.declaring), 0
    while done < end:
        batch = np.arange(done, min(end, done + _BATCH), dtype=np.int32)
        found = library.facts_of(batch, batch * 0, 0)
        invokes = found[Invoke]
        unresolved += int(((invokes.callee < 0) & (invokes.declared != joins)).sum())
        done = int(batch[-1]) + 1
        _, more = library.new_rows()
        end += len(more.declaring)
    assert end > len(methods.declaring) >= len(concrete)
    assert unresolved == 0
    assert [each for each in library.diagnostics if each.severity != "note"] == []
