"""The call graph of a run as columns: one row for each call that may be made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.exits import usage
from cli.naming import Names
from cli.run import Run
from cli.summary import causing_sites
from cli.text import pattern_of, shown
from cypher.schema import NONE, Int32
from engine.result import Result
from engine.sites import BYTECODE, ORIGINS, Sites


class Edges(NamedTuple):
    """Calls with a caller in the program: caller, offset in it, origin of the site, callee. Each once."""

    caller: Int32
    offset: Int32
    origin: Int32
    callee: Int32

    def take(self, index: NDArray[np.bool_] | NDArray[np.int64]) -> Edges:
        """Returns the rows at `index`."""
        return Edges(*(column[index] for column in self))


def edges_of(result: Result) -> Edges:
    """Returns the calls made, ordered by caller, offset, origin and callee."""
    sites: Sites = result.sites
    causing = causing_sites(result)
    caller, offset = sites.method[causing], sites.offset[causing]
    origin = sites.origin[result.call_site]
    table = np.stack((caller, offset, origin, result.call_callee), axis=1)[caller != NONE]
    return Edges(*np.unique(table, axis=0).T) if len(table) else Edges(*table.T)


def of_application(edges: Edges, names: Names) -> Edges:
    """Returns the calls from or to methods of the application."""
    return edges.take(names.is_application(edges.caller) | names.is_application(edges.callee))


def kind_of(origin: int) -> str:
    """Returns what makes a call: `call` for one in the bytecode, else the origin of its site."""
    return "call" if origin == BYTECODE else ORIGINS[origin]


def methods_named(run: Run, wanted: str) -> set[int]:
    """Returns the reached methods with this name, as in `a.b.C.m` or `a.b.C.m(I)V`. Raises `Failure`.

    `*` stands for any text, `?` for any character.
    """
    expression = pattern_of(wanted)
    with_descriptor = "(" in wanted
    found = set()
    for method in run.result.reached.tolist():
        name = run.names.method(method)
        if expression.fullmatch(str(name) if with_descriptor else name.qualified):
            found.add(method)
    if not found:
        raise usage(f"no method that may run is called {shown(wanted)}")
    return found
