"""Loading a run into a real server: whole, once, whatever fails in between, and beside what is there."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j import Driver, ManagedTransaction, Session
from neo4j.exceptions import TransientError

from cli.exits import Failure
from cli.graph.build import tables_of
from cli.graph.frames import Tables, digest, visible
from cli.loading import Wanted, identity_of, load_managed, load_over_bolt
from cli.run import Run
from cypher import graph, schema
from cypher.connection import USER, connect
from cypher.load import bolt, generations, offline
from cypher.load.generations import CountMismatch, Generation
from cypher.schema import type_name
from cypher.server.managed import Managed
from cypher.server.progress import silently
from tests.cypher.conftest import clear, started


def nothing(_items: int, _what: str) -> None:
    """Says nothing."""


@pytest.fixture
def session(admin: Driver) -> Iterator[Session]:
    """A session on a database without our nodes."""
    with admin.session() as found:
        clear(found)
        yield found
        clear(found)


def entered(session: Session, identity: str = "one") -> Generation:
    generations.prepare(session)
    return generations.enter(session, identity, {"schemaVersion": str(graph.VERSION)})


def written(session: Session, generation: Generation, tables: Tables) -> None:
    bolt.load(session, generation, bolt.phases(generation.number, tables.nodes, tables.edges), nothing)


def current(session: Session) -> dict[str, str]:
    records = session.run("MATCH (c:Current)-[:IS]->(g:Generation) RETURN c.name AS name, g.id AS id")
    return {each["name"]: each["id"] for each in records}


@pytest.mark.parametrize("detail", graph.DETAILS)
def test_counts_are_those_of_the_run(run: Run, session: Session, admin: Driver, detail: str) -> None:
    loaded = load_over_bolt(Wanted(run, detail, "a"), admin, silently)
    generation = generations.enter(session, loaded.generation, {})
    tables = tables_of(run, generation.number, detail)
    found = generations.counts(session, generation.number)
    assert {name: number for name, number in found.items() if number} == {
        name: number for name, number in tables.counts().items() if number
    }
    assert current(session) == {"a": loaded.generation}
    assert session.run("MATCH (b:Batch) RETURN count(b) AS n").single(strict=True)["n"] == 0


def test_all_labels_and_types_of_the_database_are_declared(run: Run, session: Session, admin: Driver) -> None:
    load_over_bolt(Wanted(run, graph.FULL, "a"), admin, silently)
    labels = {each["l"] for each in session.run("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l")}
    more = {word for node in graph.NODES for word in node.more}
    assert labels <= set(graph.LABELS) | more | {"Generation", "Current", "Batch"}
    types = {each["t"] for each in session.run("MATCH ()-[r]->() RETURN DISTINCT type(r) AS t")}
    assert types <= {edge.type for edge in graph.EDGES} | {"IS"}


def test_facts_come_back_as_they_were(run: Run, session: Session, admin: Driver) -> None:
    loaded = load_over_bolt(Wanted(run, graph.FULL, "a"), admin, silently)
    number = generations.enter(session, loaded.generation, {}).number

    def numbers(label: str, keys: list[int | None]) -> list[int]:
        base = graph.key_base(number, label)
        return [-1 if key is None else key - base for key in keys]

    for relation, (start, end) in graph.FACT_ENDS.items():
        labels = graph.labels_of(relation)
        edge = graph.edge_named(f"{labels[start]}-{type_name(relation)}-{labels[end]}")
        records = [each.values() for each in session.run(_facts(edge))]
        columns = dict(zip(("start", "end", *edge.properties), zip(*records, strict=True), strict=False))
        named = {start: columns.get("start", ()), end: columns.get("end", ())}
        for name in edge.properties:
            named[name] = columns.get(name, ())
        found = [
            numbers(labels[name], list(named[name]))
            if labels[name]
            else [-1 if v is None else v for v in named[name]]
            for name in schema.columns_of(relation)
        ]
        expected = np.stack(list(run.result.facts[relation]), axis=1).tolist()
        assert sorted(map(list, zip(*found, strict=True))) == sorted(expected), relation


def _facts(edge: graph.Edge) -> str:
    wanted = ", ".join(f"r.{each}" for each in edge.properties)
    return f"MATCH (a:{edge.start})-[r:{edge.type}]->(b:{edge.end}) RETURN a.key, b.key" + (
        wanted and f", {wanted}"
    )


def test_loading_again_adds_nothing(run: Run, session: Session, admin: Driver) -> None:
    first = load_over_bolt(Wanted(run, graph.STRUCTURE, "a"), admin, silently)
    before = generations.totals(session)
    assert load_over_bolt(Wanted(run, graph.STRUCTURE, "a"), admin, silently).generation == first.generation
    assert generations.totals(session) == before


def test_a_load_goes_on_where_it_stopped(run: Run, session: Session) -> None:
    generation = entered(session)
    tables = tables_of(run, generation.number, graph.SLICES)

    class Stopped(Exception):
        pass

    for limit in (3, 9, 20):
        left = limit

        def stop(_items: int, _what: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Stopped

        with pytest.raises(Stopped):
            bolt.load(session, generation, bolt.phases(generation.number, tables.nodes, tables.edges), stop)
        assert current(session) == {}
    written(session, generation, tables)
    generations.compare(generations.counts(session, generation.number), tables.counts())


def test_d07_two_loaders_of_one_generation_write_it_once(run: Run, session: Session, admin: Driver) -> None:
    from concurrent.futures import ThreadPoolExecutor

    generation = entered(session)
    tables = tables_of(run, generation.number, graph.SLICES)

    def load(_number: int) -> None:
        with admin.session() as own:
            written(own, generation, tables)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(load, range(3)))
    generations.compare(generations.counts(session, generation.number), tables.counts())


def test_d07_two_loaders_of_two_generations_get_numbers_of_their_own(session: Session, admin: Driver) -> None:
    from concurrent.futures import ThreadPoolExecutor

    generations.prepare(session)

    def enter(name: str) -> int:
        with admin.session() as own:
            return generations.enter(own, name, {}).number

    with ThreadPoolExecutor(6) as pool:
        numbers = list(pool.map(enter, "abcdef"))
    assert sorted(numbers) == list(range(1, 7))


def test_d09_batches_halve_until_they_fit(
    run: Run, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    generation = entered(session)
    tables = tables_of(run, generation.number, graph.STRUCTURE)
    tried: list[int] = []
    write = bolt._write

    def narrow(
        transaction: ManagedTransaction,
        identity: str,
        phase: bolt.Phase,
        start: int,
        rows: list[tuple[Any, ...]],
    ) -> None:
        tried.append(len(rows))
        if len(rows) > 8:
            problem = TransientError("full")
            problem._neo4j_code = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
            raise problem
        write(transaction, identity, phase, start, rows)

    monkeypatch.setattr(bolt, "_write", narrow)
    written(session, generation, tables)
    generations.compare(generations.counts(session, generation.number), tables.counts())
    assert max(tried) > 8


def test_d12_a_generation_that_lacks_something_stays_unseen(run: Run, session: Session) -> None:
    generation = entered(session)
    tables = tables_of(run, generation.number, graph.STRUCTURE)
    lost = tables.edges["Class-DECLARES-Method"]
    tables.edges["Class-DECLARES-Method"] = [lost[0].head(5)]
    written(session, generation, tables)
    tables.edges["Class-DECLARES-Method"] = lost
    with pytest.raises(CountMismatch, match="Class-DECLARES-Method: 5 instead of"):
        generations.compare(generations.counts(session, generation.number), tables.counts())
    assert current(session) == {}


def test_d11_what_others_have_stays(run: Run, session: Session, admin: Driver) -> None:
    session.run("UNWIND range(1, 500) AS i CREATE (:Class {name: 'theirs', key: -i})").consume()
    session.run("CREATE (:Method {name: 'theirs'})-[:CALLS]->(:Method {name: 'theirs'})").consume()
    load_over_bolt(Wanted(run, graph.STRUCTURE, "a"), admin, silently)
    load_over_bolt(Wanted(run, graph.SLICES, "a"), admin, silently)
    theirs = "MATCH (n {name: 'theirs'}) RETURN count(n) AS n"
    assert session.run(theirs).single(strict=True)["n"] == 502


def test_a_new_load_takes_the_place_of_the_old(run: Run, session: Session, admin: Driver) -> None:
    first = load_over_bolt(Wanted(run, graph.STRUCTURE, "a"), admin, silently)
    other = load_over_bolt(Wanted(run, graph.STRUCTURE, "b"), admin, silently)
    second = load_over_bolt(Wanted(run, graph.SLICES, "a"), admin, silently)
    assert current(session) == {"a": second.generation, "b": other.generation}
    gone = session.run("MATCH (g:Generation {id: $id}) RETURN g", id=first.generation).single()
    assert gone is None
    numbers = {each["n"] for each in session.run("MATCH (m:Method) RETURN DISTINCT m.generation AS n")}
    assert len(numbers) == 2


def test_d11_another_schema_is_refused(run: Run, session: Session, admin: Driver) -> None:
    generations.prepare(session)
    generations.enter(session, "old", {"schemaVersion": "0"})
    with pytest.raises(Failure, match="another version of the graph"):
        load_over_bolt(Wanted(run, graph.STRUCTURE, "a"), admin, silently)


def test_the_identity_is_of_what_a_run_holds(run: Run, tmp_path: Path) -> None:
    copy = Run(Path(shutil.copytree(run.folder, tmp_path / "copy")))
    assert identity_of(copy, graph.FULL, "a") == identity_of(run, graph.FULL, "a")
    assert identity_of(copy, graph.SLICES, "a") != identity_of(run, graph.FULL, "a")
    calls = np.load(copy.folder / "calls.npy")
    np.save(copy.folder / "calls.npy", calls[:, :-1])
    assert identity_of(copy, graph.FULL, "a") != identity_of(run, graph.FULL, "a")


@pytest.mark.slow
def test_bulk_import_and_replacement(run: Run, jars: Path, tmp_path: Path) -> None:
    server = Managed(tmp_path / "server", jars)
    try:
        server.start(heap="512m", page_cache="64m")
        first = load_managed(Wanted(run, graph.SLICES, "a"), server, silently, replace=False)
        assert first.way == "bulk import"
        added = load_managed(Wanted(run, graph.STRUCTURE, "b"), server, silently, replace=False)
        assert added.way == "batches"
        replaced = load_managed(Wanted(run, graph.FULL, "c"), server, silently, replace=True)
        assert replaced.way == "bulk import"
        assert len(server.databases()) == 1
        assert server.is_running()
    finally:
        server.stop()


def test_tables_refuse_what_is_not_declared() -> None:
    tables = Tables(1)
    ids = np.arange(1)
    with pytest.raises(AssertionError):
        tables.add_nodes("Package", ids, {"nom": pl.Series(["a"])})
    with pytest.raises(AssertionError):
        tables.add_edges("Package-CONTAINS-Class", ids, ids, {"since": pl.Series([1])})


# --- names and texts that files could trip over
NASTY = [
    "",
    ",",
    '"',
    '""',
    "'",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\\",
    "\\n",
    ";",
    "|",
    "null",
    "\ufeff",
    "\u2028",
    "é",
    "😀",
]
nasty = st.lists(
    st.lists(st.sampled_from(NASTY) | st.characters(codec="utf-8"), max_size=6).map("".join), max_size=60
)


def tables_with(texts: list[str], generation: int) -> Tables:
    """Returns tables with nothing but texts."""
    tables = Tables(generation)
    columns = {
        "text": pl.Series([visible(each) for each in texts], dtype=pl.String),
        "hash": pl.Series([digest(each) for each in texts], dtype=pl.String),
        "length": pl.Series([len(each) for each in texts], dtype=pl.Int64),
    }
    tables.add_nodes("Text", np.arange(len(texts)), columns)
    return tables


def texts_in(session: Session, generation: int) -> list[str]:
    records = session.run(
        "MATCH (t:Text {generation: $number}) RETURN t.text AS text ORDER BY t.key", number=generation
    )
    return [each["text"] for each in records]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nasty)
def test_texts_come_back_from_batches_as_they_were(session: Session, texts: list[str]) -> None:
    generation = entered(session, str(uuid4()))
    written(session, generation, tables_with(texts, generation.number))
    assert texts_in(session, generation.number) == texts


def test_texts_come_back_from_an_import_as_they_were(jars: Path, tmp_path: Path) -> None:
    choose = random.Random(10)
    texts = [*NASTY, "x" * 60_000, *("".join(choose.choices([*NASTY, "a", "b"], k=8)) for _ in range(500))]
    with started(tmp_path / "server", jars) as server:
        server.stop()
        folder = tmp_path / "import"
        folder.mkdir()
        tables = tables_with(texts, 1)
        arguments = offline.write(folder, Generation("one", 1, False), {}, tables.nodes, tables.edges)
        server.import_offline("hostile", arguments, folder)
        server.default_database = "hostile"
        server.start()
        with connect(server.uri, USER, server.password()) as driver, driver.session() as session:
            assert texts_in(session, 1) == texts
