"""The call graph of a run as columns: one row for each call that may be made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cli.exits import usage
from cli.naming import OFFSET_BITS, Names
from cli.run import Run
from cli.summary import causing_sites, distinct
from cli.text import pattern_of, shown
from cypher.schema import NONE, Int32, Int64
from engine.result import Result
from engine.sites import BYTECODE, ORIGINS, Sites

ORIGIN_BITS, METHOD_BITS = 3, 32


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
    places, place_of = np.unique(place_keys(sites.method, sites.offset), return_inverse=True)
    causing = causing_sites(result)
    own = sites.method[causing] != NONE
    made = place_of[causing[own]] << ORIGIN_BITS | sites.origin[result.call_site[own]]
    keys = distinct(made << METHOD_BITS | result.call_callee[own])
    made, callee = keys >> METHOD_BITS, keys & ((1 << METHOD_BITS) - 1)
    caller, offset = parts_of(places[made >> ORIGIN_BITS])
    columns = caller, offset, made & ((1 << ORIGIN_BITS) - 1), callee
    return Edges(*(each.astype(np.int32) for each in columns))


def place_keys(method: Int32 | Int64, offset: Int32) -> Int64:
    """Returns one number for each place in a method, ordered as (method, offset) is; an offset of none is -1."""
    keys: Int64 = (method.astype(np.int64) << OFFSET_BITS) + offset + 1
    return keys


def parts_of(places: Int64) -> tuple[Int64, Int64]:
    """Returns the methods and offsets of such numbers."""
    return places >> OFFSET_BITS, (places & ((1 << OFFSET_BITS) - 1)) - 1


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
