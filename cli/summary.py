"""The numbers that sum a run up."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cli.naming import Names
from cypher.schema import NONE, Int32, Int64
from engine.result import PARTIAL, RESOLVED, UNRESOLVED, ReflectiveSite, Result
from engine.sites import BYTECODE, REFLECTION
from engine.solver import PointsToRows

_KEY = 32


def summary(result: Result, names: Names) -> dict[str, Any]:
    """Returns the sizes of a result, as `analyze --format json` prints them."""
    explicit, keys = is_call_edge(result), edge_keys(result)
    status = Counter(each.status for each in application_sites(result, names))
    return {
        "reachableMethods": len(result.reached),
        "applicationMethods": int(names.is_application(result.reached).sum()),
        "callEdges": len(distinct(keys[explicit])),
        "implicitEdges": len(distinct(keys[~explicit])),
        "pointsToPairs": points_to_pairs(result.points_to),
        "sites": {each: status[each] for each in (RESOLVED, PARTIAL, UNRESOLVED)},
    }


def distinct(keys: Int64) -> Int64:
    """Returns the different keys, ascending; none is negative."""
    ordered = np.sort(keys)  # (numpy's own `unique` takes ten times as long for millions)
    found: Int64 = ordered[np.diff(ordered, prepend=NONE) != 0]
    return found


def is_call_edge(result: Result) -> NDArray[np.bool_]:
    """Returns which of the calls made are of the bytecode, or by reflection; the JVM makes the others besides."""
    origin = result.sites.origin[result.call_site]
    found: NDArray[np.bool_] = (origin == BYTECODE) | (origin == REFLECTION)
    return found


def causing_sites(result: Result) -> Int32:
    """Returns, for each call made, the site that makes it, or on whose behalf it is made."""
    cause = result.sites.cause[result.call_site]
    found: Int32 = np.where(cause == NONE, result.call_site, cause)
    return found


def edge_keys(result: Result) -> Int64:
    """Returns one number for each call made: equal numbers are the same edge."""
    found: Int64 = causing_sites(result).astype(np.int64) << _KEY | result.call_callee
    return found


def points_to_pairs(points_to: PointsToRows) -> int:
    """Returns the number of pairs of pointer and object; pointers of a collapsed cycle count each."""
    bits = np.bitwise_count(points_to.word.view(np.uint64))
    before = np.zeros(len(bits) + 1, np.int64)
    np.cumsum(bits, out=before[1:], dtype=np.int64)
    sizes = before[points_to.at[1:]] - before[points_to.at[:-1]]
    return int(sizes[points_to.representative].sum())


def application_sites(result: Result, names: Names) -> list[ReflectiveSite]:
    """Returns the reflective sites in methods of the application."""
    if not result.reflective:
        return []
    methods = result.sites.method[np.array([each.site for each in result.reflective], np.int32)]
    own = names.is_application(methods)
    return [each for each, mine in zip(result.reflective, own.tolist(), strict=True) if mine]
