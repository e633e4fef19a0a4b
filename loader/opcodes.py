"""The instructions of the JVM (JVMS 6.5) as tables: their lengths and what they do to the operand stack."""

from __future__ import annotations

from struct import Struct
from struct import error as StructError

from loader.classfile import MalformedClass

ICONST, POP_ONE, BIPUSH, SIPUSH, LDC, LDC_W = 0x03, 0x57, 0x10, 0x11, 0x12, 0x13
ALOAD, ASTORE, AALOAD, AASTORE, IINC = 0x19, 0x3A, 0x32, 0x53, 0x84
IFEQ, IF_ICMPEQ, IF_ACMPNE, GOTO, JSR, RET, TABLESWITCH, LOOKUPSWITCH = (
    0x99, 0x9F, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB,
)  # fmt: skip
IRETURN, ARETURN, RETURN, GETSTATIC, PUTSTATIC, GETFIELD, PUTFIELD = (
    0xAC, 0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5,
)  # fmt: skip
INVOKEVIRTUAL, INVOKESPECIAL, INVOKESTATIC, INVOKEINTERFACE, INVOKEDYNAMIC = range(0xB6, 0xBB)
NEW, NEWARRAY, ANEWARRAY, ATHROW, CHECKCAST = 0xBB, 0xBC, 0xBD, 0xBF, 0xC0
WIDE, MULTIANEWARRAY, IFNULL, IFNONNULL, GOTO_W, JSR_W = 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9
LAST = JSR_W

# Bytes of an instruction. Both switches and `wide` have 1 here: `next_instruction` knows better.
LENGTH = [1] * 256
for _opcode in (BIPUSH, LDC, *range(0x15, 0x1A), *range(0x36, 0x3B), RET, NEWARRAY):
    LENGTH[_opcode] = 2
for _opcode in (SIPUSH, LDC_W, 0x14, IINC, *range(IFEQ, RET), *range(GETSTATIC, INVOKEINTERFACE), NEW,
                ANEWARRAY, CHECKCAST, 0xC1, IFNULL, IFNONNULL):  # fmt: skip
    LENGTH[_opcode] = 3
LENGTH[MULTIANEWARRAY] = 4
for _opcode in (INVOKEINTERFACE, INVOKEDYNAMIC, GOTO_W, JSR_W):
    LENGTH[_opcode] = 5

# What an instruction does to the operand stack, where that is all it does. "Clear" says that the number that
# is on top afterwards isn't known. A long or double takes two places and is never known, so that arithmetic
# on it only pops.
(
    LOAD_SHORT, LOAD, PUSH, CONSTANT, POP, DUP, POP_CLEAR, NOTHING, CLEAR, STORE_SHORT, PUSH_TWO, POP_TWO,
    POP_THREE, POP_FOUR, CLEAR_PUSH, CLEAR_TWO,
) = range(16)  # fmt: skip
HANDLED = 16  # it does more
UNKNOWN = 17  # there is no such instruction

