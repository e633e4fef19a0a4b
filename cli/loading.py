"""`heliograph graph load`: a run becomes a generation of the graph, by bulk import or over Bolt."""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cli.exits import Exit, Failure, usage
from cli.graph.build import tables_of
from cli.graph.frames import Tables, visible
from cli.run import MANIFEST, Run
from cypher import graph
from cypher.connection import USER, connect, explained
from cypher.load import bolt, generations, offline
from cypher.load.generations import CountMismatch, Generation
from engine.analysis import APPLICATION

if TYPE_CHECKING:
    from cypher.connection import Driver
    from cypher.server.managed import Managed
    from cypher.server.progress import Tell


class Loaded(NamedTuple):
    """What came of a load; `seconds` by phase, in their order."""

    name: str
    generation: str
    way: str
    nodes: int
    relationships: int
    seconds: dict[str, float]

    @property
    def items_per_second(self) -> float:
        """Nodes and relationships a second, from opening the run to the end of writing."""
        spent = sum(self.seconds.get(each, 0.0) for each in ("tables", "files", "import", "batches"))
        return (self.nodes + self.relationships) / spent if spent else 0.0


class Wanted(NamedTuple):
    """Which run is to be loaded, how much of it and under which name."""

    run: Run
    detail: str
    name: str


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - began


def password_of(user: str) -> str:
    """Returns the password of a user of another server. Raises `Failure` if there is nobody to ask."""
    found = os.environ.get("NEO4J_PASSWORD")
    if found:
        return found
    if not sys.stdin.isatty():
        raise usage("set NEO4J_PASSWORD to the password of that server")
    return getpass.getpass(f"password of {user}: ")


def name_of(run: Run) -> str:
    """Returns the name under which a run is loaded if no other is given: its program, its mode, and what is closed off."""
    manifest = run.manifest
    stem = Path(manifest["inputs"][0]).name
    scope = ":application" if manifest.get("scope") == APPLICATION else ""
    return visible(f"{stem.removesuffix('.jar')}:{manifest['mode']}{scope}")


def identity_of(run: Run, detail: str, name: str) -> str:
    """Returns what tells a generation from others: a hash of all that the run holds, and of how it is loaded."""
    found = sha256(f"{graph.VERSION} {detail} {name}\n".encode("utf-8", "surrogatepass"))
    for file in sorted(run.folder.iterdir()):
        # (when the run was made, and what it cost, doesn't count)
        if file.name != MANIFEST and file.is_file():
            found.update(f"{file.name} {file.stat().st_size}\n".encode())
            found.update(file.read_bytes())
    return found.hexdigest()


def _properties(wanted: Wanted) -> dict[str, str]:
    manifest = wanted.run.manifest
    return {
        "name": wanted.name,
        "program": visible(" ".join(manifest["inputs"])),
        "mode": manifest["mode"],
        "detail": wanted.detail,
        "tool": manifest["heliograph"],
        "analysed": manifest["created"],
        "schemaVersion": str(graph.VERSION),
        "complete": str(manifest["complete"]).lower(),
    }


def load_managed(wanted: Wanted, server: Managed, tell: Tell, *, replace: bool) -> Loaded:
    """Loads a run into the managed server: by bulk import if its database is empty or is to be replaced."""
    if not server.assembly().is_known() and not server.is_running():
        raise Failure(Exit.UNAVAILABLE, "there is no server yet: `heliograph graph start` makes one")
    server.start(tell)
    with connect(server.uri, USER, server.password()) as driver:
        with driver.session() as session:
            empty = generations.is_empty(session)
        if not empty and not replace:
            return load_over_bolt(wanted, driver, tell, server.uri)
    return _import(wanted, server, tell)


