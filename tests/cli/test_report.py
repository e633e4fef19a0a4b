"""`heliograph report livshits`: the paper's tables for programs of one's own."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from cli.exits import Exit, Failure
from cli.pipeline import Job
from cli.report import figures, paper, tables, writing
from cli.report.livshits import modes_of
from cli.report.order import steps
from cli.report.programs import Options, Program, programs
from cli.report.studies import Study, _failure
from cli.run import Run
from engine.reflection.modes import LIVSHITS, MODES
from tests.cli.conftest import Done, Heliograph, compiled, run_command

PROGRAM = """package demo;

public class Main {
    static String chosen = "demo.Plugin";

    public static void main(String[] arguments) throws Exception {
        Runnable plugin = (Runnable) Class.forName(chosen).newInstance();
        plugin.run();
        Class.forName("demo.Missing");
        Class.forName(arguments.length == 0 ? "demo.Plugin" : arguments[0]);
        Class.forName(arguments[0]);
    }
}

class Plugin implements Runnable {
    public Plugin() {}
    public void run() {
        try {
            Class.forName(this == null ? "demo.Main" : "demo.Plugin");
        } catch (ClassNotFoundException problem) {
        }
    }
}
"""
MODES_ONLY = ("--mode", "points-to", "--mode", "none")
NUMBERS = ("calls", "fully", "partially", "unresolved", "classAbsent", "noName")


class Made(NamedTuple):
    """A report on a program, one that lacks a main class, and one that isn't there."""

    program: Path
    arguments: tuple[str | Path, ...]
    out: Path
    done: Done

    def rows(self, name: str, **wanted: str) -> list[dict[str, str]]:
        """Returns the rows of a CSV file in which columns have these values."""
        with (self.out / name).open(encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file) if wanted.items() <= row.items()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, jdk: Path, two_mains: Path, javac: str) -> Made:
    place = tmp_path_factory.mktemp("report")
    program = compiled(place, jdk, javac, Main=PROGRAM).rename(place / "jgap-3")
    missing, out = place / "missing.jar", place / "out"
    arguments = (program, two_mains, missing, "--jdk", jdk, *MODES_ONLY)
    done = run_command("report", "livshits", *arguments, "--out", out, "--format", "json")
    return Made(program, arguments, out, done)


def records(done: Done, **wanted: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done.output)["figures"]
    return [each for each in found if wanted.items() <= each.items()]


def test_every_mode_of_the_paper_is_a_row_unless_some_are_chosen(made: Made) -> None:
    assert modes_of(()) == [each for each in LIVSHITS if each in MODES]
    assert {"none", "points-to"} <= set(modes_of(()))
    assert [each["mode"] for each in records(made.done, code="all")] == ["none", "points-to"]
    with pytest.raises(Failure, match="there is no mode magic in the report: choose none or"):
        modes_of(["magic"])


def test_calls_are_counted_by_what_arrives(made: Made) -> None:
    (none,), (found,) = (records(made.done, mode=mode, code="application") for mode in ("none", "points-to"))
    assert [none[each] for each in NUMBERS] == [4, None, None, None, None, None]
    assert [found[each] for each in NUMBERS] == [5, 3, 1, 1, 1, 0]
    assert (found["specificationPoints"], found["specificationPointsMore"]) == (1, False)
    assert (found["classes"], none["classes"]) == (2, 1)
    assert (found["methods"], none["methods"]) == (4, 2)
    # forName of two classes; the other calls that have a target, and newInstance
    assert [found[each] for each in figures.SPREAD_NAMES] == [3, 1, 0, 0, 0]


def test_a_mode_has_what_the_one_before_has(made: Made) -> None:
    assert json.loads(made.done.output)["order"] == [
        {
            "program": "jgap-3",
            "before": "none",
            "after": "points-to",
            "methods": 0,
            "edges": 0,
            "targets": 0,
        }
    ]
    runs = {each["mode"]: Path(each["run"]) for each in records(made.done)}
    study = Study(Program("jgap-3", "", Job(())), runs, {})
    (backwards,) = steps([study], ["points-to", "none"])
    assert backwards.methods > 2
    assert backwards.edges > backwards.methods
    # forName of two classes three times and newInstance, a target each, or two
    assert backwards.targets == 5


def test_library_code_counts_in_all_code_only(made: Made) -> None:
    own, everything = records(made.done, mode="points-to")
    assert (own["code"], everything["code"]) == ("application", "all")
    assert everything["methods"] > own["methods"]
    assert everything["calls"] == own["calls"] == 5


