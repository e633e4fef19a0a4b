"""Paths from inputs to reflective calls: what the graph's queries find is what `heliograph explain` says."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from neo4j import Driver, Session
from neo4j.graph import Path as GraphPath

from cli.loading import Wanted, load_over_bolt
from cli.run import Run
from cypher import graph
from cypher.catalogue import bound, named
from cypher.server.progress import silently
from tests.cypher.catalogue_graph import analysed, compiled, remove
from tests.cypher.provenance_oracle import Oracle, Pair

PROGRAMS = Path(__file__).parent / "programs"
PAIRS, SITES, SEED = 50, 12, 20


class Loaded(NamedTuple):
    """A program in the graph, under its name, and what the engine says of it."""

    name: str
    oracle: Oracle
    session: Session

    def path(self, pair: Pair, *, computed: bool) -> GraphPath | None:
        """Returns the path that the catalogue's query finds, None if there is none."""
        query, names = named("source-to-site"), self.oracle.names
        given = {"source": names[pair.source], "site": names[pair.site], "computed": str(computed).lower()}
        rows = self.session.run(query.text, bound(query, given, self.name))
        found: list[GraphPath] = [row["path"] for row in rows]
        # (names of calls that the JVM makes are not unique)
        return next((each for each in found if _numbers(each) == pair), None)


def _numbers(path: GraphPath) -> Pair:
    first, last = (int(node["key"]) & (1 << 34) - 1 for node in (path.nodes[0], path.nodes[-1]))
    return Pair(first, last)


def analysed_program(program: str, folder: Path) -> Run:
    """Returns the run of a program, with the library closed off: that of the JDK makes large graphs."""
    classes, main = folder / "classes", "kit.Kit"
    if program == "shop":
        compiled(classes)
        main = "shop.Main"
    else:
        # (not compiled for a newer release: its concatenations would be instructions of their own)
        options = ("-g", "--release", "8", "-Xlint:-options")
        source = PROGRAMS / "kit" / "Kit.java"
        subprocess.run(["javac", *options, "-d", str(classes), str(source)], check=True)
    return analysed(classes, "points-to", folder / "run", "--scope", "application", main=main)


@pytest.fixture(scope="module", params=("shop", "kit", "demo"))
def loaded(
    request: pytest.FixtureRequest, admin: Driver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    """Each program in the graph."""
    if request.param == "demo":
        run = Run(request.getfixturevalue("folder"))
    else:
        run = analysed_program(request.param, tmp_path_factory.mktemp(request.param))
    name = f"provenance-{request.param}"
    load_over_bolt(Wanted(run, graph.SLICES, name), admin, silently)
    with admin.session(default_access_mode="READ") as session:
        yield Loaded(name, Oracle(run), session)
    with admin.session() as session:
        remove(session, name)


@pytest.fixture(scope="module")
def pairs(loaded: Loaded) -> dict[Pair, bool]:
    """Random pairs, half of which the engine connects, and whether it does."""
    oracle, numbers = loaded.oracle, random.Random(SEED)
    sites = numbers.sample(sorted(oracle.operands), min(len(oracle.operands), SITES))
    decided = {site: oracle.reaching(site) for site in sites}
    connected = sorted(Pair(source, site) for site, sources in decided.items() for source in sources)
    others = sorted(
        Pair(source, site) for site, sources in decided.items() for source in oracle.sources.keys() - sources
    )
    halves = [numbers.sample(each, min(len(each), PAIRS // 2)) for each in (connected, others)]
    assert halves[0]
    return {pair: half is halves[0] for half in halves for pair in half}


@pytest.mark.slow
def test_a_path_is_found_exactly_when_the_engine_connects_the_pair(
    loaded: Loaded, pairs: dict[Pair, bool]
) -> None:
    for pair, connected in pairs.items():
        path = loaded.path(pair, computed=False)
        assert (path is not None) == connected, pair
        if path is not None:
            loaded.oracle.check(path, pair)


@pytest.mark.slow
def test_paths_through_computations_are_flows_of_the_engine(loaded: Loaded, pairs: dict[Pair, bool]) -> None:
    for pair, connected in pairs.items():
        path = loaded.path(pair, computed=True)
        assert path is not None or not connected, pair
        if path is not None:
            loaded.oracle.check(path, pair)


@pytest.mark.slow
def test_what_explanations_end_at_is_found(loaded: Loaded) -> None:
    number = 0
    for site in loaded.oracle.operands:
        for source, computations in set(loaded.oracle.explained(site)):
            pair = Pair(source, site)
            path = loaded.path(pair, computed=computations > 0)
            assert path is not None, pair
            loaded.oracle.check(path, pair)
            number += 1
    assert number


@pytest.mark.slow
@pytest.mark.parametrize("loaded", ["kit"], indirect=True)
def test_input_comes_through_fields_arrays_maps_and_computations(loaded: Loaded) -> None:
    query = named("forname-provenance")
    rows = loaded.session.run(query.text, bound(query, {}, loaded.name)).data()
    found = {(row["site"].partition("(")[0], row["name"] or row["kind"], row["computations"]) for row in rows}
    assert {
        ("kit.Kit.fromStatic", "argument", 0), ("kit.Kit.fromField", "KIT_FIELD", 0),
        ("kit.Kit.fromArray", "kit.array", 0), ("kit.Kit.fromMap", "kit.map", 0), ("kit.Kit.built", "KIT_BUILT", 1),
        ("kit.Kit.twice", "kit.twice", 2),
    } <= found  # fmt: skip
    given = {"computed": "false"}
    rows = loaded.session.run(query.text, bound(query, given, loaded.name)).data()
    kinds = {(row["site"].partition("(")[0], row["kind"]) for row in rows}
    assert ("kit.Kit.fromField", "environment") in kinds
    assert {kind for site, kind in kinds if site == "kit.Kit.twice"} == {"computed string"}
    assert all(row["computations"] == 0 for row in rows)
    query = named("invoke-provenance")
    (row,) = loaded.session.run(query.text, bound(query, {}, loaded.name)).data()
    assert (row["name"], row["steps"]) == ("kit.method", 0)
