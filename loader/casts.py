"""Casts that all ways from a reflective call lead to, so that they say what it makes (Livshits/Whaley/Lam 2005, 5.4).

The result is followed instruction by instruction to wherever it is moved. What may be going on at an instruction is
a state: where the result is, which is exact, as ways that keep it at different places stay apart. So a cast on
either side of a branch counts, and one of a variable that holds something else on the way at hand doesn't.

Like the paper, this takes it that the casts succeed (its assumption 4.3), unless a handler is there for when they
don't: that is a way without a cast.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from loader.classfile import Code
from loader.flow import handlers_at, successors
from loader.opcodes import (
    ALOAD,
    ASTORE,
    CHECKCAST,
    GOTO_W,
    IFNONNULL,
    IFNULL,
    IRETURN,
    JSR,
    JSR_W,
    LOOKUPSWITCH,
    RET,
    RETURN,
    SIPUSH,
    WIDE,
    branch_target,
    next_instruction,
)
from loader.operands import operands
from loader.symbols import Pool

# Where a value is: slots are counted from 0, places of the stack from the top, which is -1.
Places = frozenset[int]
_TOP = -1

# More work than this is left, in one method and for one call; ways beyond count as ways without casts.
_WORK, _WORK_OF_CALL = 100_000, 20_000
# A value in more places is lost sight of, and further types are not looked at.
_MOST_PLACES, _MOST_TYPES = 16, 8

_DUP, _SWAP, _DIVISIONS, _MONITOREXIT = 0x59, 0x5F, {0x6C, 0x6D, 0x70, 0x71}, 0xC3
# What is on top after `dup` … `swap`, by its place before, and how many places these instructions see.
_MOVES = {
    0x59: (1, (1, 1)), 0x5A: (2, (1, 2, 1)), 0x5B: (3, (1, 2, 3, 1)), 0x5C: (2, (1, 2, 1, 2)),
    0x5D: (3, (1, 2, 3, 1, 2)), 0x5E: (4, (1, 2, 3, 4, 1, 2)), 0x5F: (2, (2, 1)),
}  # fmt: skip
# Instructions that throw nothing. (`monitorexit` does where locks aren't nested, which JVMS 2.11.10 rules out; the
# handlers of compilers cover their own, as if they might run for ever.)
_QUIET = {
    *range(SIPUSH + 1), *range(0x15, 0x2E), *range(0x36, 0x4F), *range(0x57, LOOKUPSWITCH + 1), _MONITOREXIT, WIDE,
    IFNULL, IFNONNULL, GOTO_W, JSR_W,
} - _DIVISIONS  # fmt: skip


def result_casts(
    code: Code, pool: Pool, returns: dict[int, list[int]], calls: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Infers rows of `result_cast` (as ResultCast, with the ordinal of the call).

    `calls` has the places of the calls by their ordinals; `returns` is where each `ret` may go.
    """
    left = _WORK
    for ordinal, place in calls.items():
        ways = _Ways(code, pool, returns, next_instruction(code.instructions, place))
        left -= ways.explore(min(left, _WORK_OF_CALL))
        for type_ref in list(dict.fromkeys(ways.casts.values()))[:_MOST_TYPES]:
            if ways.all_cast(type_ref):
                yield ordinal, type_ref


