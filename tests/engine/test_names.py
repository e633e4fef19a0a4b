"""Which class a name is of, as `Class.forName` has it."""

from __future__ import annotations

import pytest

from engine.reflection.names import class_named
from tests.loader.reading import program_of
from tests.loader.units import Class


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("p.A", "p/A"),
        ("[Lp.A;", "[Lp/A;"),
        ("[[Lp.A;", "[[Lp/A;"),
        ("[I", "[I"),
        *((odd, "") for odd in ("p/A", "[Lp/A;", "p.B", "[Lp.B;", "[Lp.A", "[p.A;", "[V", "[II", "[", "", "int", "void")),
    ],
)  # fmt: skip
def test_names_of_classes_and_arrays(text: str, name: str) -> None:
    program = program_of(Class("p/A"))
    found = class_named(program, text)
    assert (program.name_of_type(found) if found >= 0 else "") == name
