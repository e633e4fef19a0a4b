"""Mutation testing of the stack simulation: `python -m tests.loader.mutation` lists the mutants that survive.

Each mutant is one change to one function of MODULES, put into the function itself while the cases run. What
notices it are the written cases, and then real classes, for whose operand stacks another implementation
was asked when the run began. Mutants are named by function and text, so that a change elsewhere in the
modules renames none.
"""

from __future__ import annotations

import ast
import inspect
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import product
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import pytest

from loader import bytecode, exact, flow, frame, instructions, jdk, jumps, opcodes
from tests.loader.stack_oracle import ask, digest, origins_of
from tests.loader.test_bytecode_asm import contents
from tests.mutants import COMPARISONS, Comparisons, Replace, limited, variants

MODULES = (bytecode, frame, instructions, jumps, flow, exact, opcodes)
WRITTEN = tuple(
    import_module(f"tests.loader.{name}")
    for name in (
        "test_bytecode",
        "test_bytecode_calls",
        "test_bytecode_control",
        "test_bytecode_forms",
        "test_bytecode_refused",
        "test_filled_arrays",
    )
)
CHANGED_ELSEWHERE = {"_add_result_casts"}  # see `mutation_casts`
AT_IMPORT = {"_table", "_class_of", "_any_of"}  # have run before they could be changed
# How much a body may cost is an estimate: only whether it is counted matters.
ESTIMATES = {"spend"}
# Where one of many kinds is meant, the order of their numbers says nothing.
DIFFERENT: Comparisons = {**COMPARISONS, ast.Eq: (ast.NotEq,)}
STEP = 400  # one class of the JDK in so many is compared
LONGEST = 40_000  # bytes of a class file that is compared
SECONDS = 4.0  # of CPU time, for all written cases and for each class; the unchanged modules take a quarter

Case = Callable[[], None]


class Function(Protocol):
    """A function or method, whose code can be changed."""

    __code__: CodeType


class Mutant(NamedTuple):
    """A change of `function`: its name says the function, and the text before and after."""

    name: str
    function: Function
    code: CodeType


class Sample(NamedTuple):
    """A class file, and the origins of the values on the operand stacks of its methods, as digests."""

    content: bytes
    answers: dict[str, str]


def mutants() -> Iterator[Mutant]:
    """Yields every mutant."""
    for module in MODULES:
        for name, function, definition in functions(module):
            names: Counter[str] = Counter()
            for change, code in changes(module, definition):
                names[change] += 1
                nth = f" ({names[change]})" if names[change] > 1 else ""
                yield Mutant(f"{name}: {change}{nth}", function, code)


def functions(module: ModuleType) -> Iterator[tuple[str, Function, ast.FunctionDef]]:
    """Yields name, object and definition of the functions and methods of a module."""
    for each in ast.parse(inspect.getsource(module)).body:
        if isinstance(each, ast.FunctionDef) and each.name not in AT_IMPORT | CHANGED_ELSEWHERE:
            yield each.name, inspect.unwrap(vars(module)[each.name]), each
        elif isinstance(each, ast.ClassDef):
            for method in each.body:
                if isinstance(method, ast.FunctionDef):
                    found = vars(vars(module)[each.name])[method.name]
                    yield f"{each.name}.{method.name}", inspect.unwrap(found), method


def changes(module: ModuleType, definition: ast.FunctionDef) -> Iterator[tuple[str, CodeType]]:
    """Yields each change of a function, with its code."""
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body
    for context, node in [found for each in body for found in changeable(each, each)]:
        before = text_of(context)
        for _, changed in variants(node, DIFFERENT):
            ast.copy_location(changed, node)
            Replace(node, changed).visit(definition)
            after = text_of(changed if context is node else context)
            yield (
                f"without {before}" if after == "pass" else f"{before} → {after}",
                compiled(module, definition),
            )
            Replace(changed, node).visit(definition)


