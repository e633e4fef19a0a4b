"""Mutants of Python code: what may be changed in a function, and how it is run without running for ever."""

from __future__ import annotations

import ast
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

Comparisons = dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]

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
    """Raises TimeoutError in what takes more seconds of CPU time than that."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
