"""Mutation testing of the kernel's selection: `python -m tests.engine.mutation` lists the mutants that survive.

Each mutant is the module `engine.kernel.graph`, with what it takes from `engine.kernel.words`, and one change to one of
FUNCTIONS, written to a temporary folder and run as plain Python over the kernel's arrays.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from engine.kernel import graph, words
from engine.kernel import state as pools
from engine.kernel.solver import KernelSolver
from engine.kernel.state import Capacity
from tests.engine.dispatch import Case, Select, mistakes, random_cases, written_cases
from tests.engine.feeding import method_rows, type_rows
from tests.engine.programs import CLASS, OBJECT, Program
from tests.mutants import Replace, limited, variants

FUNCTIONS = ("place_of", "is_subtype", "declared_in", "look_up", "select")
SECONDS = 1.0  # of CPU time; the unchanged module takes a fifth
CAPACITY = Capacity(1 << 12, 1 << 6, 1 << 6, 1 << 6, 1 << 8, 1 << 8, 1)


class Mutant(NamedTuple):
    """`name` is function, line within it, and the change."""

    name: str
    source: str


def source() -> str:
    """Returns the module's source; what it takes from another is defined at its end."""
    taken = (inspect.getsource(each.py_func) for each in (words.place_of, words.slot))
    return "\n".join((inspect.getsource(graph), *taken))


def mutants() -> Iterator[Mutant]:
    """Yields every mutant."""
    text = source()
    tree = ast.parse(text)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in FUNCTIONS]
    for place, function in enumerate(functions):
        body = function.body[1:] if ast.get_docstring(function) else function.body
        for count, node in enumerate(each for statement in body for each in ast.walk(statement)):
            for change, _ in variants(node):
                line = getattr(node, "lineno", 0) - function.lineno
                yield Mutant(f"{function.name}+{line}: {change}", mutated(text, place, count, change))


def mutated(text: str, place: int, count: int, change: str) -> str:
    """Returns the module's source, in plain Python, with one change."""
    tree = ast.parse(text)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in FUNCTIONS]
    function = functions[place]
    body = function.body[1:] if ast.get_docstring(function) else function.body
    node = [each for statement in body for each in ast.walk(statement)][count]
    new = next(variant for name, variant in variants(node) if name == change)
    Replace(node, new).visit(function)
    return plain(tree)


class Items(ast.NodeTransformer):
    """Writes `records[at].name`, which only the compiler understands, as `records[at]["name"]`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Subscript):
            return ast.Subscript(node.value, ast.Constant(node.attr), node.ctx)
        return node


def plain(tree: ast.Module) -> str:
    """Returns the module's source without the compiler."""
    for each in tree.body:
        if isinstance(each, ast.FunctionDef):
            each.decorator_list = []
    return ast.unparse(ast.fix_missing_locations(Items().visit(tree)))


def loaded(source: str, folder: Path, number: int) -> ModuleType:
    """Returns a module of this source."""
    path = folder / f"mutant{number}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def selecting(module: ModuleType, program: Program) -> Select:
    """Returns the module's selection in a program's hierarchy, with more and less room for what it keeps."""
    solver = KernelSolver(OBJECT, CLASS, CAPACITY)
    solver.add_types(type_rows(program, 0, len(program.types)))
    solver.add_methods(method_rows(program, 0, len(program.methods)))
    types, count = solver._state.types, solver._state.counters
    for which, type_ in enumerate(program.types):
        for other in range(len(program.types)):
            assert bool(module.is_subtype(types, which, other)) == (other in type_.supertypes)
    count[pools.CHOICE_SLOTS] = 1
    rooms = [
        (crowded(solver._state.calls, choices, slots), count.copy(), choices, slots)
        for choices, slots in ((1 << 12, 1 << 12), (1 << 12, 8), (1 << 12, 12), (3, 8))
    ]
    asked: set[tuple[int, int]] = set()

    def select(type_: int, signature: int) -> int:
        asked.add((type_, signature))
        found = {check(*room, type_, signature) for room in rooms}
        return found.pop() if len(found) == 1 else -2

    def check(calls: pools.Calls, count: pools.Counters, choices: int, slots: int, *call: int) -> int:
        found = int(module.select(types, calls, count, *call))
        # What was looked up is kept, once; the table has a power of two of slots, as many as it needs and can.
        used = int(count[pools.CHOICE_SLOTS])
        assert count[pools.CHOICES] == min(len(asked), choices)
        assert used.bit_count() == 1
        assert min(len(asked), choices, 1 << slots.bit_length() - 1) <= used <= min(2 * len(asked), slots)
        return found

    return select


def crowded(calls: pools.Calls, choices: int, slots: int) -> pools.Calls:
    """Returns the call graph with room for so many selections."""
    return calls._replace(
        choice=np.zeros(choices, calls.choice.dtype), choice_slot=np.zeros(slots, calls.choice_slot.dtype)
    )


def is_noticed(module: ModuleType, cases: list[Case]) -> bool:
    """Returns whether some case tells the module from a right one; running for ever does."""

    try:
        with limited(SECONDS), np.errstate(all="ignore"):
            return any(True for _ in mistakes(cases, lambda program: selecting(module, program)))
    except (AssertionError, ArithmeticError, AttributeError, LookupError, NameError, TimeoutError, TypeError):
        return True


def survivors(number: int) -> tuple[list[str], int]:
    """Returns the names of the mutants that no case notices, and how many mutants there are."""
    cases = [*written_cases(), *random_cases(number)]
    with tempfile.TemporaryDirectory() as folder:
        original = loaded(plain(ast.parse(source())), Path(folder), 0)
        selecting(original, cases[0].program)  # loads machine code, which may take longer than a mutant has
        assert not is_noticed(original, cases), "the unchanged module fails, or is too slow"
        found, total = [], 0
        for total, mutant in enumerate(mutants(), 1):
            if not is_noticed(loaded(mutant.source, Path(folder), total), cases):
                found.append(mutant.name)
    return found, total


if __name__ == "__main__":
    surviving, among = survivors(8)
    print("\n".join([*surviving, f"{len(surviving)} of {among} survive"]))
