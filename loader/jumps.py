"""Instructions after which control goes elsewhere: branches, switches, subroutines, returns, throws.

As in `loader.instructions`, each function returns where the next instruction is, or the complement of that
if control doesn't go there.
"""

from __future__ import annotations

from loader.classfile import MalformedClass
from loader.frame import Frame
from loader.opcodes import LENGTH, branch_target, near_target, next_instruction, switch_targets


def branch_on_one(frame: Frame, place: int) -> int:
    """Branches on what is on top, or goes on (`ifeq` … `ifle`, `ifnull`, `ifnonnull`)."""
    frame.stack.pop()
    frame.join(near_target(frame.code, place))
    return place + 3


def branch_on_two(frame: Frame, place: int) -> int:
    """Branches on a comparison, or goes on (`if_icmpeq` … `if_acmpne`)."""
    frame.stack.pop()
    frame.stack.pop()
    frame.join(near_target(frame.code, place))
    return place + 3


def go_to(frame: Frame, place: int) -> int:
    """Branches."""
    frame.join(branch_target(frame.code, place))
    return ~(place + LENGTH[frame.code[place]])


def switch(frame: Frame, place: int) -> int:
    """Branches to one of many places."""
    frame.stack.pop()
    targets, following = switch_targets(frame.code, place)
    for target in targets:
        frame.join(target)
    return ~following


def subroutine(frame: Frame, place: int) -> int:
    """Enters a subroutine; the return address is no value that matters."""
    frame.stack.append(0)
    frame.join(branch_target(frame.code, place))
    return ~(place + LENGTH[frame.code[place]])


def subroutine_return(frame: Frame, place: int) -> int:
    """Returns from a subroutine, to behind each of its calls."""
    targets = frame.returns.get(place)
    if not targets:
        raise MalformedClass("CLS-JSR", f"the ret at {place} is of no subroutine")
    for target in targets:
        frame.join(target)
    return ~next_instruction(frame.code, place)


def return_nothing(_frame: Frame, place: int) -> int:
    """Returns no reference."""
    return ~(place + 1)


def return_reference(frame: Frame, place: int) -> int:
    """Returns a reference."""
    value = frame.stack[-1]
    if value > 0:
        frame.assign.extend((place, value, frame.thrown_variable - 1))
    return ~(place + 1)


def throw(frame: Frame, place: int) -> int:
    """Throws."""
    value = frame.stack[-1]
    if value > 0:
        frame.assign.extend((place, value, frame.thrown or frame.thrown_here()))
    return ~(place + 1)
