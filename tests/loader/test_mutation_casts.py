"""Were the casts of results found otherwise, a written case would show it."""

from __future__ import annotations

import shutil

import pytest

from tests.loader import mutation_casts
from tests.mutants import sampled

# One mutant in so many is tried; `python -m tests.loader.mutation_casts` tries them all.
PART = 4

# Mutants that find the same casts.
EQUIVALENT = {
    # Without such calls or without casts there is nothing to find; what nobody keeps is cast nowhere.
    *(
        f"_add_result_casts: {each}"
        for each in (
            "if pool.results and len(frame.cast) > begin['cast']: → if True:",
            "pool.results and len(frame.cast) > begin['cast'] → pool.results or len(frame.cast) > begin['cast']",
            "pool.results and len(frame.cast) > begin['cast'] → len(frame.cast) > begin['cast']",
            "pool.results and len(frame.cast) > begin['cast'] → pool.results",
            "len(frame.cast) > begin['cast'] → len(frame.cast) >= begin['cast']",
            "ref in pool.results and result → ref in pool.results",
        )
    ),
    # Each row has five columns.
    "_add_result_casts: zip(*[iter(invokes)] * 5, strict=True) → zip(*[iter(invokes)] * 5, strict=False)",
    # A way that comes back to where it began has been there, and what follows is known.
    "_Ways.__init__: {first: 0} → {first: 1}",
    "_Ways.__init__: {first: 0} → {first: -1}",
    # Without handlers nothing is caught, and what is held nowhere moves nowhere.
    "_Ways._expand: self._code.handlers and opcode not in _QUIET → opcode not in _QUIET",
    "_Ways._expand: frozenset((each for each in held if each >= 0)) if caught else held → frozenset((each for each in held if each >= 0))",
    "_Ways._moved: if not held: → if False:",
    "_Ways._moved: without return held",
    # The number is that of a state, or the next one.
    "_Ways._state: number == len(self._states) → number >= len(self._states)",
    # No instruction that comes later is asked about here, nor has an operand like it.
    "_Ways._next: opcode == WIDE → opcode >= WIDE",
    "_Ways._next: code[place + 1] == RET → code[place + 1] >= RET",
    "_slot: found == WIDE → found >= WIDE",
    "operands: opcode == MULTIANEWARRAY → opcode >= MULTIANEWARRAY",
    "operands: opcode == INVOKEDYNAMIC → opcode >= INVOKEDYNAMIC",
    # Slots of the cases are told apart all the same.
    "_slot: place + 2 → place + 3",
    "_slot: code[place + 2] << 8 → code[place + 2] << 9",
    # Any negative number is none.
    "_slot: return -1 → return -2",
    # The pool has been asked before, when the body was translated.
    *(
        f"operands: pool.{known}.get(index) or pool.{asked}(index) → {other}"
        for known, asked in (("fields", "field"), ("static_calls", "static_call"), ("calls", "call"))
        for other in (
            f"pool.{known}.get(index) and pool.{asked}(index)",
            f"pool.{known}.get(index)",
            f"pool.{asked}(index)",
        )
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs javac on the path")
def test_changed_casts_are_noticed() -> None:
    surviving, number = mutation_casts.survivors(PART)
    assert number > 50
    assert set(surviving) == {each for each in EQUIVALENT if sampled(each, PART)}