def test_what_fails_has_its_reason_and_the_others_go_on(made: Made) -> None:
    assert made.done.code == Exit.USAGE
    failures = json.loads(made.done.output)["failures"]
    assert [each["mode"] for each in failures] == [None, None]
    assert "choose with --main: demo.Main, other.Second" in failures[0]["reason"]
    assert "missing.jar" in failures[1]["reason"]
    assert failures[1]["reason"] in (made.out / "report.md").read_text("utf-8").replace("\\", "")


def test_files_have_the_same_numbers(made: Made) -> None:
    (row,) = made.rows("fig19.csv", mode="points-to", code="application")
    assert [row[each] for each in NUMBERS] == ["5", "3", "1", "1", "1", "0"]
    (none,) = made.rows("fig19.csv", mode="none", code="application")
    assert (none["calls"], none["fully"]) == ("4", "")
    assert {len(made.rows(name)) for name in writing.FILES if name != "fig23.csv"} == {
        2 * len(made.rows("fig23.csv"))
    }
    (time,) = made.rows("fig23.csv", mode="points-to")
    assert 0 < float(time["solverSeconds"]) < float(time["totalSeconds"])


def test_markdown_has_the_paper_beside(made: Made) -> None:
    text = (made.out / "report.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line[:1] == "|"]
    assert ["jgap-3", "points-to", "5", "3", "1", "1", "5", "3", "1", "1", "1", "0"] in rows
    assert ["jgap-3", "points-to", "5", "28", "3", "20", "1", "1", "1", "7"] in rows
    assert "![Calls of Class.forName, size of the call graph and time by mode](plot.svg)" in text
    assert "jfreechart" not in text


def test_plot_has_bars_in_proportion(made: Made) -> None:
    root = ET.fromstring((made.out / "plot.svg").read_text("utf-8"))  # noqa: S314  # we wrote it
    bars = [each.attrib for each in root if each.tag.endswith("rect") and each.get("height") == "13"]
    widths = {
        mode: [float(each["width"]) for each in bars if each["y"] == y]
        for mode, y in zip(("none", "points-to"), _rows(root), strict=True)
    }
    assert widths["none"][0] / sum(widths["points-to"][:3]) == pytest.approx(4 / 5, abs=0.01)
    assert widths["points-to"][0] / widths["points-to"][1] == pytest.approx(3, abs=0.01)
    assert {"jgap-3", "4", "5"} <= {each.text for each in root}


def _rows(root: ET.Element) -> list[str]:
    """Returns where the bars of modes `none` and `points-to` are."""
    texts = {each.text: int(each.get("y", "")) for each in root if each.tag.endswith("text")}
    return [str(texts[mode] - 11) for mode in ("none", "points-to")]


def test_runs_serve_again_unless_anew_or_changed(made: Made, heliograph: Heliograph, jdk: Path) -> None:
    def runs(*more: str) -> list[str]:
        done = heliograph(
            "report", "livshits", made.program, "--jdk", jdk, "--format", "json", *MODES_ONLY, *more
        )
        assert done.code == 0, done.errors
        return [each["run"] for each in records(done, code="all")]

    first = [each["run"] for each in records(made.done, code="all")]
    assert runs() == first
    anew = runs("--fresh")
    assert not set(anew) & set(first)
    assert runs() == anew
    file = made.program / "demo" / "Plugin.class"
    content = file.read_bytes()
    try:
        file.write_bytes(content[:-1])
        assert not set(runs()) & {*first, *anew}
    finally:
        file.write_bytes(content)


def test_tables_say_what_they_count(made: Made, heliograph: Heliograph, folder: Path) -> None:
    found = figures.figures_of(Run(folder), "app", "points-to")
    (section, *_, last) = tables.sections([], [found], [])
    assert section.tables[0].title == "Calls of Class.forName (figure 19)"
    assert len(last.tables[0].rows) == len(paper.published())
    done = heliograph("report", "livshits", *made.arguments, "--timeout", "9")
    assert "FR: fully resolved" in done.output
    assert "Programs and modes without a result" in done.output


def test_a_limit_marks_the_mode(heliograph: Heliograph, classes: Path, jdk: Path, state: Path) -> None:
    done = heliograph("report", "livshits", classes, "--jdk", jdk, "--timeout", "0", *MODES_ONLY)
    assert done.code == Exit.INCOMPLETE
    assert "points-to *" in done.output
    assert "* A limit of time or memory" in done.output
    # What is incomplete serves nobody.
    number = len(list(state.iterdir()))
    again = heliograph(
        "report", "livshits", classes, "--jdk", jdk, "--timeout", "0", "--format", "csv", *MODES_ONLY
    )
    assert again.output.count(",all,false,") == number
    assert len(list(state.iterdir())) == 2 * number


def test_options_are_of_one_program() -> None:
    def wanted(mains: Sequence[str], inputs: Sequence[str]) -> list[Program]:
        return programs(
            inputs, Options(mains, (), ("b.jar=lib=1.jar",), ("b.jar=b.spec",), True, Job((), timeout=3))
        )

    first, second = wanted(["a=b.jar=other.Second"], ["a=b.jar", "b.jar"])
    assert (first.name, first.job.inputs, first.job.mains) == ("a=b", ("a=b.jar",), ("other.Second",))
    assert (first.job.library, second.job.library) == (False, True)
    assert (first.job.classpath, second.job.classpath) == ((), ("lib=1.jar",))
    assert (first.job.specification, second.job.specification) == (None, Path("b.spec"))
    assert first.job.timeout == second.job.timeout == 3
    # Programs of one name are called what the user called them.
    assert [each.name for each in wanted([], ["b.jar", "x/b.jar", "b.jar"])] == ["b.jar", "x/b.jar"]
    assert wanted(["demo.Main"], ["b.jar"])[0].job.mains == ("demo.Main",)
    with pytest.raises(Failure, match=r"--main 'b\.jar=demo\.Main'"):
        wanted(["demo.Main"], ["b.jar", "c.jar"])


def test_nothing_to_report_ends_like_the_first_failure(heliograph: Heliograph, tmp_path: Path) -> None:
    done = heliograph("report", "livshits", tmp_path / "no.jar", "--out", tmp_path / "out")
    assert (done.code, done.output) == (Exit.NO_INPUT, "")
    assert "no.jar" in done.errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("code", "errors", "expected", "says"),
    [
        (-9, "", Exit.INCOMPLETE, "signal 9"),
        (5, "heliograph: there is not enough memory\n", Exit.INCOMPLETE, "there is not enough memory"),
        (70, "ZeroDivisionError: by zero\nheliograph: this is an error", Exit.BUG, "ZeroDivisionError: by zero"),
        (3, "warning A: b\nheliograph: a.jar: is no zip", Exit.NO_INPUT, "a.jar: is no zip"),
    ],
)  # fmt: skip
def test_a_failure_says_why(code: int, errors: str, expected: Exit, says: str) -> None:
    failure = _failure(code, errors)
    assert failure.code == expected
    assert says in str(failure)


