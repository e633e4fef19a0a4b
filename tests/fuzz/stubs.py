"""Readers with bugs, to be found by the runner."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.corpus import Mutant
from tests.fuzz.readers import MIB, Files, Reader
from tests.fuzz.worker import MEMORY

WRONG = 7  # the mutants whose index ends like this meet the bug
MODULUS = 50


def _is_hit(mutants: Sequence[Mutant]) -> bool:
    return any(each.number % MODULUS == WRONG for each in mutants)


def accept(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Has no bug."""
    return [each.number % 2 == 0 for each in mutants]


def lose_key(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Doesn't know some bytes."""
    known = {each: True for each in range(256) if each != 0xFE}
    return [each.number < 0 or known[each.data[0]] for each in mutants]


def hang(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Doesn't come back, not even for a signal that is caught."""
    while _is_hit(mutants):
        try:
            while True:
                pass
        except TimeoutError:
            pass
    return [True for _ in mutants]


def loop(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Takes too long."""
    while _is_hit(mutants):
        pass
    return [True for _ in mutants]


def fill(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Takes too much memory."""
    if _is_hit(mutants):
        assert b"\1" * (MEMORY + 100 * MIB)
    return [True for _ in mutants]


def crash(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Ends the process."""
    if _is_hit(mutants):
        raise KeyboardInterrupt
    return [True for _ in mutants]


def write(files: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Writes a file."""
    if _is_hit(mutants):
        (files.folder / "unpacked").write_bytes(mutants[0].data)
    return [True for _ in mutants]


def look(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Reads a file that isn't the mutant's."""
    if _is_hit(mutants):
        Path(__file__).read_bytes()
    return [True for _ in mutants]


def start(_: Files, mutants: Sequence[Mutant]) -> list[bool]:
    """Runs a program, and hides that it may not."""
    if _is_hit(mutants):
        with contextlib.suppress(Exception):
            subprocess.run(["true"], check=False)
    return [True for _ in mutants]


BUGS: dict[str, Reader] = {
    each.__name__: each for each in (accept, lose_key, hang, loop, fill, crash, write, look, start)
}
