"""What each instruction does that is more than pushing or popping: one function each, and a table of them.

A function takes the frame and where the instruction is, and returns where the next one is; if control doesn't
go there, it returns the complement of that (which is negative).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loader.classfile import MalformedClass
from loader.frame import Frame
from loader.jumps import (
    branch_on_one,
    branch_on_two,
    go_to,
    return_nothing,
    return_reference,
    subroutine,
    subroutine_return,
    switch,
    throw,
)
from loader.opcodes import (
    AALOAD,
    AASTORE,
    ALOAD,
    ANEWARRAY,
    ARETURN,
    ASTORE,
    ATHROW,
    CHECKCAST,
    EFFECT,
    GETFIELD,
    GETSTATIC,
    GOTO,
    GOTO_W,
    ICONST,
    IF_ACMPNE,
    IF_ICMPEQ,
    IFEQ,
    IFNONNULL,
    IFNULL,
    IINC,
    INVOKEDYNAMIC,
    INVOKEINTERFACE,
    INVOKESPECIAL,
    INVOKESTATIC,
    INVOKEVIRTUAL,
    IRETURN,
    JSR,
    JSR_W,
    LDC,
    LOOKUPSWITCH,
    MULTIANEWARRAY,
    NEW,
    NEWARRAY,
    POP,
    POP_TWO,
    PUSH,
    PUSH_TWO,
    PUTFIELD,
    PUTSTATIC,
    RET,
    RETURN,
    TABLESWITCH,
    WIDE,
)
from loader.symbols import REFERENCE, TWO
from loader.unit import DYNAMIC, STRING

Instruction = Callable[[Frame, int], int]

# Longer arrays are tables, not the arguments of a call.
_LONGEST_ARGUMENT = 255
# A constant that is stored to an element with a known index: `dup`, `iconst` (`bipush`, `sipush`), `ldc`, `aastore`.
constant_element = re.compile(
    rb"\x59([\x03-\x08]|\x10[\x00-\x7f]|\x11[\x00-\x7f].)(?:\x12.|\x13..)\x53", re.DOTALL
).match
_PRIMITIVES = {4: b"Z", 5: b"C", 6: b"F", 7: b"D", 8: b"B", 9: b"S", 10: b"I", 11: b"J"}


def _underflow(place: int) -> MalformedClass:
    return MalformedClass("CLS-STACK", f"the instruction at {place} pops more than the stack holds")


def _no_instruction(frame: Frame, place: int) -> MalformedClass:
    return MalformedClass("CLS-CODE", f"there is no instruction {frame.code[place]:#x}, as at {place}")


def _check(frame: Frame, count: int, place: int) -> None:
    """Raises MalformedClass if the stack holds fewer than `count` values."""
    if len(frame.stack) < count:
        raise _underflow(place)


def _index(code: bytes, place: int) -> int:
    return code[place + 1] << 8 | code[place + 2]


# --- constants, slots


def load_constant(frame: Frame, place: int) -> int:
    """Pushes a constant of the pool (`ldc`, `ldc_w`)."""
    code = frame.code
    if code[place] == LDC:
        frame.stack.append(_constant(frame, place, code[place + 1]))
        return place + 2
    frame.stack.append(_constant(frame, place, code[place + 1] << 8 | code[place + 2]))
    return place + 3


def _constant(frame: Frame, place: int, index: int) -> int:
    """Returns a variable that holds a constant of the pool, 0 if it is no reference."""
    # Most are strings, and most strings are used once, so that these aren't remembered.
    kind, ref, value = STRING, frame.pool.string(index), REFERENCE
    if ref < 0:
        kind, ref, value = frame.pool.constant(index)
    if kind == DYNAMIC:
        return _dynamic_constant(frame, place, index, value == REFERENCE)
    if value != REFERENCE:
        return 0
    target = frame.next_variable
    frame.next_variable = target + 1
    frame.constant.extend((place, kind, ref, target))
    return target


def _dynamic_constant(frame: Frame, place: int, index: int, is_reference: bool) -> int:
    """Returns a variable that holds what a bootstrap method computes, 0 if that is no reference."""
    bootstrap, signature = frame.pool.dynamic_constant(index)
    frame.dynamic_calls += 1
    target = 0
    if is_reference:
        target = frame.next_variable
        frame.next_variable = target + 1
    frame.dynamic.extend((place, bootstrap, signature, target, frame.thrown or frame.thrown_here()))
    return target


def load_wide_constant(frame: Frame, place: int) -> int:
    """Pushes a long or double of the pool (`ldc2_w`)."""
    index = _index(frame.code, place)
    kind, _, value = frame.pool.constant(index)
    if kind == DYNAMIC:
        _dynamic_constant(frame, place, index, is_reference=False)
    if value != TWO:
        raise MalformedClass("CLS-CP", f"the constant at {place} is no long or double")
    frame.stack.extend((0, 0))
    return place + 3


def store_reference(frame: Frame, place: int) -> int:
    """Pops into a slot (`astore`)."""
    following = place + 2
    frame.store_slot(frame.code[place + 1], frame.stack.pop(), following)
    return following


def wide(frame: Frame, place: int) -> int:
    """Does what the widened instruction does, to a slot of two bytes."""
    code = frame.code
    opcode = code[place + 1]
    slot = code[place + 2] << 8 | code[place + 3]
    if opcode == IINC:
        return place + 6
    if opcode == RET:
        return subroutine_return(frame, place)
    if opcode == ALOAD:
        value = frame.variables[slot]
        if value < 0:
            value = frame.variables[slot] = frame.read_promise(value)
        frame.stack.append(value)
    elif opcode == ASTORE:
        frame.store_slot(slot, frame.stack.pop(), place + 4)
    elif not (0x15 <= opcode <= 0x18 or 0x36 <= opcode <= 0x39):
        raise MalformedClass("CLS-CODE", f"the instruction at {place} can't be wide")
    elif EFFECT[opcode] == PUSH:
        frame.stack.append(0)
    elif EFFECT[opcode] == PUSH_TWO:
        frame.stack.extend((0, 0))
    elif EFFECT[opcode] == POP:
        frame.stack.pop()
    elif EFFECT[opcode] == POP_TWO:
        _check(frame, 2, place)
        del frame.stack[-2:]
    return place + 4


def shuffle(frame: Frame, place: int) -> int:
    """Duplicates or swaps what is on top (`dup_x1` … `swap`)."""
    opcode = frame.code[place]
    stack = frame.stack
    _check(frame, (2, 3, 2, 3, 4, 2)[opcode - 0x5A], place)
    if opcode == 0x5F:
        stack[-1], stack[-2] = stack[-2], stack[-1]
    else:
        # dup, dup_x1 and dup_x2 copy one place; dup2, dup2_x1 and dup2_x2 two
        size, below = ((1, 2), (1, 3), (2, 2), (2, 3), (2, 4))[opcode - 0x5A]
        stack[-below:-below] = stack[-size:]
    return place + 1


# --- objects, fields, arrays


def new(frame: Frame, place: int) -> int:
    """Makes an object."""
    target = frame.next_variable
    frame.next_variable = target + 1
    frame.new.extend((place, frame.pool.type(_index(frame.code, place)), target))
    frame.stack.append(target)
    return place + 3


def new_primitive_array(frame: Frame, place: int) -> int:
    """Makes an array of numbers (`newarray`)."""
    element = _PRIMITIVES.get(frame.code[place + 1])
    if element is None:
        raise MalformedClass("CLS-CODE", f"the array at {place} has elements of no type")
    target = frame.variable()
    frame.new.extend((place, frame.pool.symbols.type(b"[" + element), target))
    frame.stack[-1] = target
    return place + 2


def new_array(frame: Frame, place: int) -> int:
    """Makes an array of references (`anewarray`)."""
    target = frame.next_variable
    frame.next_variable = target + 1
    frame.new.extend((place, frame.pool.array(_index(frame.code, place)), target))
    length = -1 - frame.stack[-1]
    if 0 <= length <= _LONGEST_ARGUMENT:
        frame.arrays[target] = length
    frame.stack[-1] = target
    return place + 3


def new_arrays(frame: Frame, place: int) -> int:
    """Makes an array of arrays and the inner ones (`multianewarray`)."""
    name = frame.pool.pool.class_name(_index(frame.code, place))
    dimensions = frame.code[place + 3]
    if not dimensions or name[:dimensions] != b"[" * dimensions:
        raise MalformedClass("CLS-CODE", f"the array at {place} has {dimensions} dimensions")
    _check(frame, dimensions, place)
    del frame.stack[-dimensions:]
    outer = 0
    for dimension in range(dimensions):
        inner = frame.variable()
        frame.new.extend((place, frame.pool.symbols.type(name[dimension:]), inner))
        if outer:
            frame.array_store.extend((place, inner, -1, outer))
        else:
            frame.stack.append(inner)
        outer = inner
    return place + 4


def get_field(frame: Frame, place: int) -> int:
    """Loads a field of an object."""
    code = frame.code
    index = code[place + 1] << 8 | code[place + 2]
    ref, kind = frame.pool.fields.get(index) or frame.pool.field(index)
    stack = frame.stack
    if kind != REFERENCE:
        stack[-1] = 0
        if kind == TWO:
            stack.append(0)
    elif stack[-1] > 0:
        target = frame.next_variable
        frame.next_variable = target + 1
        frame.load.extend((place, stack[-1], ref, target))
        stack[-1] = target
    else:  # of null
        stack[-1] = 0
    return place + 3


def put_field(frame: Frame, place: int) -> int:
    """Stores to a field of an object."""
    code = frame.code
    index = code[place + 1] << 8 | code[place + 2]
    ref, kind = frame.pool.fields.get(index) or frame.pool.field(index)
    stack = frame.stack
    value = stack.pop()
    if kind == TWO:
        stack.pop()
    base = stack.pop()
    if kind == REFERENCE and value > 0 and base > 0:
        frame.store.extend((place, value, ref, base))
    return place + 3


def get_static(frame: Frame, place: int) -> int:
    """Loads a static field."""
    index = _index(frame.code, place)
    ref, kind = frame.pool.fields.get(index) or frame.pool.field(index)
    if kind == REFERENCE:
        target = frame.variable()
        frame.static_load.extend((place, ref, target))
        frame.stack.append(target)
    else:
        frame.static_load.extend((place, ref, 0))
        frame.stack.append(0)
        if kind == TWO:
            frame.stack.append(0)
    return place + 3


def put_static(frame: Frame, place: int) -> int:
    """Stores to a static field."""
    index = _index(frame.code, place)
    ref, kind = frame.pool.fields.get(index) or frame.pool.field(index)
    value = frame.stack.pop()
    if kind == TWO:
        frame.stack.pop()
    frame.static_store.extend((place, value if kind == REFERENCE and value > 0 else 0, ref))
    return place + 3


def load_element(frame: Frame, place: int) -> int:
    """Loads an element of an array (`aaload`)."""
    stack = frame.stack
    stack.pop()
    base = stack[-1]
    if base > 0:
        target = frame.variable()
        frame.array_load.extend((place, base, target))
        stack[-1] = target
    else:
        stack[-1] = 0
    return place + 1


def store_element(frame: Frame, place: int) -> int:
    """Stores to an element of an array (`aastore`)."""
    pop = frame.stack.pop
    value = pop()
    index = pop()
    base = pop()
    if value > 0 and base > 0:
        frame.array_store.extend((place, value, -1 - index if index < 0 else -1, base))
    return place + 1


def store_constants(frame: Frame, found: re.Match[bytes] | None, end: int) -> int:
    """Stores constants to elements of the array on top, beginning with the one that was `found`.

    Returns where the next instruction is. Half of the instructions of a class library are in tables that are
    filled so.
    """
    code, base = frame.code, frame.stack[-1]
    following = 0
    while found is not None:
        place, following = found.span()
        load = found.end(1)
        if load == place + 2:
            index = code[place + 1] - ICONST
        elif load == place + 3:
            index = code[place + 2]
        else:
            index = code[place + 2] << 8 | code[place + 3]
        constant = code[load + 1] if code[load] == LDC else code[load + 1] << 8 | code[load + 2]
        value = _constant(frame, load, constant)
        if value and base > 0:
            frame.array_store.extend((following - 1, value, index, base))
        found = constant_element(code, following, end)
    return following


def cast(frame: Frame, place: int) -> int:
    """Casts (`checkcast`); null stays null."""
    value = frame.stack[-1]
    type_ref = frame.pool.type(_index(frame.code, place))
    if value > 0:
        target = frame.variable()
        frame.cast.extend((place, value, type_ref, target))
        frame.stack[-1] = target
    else:
        frame.stack[-1] = 0
    return place + 3


# --- calls


def invoke(frame: Frame, place: int) -> int:
    """Calls a method."""
    code, stack, pool = frame.code, frame.stack, frame.pool
    opcode = code[place]
    index = code[place + 1] << 8 | code[place + 2]
    if opcode == INVOKESTATIC:
        target, slots, returns, references = pool.static_calls.get(index) or pool.static_call(index)
    else:
        target, slots, returns, references = pool.calls.get(index) or pool.call(index)
    ordinal = frame.calls
    frame.calls = ordinal + 1
    if slots:
        if len(stack) < slots:
            raise _underflow(place)
        for position, depth in references:
            value = stack[depth]
            if value > 0:
                frame.argument.extend((ordinal, position, value))
        del stack[-slots:]
    result = 0
    if returns == REFERENCE:
        result = frame.next_variable
        frame.next_variable = result + 1
        stack.append(result)
    elif returns:
        stack.append(0)
        if returns == TWO:
            stack.append(0)
    frame.invoke.extend((place, opcode, target, result, frame.thrown or frame.thrown_here()))
    return place + (5 if opcode == INVOKEINTERFACE else 3)


def invoke_dynamic(frame: Frame, place: int) -> int:
    """Calls a dynamic call site."""
    if not frame.pool.pool.has_dynamic_calls:
        raise _no_instruction(frame, place)
    bootstrap, signature, slots, returns, references = frame.pool.dynamic_call(_index(frame.code, place))
    stack = frame.stack
    _check(frame, slots, place)
    for position, depth in references:
        if stack[depth] > 0:
            frame.dynamic_argument.extend((frame.dynamic_calls, position, stack[depth]))
    if slots:
        del stack[-slots:]
    frame.dynamic_calls += 1
    result = frame.variable() if returns == REFERENCE else 0
    stack.extend((result,) if returns == REFERENCE else (0,) * returns)
    frame.dynamic.extend((place, bootstrap, signature, result, frame.thrown or frame.thrown_here()))
    return place + 5


def unknown(frame: Frame, place: int) -> int:
    """Refuses what is no instruction."""
    raise _no_instruction(frame, place)


def _table() -> list[Instruction]:
    """Returns the function of each opcode."""
    table: list[Instruction] = [unknown] * 256
    for function, opcodes in (
        (load_constant, (LDC, LDC + 1)), (load_wide_constant, (LDC + 2,)), (store_reference, (ASTORE,)),
        (wide, (WIDE,)), (shuffle, range(0x5A, 0x60)), (new, (NEW,)), (new_primitive_array, (NEWARRAY,)),
        (new_array, (ANEWARRAY,)), (new_arrays, (MULTIANEWARRAY,)), (get_field, (GETFIELD,)),
        (put_field, (PUTFIELD,)), (get_static, (GETSTATIC,)), (put_static, (PUTSTATIC,)),
        (load_element, (AALOAD,)), (store_element, (AASTORE,)), (cast, (CHECKCAST,)),
        (invoke, (INVOKEVIRTUAL, INVOKESPECIAL, INVOKESTATIC, INVOKEINTERFACE)),
        (invoke_dynamic, (INVOKEDYNAMIC,)), (branch_on_one, (*range(IFEQ, IF_ICMPEQ), IFNULL, IFNONNULL)),
        (branch_on_two, range(IF_ICMPEQ, IF_ACMPNE + 1)), (go_to, (GOTO, GOTO_W)),
        (switch, (TABLESWITCH, LOOKUPSWITCH)), (subroutine, (JSR, JSR_W)), (subroutine_return, (RET,)),
        (return_nothing, (*range(IRETURN, ARETURN), RETURN)), (return_reference, (ARETURN,)), (throw, (ATHROW,)),
    ):  # fmt: skip
        for opcode in opcodes:
            table[opcode] = function
    return table


INSTRUCTIONS = _table()