def test_time_is_without_fetching_and_compiling() -> None:
    phases = {"start": 1.0, "inputs": 6.0, "solver": 50.0, "analysis": 7.0}
    manifest = {"inputs": ["g:a:1"], "summary": {"phases": phases, "cpuSeconds": 64.5}}
    assert figures._seconds(manifest) == (7.0, 8.5)
    assert figures._seconds(manifest | {"inputs": ["a.jar"]}) == (7.0, 14.5)


def test_the_papers_calls_add_up() -> None:
    found = paper.published()
    assert len(found) == 6 * 5
    for each in found:
        parts = [each.fully, each.partially, each.unresolved]
        # (one call of jedit is in no column)
        lost = 1 if (each.program, each.mode) == ("jedit", "sound") else 0
        assert (
            parts == [None] * 3
            if each.mode == "none"
            else sum(map(int, filter(None, parts))) + lost == each.calls
        )
        if each.sites is not None:
            assert each.sites == (each.library_sites or 0) + (each.application_sites or 0)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs Maven")
def test_a_real_program_has_the_numbers_of_its_sites(heliograph: Heliograph, tmp_path: Path) -> None:
    arguments = (
        "antlr:antlr:2.7.7",
        "--main",
        "antlr.Tool",
        "--out",
        tmp_path / "report",
        "--format",
        "json",
    )
    done = heliograph("report", "livshits", *arguments)
    if "Maven could not resolve" in done.errors:
        pytest.skip("needs the network")
    assert done.code == 0, done.errors
    for record in records(done):
        everything = ["--all"] if record["code"] == "all" else []
        sites = heliograph("sites", "--run", record["run"], "--format", "json", *everything)
        assert sites.code == 0, sites.errors
        listed = json.loads(sites.output)
        statuses = [each["status"] for each in listed if each["api"] == "java.lang.Class.forName"]
        assert record["calls"] == len(statuses) > 0
        if record["mode"] != "none":
            numbers = (statuses.count(each) for each in ("resolved", "partial", "unresolved"))
            assert tuple(numbers) == (record["fully"], record["partially"], record["unresolved"])
            assert sum(record[name] for name in figures.SPREAD_NAMES) == sum(
                1 for each in listed if each["targets"]
            )
    none, other = (records(done, mode=mode, code="all")[0] for mode in ("none", "points-to"))
    assert other["methods"] > none["methods"] > 10_000
    widest = json.loads(done.output)["widest"]
    assert [each["targets"] for each in widest] == sorted((each["targets"] for each in widest), reverse=True)
    assert (tmp_path / "report" / "report.md").stat().st_size > 2_000
