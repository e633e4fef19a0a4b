"""Were the stack simulation different, a written case or a real class would show it."""

from __future__ import annotations

import shutil

import pytest

from tests.loader import mutation

# One mutant in so many is tried; `python -m tests.loader.mutation` tries them all, which takes minutes.
PART = 16

# Mutants that find the same facts.
EQUIVALENT = {
    # Class files of that age are among the bad inputs, whose tests don't run here (C09).
    "invoke_dynamic: if not frame.pool.pool.has_dynamic_calls: → if False:",
    "_add_exact_arguments: if frame.arrays: → if True:",
    # Without calls there are no arguments and no results to know more of; those whose results are cast have a round of
    # their own (`mutation_casts`).
    "translate_body: if frame.calls and (frame.arrays or pool.results): → if True:",
    "translate_body: frame.calls and (frame.arrays or pool.results) → frame.calls or (frame.arrays or pool.results)",
    "translate_body: frame.calls and (frame.arrays or pool.results) → frame.arrays or pool.results",
    "translate_body: frame.calls and (frame.arrays or pool.results) → frame.calls",
    "translate_body: frame.arrays or pool.results → frame.arrays",
    # The lists have one length: each is made from the other, or the lengths were compared before.
    "translate_body: zip(frame.rows, begin, strict=True) → zip(frame.rows, begin, strict=False)",
    "translate_body: zip(frame.rows.values(), begin, strict=True) → zip(frame.rows.values(), begin, strict=False)",
    "Frame._merge_stacks: zip(*(stack for stack, _ in edges), strict=True) → zip(*(stack for stack, _ in edges), strict=False)",
    "Frame._assign_stack: zip(merged, stack, strict=True) → zip(merged, stack, strict=False)",
    "_tail: zip(*[listed] * width, strict=True) → zip(*[listed] * width, strict=False)",
    # A body has instructions, so that what ends one never returns 0, or -1.
    "_translate: _run(frame, 0, len(code.instructions)) >= 0 → _run(frame, 0, len(code.instructions)) > 0",
    "_translate: _run(frame, 0, len(code.instructions)) >= 0 → _run(frame, 0, len(code.instructions)) >= 1",
    "_translate: _run(frame, 0, len(code.instructions)) >= 0 → _run(frame, 0, len(code.instructions)) >= -1",
    "_run_blocks: stop < 0 → stop <= 0",
    "_run_blocks: stop < 0 → stop < 1",
    "_run_blocks: stop < 0 → stop < -1",
    "_run: place < 0 → place <= 0",
    "_run: place < 0 → place < 1",
    "_run: place < 0 → place < -1",
    # A block to which one way leads needs no meeting of ways, but what meets there is the same.
    "_run_blocks: if flow.arrivals[end] > 1: → if True:",
    "_run_blocks: flow.arrivals[end] > 1 → flow.arrivals[end] >= 1",
    "_run_blocks: flow.arrivals[end] > 1 → flow.arrivals[end] > 0",
    "Frame.enter: if self.arrivals[leader] == 1: → if False:",
    "Frame.enter: self.arrivals[leader] == 1 → self.arrivals[leader] == 0",
    "Frame.enter: without return",
    # A block that only the one before leads to is asked for by none: none will find that it isn't done.
    "_run_blocks: without frame.done.add(leader)",
    # Blocks that are done are passed over.
    "_run_blocks: without frame.behind = NOWHERE",
    "Frame.begin_flow: self.current = 0 → self.current = 1",
    "Frame.begin_flow: self.current = 0 → self.current = -1",
    "Frame.join: target < self.current → target <= self.current",
    "Frame._cover: target < leader and target not in self.done → target < leader",
    "Frame._cover: target < leader → target <= leader",
    # Blocks that were reached have been checked; once more changes nothing.
    "_check_unreached: if len(reached) == len(flow.leaders): → if False:",
    "_check_unreached: without return",
    "_check_unreached: if leader in reached: → if False:",
    "_check_unreached: without continue",
    # Set again before anyone reads it.
    "Frame.__init__: without self.begun: list[int] = []",
    "Frame.begin_flow: without self.region: Region = ()",
    # Numbers of variables that are never used go when all bodies are put together.
    "Frame.begin: positions + 3 → positions + 4",
    "Frame.variable: number + 1 → number + 2",
    "_constant: target + 1 → target + 2",
    "new: target + 1 → target + 2",
    "new_array: target + 1 → target + 2",
    "get_field: target + 1 → target + 2",
    "invoke: result + 1 → result + 2",
    # Where the work was estimated, a little more or less changes nothing; the ways to a block have paid for most of it.
    "Frame.begin_flow: self.work = 0 → self.work = 1",
    "Frame.begin_flow: self.work = 0 → self.work = -1",
    "Frame.spend: self.work > LIMIT → self.work >= LIMIT",
    "Frame.join: work > LIMIT → work >= LIMIT",
    "Frame.enter: without self.spend(len(self.singles))",
    "Frame.finish: without self.spend(len(values))",
    "_reached: len(visited) > limit → len(visited) >= limit",
    # Prepared, copied or computed in vain, or once more.
    "Frame.begin_flow: if code.handlers: → if True:",
    "Frame.join: if self.merged: → if True:",
    "Frame.store_slot: if self.merged: → if True:",
    "Frame._cover: if region is None: → if True:",
    "Frame._cover: if self.merged: → if True:",
    "Frame._seen_by_handler: if covered is None: → if True:",
    # The only one, or all are the same.
    "Frame.enter: edges[0] → edges[-1]",
    "Frame._merge_stacks: edges[0] → edges[-1]",
    "Frame._merge_stacks: values[0] → values[1]",
    "Frame._merge_stacks: values[0] → values[-1]",
    "Frame._reach_handler: self.stacks[target][0] → self.stacks[target][-1]",
    "_scan: targets[0] → targets[-1]",
    # What an empty stack merges to is an empty stack.
    "Frame._merge_stacks: if not depth: → if False:",
    "Frame._merge_stacks: without return []",
    # No handler's range leads to a block that is no handler.
    "Frame.finish: self.handlers and leader in self.handler_variables → self.handlers",
    # The variable that takes the place of another is the one that all who ask later get.
    "Frame._cover: if target not in self.handler_variables: → if True:",
    # What a store in front of a range leaves is seen where the range begins, too.
    "Frame._seen_by_handler: start < following < end → start <= following < end",
    # Only what has no variable yet asks for one.
    "Frame.thrown_here: if not thrown: → if True:",
    "invoke: frame.thrown or frame.thrown_here() → frame.thrown_here()",
    "invoke_dynamic: frame.thrown or frame.thrown_here() → frame.thrown_here()",
    "throw: frame.thrown or frame.thrown_here() → frame.thrown_here()",
    # The shorter way to what the pool says, or to what it has said before.
    "_constant: if ref < 0: → if True:",
    "_constant: ref < 0 → ref <= 0",
    "_constant: ref < 0 → ref < 1",
    "get_field: frame.pool.fields.get(index) or frame.pool.field(index) → frame.pool.field(index)",
    "put_field: frame.pool.fields.get(index) or frame.pool.field(index) → frame.pool.field(index)",
    "get_static: frame.pool.fields.get(index) or frame.pool.field(index) → frame.pool.field(index)",
    "put_static: frame.pool.fields.get(index) or frame.pool.field(index) → frame.pool.field(index)",
    "invoke: pool.static_calls.get(index) or pool.static_call(index) → pool.static_call(index)",
    "invoke: pool.calls.get(index) or pool.call(index) → pool.call(index)",
    # `aload` and `astore` were looked at before, and nothing else is left at the end.
    "wide: 21 <= opcode <= 24 → 21 <= opcode <= 25",
    "wide: 54 <= opcode <= 57 → 54 <= opcode <= 58",
    "wide: if EFFECT[opcode] == POP_TWO: → if True:",
    # The swap itself finds that there is no second value.
    "shuffle: (2, 3, 2, 3, 4, 2) → (2, 3, 2, 3, 4, 1)",
    # An array of unknown length has no element at a known place, and none is yielded.
    "new_array: 0 <= length <= _LONGEST_ARGUMENT → -1 <= length <= _LONGEST_ARGUMENT",
    # A reference that is null has no variable: as a number, it would be no index either.
    "get_field: without stack[-1] = 0 (2)",
    "get_field: stack[-1] = 0 → stack[-1] = -1 (2)",
    "load_element: without stack[-1] = 0",
    "load_element: stack[-1] = 0 → stack[-1] = -1",
    "cast: without frame.stack[-1] = 0",
    "cast: frame.stack[-1] = 0 → frame.stack[-1] = -1",
    # A number is never a variable, and a reference is never a number but 0, which is null.
    "put_field: kind == REFERENCE and value > 0 and (base > 0) → value > 0 and base > 0",
    "put_static: kind == REFERENCE and value > 0 → kind == REFERENCE or value > 0",
    "put_static: kind == REFERENCE and value > 0 → value > 0",
    "put_static: kind == REFERENCE and value > 0 → kind == REFERENCE",
    "put_static: value > 0 → value >= 0",
    "put_static: value > 0 → value > -1",
    # What stands for an index that is unknown, 0, becomes -1 as an index, too.
    "store_element: index < 0 → index <= 0",
    "store_element: index < 0 → index < 1",
    # A return address is stored or dropped, and a slot holds no number.
    "subroutine: frame.stack.append(0) → frame.stack.append(-1)",
    # The instruction itself is followed by what is behind it.
    "return_nothing: place + 1 → place + 0",
    "return_reference: place + 1 → place + 0",
    "throw: place + 1 → place + 0",
    # A table of constants is filled element by element, too.
    "_run: if found is not None: → if False:",
    # It begins with an element that was found, which says what follows.
    "store_constants: without following = 0",
    "store_constants: following = 0 → following = 1",
    "store_constants: following = 0 → following = -1",
    # Where an instruction ends with the block, there is nothing to walk over.
    "_run_blocks: if stop != end: → if True:",
    # A match that is asked for in front of the code begins at its start; at the end it is empty, and ends the walk.
    "_scan: (0, len(code)) → (-1, len(code))",
    "_scan: place < end → place <= end",
    # A body of one block is one of many, save that what can't be reached may then be cut off.
    "_translate: if is_straight(code): → if False:",
    "is_straight: without return not code.handlers and (_BRANCHING(instructions) is None or _STRAIGHT(instructions) is not None)",
    "is_straight: _BRANCHING(instructions) is None or _STRAIGHT(instructions) is not None → _BRANCHING(instructions) is None",
    "is_straight: _BRANCHING(instructions) is None or _STRAIGHT(instructions) is not None → _STRAIGHT(instructions) is not None",
    "is_straight: _BRANCHING(instructions) is None or _STRAIGHT(instructions) is not None → _BRANCHING(instructions) is None and _STRAIGHT(instructions) is not None",
    # Only what falls into the block leads there, which isn't counted when it happens.
    "flow_of: arrivals.setdefault(place, 0) → arrivals.setdefault(place, -1)",
    # No block begins at the end, as no way leads there.
    "flow_of: without arrivals.pop(len(instructions), None)",
    # Said by the scan, or by what follows it.
    "flow_of: without arrivals[place] = MANY",
    "_scan: without arrivals[following] = MANY",
    # Slots that need not merge may, and a slot without definitions holds nothing.
    "flow_of: 0 if scan.calls else 1 → 0",
    "flow_of: 0 if scan.calls else 1 → -1 if scan.calls else 1",
    "flow_of: 0 if scan.calls else 1 → 0 if scan.calls else 0",
    "flow_of: for slot, count in enumerate(scan.definitions) if count > most → for slot, count in enumerate(scan.definitions)",
    "flow_of: count > most → count >= most",
    "_scan: [0] → [1]",
    "_scan: definitions[slot] = 1 → definitions[slot] = 2",
    "_scan: definitions[opcode - 75] += 1 → definitions[opcode - 75] += 2",
    "_scan: definitions[code[place + 1]] += 1 → definitions[code[place + 1]] += 2",
    "_scan: definitions[_slot(code, place)] += 1 → definitions[_slot(code, place)] += 2",
    # Without callers, no `ret` has where to go.
    "flow_of: subroutine_returns(code, scan.calls, scan.returns) if scan.calls else {} → subroutine_returns(code, scan.calls, scan.returns)",
    # These opcodes are passed over before.
    "_scan: 75 <= opcode <= 78 → 74 <= opcode <= 78",
    "_scan: 75 <= opcode <= 78 → 75 <= opcode <= 79",
    # No instruction has a slot below 0.
    "subroutine_returns: if slot < 0: → if False:",
    "subroutine_returns: slot < 0 → slot < -1",
    "subroutine_returns: without continue",
    "_address_slot: return -1 → return -2",
    # Nothing is stored in no array.
    "exact_arguments: if array is not None: → if True:",
    # Arrays that meet are all left out.
    "_copies: min(touched) → max(touched)",
    # The target is a copy by then and no source of itself, so that there are more copies than sources.
    "_copies: found <= copies.keys() → found < copies.keys()",
    # No way is so long that its first byte says more than its sign.
    "branch_target: place + 1 → place + 2",
    # Each case takes 4 bytes, or 8.
    "switch_targets: 0 <= count * step * 4 <= len(code) - first → -1 <= count * step * 4 <= len(code) - first",
}


@pytest.mark.slow
@pytest.mark.skipif(
    not all(shutil.which(each) for each in ("java", "javac", "mvn")), reason="needs a JDK and Maven"
)
def test_changed_simulation_is_noticed() -> None:
    surviving, number = mutation.survivors(PART)
    assert number > 40
    assert set(surviving) == {each for each in EQUIVALENT if mutation.sampled(each, PART)}
