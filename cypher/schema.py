"""Every entity and relation of the analysis, declared once.

An entity class is an interned program element and, in the graph, a label. A relation class is a set of
columns and, in the graph, a relationship type. Everything that lists them (array columns, the README's
table, the generators of the property tests) is derived from the classes here.

Variables of a method are numbered in a fixed layout. A method with `P` parameters (the receiver counts as
one, a `long` counts as one) has variable `p` for parameter `p`, variable `P` for what it returns, variable
`P + 1` for what it throws, and the others after those. `-1` stands for "none" in every column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray

Int32: TypeAlias = NDArray[np.int32]
Int64: TypeAlias = NDArray[np.int64]
UInt8: TypeAlias = NDArray[np.uint8]

NONE = -1

# Kinds of `Invoke`.
STATIC, SPECIAL, VIRTUAL = range(3)


class Entity(int):
    """The number of an interned program element."""


class Type(Entity):
    """A class, an interface, an array type or a primitive type; phantom if no class file defines it."""


class Method(Entity):
    """A method or constructor that a class declares."""


class Field(Entity):
    """A field that a class declares."""


class Signature(Entity):
    """A method name with its descriptor: what dispatch looks up in a class."""


class Text(Entity):
    """A string constant of the program."""


class Variable(Entity):
    """A local variable, parameter, return value, thrown value or operand of one method; or a static field."""


class HeapObject(Entity):
    """An abstract object: an allocation site, a constant, or a metaobject."""


class CallSite(Entity):
    """A call instruction; or a call that the JVM or a reflective API makes on behalf of one."""


ENTITIES = (Type, Method, Field, Signature, Text, Variable, HeapObject, CallSite)


class New(NamedTuple):
    """Holds if the instruction at `offset` of `method` puts a new object of `type` into `target`."""

    method: Method
    offset: int
    type: Type
    target: Variable


class StringConstant(NamedTuple):
    """Holds if the instruction at `offset` of `method` puts the string constant `text` into `target`."""

    method: Method
    offset: int
    text: Text
    target: Variable


class ClassConstant(NamedTuple):
    """Holds if the instruction at `offset` of `method` puts the class literal of `type` into `target`."""

    method: Method
    offset: int
    type: Type
    target: Variable


class HandleConstant(NamedTuple):
    """Holds if the instruction at `offset` of `method` puts a method handle into `target`.

    It is of the reference `kind` (JVMS 4.4.8) and for `callee` or `field`, of which the other is -1.
    """

    method: Method
    offset: int
    kind: int
    callee: Method
    field: Field
    target: Variable


class MethodConstant(NamedTuple):
    """Holds if the JVM puts the method object of `callee` into `target` at `offset` of `method`."""

    method: Method
    offset: int
    callee: Method
    target: Variable


class Assign(NamedTuple):
    """Holds if `target = source` is in the body of `method`."""

    method: Method
    offset: int
    source: Variable
    target: Variable


class Cast(NamedTuple):
    """Holds if `target = (type) source` is in the body of `method`."""

    method: Method
    offset: int
    source: Variable
    type: Type
    target: Variable


class Load(NamedTuple):
    """Holds if `target = base.field` is in the body of `method`."""

    method: Method
    offset: int
    base: Variable
    field: Field
    target: Variable


class Store(NamedTuple):
    """Holds if `base.field = source` is in the body of `method`."""

    method: Method
    offset: int
    source: Variable
    field: Field
    base: Variable


class ArrayLoad(NamedTuple):
    """Holds if `target = base[…]` is in the body of `method`."""

    method: Method
    offset: int
    base: Variable
    target: Variable


class ArrayStore(NamedTuple):
    """Holds if `base[index] = source` is in the body of `method`; `index` is -1 unless it is a constant."""

    method: Method
    offset: int
    source: Variable
    index: int  # type: ignore[assignment]  # hides a method of tuples
    base: Variable


class StaticLoad(NamedTuple):
    """Holds if `target = field` is in the body of `method`, for a static field."""

    method: Method
    offset: int
    field: Field
    target: Variable


class StaticStore(NamedTuple):
    """Holds if `field = source` is in the body of `method`, for a static field."""

    method: Method
    offset: int
    source: Variable
    field: Field


class Invoke(NamedTuple):
    """Holds if `site` is the call at `offset` of `method`.

    `kind` is STATIC, SPECIAL (a constructor, private or super call: no dispatch) or VIRTUAL. `declared` is
    the type that the instruction names and `callee` the method that it resolves to (JVMS 5.4.3.3, 5.4.3.4),
    -1 if there is none. A VIRTUAL call selects by `signature` in the class of the receiver. `result` and
    `thrown` take what the callee returns and throws.
    """

    site: CallSite
    method: Method
    offset: int
    kind: int
    declared: Type
    callee: Method
    signature: Signature
    result: Variable
    thrown: Variable


class Argument(NamedTuple):
    """Holds if `variable` is argument `position` of `site`; the receiver of a call is position 0."""

    site: CallSite
    position: int
    variable: Variable


class ExactArgument(NamedTuple):
    """Holds if argument `position` of `site` is a new array of `length` elements with `variable` at `index`.

    The array is filled once at each index before the call and seen by nobody else. A `length` of 0 is one
    row with `index` -1; `variable` is -1 for null.
    """

    site: CallSite
    position: int
    length: int
    index: int  # type: ignore[assignment]  # hides a method of tuples
    variable: Variable


class ResultCast(NamedTuple):
    """Holds if what `site` returns is cast to `type` on every way on which its method goes on.

    The method may do so with another cast on each way; several rows of a site are an intersection. `site` calls
    a method that makes or finds objects by reflection. Where an exception leaves the method, it doesn't go on.
    """

    site: CallSite
    type: Type


class Catch(NamedTuple):
    """Holds if a throwable at `source` that is a subtype of `type` reaches the handler variable `target`."""

    method: Method
    offset: int
    source: Variable
    type: Type
    target: Variable


class Uncaught(NamedTuple):
    """Holds if a throwable at `source` that is no subtype of `type` goes on to `target`."""

    method: Method
    offset: int
    source: Variable
    type: Type
    target: Variable


class Initialises(NamedTuple):
    """Holds if the instruction at `offset` of `method` triggers the initialisation of `type` (JVMS 5.5)."""

    method: Method
    offset: int
    type: Type


FACTS: tuple[type[tuple[Any, ...]], ...] = (
    New, StringConstant, ClassConstant, HandleConstant, MethodConstant, Assign, Cast, Load, Store, ArrayLoad, ArrayStore, StaticLoad,
    StaticStore, Invoke, Argument, ExactArgument, ResultCast, Catch, Uncaught, Initialises,
)  # fmt: skip


class PointsTo(NamedTuple):
    """Holds if `pointer` may refer to `obj`."""

    pointer: Variable
    obj: HeapObject


class FieldPointsTo(NamedTuple):
    """Holds if `field` of the object `base` may refer to `obj`; field -1 stands for the elements of an array."""

    base: HeapObject
    field: Field
    obj: HeapObject


class Reachable(NamedTuple):
    """Holds if `method` may run."""

    method: Method


class Calls(NamedTuple):
    """Holds if `site` may call `callee`."""

    site: CallSite
    callee: Method


class Initialised(NamedTuple):
    """Holds if `type` may be initialised, first seen at `offset` of `method`."""

    type: Type
    method: Method
    offset: int


DERIVED: tuple[type[tuple[Any, ...]], ...] = (PointsTo, FieldPointsTo, Reachable, Calls, Initialised)


def columns(relation: type[tuple[Any, ...]]) -> tuple[str, ...]:
    """Returns the column names of `relation`.

    >>> columns(Calls)
    ('site', 'callee')
    """
    return tuple(get_type_hints(relation))


def type_name(relation: type[tuple[Any, ...]]) -> str:
    """Returns the relationship type of `relation`.

    >>> type_name(FieldPointsTo)
    'FIELD_POINTS_TO'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", relation.__name__).upper()