def _import(wanted: Wanted, server: Managed, tell: Tell) -> Loaded:
    """Imports a run into a new store, which is served, and the old one deleted, once it is found to be whole."""
    clock = _Clock()
    generation = Generation(identity_of(wanted.run, wanted.detail, wanted.name), 1, complete=False)
    tell("preparing", "")
    with clock.phase("tables"):
        tables = tables_of(wanted.run, generation.number, wanted.detail)
    old, new = server.default_database, _fresh_name(server)
    with _writing(server.folder):
        folder = Path(tempfile.mkdtemp(prefix="import-", dir=server.folder))
    try:
        with clock.phase("files"), _writing(server.folder):
            arguments = offline.write(folder, generation, _properties(wanted), tables.nodes, tables.edges)
        with clock.phase("restart"):
            server.stop(tell)
        with clock.phase("import"):
            server.import_offline(new, arguments, folder, tell)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if new not in server.databases():
            server.start(tell)
    try:
        server.default_database = new
        with clock.phase("restart"):
            server.start(tell)
        with (
            connect(server.uri, USER, server.password()) as driver,
            _explained(server.uri),
            driver.session() as session,
        ):
            tell("indexing", "")
            with clock.phase("indexes"):
                generations.prepare(session)
            with clock.phase("counting"):
                generations.compare(generations.totals(session), generations.by_type(tables.counts()))
                generations.finish(session, generation, wanted.name)
    except BaseException:
        server.stop(tell)
        server.take_back(new, old)
        server.start(tell)
        raise
    if old != new and old in server.databases():
        server.delete_database(old)
    return _loaded(wanted, generation, "bulk import", tables, clock)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turns a disk that is full, or can't be written, into one sentence."""
    try:
        yield
    except OSError as problem:
        raise Failure(
            Exit.UNAVAILABLE, f"{folder} can't take the files of the import: {problem.strerror or problem}"
        ) from None


def _fresh_name(server: Managed) -> str:
    """Returns a name that no store of the server has."""
    taken = set(server.databases())
    return next(name for number in range(1, len(taken) + 2) if (name := f"heliograph{number}") not in taken)


def load_over_bolt(wanted: Wanted, driver: Driver, tell: Tell, place: str = "the database") -> Loaded:
    """Loads a run into a database that may hold other things, in batches; goes on where an earlier try stopped."""
    clock = _Clock()
    with driver.session() as session, _explained(place):
        if others := generations.other_schemas(session):
            raise Failure(
                Exit.UNAVAILABLE,
                f"the database holds runs of another version of the graph ({', '.join(others)}): remove them with "
                "`heliograph graph remove`, or replace them with `heliograph graph load --replace`",
            )
        tell("indexing", "")
        with clock.phase("indexes"):
            generations.prepare(session)
        identity = identity_of(wanted.run, wanted.detail, wanted.name)
        generation = generations.enter(session, identity, _properties(wanted))
        tell("preparing", "")
        with clock.phase("tables"):
            tables = tables_of(wanted.run, generation.number, wanted.detail)
        if not generation.complete:
            total, done = tables.size, 0

            def advance(items: int, what: str) -> None:
                nonlocal done
                done += items
                tell("loading", f"{done:,} of {total:,} nodes and relationships: {what}")

            with clock.phase("batches"):
                phases = bolt.phases(generation.number, tables.nodes, tables.edges)
                bolt.load(session, generation, phases, advance)
        tell("counting", "")
        with clock.phase("counting"):
            generations.compare(generations.counts(session, generation.number), tables.counts())
            generations.finish(session, generation, wanted.name)
        with clock.phase("removing"):
            generations.remove_old(session, wanted.name)
    return _loaded(wanted, generation, "batches", tables, clock)


def _loaded(wanted: Wanted, generation: Generation, way: str, tables: Tables, clock: _Clock) -> Loaded:
    return Loaded(
        wanted.name,
        generation.id,
        way,
        tables.number_of_nodes,
        tables.size - tables.number_of_nodes,
        clock.seconds,
    )


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Turns what the database answers into one sentence."""
    try:
        with explained(place, USER):
            yield
    except CountMismatch as problem:
        raise Failure(
            Exit.UNAVAILABLE,
            f"DB-COUNT: the graph doesn't hold what was loaded ({problem}); it stays incomplete and unseen",
        ) from None


def write_loaded(loaded: Loaded, *, as_json: bool) -> None:
    """Prints what came of a load."""
    from cli.present import write_json, write_line

    if as_json:
        write_json(
            {
                "name": loaded.name, "generation": loaded.generation, "way": loaded.way, "nodes": loaded.nodes,
                "relationships": loaded.relationships, "itemsPerSecond": round(loaded.items_per_second),
                "seconds": {name: round(seconds, 3) for name, seconds in loaded.seconds.items()},
            }
        )  # fmt: skip
        return
    write_line(
        f"loaded {loaded.name}: {loaded.nodes:,} nodes, {loaded.relationships:,} relationships by {loaded.way}"
    )
    spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in loaded.seconds.items())
    write_line(f"{loaded.items_per_second:,.0f} nodes and relationships a second; {spent}")
