"""Method bodies as constraints: one abstract interpretation of the operand stack and the local variables.

Each block is interpreted once, in the order of addresses as far as loops allow. A value is an int: a
variable, counted from 1; 0 for null or a number that isn't known; or -1 - n for the int constant n, which
array indexes and lengths need. Storing to a slot makes no variable: the slot just holds the value. Where
ways into a block disagree, a slot's value is `-1 - (block * slots + slot)` until someone reads it; then it
becomes a variable that all ways assign to (pruned static single assignment, with its joins made on demand).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

from loader.classfile import Code, MalformedClass
from loader.exact import exact_arguments
from loader.flow import Flow, flow_of, handlers_at
from loader.opcodes import (
    AALOAD,
    AASTORE,
    ANEWARRAY,
    ARETURN,
    ASTORE,
    ATHROW,
    BIPUSH,
    CHECKCAST,
    CLEAR,
    CLEAR_PUSH,
    CLEAR_TWO,
    CONSTANT,
    CONSTANT_VALUE,
    DUP,
    EFFECT,
    GETFIELD,
    GETSTATIC,
    GOTO,
    GOTO_W,
    HANDLED,
    IF_ICMPEQ,
    IFEQ,
    IFNONNULL,
    IFNULL,
    INVOKEDYNAMIC,
    INVOKESTATIC,
    INVOKEVIRTUAL,
    IRETURN,
    JSR,
    JSR_W,
    LDC,
    LDC_W,
    LENGTH,
    LOAD,
    LOAD_SHORT,
    LOOKUPSWITCH,
    MULTIANEWARRAY,
    NEW,
    NEWARRAY,
    NOTHING,
    POP,
    POP_CLEAR,
    POP_FOUR,
    POP_THREE,
    POP_TWO,
    PUSH,
    PUSH_TWO,
    PUTFIELD,
    PUTSTATIC,
    RET,
    RETURN,
    SIPUSH,
    STORE_SHORT,
    TABLESWITCH,
    UNKNOWN,
    WIDE,
    branch_target,
    next_instruction,
    switch_targets,
)
from loader.symbols import REFERENCE, TWO, Pool
from loader.unit import NUMBER, RELATIONS

# Work that one method may cost: blocks, and values copied from one to another. Bodies that compilers make
# stay far below; without it, 64 KiB of code could ask for gigabytes.
LIMIT = 20_000_000
# Longer arrays are tables, not the arguments of a call.
_LONGEST_ARGUMENT = 255
# How often a method's locals and stack are searched for by `handlers_at`: see `_Regions`.
_PRIMITIVE_ARRAYS = {4: b"[Z", 5: b"[C", 6: b"[F", 7: b"[D", 8: b"[B", 9: b"[S", 10: b"[I", 11: b"[J"}

Edge = tuple[list[int], list[int]]