class Rows:
    """The rows of one relation as int32 arrays, one per column, all of one length.

    >>> Rows(Calls, [np.array([7, 7], np.int32), np.array([1, 2], np.int32)]).callee.tolist()
    [1, 2]
    """

    def __init__(self, relation: type[tuple[Any, ...]], arrays: Iterable[Int32]) -> None:
        self.relation = relation
        self.__dict__.update(zip(columns_of(relation), arrays, strict=True))

    def __getattr__(self, name: str) -> Int32:  # (of what is no column)
        raise AttributeError(f"{self.__dict__['relation'].__name__} has no column {name!r}")

    def __len__(self) -> int:
        return len(next(iter(self)))

    def __iter__(self) -> Iterator[Int32]:
        return map(self.__dict__.__getitem__, columns_of(self.relation))

    def take(self, index: NDArray[Any]) -> Rows:
        """Returns the rows at `index` (positions or a mask)."""
        return Rows(self.relation, [column[index] for column in self])


_COLUMNS: dict[type[tuple[Any, ...]], tuple[str, ...]] = {each: columns(each) for each in FACTS + DERIVED}


def columns_of(relation: type[tuple[Any, ...]]) -> tuple[str, ...]:
    """Returns the column names of `relation` (as `columns`, without looking at the hints each time)."""
    found = _COLUMNS.get(relation)
    return columns(relation) if found is None else found


