"""Loading over Bolt: batches that are each written once, whatever fails in between.

A batch and the note of which rows it holds are one transaction. Transactions of one generation take turns: each
locks the generation first and leaves out rows that are noted already, so a second loader, or a later try, adds none
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString, NamedTuple

import polars as pl
from neo4j import ManagedTransaction, Session
from neo4j.exceptions import Neo4jError

from cypher import graph
from cypher.load import statements, writing
from cypher.load.generations import Generation

BATCH = 10_000
_TOO_LARGE = (
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
    "Neo.TransientError.General.TransactionOutOfMemoryError",
    "Neo.ClientError.General.TransactionOutOfMemoryError",
)


class _TooLarge(Exception):
    """A batch takes more memory than the server gives to a transaction."""

    def __init__(self, cause: Neo4jError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Phase(NamedTuple):
    """Rows of one statement."""

    name: str
    statement: LiteralString
    rows: pl.DataFrame
    parameters: Mapping[str, Any]


def phases(
    generation: int, nodes: Mapping[str, Sequence[pl.DataFrame]], edges: Mapping[str, Sequence[pl.DataFrame]]
) -> Iterator[Phase]:
    """Yields what is to be written, all nodes first, always in the same order."""
    for node in graph.NODES:
        wanted = statements.node_columns(node)
        for place, frame in enumerate(nodes.get(node.label, ())):
            for labels, part in _by_labels(frame):
                parameters = {
                    "generation": generation,
                    "labels": [each for each in labels.split(";") if each],
                }
                name = f"{node.label}.{place}.{labels}"
                yield Phase(name, statements.create_nodes(node), part.select(wanted), parameters)
    for edge in graph.EDGES:
        wanted = statements.edge_columns(edge)
        for place, frame in enumerate(edges.get(edge.name, ())):
            yield Phase(f"{edge.name}.{place}", statements.create_edges(edge), frame.select(wanted), {})


def _by_labels(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yields the rows of nodes by their further labels."""
    if "labels" not in frame.columns:
        yield "", frame
        return
    for (labels,), part in frame.group_by("labels", maintain_order=True):
        yield str(labels), part


def load(
    session: Session, generation: Generation, wanted: Iterator[Phase], advance: Callable[[int, str], None]
) -> None:
    """Writes all phases; `advance` is told the number of items written and of what."""
    # The rows of the next batch are made while the server works on one.
    with ThreadPoolExecutor(1) as ahead:
        for phase in wanted:
            start, size = 0, BATCH
            found = ahead.submit(_rows, phase, start, size)
            while rows := found.result():
                found = ahead.submit(_rows, phase, start + len(rows), size)
                try:
                    writing.write(session, _write_or_refuse, generation.id, phase, start, rows)
                except _TooLarge as problem:
                    if size == 1:
                        raise problem.cause from None
                    size = size // 2
                    found = ahead.submit(_rows, phase, start, size)
                    continue
                advance(len(rows), phase.name.split(".")[0])
                start += len(rows)


def _rows(phase: Phase, start: int, number: int) -> list[tuple[Any, ...]]:
    """Returns rows as statements take them, fewer than `number` at the end."""
    return phase.rows.slice(start, number).rows()


def _write_or_refuse(
    transaction: ManagedTransaction, identity: str, phase: Phase, start: int, rows: list[tuple[Any, ...]]
) -> None:
    """Writes rows. Raises `_TooLarge`, after which the driver doesn't try the same again, as it would otherwise."""
    try:
        _write(transaction, identity, phase, start, rows)
    except Neo4jError as problem:
        if problem.code in _TOO_LARGE:
            raise _TooLarge(problem) from None
        raise


def _write(
    transaction: ManagedTransaction, identity: str, phase: Phase, start: int, rows: list[tuple[Any, ...]]
) -> None:
    """Notes the rows, the first of which is the phase's row `start`, and writes those that were not noted before."""
    end = start + len(rows)
    noted = transaction.run(
        "MATCH (g:Generation {id: $id}) SET g.locked = true REMOVE g.locked "
        "WITH g OPTIONAL MATCH (b:Batch {generation: $id, phase: $phase}) WHERE b.start < $end AND b.end > $start "
        "WITH b ORDER BY b.start WITH collect([b.start, b.end]) AS spans "
        "MERGE (n:Batch {id: $batch}) SET n.generation = $id, n.phase = $phase, n.start = $start, "
        "n.end = CASE WHEN n.end > $end THEN n.end ELSE $end END RETURN spans",
        batch=f"{identity} {phase.name} {start}", id=identity, phase=phase.name, start=start, end=end,
    ).single(strict=True)["spans"]  # fmt: skip
    for first, last in _gaps(noted, start, end):
        transaction.run(
            phase.statement, rows=rows[first - start : last - start], **phase.parameters
        ).consume()


def _gaps(spans: Sequence[Sequence[int | None]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the parts from `start` to `end` that no span covers; these are in order of their starts.

    >>> list(_gaps([[2, 4], [6, 7]], 0, 9))
    [(0, 2), (4, 6), (7, 9)]
    """
    place = start
    for first, last in spans:
        if first is None or last is None:
            continue
        if first > place:
            yield place, first
        place = max(place, last)
    if place < end:
        yield place, end
