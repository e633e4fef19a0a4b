"""Mutants of Python code: what may be changed in a function, and what is run to notice it, but not for ever.

Mutants are named by function and text, so that a change elsewhere in a module renames none.
"""

from __future__ import annotations

import ast
import gc
import inspect
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import pytest

Comparisons = dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]
Case = Callable[[], None]

COMPARISONS: Comparisons = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}


def variants(node: ast.AST, comparisons: Comparisons = COMPARISONS) -> Iterator[tuple[str, ast.AST]]:
    """Yields changed copies of one expression or statement, each with what it is to be called."""
    match node:
        case ast.Compare(left, operators, comparators):
            for place, operator in enumerate(operators):
                for other in comparisons.get(type(operator), ()):
                    changed = [*operators[:place], other(), *operators[place + 1 :]]
                    comparison = ast.Compare(left, changed, comparators)
                    yield ast.unparse(comparison), comparison
        case ast.BoolOp(operator, values):
            swapped = ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            yield ast.unparse(swapped), swapped
            for dropped in values:
                rest = [each for each in values if each is not dropped]
                yield f"without {ast.unparse(dropped)}", ast.BoolOp(operator, rest) if rest[1:] else rest[0]
        case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
            sign = "not" if isinstance(node.op, ast.Not) else "~"
            yield f"without {sign}: {ast.unparse(operand)}", operand
        case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
            computed = ast.BinOp(left, OPERATIONS[type(operation)](), right)
            yield ast.unparse(computed), computed
        case ast.Constant(int(value)):
            for number in (not value,) if isinstance(value, bool) else (value + 1, value - 1):
                yield f"{value} becomes {number}", ast.Constant(number)
        case ast.Call(ast.Name(function), arguments, keywords) if function in FUNCTIONS:
            called = ast.Call(ast.Name(FUNCTIONS[function], ast.Load()), arguments, keywords)
            yield ast.unparse(called), called
        case ast.comprehension(target, iterable, [_, *_]):
            yield "without if", ast.comprehension(target, iterable, [], node.is_async)
        case ast.If(test, body, orelse):
            for outcome in (True, False):
                yield f"{ast.unparse(test)} becomes {outcome}", ast.If(ast.Constant(outcome), body, orelse)
        case ast.While(test, body, orelse) if not isinstance(test, ast.Constant):
            yield f"{ast.unparse(test)} becomes False", ast.While(ast.Constant(False), body, orelse)
        case ast.IfExp(test, chosen, other):
            yield f"{ast.unparse(test)} becomes True", chosen
            yield f"{ast.unparse(test)} becomes False", other
        case (
            ast.Assign() | ast.AugAssign() | ast.AnnAssign(value=ast.expr()) | ast.Delete() | ast.Expr()
            | ast.Continue() | ast.Break() | ast.Return() | ast.Raise()
        ):  # fmt: skip
            yield f"without {ast.unparse(node)}", ast.Pass()


class Replace(ast.NodeTransformer):
    """Puts `new` in the place of `old`."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in what takes more seconds of CPU time than that.

    Callbacks of the garbage collector wait meanwhile: what is raised in one is lost, and pytest calls it an error.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        gc.callbacks[:] = callbacks


# --- mutants of the functions of a module, put into the functions themselves
class Function(Protocol):
    """A function or method, whose code can be changed."""

    __code__: CodeType


class Mutant(NamedTuple):
    """A change of `function`: its name says the function, and the text before and after."""

    name: str
    function: Function
    code: CodeType


def mutants_of(module: ModuleType, skipped: Collection[str] = ()) -> Iterator[Mutant]:
    """Yields the mutants of the functions and methods of a module, save those that are `skipped`."""
    for name, function, definition in _functions(module):
        if name in skipped:
            continue
        names: Counter[str] = Counter()
        for change, code in _changes(module, definition):
            names[change] += 1
            nth = f" ({names[change]})" if names[change] > 1 else ""
            if code.co_freevars == function.__code__.co_freevars:
                yield Mutant(f"{name}: {change}{nth}", function, code)


def _functions(module: ModuleType) -> Iterator[tuple[str, Function, ast.FunctionDef]]:
    """Yields name, object and definition of the functions and methods of a module."""
    for each in ast.parse(inspect.getsource(module)).body:
        if isinstance(each, ast.FunctionDef):
            yield each.name, inspect.unwrap(vars(module)[each.name]), each
        elif isinstance(each, ast.ClassDef):
            for method in each.body:
                if isinstance(method, ast.FunctionDef):
                    found = vars(vars(module)[each.name])[method.name]
                    if isinstance(found, property):
                        found = found.fget
                    elif isinstance(found, cached_property):
                        found = found.func
                    yield f"{each.name}.{method.name}", inspect.unwrap(found), method


def _changes(module: ModuleType, definition: ast.FunctionDef) -> Iterator[tuple[str, CodeType]]:
    """Yields each change of a function, with its code."""
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body
    for context, node in [found for each in body for found in _changeable(each, each)]:
        before = _text(context)
        for _, changed in variants(node):
            ast.copy_location(changed, node)
            Replace(node, changed).visit(definition)
            after = _text(changed if context is node else context)
            yield f"without {before}" if after == "pass" else f"{before} → {after}", _code(module, definition)
            Replace(changed, node).visit(definition)


def _changeable(node: ast.AST, context: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yields the nodes that may be changed, each after itself or, if it says little, after what is around it."""
    if not isinstance(node, ast.Constant | ast.USub | ast.UnaryOp | ast.Slice | ast.keyword):
        context = node
    yield context, node
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in {"annotation", "returns"}:
                yield from _changeable(child, context)