def empty(relation: type[tuple[Any, ...]]) -> Rows:
    """Returns no rows of `relation`."""
    return Rows(relation, [np.empty(0, np.int32) for _ in columns_of(relation)])


def rows(relation: type[tuple[Any, ...]], tuples: Iterable[tuple[int, ...]]) -> Rows:
    """Returns `tuples` as columns.

    >>> len(rows(Calls, [(1, 2), (1, 3)]))
    2
    """
    return Rows(relation, columns_of_rows(tuples, len(columns_of(relation))))


def columns_of_rows(tuples: Iterable[tuple[int, ...]], number: int) -> Int32:
    """Returns `tuples`, each of this `number` of values, as columns: an array of shape (number, rows).

    >>> columns_of_rows([(1, 2), (1, 3)], 2).tolist()
    [[1, 1], [2, 3]]
    """
    return np.ascontiguousarray(np.fromiter(chain.from_iterable(tuples), np.int32).reshape(-1, number).T)


def concatenate(parts: Iterable[Rows]) -> Rows:
    """Returns the rows of all `parts` (at least one), which are of one relation."""
    listed = list(parts)
    return Rows(listed[0].relation, [np.concatenate(each) for each in zip(*listed, strict=True)])


Facts: TypeAlias = dict[type[tuple[Any, ...]], Rows]


def joined(relation: type[tuple[Any, ...]], batches: Iterable[Facts]) -> Rows:
    """Returns the rows of `relation` of all batches, in their order."""
    parts = [facts[relation] for facts in batches if relation in facts]
    return concatenate(parts) if parts else empty(relation)


@dataclass(frozen=True)
class Diagnostic:
    """An anomaly of the input or of the run.

    `severity` is `note`, `warning` or `error`. `effect` says what it does to results: `none`, `precision`
    or `soundness`. `method` is written `a.b.C.m(I)V`; `offset` is a bytecode offset or -1.
    """

    code: str
    severity: str
    text: str
    effect: str = "none"
    archive: str = ""
    entry: str = ""
    method: str = ""
    offset: int = NONE


# As many names as people read in a sentence.
SHOWN = 20


def listed(names: Sequence[str]) -> str:
    """Returns the first names for the text of a diagnostic, and how many more there are.

    >>> listed(["a", "b"])
    'a, b'
    """
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
