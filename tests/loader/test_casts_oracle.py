"""Casts on all ways of random bodies, against all ways of these bodies, walked one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from loader.translate import translate
from tests.fixture_assembler import assemble
from tests.loader.rawclass import rows, type_name

CALL = "invokevirtual java/lang/Class.newInstance ()Ljava/lang/Object;"
RISK = "invokestatic T.risk ()V"
REFUSAL = "java/lang/ClassCastException"
MOST_STEPS = 20_000

# Instructions within a block: their words, and how deep the stack is before and by how much it grows.
WITHIN = [
    ("aload 0\n" + CALL, 0, 1), ("aload 1", 0, 1), ("aload 2", 0, 1), ("astore 1", 1, -1), ("astore 2", 1, -1),
    ("dup", 1, 1), ("swap", 2, 0), ("dup_x1", 2, 1), ("dup_x2", 3, 1), ("dup2", 2, 2), ("dup2_x1", 3, 2),
    ("dup2_x2", 4, 2), ("pop", 1, -1), ("pop2", 2, -2), ("checkcast A", 1, 0), ("checkcast B", 1, 0), (RISK, 0, 0),
    *[("aload 0\n" + CALL + "\nastore 1", 0, 0), ("aload 1\ncheckcast A\npop", 0, 0)] * 3,
]  # fmt: skip


class Handler(NamedTuple):
    """Blocks `first` to `last` are covered by the block `target`, for exceptions of type `type`."""

    type: str
    first: int
    last: int
    target: int


@dataclass
class Body:
    """Instructions, one a line, where each block begins, and the handlers."""

    code: list[str]
    starts: list[int]
    handlers: list[Handler]

    def text(self) -> str:
        """Returns the source of the body."""
        lines = ["  " + each for each in self.code]
        for block, start in enumerate(self.starts):
            lines[start] = f"b{block}: {lines[start]}"
        lines.append(f"b{len(self.starts)}:")
        lines += [
            f"catch {each.type} b{each.first} b{each.last + 1} b{each.target}" for each in self.handlers
        ]
        return "\n".join(lines)


class State(NamedTuple):
    """Where control is, and which places of the stack and slots hold the result."""

    place: int
    stack: tuple[bool, ...]
    slots: tuple[bool, ...]


@st.composite
def bodies(draw: st.DrawFn) -> Body:
    """Returns bodies of a few blocks, which meet with empty stacks; the first, and handlers, are not branched to."""
    number = draw(st.integers(2, 6))
    catching = draw(st.integers(0, 2))
    code = ["aconst_null", "astore 1", "aconst_null", "astore 2"]
    starts = [0]
    for block in range(1, number + catching):
        starts.append(len(code))
        depth = int(block >= number)
        for choice in draw(st.lists(st.integers(0, len(WITHIN) - 1), max_size=6)):
            words, least, growth = WITHIN[choice]
            if depth >= least:
                code += words.split("\n")
                depth += growth
        code += ["pop"] * depth
        target = draw(st.integers(1, number - 1))
        end = draw(st.sampled_from(["return", "throw", "throw", "goto", "branch", "branch"]))
        if end == "branch":
            code += ["aload 0", f"ifnull b{target}"]
            target = draw(st.integers(1, number - 1))
        code += {"return": ["aload 0", "areturn"], "throw": ["aload 0", "athrow"]}.get(
            end, [f"goto b{target}"]
        )
    handlers = []
    for block in range(number, number + catching):
        first = draw(st.integers(1, number - 1))
        last = draw(st.integers(first, number - 1))
        handlers.append(
            Handler(draw(st.sampled_from(["any", "java/lang/Exception", REFUSAL])), first, last, block)
        )
    return Body(code, starts, handlers)


class Walk:
    """All ways from one call; `wanted` is the type of casts that end them."""

    def __init__(self, body: Body, wanted: str) -> None:
        self.body, self.wanted = body, wanted
        self.steps = 0

    def all_cast(self, state: State, before: frozenset[State] = frozenset()) -> bool:
        """Returns whether each way from `state` ends by a cast or a throw, or may always still come to a cast."""
        self.steps += 1
        assume(self.steps < MOST_STEPS)
        if state in before:
            return self.may_cast(state)
        if self.body.code[state.place] == "areturn":
            return False
        return all(self.all_cast(each, before | {state}) for each in self.following(state))

    def may_cast(self, state: State) -> bool:
        """Returns whether some way from `state` comes to a cast."""
        seen, waiting = {state}, [state]
        while waiting:
            found = waiting.pop()
            if self.ends(found):
                return True
            new = set(self.following(found)) - seen
            seen |= new
            waiting += new
        return False

    def ends(self, state: State) -> bool:
        return self.body.code[state.place] == f"checkcast {self.wanted}" and state.stack[-1]

    def following(self, state: State) -> Iterator[State]:
        """Yields the states after `state`; after a cast that counts, those where it failed."""
        place, stack, slots = state
        word, _, operand = self.body.code[place].partition(" ")
        caught = [
            each
            for each in self.body.handlers
            if word in ("invokevirtual", "invokestatic", "checkcast", "athrow") and self.covers(each, place)
        ]
        if self.ends(state):
            caught = [each for each in caught if each.type == REFUSAL]
        for each in caught:
            yield State(self.body.starts[each.target], (False,), slots)
        if self.ends(state) or word in ("athrow", "areturn"):
            return
        if word in ("goto", "ifnull"):
            yield State(self.body.starts[int(operand[1:])], stack[:-1] if word == "ifnull" else stack, slots)
        if word != "goto":
            yield State(place + 1, *moved(word, operand, list(stack), list(slots)))

    def covers(self, handler: Handler, place: int) -> bool:
        starts = [*self.body.starts, len(self.body.code)]
        return starts[handler.first] <= place < starts[handler.last + 1]


def moved(
    word: str, operand: str, stack: list[bool], slots: list[bool]
) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Returns stack and slots after an instruction (JVMS 6.5)."""
    match word:
        case "aconst_null":
            stack.append(False)
        case "aload":
            stack.append(slots[int(operand)])
        case "astore":
            slots[int(operand)] = stack.pop()
        case "pop" | "ifnull":
            stack.pop()
        case "pop2":
            del stack[-2:]
        case "invokevirtual":
            stack[-1] = False
        case "swap":
            stack[-2:] = stack[-1], stack[-2]
        case "dup" | "dup_x1" | "dup_x2":
            stack.insert(len(stack) - 1 - int(word[5:] or 0), stack[-1])
        case "dup2" | "dup2_x1" | "dup2_x2":
            at = len(stack) - 2 - int(word[6:] or 0)
            stack[at:at] = stack[-2:]
    return tuple(stack), tuple(slots)