def changeable(node: ast.AST, context: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yields the nodes that may be changed, each with itself or, if it says little, with what is around it."""
    if not isinstance(node, ast.Constant | ast.USub | ast.UnaryOp | ast.Slice | ast.keyword):
        context = node
    yield context, node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ESTIMATES:
        return
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in {"annotation", "returns"}:
                yield from changeable(child, context)


def text_of(node: ast.AST) -> str:
    """Returns the text of an expression, or the first line of a statement."""
    return ast.unparse(ast.fix_missing_locations(node)).strip().split("\n")[0]


def compiled(module: ModuleType, definition: ast.FunctionDef) -> CodeType:
    """Returns the code of a function."""
    tree = ast.fix_missing_locations(ast.Module([definition], []))
    outer = compile(tree, str(module.__file__), "exec")
    return next(each for each in outer.co_consts if isinstance(each, CodeType))


@contextmanager
def changed_by(mutant: Mutant) -> Iterator[None]:
    """Puts the change into effect."""
    code = mutant.function.__code__
    mutant.function.__code__ = mutant.code
    try:
        yield
    finally:
        mutant.function.__code__ = code


def written_cases() -> list[Case]:
    """Returns the tests of WRITTEN, with all their arguments, save those of random inputs."""
    tests = [
        function
        for module in WRITTEN
        for name, function in vars(module).items()
        if name.startswith("test_") and not hasattr(function, "hypothesis")
    ]
    return [case for test in tests for case in cases_of(test)]


def cases_of(test: Callable[..., None]) -> Iterator[Case]:
    """Yields a test for each choice of its arguments."""
    choices = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = mark.args[0]
            single = isinstance(names, str) and "," not in names
            listed = [names] if single else names
            choices.append(
                [dict(zip(listed, (each,) if single else each, strict=True)) for each in mark.args[1]]
            )
    patches = "monkeypatch" in inspect.signature(test).parameters
    for chosen in product(*choices):
        yield bound(test, {name: value for each in chosen for name, value in each.items()}, patches)


def bound(test: Callable[..., None], arguments: dict[str, Any], patches: bool) -> Case:
    """Returns a test with its arguments."""

    def run() -> None:
        if not patches:
            test(**arguments)
            return
        with pytest.MonkeyPatch.context() as patch:
            test(**arguments, monkeypatch=patch)

    return run


def samples(directory: Path) -> list[Sample]:
    """Returns classes of the JDK and what ASM says of them; the unchanged modules have to agree."""
    files = [each for file in jdk.find_jdk().files for each in contents(Path(file), STEP)]
    files = [content for content in files if len(content) <= LONGEST]
    answers = ask(files, directory)
    found = []
    for content in files:
        origins = dict(origins_of(content))
        known = {method: answers[method] for method in origins if answers[method] != "LONG"}
        assert known == {method: digest(origins[method]) for method in known}
        found.append(Sample(content, known))
    return found


def is_noticed(cases: list[Case], classes: list[Sample]) -> bool:
    """Returns whether some case fails or some class has other origins; running for ever fails, too."""
    try:
        with limited(SECONDS):
            for case in cases:
                case()
        for content, answers in classes:
            with limited(SECONDS):
                origins = dict(origins_of(content))
            if {method: digest(origins[method]) for method in answers} != answers:
                return True
    except Exception:  # noqa: BLE001 whatever is raised is noticed
        return True
    return False


def sampled(name: str, part: int) -> bool:
    """Returns whether the mutant is one of the fixed sample, which has one in `part`."""
    return crc32(name.encode()) % part == 0


def survivors(part: int) -> tuple[list[str], int]:
    """Returns the names of the mutants in the sample that nothing notices, and how many mutants it has."""
    cases = written_cases()
    with tempfile.TemporaryDirectory() as folder:
        classes = samples(Path(folder))
    assert not is_noticed(cases, classes), "the unchanged modules fail, or are too slow"
    found, total = [], 0
    for mutant in mutants():
        if sampled(mutant.name, part):
            total += 1
            with changed_by(mutant):
                if not is_noticed(cases, classes):
                    found.append(mutant.name)
    return found, total


if __name__ == "__main__":
    surviving, among = survivors(1)
    print("\n".join([*surviving, f"{len(surviving)} of {among} survive"]))
