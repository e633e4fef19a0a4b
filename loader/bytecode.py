"""Method bodies as constraints: one abstract interpretation of the operand stack and the local variables.

Each block is interpreted once, in the order of addresses as far as loops allow; `loader.frame` says how
values are represented and how blocks meet.
"""

from __future__ import annotations

from bisect import bisect_left

from loader.casts import result_casts
from loader.classfile import Code, MalformedClass
from loader.exact import exact_arguments
from loader.flow import Flow, flow_of, is_straight
from loader.frame import NOWHERE, Frame
from loader.instructions import INSTRUCTIONS, constant_element, store_constants
from loader.opcodes import (
    BIPUSH,
    CLEAR,
    CLEAR_PUSH,
    CONSTANT,
    CONSTANT_VALUE,
    DUP,
    EFFECT,
    HANDLED,
    LENGTH,
    LOAD,
    LOAD_SHORT,
    NOTHING,
    POP,
    POP_CLEAR,
    POP_FOUR,
    POP_THREE,
    POP_TWO,
    PUSH,
    PUSH_TWO,
    SIPUSH,
    STORE_SHORT,
    next_instruction,
)
from loader.symbols import Pool, Shape

_POPS = {POP_TWO: 2, POP_THREE: 3, POP_FOUR: 4}


def translate_body(frame: Frame, code: Code, pool: Pool, shape: Shape, static: bool) -> int:
    """Adds the constraints of `code` to the rows of `frame`; returns the number of variables plus one.

    Raises MalformedClass and takes the rows back if the body isn't as the JVM would have it.
    """
    begin = frame.begin_rows()
    try:
        _translate(frame, code, pool, shape, static)
        if frame.calls and (frame.arrays or pool.results):
            rows = dict(zip(frame.rows, begin, strict=True))
            _add_exact_arguments(frame, pool, rows)
            _add_result_casts(frame, code, pool, rows)
    except (MalformedClass, IndexError) as error:
        for listed, size in zip(frame.rows.values(), begin, strict=True):
            del listed[size:]
        if isinstance(error, MalformedClass):
            raise
        raise MalformedClass(
            "CLS-STACK", "the stack or the local variables end before an instruction"
        ) from None
    return frame.next_variable


def _add_exact_arguments(frame: Frame, pool: Pool, begin: dict[str, int]) -> None:
    """Adds what is known of the arrays that calls get, of a body whose rows begin at `begin`."""
    if frame.arrays:
        inner = frame.thrown_variable + 1
        for row in exact_arguments(frame.arrays, frame.rows, begin, pool.symbols.reflective, inner):
            frame.exact_argument.extend(row)


def _add_result_casts(frame: Frame, code: Code, pool: Pool, begin: dict[str, int]) -> None:
    """Adds to what the results of reflective calls are cast, of a body whose rows begin at `begin`."""
    if pool.results and len(frame.cast) > begin["cast"]:
        invokes = frame.invoke[begin["invoke"] :]
        calls = {
            ordinal: place
            for ordinal, (place, _, ref, result, _) in enumerate(zip(*[iter(invokes)] * 5, strict=True))
            if ref in pool.results and result
        }
        for ordinal, type_ref in result_casts(code, pool, frame.returns, calls):
            frame.result_cast.extend((ordinal, type_ref))


def _translate(frame: Frame, code: Code, pool: Pool, shape: Shape, static: bool) -> None:
    references = shape.references if static else shape.references_with_receiver
    slots = shape.slots if static else shape.slots + 1
    if slots > code.locals:
        raise MalformedClass("CLS-CODE", "the parameters take more slots than there are")
    entry = [0] * code.locals
    for position, depth in references:
        entry[slots + depth] = position + 1
    frame.begin(code.instructions, pool, entry, shape.positions if static else shape.positions + 1)
    if is_straight(code):
        if _run(frame, 0, len(code.instructions)) >= 0:
            raise MalformedClass("CLS-CODE", "control falls off the end")
        return
    flow = flow_of(code, [slots + depth for _, depth in references])
    frame.begin_flow(code, flow)
    _run_blocks(frame, flow, len(code.instructions))
    frame.finish()
    _check_unreached(frame, flow)


