"""A small program in a graph, analysed in two modes, for the tests of the catalogue.

The server is that of the test session, or the one at HELIOGRAPH_TEST_URI, which has no password.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase, Session

from cli.loading import Wanted, load_over_bolt
from cli.run import Run
from cypher import graph
from cypher.load import generations
from cypher.server.progress import silently
from tests.fixture_analysis import heliograph

PROGRAM = Path(__file__).parent / "programs" / "shop"
# The run that resolves reflective calls, and the one that doesn't.
RESOLVED, PLAIN = "catalogue-test", "catalogue-test:none"
RUNS = ((RESOLVED, "points-to", graph.SLICES), (PLAIN, "none", graph.STRUCTURE))


def line_of(file: str, text: str) -> int:
    """Returns the only line of a source file that has this text."""
    lines = (PROGRAM / file).read_text(encoding="utf-8").splitlines()
    (found,) = (number for number, line in enumerate(lines, 1) if text in line)
    return found


def compiled(folder: Path) -> Path:
    """Returns a folder with the program's classes, one of which is missing."""
    sources = sorted(map(str, PROGRAM.rglob("*.java")))
    subprocess.run(["javac", "-g", "--release", "17", "-d", str(folder), *sources], check=True)
    (folder / "shop" / "Absent.class").unlink()
    return folder


@pytest.fixture(scope="module")
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A connection to a server that has the program in both modes; they are removed afterwards."""
    uri = os.environ.get("HELIOGRAPH_TEST_URI")
    if uri:
        driver = GraphDatabase.driver(uri, telemetry_disabled=True, notifications_min_severity="OFF")
    else:
        driver = request.getfixturevalue("admin")
    folder = tmp_path_factory.mktemp("shop")
    classes = compiled(folder / "classes")
    try:
        for name, mode, detail in RUNS:
            load_over_bolt(Wanted(analysed(classes, mode, folder / mode), detail, name), driver, silently)
        yield driver
    finally:
        with driver.session() as session:
            for name, _, _ in RUNS:
                remove(session, name)
        if uri:
            driver.close()


def analysed(classes: Path, mode: str, out: Path, *options: str, main: str = "shop.Main") -> Run:
    """Returns the run of a program in a mode."""
    heliograph("analyze", str(classes), "--main", main, "--mode", mode, "--out", str(out), "-q", *options)
    return Run(out)


def remove(session: Session, name: str) -> None:
    """Removes what was loaded under a name."""
    found = session.run("MATCH (g:Generation {name: $name}) RETURN g.id AS id, g.number AS number", name=name)
    for each in found.data():
        generations.remove(session, each["id"], each["number"])
