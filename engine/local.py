"""Operands that constants of their own method decide (Livshits, Whaley, Lam, § 6.3: LOCAL)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from cypher.program import Program
from cypher.schema import Facts
from engine.constraints import CLASS
from engine.direct import DEFINITIONS
from engine.kernel.index import COPY, RESULT, TEXT, TYPE
from engine.models import SiteCall
from engine.reflection import api
from engine.reflection.api import Api

_Definitions = Mapping[int, list[tuple[int, int]]]


def local_calls(
    facts: Facts, calls: Sequence[tuple[Api, SiteCall]], program: Program
) -> Iterator[tuple[int, int]]:
    """Yields (site, operand) of the calls of a batch that constants decide: those that find classes, then those on these."""
    definitions = _definitions_in(facts, {call.method for _, call in calls})
    found: set[int] = set()
    for role in (api.FOR_NAME, api.CLASS_NEW):
        for each, call in calls:
            pointer = call.argument(each.named if role == api.FOR_NAME else each.subject)
            if each.role == role and (
                _is_local(definitions, pointer, found) or _is_literal(program, call.method)
            ):
                found.add(call.site)
                yield call.site, pointer


def _is_literal(program: Program, method: int) -> bool:
    """Returns whether a method is that by which compilers before Java 5 wrote class literals: T.class."""
    return program.name_of_method(method)[1:] == ("class$", f"(Ljava/lang/String;)L{CLASS};")


def _definitions_in(facts: Facts, methods: Collection[int]) -> _Definitions:
    """Returns (kind, value) of what each variable of the methods is defined by, as in `engine.direct.DEFINITIONS`."""
    wanted = np.fromiter(methods, np.int32)
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for relation, kind, target, value in DEFINITIONS:
        if rows := facts.get(relation):
            rows = rows.take(np.isin(rows.method, wanted))
            for each, source in zip(
                getattr(rows, target).tolist(), getattr(rows, value).tolist(), strict=True
            ):
                found[each].append((kind, source))
    return found


def _is_local(definitions: _Definitions, pointer: int, found: Collection[int]) -> bool:
    """Returns whether all that may be at a variable comes from constants, or from the local calls that are `found`."""
    work, seen = [pointer], {pointer}
    while work:
        listed = definitions.get(work.pop(), [])
        for kind, value in listed:
            if kind == COPY and value not in seen:
                seen.add(value)
                work.append(value)
            elif kind not in (COPY, TEXT, TYPE) and not (kind == RESULT and value in found):
                return False
        if not listed:
            return False
    return True
