"""A call to which more comes than one wants to read: what is listed, and that the others are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli import sites
from cli.explain import Explainer
from cli.export.origins import Origins
from cli.run import Run
from cli.sites import SOURCES
from cli.specification import read
from cli.specifying import lines
from tests.cli.conftest import Heliograph, compiled

NUMBER = 25
PROGRAM = f"""package demo;

public class Main {{
    static Class<?> load(String name) throws Exception {{ return Class.forName(name); }}
    static Class<?> pass(String name) throws Exception {{ return load(name); }}

    public static void main(String[] arguments) throws Exception {{
        pass(System.getProperty("far"));
        {" ".join(f'load(System.getProperty("k{each}"));' for each in range(NUMBER - 1))}
    }}
}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, jdk: Path, javac: str, heliograph: Heliograph) -> Path:
    place = tmp_path_factory.mktemp("many")
    classes = compiled(place, jdk, javac, Main=PROGRAM)
    done = heliograph("analyze", classes, "--jdk", jdk, "--out", place / "run", "--quiet")
    assert done.code == 0, done.errors
    return place / "run"


def test_sites_list_the_nearest_sources_and_count_the_others(folder: Path, heliograph: Heliograph) -> None:
    (some,), (every,) = (
        json.loads(heliograph("sites", "--run", folder, "--format", "json", *options).output)
        for options in ((), ("--all-sources",))
    )
    assert (len(some["sources"]), some["sourcesOmitted"]) == (SOURCES, NUMBER - SOURCES)
    assert some["sources"] == every["sources"][:SOURCES]
    assert every["sourcesOmitted"] == 0
    assert {each["key"] for each in every["sources"]} == {"far", *(f"k{each}" for each in range(NUMBER - 1))}
    assert every["sources"][-1]["key"] == "far"


def test_sites_list_the_nearest_constants_and_count_the_others(
    tmp_path: Path, jdk: Path, javac: str, heliograph: Heliograph, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = PROGRAM
    for key in ("far", *(f"k{each}" for each in range(NUMBER - 1))):
        source = source.replace(f'System.getProperty("{key}")', f'"demo.{key}"') + f"class {key} {{}}\n"
    run = tmp_path / "run"
    assert (
        heliograph("analyze", compiled(tmp_path, jdk, javac, Main=source), "--jdk", jdk, "--out", run).code
        == 0
    )
    (some,), (every,) = (
        json.loads(heliograph("sites", "--run", run, "--format", "json", *options).output)
        for options in ((), ("--all-sources",))
    )
    nearest = {f"demo.k{each}" for each in range(NUMBER - 1)}
    listed = [each["text"] for each in some["sources"]]
    assert (len(set(listed)), set(listed) - nearest, some["sourcesOmitted"]) == (
        SOURCES,
        set(),
        NUMBER - SOURCES,
    )
    assert {each["text"] for each in every["sources"]} == {"demo.far", *nearest}
    assert every["sourcesOmitted"] == 0
    assert all(each in every["sources"] for each in some["sources"])
    monkeypatch.setattr(sites, "DERIVATIONS", 3)
    (fewer,) = sites.documents(Run(run), sites.rows(Run(run), everything=False))
    assert (fewer["derivations"], fewer["derivationsOmitted"]) == (some["derivations"][:3], NUMBER - 3)
    assert (len(some["derivations"]), some["derivationsOmitted"]) == (NUMBER, 0)
    # `explain` follows no constant to say which kinds of input come to a call: none is.
    opened = Run(run)
    (site,) = (each for each in opened.result.reflective if each.api.endswith("forName") and each.targets[1:])
    assert Explainer(opened).provenance.arriving(site.site, limit=0) == ([], NUMBER)


def test_a_specification_lists_the_nearest_input_and_counts_the_other(folder: Path, tmp_path: Path) -> None:
    text = "".join(lines(Run(folder), everything=False))
    listed = [line for line in text.splitlines() if line.startswith("# From ")]
    assert f"\n# … and {NUMBER - len(listed)} more sources of names, further away\n" in text
    assert 0 < len(listed) < NUMBER
    assert not any('"far"' in line for line in listed)
    (tmp_path / "app.spec").write_text(text)
    assert read(tmp_path / "app.spec") == []


def test_a_reason_tells_the_first_beginnings_and_counts_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origins = Origins(Run(folder))
    derived = origins.result.derived[0]
    for number, told in ((2, "0; 1"), (9, "0; 1; 2; 3; 4; 5; and 3 more")):
        monkeypatch.setattr(origins, "_sources", lambda _, number=number: map(str, range(number)))
        assert origins.reason(derived) == f"{origins.call(derived.site)} [{derived.rule}]: {told}"
