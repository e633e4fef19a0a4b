"""Names that are put together are followed to where their text enters: on each line, by what its comment says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli import sites
from cli.explain import Explainer
from cli.export import sarif_format
from cli.run import Run
from cli.summary import application_sites
from engine.reflection.sources import FILE, STREAM
from tests.cli.conftest import Heliograph
from tests.fixture_harness import FIXTURES, RELEASE, SUPPORT
from tests.provenance_checks import check_explanation, check_site, check_sources, known

NAMES = ("NameSources", "NameNotFrom")
_SAID = re.compile(r"/\* from (.*?) \*/")
_PROPERTY = re.compile(r'system property(?: "([^"]*)")? \(')
# What `from` says besides names of properties.
_OTHERS = {"a key": "", "a file": "a file", "a stream": "a stream"}


def said(name: str) -> dict[tuple[str, int], set[str]]:
    """Returns by line where its comment says that the name comes from."""
    found = {}
    for line, text in enumerate((FIXTURES / f"{name}.java").read_text().splitlines(), 1):
        match = _SAID.search(text)
        if match:
            keys = [] if match[1] == "nothing" else match[1].split(", ")
            found[f"{name}.java", line] = {_OTHERS.get(each, each) for each in keys}
    return found


SAID = {place: keys for name in NAMES for place, keys in said(name).items()}


def sources_in(text: str) -> Iterator[str]:
    """Yields the keys of the properties, and the kinds of other input, that a text mentions."""
    yield from (match[1] or "" for match in _PROPERTY.finditer(text))
    yield from re.findall(r"reads from (a \w+)", text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, javac: str, heliograph: Heliograph) -> Path:
    """The run of the fixtures."""
    folder = tmp_path_factory.mktemp("sources")
    paths = [*(FIXTURES / f"{each}.java" for each in NAMES), *sorted((FIXTURES / SUPPORT).glob("*.java"))]
    options = ("--release", str(RELEASE), "-g", "-nowarn", "-d", str(folder / "classes"))
    subprocess.run([javac, *options, *map(str, paths)], check=True)
    mains = [word for each in NAMES for word in ("--main", each)]
    done = heliograph("analyze", folder / "classes", *mains, "--out", folder / "run", "--quiet")
    assert done.code == 0, done.errors
    return folder / "run"


@pytest.fixture
def glued(folder: Path) -> Run:
    return Run(folder)


def test_fixtures_concatenate_by_invokedynamic(folder: Path) -> None:
    javap = shutil.which("javap")
    assert javap
    command = [javap, "-c", "-p", "-cp", str(folder.parent / "classes"), "NameSources"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "makeConcatWithConstants" in listed


def test_explanations_end_where_text_enters(glued: Run) -> None:
    explainer = Explainer(glued)
    rows = known(glued)
    found: dict[tuple[str, int], set[str]] = {}
    for site in application_sites(glued.result, glued.names):
        document = explainer.site(site, None).document()
        check_explanation(rows, site.site, document)
        texts = [step["text"] for answer in document["answers"] for step in answer["steps"]]
        found.setdefault((document["file"], document["line"]), set()).update(
            each for text in texts for each in sources_in(text)
        )
    assert {place: found[place] for place in SAID} == SAID


def test_sites_list_where_text_enters_and_the_way(glued: Run) -> None:
    rows = known(glued)
    found: dict[tuple[str, int], set[str]] = {}
    for row, document in documented(glued):
        check_site(rows, row.site.site, document)
        inputs = [each for each in document["sources"] if each["kind"] not in ("constant", "unknown")]
        keys = {f"a {each['kind']}" if each["kind"] in (FILE, STREAM) else each["key"] for each in inputs}
        found[f"{row.caller.declaring}.java", row.line] = keys
    assert {place: found[place] for place in SAID} == SAID


def documented(run: Run) -> Iterator[tuple[sites.SiteRow, dict[str, Any]]]:
    rows = sites.rows(run, everything=False)
    return zip(rows, sites.documents(run, rows, whole=True, facts=True), strict=True)


def test_a_wrong_path_is_found_out(glued: Run) -> None:
    rows = known(glued)
    site, source = next(
        (row.site.site, source)
        for row, document in documented(glued)
        for source in document["sources"]
        if source["kind"] not in ("constant", "unknown", FILE) and len(source["path"]) > 1
    )
    assert check_sources(rows, site, [source]) == len(source["path"])
    elsewhere = next(each for each, operands in rows.operands.items() if not operands & rows.operands[site])
    with pytest.raises(AssertionError):
        check_sources(rows, elsewhere, [source])
    for key, wrong in (("kind", FILE), ("path", source["path"][1:]), ("path", source["path"][:-1])):
        with pytest.raises(AssertionError):
            check_sources(rows, site, [source | {key: wrong}])


def check_all_sites(run: Run) -> int:
    """Checks the sources and derivations of all calls of the application; returns the number of steps."""
    rows = known(run)
    return sum(check_site(rows, row.site.site, document) for row, document in documented(run))


@pytest.mark.slow
def test_paths_in_a_real_program_are_facts(tmp_path: Path, heliograph: Heliograph) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("needs mvn on the path")
    program = ("antlr:antlr:2.7.7", "--main", "antlr.Tool")
    done = heliograph("analyze", *program, "--out", tmp_path / "run", "--quiet")
    assert done.code == 0, done.errors
    assert check_all_sites(Run(tmp_path / "run")) > 10


def test_sarif_begins_where_text_enters(glued: Run) -> None:
    found: dict[tuple[str, int], set[str]] = {}
    for each in json.loads("".join(sarif_format.lines(glued)))["runs"][0]["results"]:
        place = each["locations"][0]["physicalLocation"]
        first = [flow["threadFlows"][0]["locations"][0]["location"] for flow in each["codeFlows"]]
        found[place["artifactLocation"]["uri"], place["region"]["startLine"]] = {
            key for one in first for key in sources_in(one["message"]["text"])
        }
    assert {place: found.get(place, set()) for place in SAID} == SAID
