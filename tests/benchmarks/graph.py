"""How fast a run becomes a graph: by bulk import, and over Bolt beside the same statements with rows built before.

`python -m tests.benchmarks.graph RUN` prints rates and ratios, and never fails on one. It has a server of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neo4j import ManagedTransaction, Session

from cli.graph.build import tables_of
from cli.loading import Wanted, load_managed
from cli.run import Run
from cli.server import managed
from cypher import graph
from cypher.connection import USER, connect
from cypher.load import bolt, generations
from cypher.load.bolt import Phase
from cypher.load.generations import Generation
from cypher.server.managed import Managed
from cypher.server.progress import silently

# Rows of each table of relationships that are written over Bolt; more would take minutes, and say the same.
ROWS = 40_000
# Batches that are timed together: the rows of one are made while the server works on another.
TOGETHER = 4


def batches(run: Run, generation: int) -> Iterator[tuple[str, Phase]]:
    """Yields what is to be written, nodes or relationships, in phases of a few batches each."""
    tables = tables_of(run, generation, graph.STRUCTURE)
    edges = {name: [each.head(ROWS) for each in frames] for name, frames in tables.edges.items()}
    for what, nodes, relationships in (("nodes", tables.nodes, {}), ("relationships", {}, edges)):
        for phase in bolt.phases(generation, nodes, relationships):
            for place, rows in enumerate(phase.rows.iter_slices(TOGETHER * bolt.BATCH)):
                yield what, phase._replace(name=f"{phase.name}.{place}", rows=rows)


def write(session: Session, generation: Generation, batch: Phase) -> float:
    """Returns the seconds that a load takes."""
    began = time.perf_counter()
    bolt.load(session, generation, iter([batch]), lambda _items, _what: None)
    return time.perf_counter() - began


def write_built(session: Session, batch: Phase) -> float:
    """Returns the seconds that the same statements take when their rows are there."""

    def run(transaction: ManagedTransaction, rows: list[tuple[Any, ...]]) -> None:
        transaction.run(batch.statement, rows=rows, **batch.parameters).consume()

    built = [part.rows() for part in batch.rows.iter_slices(bolt.BATCH)]
    began = time.perf_counter()
    for rows in built:
        session.execute_write(run, rows)
    return time.perf_counter() - began


def compare(run: Run, session: Session) -> None:
    """Prints how both ways compare: a few batches at a time, each in turn the first. A first round warms up."""
    loaded: Counter[str] = Counter()
    built: Counter[str] = Counter()
    items: Counter[str] = Counter()
    for warm in (False, True):
        first, second = (generations.enter(session, f"{warm} {place}", {}) for place in range(2))
        pairs = zip(batches(run, first.number), batches(run, second.number), strict=True)
        for place, ((what, batch), (_, other)) in enumerate(pairs):
            if place % 2:
                alone, whole = write_built(session, other), write(session, first, batch)
            else:
                whole, alone = write(session, first, batch), write_built(session, other)
            if warm:
                loaded[what] += round(whole * 1e9)
                built[what] += round(alone * 1e9)
                items[what] += len(batch.rows)
    for what, number in items.items():
        rate, most = (number * 1e9 / spent[what] for spent in (loaded, built))
        print(f"{what:<14}{rate:9,.0f}/s, {rate / most:.0%} of {most:,.0f}/s with rows built before")


def main(arguments: list[str] | None = None) -> int:
    """Prints the rates of one run."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.graph", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--detail", choices=graph.DETAILS, default=graph.SLICES, help="of the bulk import")
    options = parser.parse_args(arguments)
    run = Run(options.run)
    with tempfile.TemporaryDirectory(prefix="heliograph-bench-") as folder:
        server = Managed(Path(folder) / "server", managed().jars)
        try:
            server.start()
            loaded = load_managed(Wanted(run, options.detail, "benchmark"), server, silently, replace=False)
            spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in loaded.seconds.items())
            print(f"bulk import   {loaded.items_per_second:9,.0f}/s ({spent})", flush=True)
            with connect(server.uri, USER, server.password()) as driver, driver.session() as session:
                compare(run, session)
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