EFFECT = [UNKNOWN] * 256
for _effect, _opcodes in (
    (NOTHING, (0x00, 0x75, 0x77, 0x84, 0x8A, 0x8F)),
    (CLEAR, (0x74, 0x76, 0x86, 0x8B, 0x91, 0x92, 0x93, 0xBE, 0xC1)),
    (PUSH, (0x01, 0x02, 0x0B, 0x0C, 0x0D, 0x15, 0x17, *range(0x1A, 0x1E), *range(0x22, 0x26))),
    (CONSTANT, (*range(0x03, 0x09), BIPUSH, SIPUSH)),
    (PUSH_TWO, (0x09, 0x0A, 0x0E, 0x0F, 0x16, 0x18, *range(0x1E, 0x22), *range(0x26, 0x2A))),
    (POP, (0x36, 0x38, *range(0x3B, 0x3F), *range(0x43, 0x47), 0x57, 0xC2, 0xC3, 0x79, 0x7B, 0x7D, 0x88, 0x89,
           0x8E, 0x90)),
    (POP_TWO, (0x37, 0x39, *range(0x3F, 0x43), *range(0x47, 0x4B), 0x58, *range(0x61, 0x74, 4),
               *range(0x63, 0x74, 4), 0x7F, 0x81, 0x83)),
    (POP_THREE, (0x4F, 0x51, 0x54, 0x55, 0x56, 0x94, 0x97, 0x98)),
    (POP_FOUR, (0x50, 0x52)),
    (POP_CLEAR, (*range(0x60, 0x74, 4), *range(0x62, 0x74, 4), 0x78, 0x7A, 0x7C, 0x7E, 0x80, 0x82, 0x95, 0x96,
                 0x2E, 0x30, 0x33, 0x34, 0x35)),
    (CLEAR_TWO, (0x2F, 0x31)),
    (CLEAR_PUSH, (0x85, 0x87, 0x8C, 0x8D)),
    (LOAD_SHORT, range(0x2A, 0x2E)),
    (LOAD, (ALOAD,)),
    (STORE_SHORT, range(0x4B, 0x4F)),
    (DUP, (0x59,)),
    (HANDLED, (LDC, LDC_W, 0x14, AALOAD, ASTORE, AASTORE, *range(0x5A, 0x60), *range(IFEQ, 0xBE), ATHROW, CHECKCAST,
               *range(WIDE, LAST + 1))),
):  # fmt: skip
    for _opcode in _opcodes:
        EFFECT[_opcode] = _effect

# The int that a CONSTANT without operand pushes, by opcode, as the stack holds it.
CONSTANT_VALUE = [0] * 256
for _opcode in range(0x03, 0x09):
    CONSTANT_VALUE[_opcode] = -(_opcode - 0x03) - 1

_table = Struct(">iii").unpack_from
_lookup = Struct(">ii").unpack_from


def is_conditional(opcode: int) -> bool:
    """Returns whether the instruction branches to its target or goes on behind itself."""
    return IFEQ <= opcode <= IF_ACMPNE or opcode in {IFNULL, IFNONNULL}


def near_target(code: bytes, place: int) -> int:
    """Returns where the branch instruction at `place` goes, whose distance takes two bytes."""
    distance = code[place + 1] << 8 | code[place + 2]
    return place + distance if distance < 0x8000 else place + distance - 0x10000


def branch_target(code: bytes, place: int) -> int:
    """Returns where the branch instruction at `place` goes."""
    if code[place] in {GOTO_W, JSR_W}:
        return place + int.from_bytes(code[place + 1 : place + 5], "big", signed=True)
    return near_target(code, place)


def switch_targets(code: bytes, place: int) -> tuple[list[int], int]:
    """Returns where the switch at `place` may go, each target once, and where the next instruction is."""
    start = (place + 4) & ~3
    try:
        if code[place] == TABLESWITCH:
            default, low, high = _table(code, start)
            count, step, first = high - low + 1, 1, start + 12
        else:
            default, count = _lookup(code, start)
            step, first = 2, start + 8
        # Not more than the code has room for: the count is only what the class file says.
        if not 0 <= count * step * 4 <= len(code) - first or (step == 1 and count == 0):
            raise MalformedClass("CLS-CODE", f"the switch at {place} has {count} cases")
    except StructError:
        raise MalformedClass("CLS-CODE", f"the switch at {place} is cut off") from None
    end = first + 4 * step * count
    distances = Struct(f">{step * count}i").unpack_from(code, first)[step - 1 :: step]
    return sorted({place + default, *(place + distance for distance in distances)}), end


def next_instruction(code: bytes, place: int) -> int:
    """Returns where the instruction behind the one at `place` begins."""
    opcode = code[place]
    if opcode in {TABLESWITCH, LOOKUPSWITCH}:
        return switch_targets(code, place)[1]
    if opcode == WIDE:
        return place + (6 if code[place + 1] == IINC else 4)
    return place + LENGTH[opcode]
