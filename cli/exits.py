"""How a command ends: the exit codes, and the sentence that goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cypher.schema import Diagnostic


class Exit(IntEnum):
    """Exit codes of all commands."""

    DONE = 0
    USAGE = 2
    NO_INPUT = 3
    STRICT = 4
    INCOMPLETE = 5
    UNAVAILABLE = 6
    REFUSED = 7
    BUSY = 8
    BUG = 70
    INTERRUPTED = 130


class Failure(Exception):
    """A command can't do what it was asked to: `str` is the sentence for the user."""

    def __init__(self, code: Exit, text: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.diagnostics = tuple(diagnostics)


def usage(text: str) -> Failure:
    """Returns the failure of a command line that can't be followed."""
    return Failure(Exit.USAGE, text)
