"""The control flow of a method body: where blocks begin, how many ways lead there, which slots merge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from loader.classfile import Code, Handler, MalformedClass
from loader.opcodes import (
    ASTORE,
    ATHROW,
    GOTO,
    GOTO_W,
    IFEQ,
    IFNONNULL,
    IFNULL,
    IRETURN,
    JSR,
    JSR_W,
    LENGTH,
    LOOKUPSWITCH,
    POP_ONE,
    RET,
    RETURN,
    TABLESWITCH,
    WIDE,
    branch_target,
    is_conditional,
    near_target,
    next_instruction,
    switch_targets,
)

# Ways into a block that can't be counted: those of exception handlers, and returns of subroutines.
MANY = 1 << 30
# Instructions that the search for the ends of subroutines may visit in one method.
_LIMIT = 2_000_000

_ASTORE_SHORT = range(0x4B, 0x4F)
_STORES = {ASTORE, *_ASTORE_SHORT}
_ENDS = {*range(IRETURN, RETURN + 1), ATHROW}  # after these, control never goes on
_CONTROL = {*range(IFEQ, RET + 1), TABLESWITCH, LOOKUPSWITCH, *_ENDS, IFNULL, IFNONNULL, GOTO_W, JSR_W, WIDE}
_BRANCHES = {*range(IFEQ, GOTO + 1), IFNULL, IFNONNULL}  # those whose target is two bytes


def _class_of(opcodes: Iterable[int]) -> bytes:
    """Returns the regular expression of a byte that is one of `opcodes`."""
    return b"[" + re.escape(bytes(sorted(opcodes))) + b"]"


def _any_of(opcodes: Iterable[int]) -> bytes:
    """Returns the regular expression of as many instructions with one of `opcodes` as there are."""
    of_length: dict[int, list[int]] = defaultdict(list)
    for opcode in opcodes:
        of_length[LENGTH[opcode]].append(opcode)
    return b"(?:%s)*+" % b"|".join(
        _class_of(listed) + b"." * (length - 1) for length, listed in sorted(of_length.items())
    )


_OTHERS = set(range(256)) - _CONTROL
# Instructions that `_scan` needn't look at.
_skip = re.compile(_any_of(_OTHERS - _STORES), re.DOTALL).match
# A body without any of these bytes, be they opcodes or operands, is one block. What ends it needs no look.
_BRANCHING = re.compile(_class_of(_CONTROL - _ENDS | _STORES)).search
# So is one where control goes on from the first instruction to the last.
_STRAIGHT = re.compile(_any_of(_OTHERS) + _class_of(_ENDS), re.DOTALL).fullmatch


class Flow(NamedTuple):
    """The blocks of a body.

    `leaders`, ascending, are where blocks begin. `arrivals` counts the ways into each, the fall from the
    block before and the entry of the method included. `merged` are the slots with several definitions.
    `returns` has where each `ret` may go, and is empty without subroutines.
    """

    leaders: list[int]
    arrivals: dict[int, int]
    merged: list[int]
    returns: dict[int, list[int]]


class _Scan(NamedTuple):
    """What one walk over all instructions finds; `definitions` counts by slot."""

    definitions: list[int]
    arrivals: dict[int, int]
    ends: set[int]  # places behind instructions that never go on behind themselves
    calls: dict[int, list[int]]  # from the entry of a subroutine to where its callers go on
    returns: list[int]  # places of `ret`


def is_straight(code: Code) -> bool:
    """Returns whether `code` is a single block, followed at most by what can't be reached."""
    instructions = code.instructions
    return not code.handlers and (_BRANCHING(instructions) is None or _STRAIGHT(instructions) is not None)


def flow_of(code: Code, parameters: list[int]) -> Flow:
    """Returns the blocks of `code`; `parameters` are the slots that hold references at the start."""
    instructions = code.instructions
    scan = _scan(instructions, code.locals, parameters)
    arrivals = scan.arrivals
    for handler in code.handlers:
        for place in (handler.start, handler.end, handler.target):
            arrivals.setdefault(place, 0)
    arrivals.setdefault(0, 0)
    arrivals.pop(len(instructions), None)
    ends = scan.ends
    for place in arrivals:
        if place not in ends:
            arrivals[place] += 1  # from the block before (or the caller), unless that one never goes on
    for handler in code.handlers:
        arrivals[handler.target] = MANY
    for places in scan.calls.values():
        for place in places:
            arrivals[place] = MANY
    # A subroutine mixes the states of its callers, some of which never were. Then a slot's only definition
    # need not come before its uses, and the slot is merged like one with several.
    most = 0 if scan.calls else 1
    merged = [slot for slot, count in enumerate(scan.definitions) if count > most]
    returns = subroutine_returns(code, scan.calls, scan.returns) if scan.calls else {}
    return Flow(sorted(arrivals), arrivals, merged, returns)


