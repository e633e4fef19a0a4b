"""What the paper says of its six programs: Livshits, Whaley, Lam. Reflection Analysis for Java (2005), §6.

`livshits.tsv` has figures 19 (calls of `Class.forName`), 21 (specifications), 22 (sizes) and 23 (seconds) as they are
printed in the technical report of 29 October 2005. An empty cell is empty there, too.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Published(NamedTuple):
    """What is printed about a program in a mode."""

    program: str
    mode: str
    calls: int | None
    fully: int | None
    partially: int | None
    unresolved: int | None
    classes: int | None
    methods: int | None
    solver_seconds: int | None
    total_seconds: int | None
    specifications: int | None
    sites: int | None
    library_sites: int | None
    application_sites: int | None


@cache
def published() -> tuple[Published, ...]:
    """Returns the table, in the paper's order."""
    text = files("cli.report").joinpath("livshits.tsv").read_text("utf-8")
    _, *rows = csv.reader(text.splitlines(), delimiter="\t")
    return tuple(
        Published(program, mode, *(int(each) if each else None for each in numbers))
        for program, mode, *numbers in rows
    )


def benchmark_of(program: str) -> str | None:
    """Returns which of the paper's programs is meant by a name.

    >>> benchmark_of("jfreechart-1.0.19"), benchmark_of("jEdit"), benchmark_of("jeditor")
    ('jfreechart', 'jedit', None)
    """
    names = {each.program for each in published()}
    found = re.match("[a-z]+", program.lower())
    return found[0] if found and found[0] in names else None