def depth_at(body: Body, place: int) -> int:
    """Returns how many values are on the stack before an instruction, which is in the middle of a block."""
    block = max(each for each, start in enumerate(body.starts) if start <= place)
    stack, slots = [False] * any(each.target == block for each in body.handlers), [False] * 3
    for line in body.code[body.starts[block] : place]:
        word, _, operand = line.partition(" ")
        after, _ = moved(word, operand, stack, slots)
        stack = list(after)
    return len(stack)


def offsets(body: Body) -> list[int]:
    """Returns where each instruction is, in bytes."""
    sizes = {
        "aload": 2,
        "astore": 2,
        "goto": 3,
        "ifnull": 3,
        "checkcast": 3,
        "invokevirtual": 3,
        "invokestatic": 3,
    }
    return [0, *accumulate(sizes.get(line.partition(" ")[0], 1) for line in body.code)][:-1]


def expected(body: Body, reached: Collection[int]) -> set[tuple[int, str]]:
    """Returns offset and type of each reached call that all ways cast, by walking all of them."""
    found = set()
    for place, offset in enumerate(offsets(body)):
        if body.code[place] != CALL or offset not in reached:
            continue
        state = State(place + 1, (False,) * (depth_at(body, place) - 1) + (True,), (False,) * 3)
        for wanted in "AB":
            walk = Walk(body, wanted)
            if walk.may_cast(state) and walk.all_cast(state):
                found.add((offset, wanted))
    return found


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(bodies())
def test_rows_are_the_casts_that_no_way_misses(body: Body) -> None:
    source = "class T\nmethod static m (Ljava/lang/Class;)Ljava/lang/Object;\n" + body.text()
    unit = translate([("T.class", assemble(source, "T.jasm")["T"])], "T")
    assert unit.diagnostics == []
    calls = [offset for offset, *_ in rows(unit, "invoke")]
    found = {(calls[ordinal], type_name(unit, ref)) for ordinal, ref in rows(unit, "result_cast")}
    for _, wanted in found:
        event(wanted)
    assert found == expected(body, calls)
