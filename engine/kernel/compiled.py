"""How the kernel's functions are compiled: each once, for the types that its annotations name.

Only entry points are kept on disk, in the folder that the environment variable NUMBA_CACHE_DIR names. A warm
run loads those and never types an inner function; a cold one has `build` compile everything, innermost first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba import boolean, config, int32, int64, njit, typeof, types, uint64, void

from engine.kernel import state as pools
from engine.kernel.groups import Group, group_at, group_type
from engine.kernel.index import new_seen, no_index, none_added

# Functions that make arrays of their own need numba's reference counts; the others do without, since the
# state outlives every call.
_INNER: list[Any] = []
_ENTRIES: list[Any] = []
OPTIONS = {"error_model": "numpy", "nogil": True}
# Nobody but other compiled functions calls an inner one.
INNER = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _sources() -> str:
    """Returns a digest of what all the compiled code depends on."""
    digest = hashlib.sha256(str(config.BOUNDSCHECK).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


SOURCES = _sources()


# What groups of each class are like.
_PROTOTYPES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "State": lambda: pools.new_state(pools.Capacity(64, 64, 64, 64, 64, 64, 1)),
    "Index": no_index,
    "Added": none_added,
    "Seen": lambda: new_seen(1),
}
# From the table that Python hands to an entry point to the group that it is of.
state_at, index_at, added_at, seen_at = map(group_at, _PROTOTYPES.values())


def compiled(function: Callable[..., Any]) -> Any:
    """Declares an inner function that makes no arrays."""
    _INNER.append(njit(_nrt=False, **INNER)(function))
    return _INNER[-1]


def compiled_allocating(function: Callable[..., Any]) -> Any:
    """Declares an inner function that makes arrays."""
    _INNER.append(njit(**INNER)(function))
    return _INNER[-1]


def entry(function: Callable[..., Any]) -> Any:
    """Declares a function that Python calls."""
    dispatcher = njit(cache=True, **OPTIONS)(function)
    # By itself numba compiles again when the entry's own file has changed, not one that it calls.
    dispatcher._cache._cache_file._source_stamp = SOURCES
    _ENTRIES.append(dispatcher)
    return dispatcher


def _types() -> dict[str, Any]:
    """Returns the compiled type of each annotation."""
    named = {name: group_type(prototype()) for name, prototype in _PROTOTYPES.items()}
    parts = (each for _, each in named["State"].members.values() if isinstance(each, Group))
    return (
        named
        | {each.name: each for each in parts}
        | {
            "Nodes": typeof(pools.reserve(1, pools.NODE)),
            "Methods": typeof(pools.reserve(1, pools.METHOD)),
            "Counters": int64[::1],
            "Table": int64[::1],
            "Keys": int32[::1],
            "Words": uint64[::1],
            "Masks": uint64[:, ::1],
            "Word": uint64,
            "int": int64,
            "float": types.float64,
            "bool": boolean,
            "None": void,
            "tuple[int, int]": types.UniTuple(int64, 2),
            "tuple[int, bool]": types.Tuple((int64, boolean)),
            "tuple[int, int, int]": types.UniTuple(int64, 3),
        }
    )


def _signature(function: Any, by_name: dict[str, Any]) -> Any:
    annotations = dict(function.py_func.__annotations__)
    returns = by_name[annotations.pop("return")]
    return returns(*(by_name[each] for each in annotations.values()))


def is_built() -> bool:
    """Returns whether every entry point is on disk for this machine, these sources and this numba."""
    by_name = _types()
    for each in _ENTRIES:
        cache = each._cache  # numba has no public way to ask
        key = cache._index_key(_signature(each, by_name).args, each.targetctx.codegen())
        if key not in cache._cache_file._load_index():
            return False
    return True


def build() -> Iterator[float]:
    """Compiles everything; yields the share that is done."""
    by_name = _types()
    for index, each in enumerate(_INNER):
        each.compile(_signature(each, by_name))
        each.disable_compile()
        yield (index + 1) / (len(_INNER) + len(_ENTRIES))
    for index, each in enumerate(_ENTRIES):
        # Calls look an entry up by its arguments alone.
        each.compile(_signature(each, by_name).args)
        yield (len(_INNER) + index + 1) / (len(_INNER) + len(_ENTRIES))