def _run_blocks(frame: Frame, flow: Flow, size: int) -> None:
    """Interprets the blocks that can be reached."""
    leaders = flow.leaders
    index = 0
    while index < len(leaders):
        leader = leaders[index]
        index += 1
        if leader in frame.done or leader not in frame.arrived:
            continue
        frame.enter(leader)
        while True:
            end = leaders[index] if index < len(leaders) else size
            stop = _run(frame, leader, end)
            if stop < 0:
                _check_boundary(frame.code, ~stop, end)
                break
            if stop != end:
                _check_boundary(frame.code, stop, end)
            if end == size:
                raise MalformedClass("CLS-CODE", "control falls off the end")
            if flow.arrivals[end] > 1:
                frame.join(end)
                break
            # Nothing else leads there.
            leader = end
            index += 1
            frame.done.add(leader)
            frame.at_block(leader)
        if frame.behind != NOWHERE:
            index = bisect_left(leaders, frame.behind)
            frame.behind = NOWHERE


def _check_unreached(frame: Frame, flow: Flow) -> None:
    """Raises MalformedClass if a branch leads into an instruction that control doesn't reach.

    Where it does reach, the interpretation has seen to it already.
    """
    reached, code = frame.done, frame.code
    if len(reached) == len(flow.leaders):
        return
    for leader, following in zip(flow.leaders, flow.leaders[1:], strict=False):
        if leader in reached:
            continue
        _check_boundary(code, leader, following)


def _check_boundary(code: bytes, place: int, end: int) -> None:
    """Raises MalformedClass if `end`, where a block begins, is within an instruction that follows `place`."""
    while place < end:
        place = next_instruction(code, place)
    if place > end:
        raise MalformedClass("CLS-CODE", f"a branch into the instruction before {place}")


def _run(frame: Frame, place: int, end: int) -> int:
    """Interprets instructions up to `end`; returns where that is, or what the last one returned.

    What only moves values on the stack is done here: a call for each of these would cost a third of the time.
    """
    code, stack, variables = frame.code, frame.stack, frame.variables
    effect, length, instructions = EFFECT, LENGTH, INSTRUCTIONS
    while place < end:
        opcode = code[place]
        kind = effect[opcode]
        if kind == HANDLED:
            place = instructions[opcode](frame, place)
            if place < 0:
                return place
            continue
        if kind <= LOAD:
            slot = opcode - 0x2A if kind == LOAD_SHORT else code[place + 1]
            value = variables[slot]
            if value < 0:
                value = variables[slot] = frame.read_promise(value)
            stack.append(value)
        elif kind == PUSH:
            stack.append(0)
        elif kind == CONSTANT:
            if opcode == SIPUSH:
                constant = code[place + 1] << 8 | code[place + 2]
                stack.append(-1 - constant if constant < 0x8000 else 0)
            elif opcode == BIPUSH:
                constant = code[place + 1]
                stack.append(-1 - constant if constant < 0x80 else 0)
            else:
                stack.append(CONSTANT_VALUE[opcode])
        elif kind == POP:
            stack.pop()
        elif kind == DUP:
            found = constant_element(code, place, end)
            if found is not None:
                place = store_constants(frame, found, end)
                continue
            stack.append(stack[-1])
        elif kind == POP_CLEAR:
            stack.pop()
            stack[-1] = 0
        elif kind == STORE_SHORT:
            frame.store_slot(opcode - 0x4B, stack.pop(), place + 1)
        elif kind == CLEAR:
            stack[-1] = 0
        elif kind == PUSH_TWO:
            stack.append(0)
            stack.append(0)
        elif kind == NOTHING:
            pass
        elif kind in _POPS:
            for _ in range(_POPS[kind]):
                stack.pop()
        elif kind == CLEAR_PUSH:
            stack[-1] = 0
            stack.append(0)
        else:  # CLEAR_TWO, or no instruction
            if opcode not in (0x2F, 0x31):
                instructions[opcode](frame, place)
            stack[-2] = stack[-1] = 0
        place += length[opcode]
    return place