def _scan(code: bytes, slots: int, parameters: list[int]) -> _Scan:
    """Walks over all instructions, reachable or not."""
    definitions = [0] * slots
    for slot in parameters:
        definitions[slot] = 1
    arrivals: dict[int, int] = {}
    ends: set[int] = set()
    calls: dict[int, list[int]] = defaultdict(list)
    returns: list[int] = []
    place, end = 0, len(code)
    while place < end:
        place = _skip(code, place).end()  # type: ignore[union-attr]  # it matches no instruction, too
        if place == end:
            break
        opcode = code[place]
        if opcode in _BRANCHES:
            target = near_target(code, place)
            if not 0 <= target < end:
                raise _leaving(place)
            arrivals[target] = arrivals.get(target, 0) + 1
            place += 3
            if opcode == GOTO:
                ends.add(place)
        elif opcode in _ENDS:
            place += 1
            ends.add(place)
        elif 0x4B <= opcode <= 0x4E:
            definitions[opcode - 0x4B] += 1
            place += 1
        elif opcode == ASTORE:
            definitions[code[place + 1]] += 1
            place += 2
        elif opcode in _CONTROL:
            following = next_instruction(code, place)
            if opcode in {WIDE, RET}:
                if code[place + 1] == ASTORE and opcode == WIDE:
                    definitions[_slot(code, place)] += 1
                elif opcode == RET or code[place + 1] == RET:
                    returns.append(place)
                    ends.add(following)
            else:
                targets = _targets(code, place)
                for target in targets:
                    arrivals[target] = arrivals.get(target, 0) + 1
                if opcode in {JSR, JSR_W}:
                    calls[targets[0]].append(following)
                    arrivals[following] = MANY
                else:
                    ends.add(following)
            place = following
        else:
            raise MalformedClass("CLS-CODE", "the last instruction is cut off")
    if place != end:
        raise MalformedClass("CLS-CODE", "the last instruction is cut off")
    return _Scan(definitions, arrivals, ends, calls, returns)


def _targets(code: bytes, place: int) -> list[int]:
    """Returns where the branch or switch at `place` may go, other than on."""
    if code[place] in {TABLESWITCH, LOOKUPSWITCH}:
        targets = switch_targets(code, place)[0]
    else:
        targets = [branch_target(code, place)]
    if targets[0] < 0 or targets[-1] >= len(code):
        raise _leaving(place)
    return targets


def _leaving(place: int) -> MalformedClass:
    return MalformedClass("CLS-CODE", f"the branch at {place} leaves the code")


def subroutine_returns(code: Code, calls: dict[int, list[int]], returns: list[int]) -> dict[int, list[int]]:
    """Returns where each `ret` may go: behind the calls of the subroutines that it ends.

    A `ret` ends a subroutine that stores its return address in the same slot and from which it is reached.
    """
    found: dict[int, set[int]] = {place: set() for place in returns}
    left = _LIMIT
    for entry, callers in calls.items():
        slot = _address_slot(code.instructions, entry)
        if slot < 0:
            continue
        visited = _reached(code, entry, left)
        left -= len(visited)
        for place in returns:
            if place in visited and _slot(code.instructions, place) == slot:
                found[place].update(callers)
    return {place: sorted(places) for place, places in found.items()}


def _slot(code: bytes, place: int) -> int:
    """Returns the slot of the instruction at `place`, which may be wide."""
    if code[place] == WIDE:
        return code[place + 2] << 8 | code[place + 3]
    return code[place + 1]


def _address_slot(code: bytes, entry: int) -> int:
    """Returns where the subroutine at `entry` keeps its return address, -1 if it drops it."""
    opcode = code[entry]
    if opcode in _ASTORE_SHORT:
        return opcode - 0x4B
    if opcode == ASTORE or (opcode == WIDE and code[entry + 1] == ASTORE):
        return _slot(code, entry)
    if opcode == POP_ONE:
        return -1
    raise MalformedClass(
        "CLS-JSR", f"the subroutine at {entry} doesn't begin with a store of its return address"
    )


def _reached(code: Code, entry: int, limit: int) -> set[int]:
    """Returns the instructions that may run from `entry` on until a `ret`."""
    instructions = code.instructions
    visited: set[int] = set()
    waiting = [entry]
    while waiting:
        place = waiting.pop()
        if place in visited or place >= len(instructions):
            continue
        visited.add(place)
        if len(visited) > limit:
            raise MalformedClass("CLS-LIMIT", "too many subroutines")
        waiting.extend(successors(instructions, place))
        waiting.extend(handler.target for handler in code.handlers if handler.start <= place < handler.end)
    return visited


def successors(code: bytes, place: int) -> list[int]:
    """Returns where control may go from the instruction at `place`; over a subroutine as well as into it."""
    opcode = code[place]
    if IRETURN <= opcode <= RETURN or opcode in {ATHROW, RET} or (opcode == WIDE and code[place + 1] == RET):
        return []
    following = next_instruction(code, place)
    if opcode in {TABLESWITCH, LOOKUPSWITCH, GOTO, GOTO_W}:
        return _targets(code, place)
    if is_conditional(opcode) or opcode in {JSR, JSR_W}:
        return [*_targets(code, place), following]
    return [following]


def handlers_at(handlers: list[Handler], place: int) -> tuple[tuple[int, int], ...]:
    """Returns (target, type) of the handlers that cover the instruction at `place`, each once, in order."""
    return tuple(
        dict.fromkeys((each.target, each.type) for each in handlers if each.start <= place < each.end)
    )
