"""Arrays that a method makes, fills and hands to a call, so that each element of the argument is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

Lists = dict[str, list[int]]
_Row = tuple[int, ...]


def exact_arguments(
    arrays: dict[int, int], rows: Lists, begin: dict[str, int], reflective: set[int], first_inner: int
) -> Iterator[tuple[int, int, int, int, int]]:
    """Infers rows of `exact_argument` (as ExactArgument, with the ordinal of the call).

    `arrays` has the constant lengths of new arrays by variable. The method's constraints begin at `begin` in
    `rows`; variables below `first_inner` outlive it. An array qualifies if stores with distinct constant
    indexes, reads and one argument position are all that it and its copies are used for; or several
    positions, if all are of calls of the `reflective` API, which doesn't keep or change its arrays.
    """
    copies = _copies(arrays, _tail(rows, begin, "assign", 3), first_inner)
    _drop_escaped(copies, rows, begin)
    elements = _elements(copies, arrays, rows, begin)
    uses: dict[int, list[tuple[int, int]]] = {}
    for ordinal, position, variable in _tail(rows, begin, "argument", 3):
        array = copies.get(variable)
        if array is not None:
            uses.setdefault(array, []).append((ordinal, position))
    calls = begin["invoke"]
    for array, positions in uses.items():
        stored = elements.get(array)
        if stored is None:
            continue
        if len(positions) > 1 and any(
            rows["invoke"][calls + 5 * ordinal + 2] not in reflective for ordinal, _ in positions
        ):
            continue
        length = arrays[array]
        for ordinal, position in positions:
            if not length:
                yield ordinal, position, 0, -1, 0
            for index in range(length):
                yield ordinal, position, length, index, stored.get(index, 0)


def _tail(rows: Lists, begin: dict[str, int], name: str, width: int) -> Iterator[_Row]:
    """Returns the method's rows of a relation."""
    listed = iter(rows[name][begin[name] :])
    return zip(*[listed] * width, strict=True)


def _copies(arrays: dict[int, int], assigns: Iterator[_Row], first_inner: int) -> dict[int, int]:
    """Returns the array that each variable is the same as, itself included; arrays that mix are left out."""
    sources: dict[int, set[int]] = {}
    for _, source, target in assigns:
        sources.setdefault(target, set()).add(source)
    copies = {array: array for array in arrays}
    mixed: set[int] = set()
    changed = True
    while changed:
        changed = False
        for target, found in sources.items():
            touched = {copies[source] for source in found if source in copies}
            if not touched or target in copies:
                continue
            changed = True
            copies[target] = array = min(touched)
            if len(touched) > 1 or target < first_inner:
                mixed |= touched
            mixed |= {array} if not found <= copies.keys() else set()
    # Sources that turned out to be copies only after the target did count as foreign: that is safe.
    for target, found in sources.items():
        if target in copies:
            mixed |= {copies[source] for source in found if copies.get(source) not in {None, copies[target]}}
    return {variable: array for variable, array in copies.items() if array not in mixed}


def _drop_escaped(copies: dict[int, int], rows: Lists, begin: dict[str, int]) -> None:
    """Removes arrays that are stored, cast or handed to a dynamic call."""
    for name, width, column in (
        ("store", 4, 1), ("static_store", 3, 1), ("array_store", 4, 1), ("cast", 4, 1), ("dynamic_argument", 3, 2),
    ):  # fmt: skip
        escaped = {copies[row[column]] for row in _tail(rows, begin, name, width) if row[column] in copies}
        for variable in [variable for variable, array in copies.items() if array in escaped]:
            del copies[variable]


def _elements(
    copies: dict[int, int], arrays: dict[int, int], rows: Lists, begin: dict[str, int]
) -> dict[int, dict[int, int]]:
    """Returns what each array holds, by index; arrays with other stores than one an index are left out."""
    elements: dict[int, dict[int, int]] = {array: {} for array in copies.values()}
    stores: Counter[int] = Counter()
    for _, source, index, base in _tail(rows, begin, "array_store", 4):
        array = copies.get(base)
        if array is not None:
            stores[array] += 1
            if 0 <= index < arrays[array]:
                elements[array][index] = source
    return {array: stored for array, stored in elements.items() if stores[array] == len(stored)}