def _text(node: ast.AST) -> str:
    """Returns the text of an expression, or the first line of a statement."""
    return ast.unparse(ast.fix_missing_locations(node)).strip().split("\n")[0]


def _code(module: ModuleType, definition: ast.FunctionDef) -> CodeType:
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


def sampled(name: str, part: int) -> bool:
    """Returns whether the mutant is one of the fixed sample, which has one in `part`."""
    return crc32(name.encode()) % part == 0


# --- what notices them
def cases_of(modules: Sequence[ModuleType], skipped: Collection[str] = ()) -> list[Case]:
    """Returns the tests of `modules`, with all their arguments, save what Hypothesis draws and what is to fail."""
    tests = [
        function
        for module in modules
        for name, function in vars(module).items()
        if name.startswith("test_") and name not in skipped and not hasattr(function, "hypothesis")
        if not any(mark.name == "xfail" for mark in getattr(function, "pytestmark", ()))
    ]
    return [case for test in tests for case in _bound_in_all_ways(test)]


def _bound_in_all_ways(test: Callable[..., None]) -> Iterator[Case]:
    """Yields a test for each choice of its arguments."""
    choices = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = mark.args[0]
            single = isinstance(names, str) and "," not in names
            listed = [names] if single else names
            if isinstance(listed, str):
                listed = [each.strip() for each in listed.split(",")]
            rows = [getattr(each, "values", (each,) if single else each) for each in mark.args[1]]
            choices.append([dict(zip(listed, row, strict=True)) for row in rows])
    for chosen in product(*choices):
        yield _bound(test, {name: value for each in chosen for name, value in each.items()})


def _bound(test: Callable[..., None], arguments: dict[str, Any]) -> Case:
    """Returns a test with its arguments, fixtures included."""
    wanted = inspect.signature(test).parameters

    def run() -> None:
        with pytest.MonkeyPatch.context() as patch:
            given = {"monkeypatch": patch} if "monkeypatch" in wanted else {}
            if "tmp_path" not in wanted:
                test(**arguments, **given)
                return
            with tempfile.TemporaryDirectory(prefix="heliograph-tests-") as folder:
                test(**arguments, **given, tmp_path=Path(folder))

    return run


def is_noticed(cases: list[Case], seconds: float) -> bool:
    """Returns whether some case fails; running for longer than so many seconds of CPU time fails, too.

    The case goes to the front, because it may well notice the next mutant.
    """
    for place, case in enumerate(cases):
        try:
            with limited(seconds):
                case()
        except (Exception, pytest.fail.Exception):  # noqa: BLE001 whatever is raised is noticed
            cases.insert(0, cases.pop(place))
            return True
    return False


def survivors(
    mutants: Iterable[Mutant], cases: list[Case], seconds: float, restore: Callable[[], None] = lambda: None
) -> tuple[list[str], int]:
    """Returns the names of the mutants that no case notices, and how many mutants there are.

    `restore` undoes, after each mutant, what it may have done to the state of a module.
    """
    assert not is_noticed(cases, seconds), "the unchanged modules fail, or are too slow"
    found, total = [], 0
    for mutant in mutants:
        total += 1
        with changed_by(mutant):
            if not is_noticed(cases, seconds):
                found.append(mutant.name)
        restore()
    assert not is_noticed(cases, seconds), "a mutant left something behind"
    return found, total