class _Ways:
    """The ways from behind a call, as states that lead to states; the first has the result on top of the stack."""

    def __init__(self, code: Code, pool: Pool, returns: dict[int, list[int]], start: int) -> None:
        self._code, self._pool, self._returns = code, pool, returns
        first = start, frozenset((_TOP,))
        self._states = [first]
        self._number: dict[tuple[int, Places], int] = {first: 0}
        self._following: list[list[int]] = []
        self._open: set[int] = set()  # states from which the method goes on out of sight
        self.casts: dict[int, int] = {}  # the type to which a state casts the result
        self._refused: dict[int, list[int]] = {}  # where a state goes on if the cast fails

    # --- states

    def explore(self, limit: int) -> int:
        """Finds the states, the nearest first; returns how much work that was."""
        work = 0
        for number, (place, held) in enumerate(self._states):  # which grows meanwhile
            if work >= limit or len(held) > _MOST_PLACES:
                self._following.append([])
                self._open.add(number)
                continue
            self._following.append(self._expand(number, place, held))
            work += 1 + len(self._following[-1]) + len(self._code.handlers)
        return work

    def _expand(self, number: int, place: int, held: Places) -> list[int]:
        """Returns the states that follow one."""
        code = self._code.instructions
        opcode = code[place]
        if IRETURN <= opcode <= RETURN:
            self._open.add(number)
            return []
        caught: list[tuple[int, int]] = []
        if self._code.handlers and opcode not in _QUIET:
            caught = [*handlers_at(self._code.handlers, place)]
        kept = frozenset(each for each in held if each >= 0) if caught else held
        if opcode == CHECKCAST and _TOP in held:
            self.casts[number] = self._pool.type(code[place + 1] << 8 | code[place + 2])
            self._refused[number] = [
                self._state(target, kept) for target, type_index in caught if self._is_refusal(type_index)
            ]
        after = self._moved(place, held)
        following = [self._state(each, after) for each in self._next(place)]
        return following + [self._state(target, kept) for target, _ in caught]

    def _state(self, place: int, held: Places) -> int:
        number = self._number.setdefault((place, held), len(self._states))
        if number == len(self._states):
            self._states.append((place, held))
        return number

    def _is_refusal(self, type_index: int) -> bool:
        return bool(type_index) and self._pool.pool.class_name(type_index) == b"java/lang/ClassCastException"

    def _next(self, place: int) -> list[int]:
        """Returns where control goes from the instruction at `place`, unless it throws."""
        code = self._code.instructions
        opcode = code[place]
        if opcode == RET or (opcode == WIDE and code[place + 1] == RET):
            return self._returns[place]
        if opcode in {JSR, JSR_W}:
            return [branch_target(code, place)]
        return successors(code, place)

    def _moved(self, place: int, held: Places) -> Places:
        """Returns where the result is after the instruction at `place`."""
        if not held:
            return held
        code = self._code.instructions
        opcode = code[place]
        if _DUP <= opcode <= _SWAP:
            seen, order = _MOVES[opcode]
            copies = {-new for new, old in enumerate(order, 1) if -old in held}
            return _shifted(held, seen, len(order)) | copies
        slot = _slot(code, place, ALOAD, 0x2A)
        if slot >= 0:
            after = _shifted(held, 0, 1)
            return after | {_TOP} if slot in held else after
        slot = _slot(code, place, ASTORE, 0x4B)
        if slot >= 0:
            after = _shifted(held, 1, 0) - {slot}
            return after | {slot} if _TOP in held else after
        if opcode == CHECKCAST:
            return held
        return _shifted(held, *operands(code, place, self._pool))

    # --- conclusions

    def all_cast(self, type_ref: int) -> bool:
        """Returns whether each way reaches a cast to the type, or is left by an exception."""
        reached = {0: self._before(0, type_ref)}
        waiting = [0]
        while waiting:
            number = waiting.pop()
            if number in self._open:
                return False
            for each in reached[number]:
                if each not in reached:
                    reached[each] = self._before(each, type_ref)
                    waiting.append(each)
        # Nothing may go on for ever where no cast can come. (Some returns of subroutines are none that happen.)
        hopeful = set() if self._returns else self._hopeful(reached, type_ref)
        waits = {number: following for number, following in reached.items() if number not in hopeful}
        try:
            TopologicalSorter(waits).prepare()
        except CycleError:
            return False
        return True

    def _before(self, number: int, type_ref: int) -> list[int]:
        """Returns the states that follow one without a cast to the type."""
        return self._refused[number] if self.casts.get(number) == type_ref else self._following[number]

    def _hopeful(self, reached: dict[int, list[int]], type_ref: int) -> set[int]:
        """Returns the states from which a cast to the type may be reached."""
        preceding: dict[int, list[int]] = {number: [] for number in reached}
        for number, following in reached.items():
            for each in following:
                preceding[each].append(number)
        waiting = [number for number in reached if self.casts.get(number) == type_ref]
        found = set(waiting)
        while waiting:
            for each in preceding[waiting.pop()]:
                if each not in found:
                    found.add(each)
                    waiting.append(each)
        return found


def _shifted(held: Places, taken: int, put: int) -> Places:
    """Returns where the value is after the top `taken` places of the stack gave way to `put` others."""
    return frozenset(each if each >= 0 else each + taken - put for each in held if each >= 0 or each < -taken)


def _slot(code: bytes, place: int, opcode: int, short: int) -> int:
    """Returns the slot of an instruction that is `opcode`, or one of the four from `short` on, or wide; else -1."""
    found = code[place]
    if found == opcode:
        return code[place + 1]
    if short <= found < short + 4:
        return found - short
    if found == WIDE and code[place + 1] == opcode:
        return code[place + 2] << 8 | code[place + 3]
    return -1
