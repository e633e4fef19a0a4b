"""Tables of a graph: what nodes and relationships are made from, by label and by relationship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cypher import graph
from cypher.schema import NONE, Int32, Int64

# A name longer than this is cut, and ends with its hash: an index takes no longer one.
_LONGEST_NAME = 2000

Numbers = NDArray[Any]


class Keys:
    """The keys of the nodes of one generation."""

    def __init__(self, generation: int) -> None:
        self.generation = generation

    def of(self, label: str, numbers: Numbers) -> pl.Series:
        """Returns the keys of nodes of one label by their numbers, null where that is -1."""
        keys: Int64 = numbers.astype(np.int64) + graph.key_base(self.generation, label)
        return optional(keys, numbers >= 0)


def optional(values: Numbers | pl.Series, present: NDArray[np.bool_]) -> pl.Series:
    """Returns `values`, null where they are not `present`."""
    series = pl.Series(values)
    if present.all():
        return series
    return series.to_frame("v").select(pl.when(pl.Series(present)).then(pl.col("v"))).to_series()


def numbers(values: Numbers) -> pl.Series:
    """Returns numbers, null where they are -1."""
    return optional(values.astype(np.int64), values != NONE)


def flags(values: Int32, bit: int) -> pl.Series:
    """Returns which values have a bit."""
    return pl.Series((values & bit) != 0)


def choose(words: Sequence[str | None], places: Numbers) -> pl.Series:
    """Returns the words at these places, null where that is -1."""
    if not words:
        return pl.Series([None] * len(places), dtype=pl.String)
    found = pl.Series(words, dtype=pl.String).gather(pl.Series(np.maximum(places, 0)))
    return optional(found, places >= 0)


def visible(text: str) -> str:
    r"""Returns a text that is valid Unicode: lone surrogates become escapes.

    >>> visible("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def digest(text: str) -> str:
    """Returns the SHA-256 of a text in UTF-8 with surrogates."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def name(text: str) -> str:
    """Returns a name that an index takes."""
    found = visible(text)
    return found if len(found) <= _LONGEST_NAME else f"{found[:_LONGEST_NAME]}…{digest(text)}"


class Tables:
    """The frames of one generation: node frames have `key` and, if the label has `more`, `labels`."""

    def __init__(self, generation: int) -> None:
        self.keys = Keys(generation)
        self.nodes: dict[str, list[pl.DataFrame]] = {}
        self.edges: dict[str, list[pl.DataFrame]] = {}

    @property
    def number_of_nodes(self) -> int:
        """The number of nodes."""
        return sum(len(frame) for frames in self.nodes.values() for frame in frames)

    @property
    def size(self) -> int:
        """The number of nodes and relationships."""
        return self.number_of_nodes + sum(len(frame) for frames in self.edges.values() for frame in frames)

    def counts(self) -> dict[str, int]:
        """Returns the number of nodes of each label and of relationships of each kind."""
        both = {**self.nodes, **self.edges}
        return {name: sum(map(len, frames)) for name, frames in both.items()}

    def add_nodes(
        self,
        label: str,
        ids: Numbers,
        columns: Mapping[str, pl.Series],
        labels: Mapping[str, NDArray[np.bool_]] | None = None,
    ) -> None:
        """Adds nodes; `labels` says which of them have a further label."""
        declared = graph.node_of(label)
        undeclared = set(columns) ^ set(declared.properties) | set(labels or ()) - set(declared.more)
        assert not undeclared, undeclared
        frame = pl.DataFrame({"key": self.keys.of(label, ids), **columns})
        if declared.more:
            frame = frame.with_columns(labels=_joined(labels or {}, len(ids)))
        self.nodes.setdefault(label, []).append(frame)

    def add_edges(
        self, edge: str, start: Numbers, end: Numbers, columns: Mapping[str, pl.Series] | None = None
    ) -> None:
        """Adds relationships between the nodes with these numbers; rows with a -1 at either end are left out."""
        declared = graph.edge_named(edge)
        undeclared = set(columns or ()) ^ set(declared.properties)
        assert not undeclared, undeclared
        frame = pl.DataFrame(
            {
                "start": self.keys.of(declared.start, start),
                "end": self.keys.of(declared.end, end),
                **(columns or {}),
            }
        )
        self.edges.setdefault(edge, []).append(frame.drop_nulls(["start", "end"]))


def _joined(labels: Mapping[str, NDArray[np.bool_]], number: int) -> pl.Series:
    """Returns the further labels of each node, joined by semicolons."""
    found = pl.Series([""], dtype=pl.String).new_from_index(0, number)
    for label, has in labels.items():
        found = pl.select(
            pl.when(pl.Series(has))
            .then(pl.concat_str(pl.lit(found), pl.lit(label + ";")))
            .otherwise(pl.lit(found))
        ).to_series()
    return found.str.strip_suffix(";")


def columns_of(rows: Sequence[tuple[int, ...]]) -> tuple[Int64, Int64]:
    """Returns pairs as columns."""
    first, second = np.array(rows, np.int64).reshape(-1, 2).T
    return first, second
