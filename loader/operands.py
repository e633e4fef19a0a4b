"""How many values an instruction takes off the operand stack, and how many it puts there (JVMS 6.5)."""

from __future__ import annotations

from loader.opcodes import (
    AALOAD,
    AASTORE,
    ANEWARRAY,
    ATHROW,
    CLEAR,
    CLEAR_PUSH,
    CLEAR_TWO,
    CONSTANT,
    EFFECT,
    GETFIELD,
    GETSTATIC,
    GOTO,
    GOTO_W,
    HANDLED,
    IF_ACMPNE,
    IF_ICMPEQ,
    IFEQ,
    IFNONNULL,
    IFNULL,
    IINC,
    INVOKEDYNAMIC,
    INVOKESTATIC,
    JSR,
    JSR_W,
    LDC,
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
    TABLESWITCH,
    WIDE,
)
from loader.symbols import ONE, REFERENCE, TWO, VOID, Pool

# Places of the stack that a value takes, by its kind.
_SIZE = {VOID: 0, ONE: 1, TWO: 2, REFERENCE: 1}
# What is left of a long or double counts as untouched: it is no reference before nor after.
_EFFECTS = {
    NOTHING: (0, 0), PUSH: (0, 1), CONSTANT: (0, 1), PUSH_TWO: (0, 2), POP: (1, 0), POP_TWO: (2, 0), POP_THREE: (3, 0),
    POP_FOUR: (4, 0), CLEAR: (1, 1), POP_CLEAR: (2, 1), CLEAR_PUSH: (1, 2), CLEAR_TWO: (2, 2),
}  # fmt: skip
_FIXED = {
    LDC: (0, 1), LDC + 1: (0, 1), LDC + 2: (0, 2), AALOAD: (2, 1), AASTORE: (3, 0), GOTO: (0, 0), GOTO_W: (0, 0),
    JSR: (0, 1), JSR_W: (0, 1), RET: (0, 0), TABLESWITCH: (1, 0), LOOKUPSWITCH: (1, 0), ATHROW: (1, 0), NEW: (0, 1),
    NEWARRAY: (1, 1), ANEWARRAY: (1, 1), IFNULL: (1, 0), IFNONNULL: (1, 0),
    **dict.fromkeys(range(IFEQ, IF_ICMPEQ), (1, 0)),
    **dict.fromkeys(range(IF_ICMPEQ, IF_ACMPNE + 1), (2, 0)),
}  # fmt: skip


def operands(code: bytes, place: int, pool: Pool) -> tuple[int, int]:
    """Returns how many places the instruction at `place` takes and puts, if it doesn't just move references."""
    opcode = code[place]
    fixed = _FIXED.get(opcode)
    if fixed is not None:
        return fixed
    if opcode == WIDE:
        opcode = code[place + 1]
        return (0, 0) if opcode in {IINC, RET} else _EFFECTS[EFFECT[opcode]]
    if EFFECT[opcode] != HANDLED:
        return _EFFECTS[EFFECT[opcode]]
    if opcode == MULTIANEWARRAY:
        return code[place + 3], 1
    index = code[place + 1] << 8 | code[place + 2]
    if GETSTATIC <= opcode <= PUTFIELD:
        size = _SIZE[(pool.fields.get(index) or pool.field(index))[1]]
        return {GETSTATIC: (0, size), PUTSTATIC: (size, 0), GETFIELD: (1, size), PUTFIELD: (size + 1, 0)}[
            opcode
        ]
    if opcode == INVOKEDYNAMIC:
        _, _, taken, returns, _ = pool.dynamic_call(index)
    elif opcode == INVOKESTATIC:
        _, taken, returns, _ = pool.static_calls.get(index) or pool.static_call(index)
    else:
        _, taken, returns, _ = pool.calls.get(index) or pool.call(index)
    return taken, _SIZE[returns]
