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

_ORIGIN_BITS, _METHOD_BITS = 3, 32


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
    origin, callee = sites.origin[result.call_site[own]], result.call_callee[own]
    return edges_at(places, distinct(edge_keys(place_of[causing[own]], origin, callee)))


def place_keys(method: Int32 | Int64, offset: Int32) -> Int64:
    """Returns one number for each place in a method, ordered as (method, offset) is; an offset of none is -1."""
    keys: Int64 = (method.astype(np.int64) << OFFSET_BITS) + offset + 1
    return keys


def edge_keys(place: Int64, origin: Int32, callee: Int32 | Int64) -> Int64:
    """Returns one number for each call, ordered as (place, origin, callee) is; places are numbered from 0 on."""
    keys: Int64 = (place << _ORIGIN_BITS | origin) << _METHOD_BITS | callee
    return keys


def edges_at(places: Int64, keys: Int64) -> Edges:
    """Returns the calls of these `edge_keys`; `places` has the key of each place by its number."""
    made, callee = keys >> _METHOD_BITS, keys & ((1 << _METHOD_BITS) - 1)
    place, origin = places[made >> _ORIGIN_BITS], made & ((1 << _ORIGIN_BITS) - 1)
    caller, offset = place >> OFFSET_BITS, (place & ((1 << OFFSET_BITS) - 1)) - 1
    return Edges(*(each.astype(np.int32) for each in (caller, offset, origin, callee)))


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
