"""What `heliograph analyze` promises: its JSON, its exit codes, and what it says about bad input."""

from __future__ import annotations

import json
import stat
import weakref
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cli import pipeline
from cli.progress import Progress
from engine.reflection.modes import MODES
from engine.solver import Solver
from tests.cli.conftest import Heliograph

KEYS = {
    "schemaVersion", "mode", "scope", "jdk", "reachableMethods", "applicationMethods", "callEdges", "implicitEdges",
    "pointsToPairs", "sites", "complete", "diagnostics", "cpuSeconds", "peakMemoryBytes", "phases", "run",
}  # fmt: skip


def test_json_has_what_other_tools_rely_on(
    heliograph: Heliograph, classes: Path, jdk: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = heliograph("analyze", classes, "--jdk", jdk, "--out", out, "--format", "json")
    assert done.code == 0
    found = json.loads(done.output)
    assert found.keys() == KEYS
    assert found["mode"] == "points-to"
    assert found["jdk"]["version"] == 8
    assert found["complete"] is True
    assert found["sites"] == {"resolved": 5, "partial": 0, "unresolved": 2}
    assert found["applicationMethods"] == 6
    assert 6 < found["reachableMethods"] < 40
    assert found["callEdges"] > found["implicitEdges"] > 0
    assert found["pointsToPairs"] > 0
    assert 0 < sum(found["phases"].values()) <= found["cpuSeconds"] + 0.1
    assert found["peakMemoryBytes"] > 10_000_000
    assert found["run"] == str(out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in out.iterdir()} == {0o600}


def test_a_run_goes_to_the_folder_of_runs_and_is_the_default(
    heliograph: Heliograph, classes: Path, jdk: Path, state: Path
) -> None:
    assert heliograph("sites").code == 2
    for mode in ("none", "points-to"):
        assert heliograph("analyze", classes, "--jdk", jdk, "--mode", mode, "--quiet").code == 0
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    statuses = {each["status"] for each in json.loads(heliograph("sites", "--format", "json").output)}
    assert statuses == {"resolved", "unresolved"}
    listed = json.loads(heliograph("runs", "list", "--format", "json").output)
    assert [each["mode"] for each in listed] == ["points-to", "none"]
    assert heliograph("runs", "remove", "--keep", "1").code == 0
    assert [each.name for each in state.iterdir()] == [listed[0]["name"]]
    assert heliograph("runs", "remove", listed[0]["name"]).code == 0
    assert list(state.iterdir()) == []


def test_the_cache_makes_no_difference(
    heliograph: Heliograph, classes: Path, jdk: Path, folder: Path, tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    assert heliograph("analyze", classes, "--jdk", jdk, "--out", fresh, "--no-cache", "--quiet").code == 0
    for each in sorted(folder.glob("*.npy")):
        assert (fresh / each.name).read_bytes() == each.read_bytes(), each.name


def test_a_solver_is_gone_when_its_analysis_is_over(
    classes: Path, jdk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Solver]] = []
    make = pipeline._solver

    def kept(*arguments: Any) -> Solver:
        solver = make(*arguments)
        made.append(weakref.ref(solver))
        return solver

    monkeypatch.setattr(pipeline, "_solver", kept)
    for mode in MODES:
        job = pipeline.Job([str(classes)], jdk=str(jdk), mode=mode)
        outcome = pipeline.analyse_job(job, Progress(quiet=True))
        assert outcome.result.complete
        assert made.pop()() is None, mode


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "ARC-EMPTY"), (b"no archive\n", "ARC-NOT-ZIP"), (None, "IN-MISSING")],
    ids=["empty file", "text file named .jar", "missing file"],
)
def test_a01_a02_an_input_that_cannot_be_read_ends_with_3(
    heliograph: Heliograph, jdk: Path, tmp_path: Path, content: bytes | None, code: str
) -> None:
    file = tmp_path / "x.jar"
    if content is not None:
        file.write_bytes(content)
    done = heliograph("analyze", file, "--jdk", jdk)
    assert (done.code, done.output) == (3, "")
    assert f"error {code}: {file}: " in done.errors
    assert "Traceback" not in done.errors


def test_a_truncated_class_alone_ends_with_3(
    heliograph: Heliograph, classes: Path, jdk: Path, tmp_path: Path
) -> None:
    (tmp_path / "Main.class").write_bytes((classes / "demo" / "Main.class").read_bytes()[:200])
    done = heliograph("analyze", tmp_path, "--jdk", jdk)
    assert done.code == 3
    assert "CLS-TRUNC" in done.errors


def test_a_missing_class_path_entry_is_a_warning_and_strictness_makes_it_fail(
    heliograph: Heliograph, classes: Path, jdk: Path, tmp_path: Path
) -> None:
    arguments = ("analyze", classes, "--jdk", jdk, "--classpath", tmp_path / "no.jar", "--format", "json")
    done = heliograph(*arguments)
    assert done.code == 0
    assert [line for line in done.errors.splitlines() if "IN-MISSING" in line] == [
        f"warning IN-MISSING: {tmp_path}/no.jar: there is no such file"
    ]
    found = json.loads(done.output)
    assert [(each["code"], each["effect"], each["count"]) for each in found["diagnostics"]] == [
        ("IN-MISSING", "soundness", 1)
    ]
    complete = (Path(found["run"]) / "diagnostics.jsonl").read_text().splitlines()
    assert [json.loads(each)["code"] for each in complete] == ["IN-MISSING"]
    strict = heliograph(*arguments, "--strict")
    assert strict.code == 4
    assert json.loads(strict.output)["complete"] is True


def test_h06_a_missing_main_class_ends_with_3_and_names_one_that_there_is(
    heliograph: Heliograph, classes: Path, jdk: Path
) -> None:
    done = heliograph("analyze", classes, "--jdk", jdk, "--main", "demo.Mian")
    assert done.code == 3
    assert "demo.Main" in done.errors


def test_h06_several_main_classes_are_a_question(heliograph: Heliograph, two_mains: Path, jdk: Path) -> None:
    done = heliograph("analyze", two_mains, "--jdk", jdk)
    assert done.code == 2
    assert "demo.Main, other.Second" in done.errors
    chosen = heliograph("analyze", two_mains, "--jdk", jdk, "--main", "other.Second", "--format", "json")
    assert json.loads(chosen.output)["applicationMethods"] == 1
    both = heliograph(
        "analyze",
        two_mains,
        "--jdk",
        jdk,
        "--main",
        "other.Second",
        "--main",
        "demo.Main",
        "--format",
        "json",
    )
    assert json.loads(both.output)["applicationMethods"] == 7


def test_the_main_class_of_a_manifest_is_taken(
    heliograph: Heliograph, two_mains: Path, jdk: Path, tmp_path: Path
) -> None:
    jar = tmp_path / "app.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: other.Second\n\n")
        for each in two_mains.rglob("*.class"):
            archive.write(each, each.relative_to(two_mains))
    done = heliograph("analyze", jar, "--jdk", jdk, "--format", "json")
    assert json.loads(done.output)["applicationMethods"] == 1


def reached(heliograph: Heliograph, out: Path) -> set[str]:
    exported = json.loads(heliograph("export", "callgraph", "--format", "json", "--run", out).output)
    return {f"{each['class']}.{each['name']}" for each in exported["methods"] if each["application"]}


@pytest.mark.parametrize(
    ("options", "called", "not_called"),
    [
        (("--library",), {"demo.Main.unused", "demo.Main.main"}, set()),
        (("--entry", "demo.*.unused"), {"demo.Main.unused", "demo.Plugin.<init>"}, {"demo.Main.main"}),
        (("--entry", "demo.Plugin.greet(Ljava/lang/String;)V"), {"demo.Plugin.greet"}, {"demo.Main.unused"}),
    ],
    ids=["library", "pattern", "descriptor"],
)
def test_entries_of_a_library(
    heliograph: Heliograph, classes: Path, jdk: Path, tmp_path: Path,
    options: tuple[str, ...], called: set[str], not_called: set[str],
) -> None:  # fmt: skip
    done = heliograph("analyze", classes, "--jdk", jdk, "--out", tmp_path / "run", "--quiet", *options)
    assert done.code == 0, done.errors
    found = reached(heliograph, tmp_path / "run")
    assert called <= found
    assert not found & not_called


@pytest.mark.parametrize(
    "options",
    [
        ("--mode", "magic"), ("--max-memory", "much"), ("--entry", "no.such.*"), ("--solver", "none"),
        ("--timeout", "-1"), ("--release", "0"), ("--format", "xml"), ("--no-such-option",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_wrong_command_line_ends_with_2(
    heliograph: Heliograph, classes: Path, jdk: Path, options: tuple[str, ...]
) -> None:
    done = heliograph("analyze", classes, "--jdk", jdk, *options)
    assert (done.code, done.output) == (2, "")
    assert "Traceback" not in done.errors


@pytest.mark.parametrize("limit", [("--timeout", "0"), ("--max-memory", "1m")], ids=["time", "memory"])
def test_h08_h09_a_limit_leaves_an_incomplete_run(
    heliograph: Heliograph, classes: Path, jdk: Path, tmp_path: Path, limit: tuple[str, str]
) -> None:
    out = tmp_path / "run"
    done = heliograph("analyze", classes, "--jdk", jdk, "--out", out, "--format", "json", *limit)
    assert done.code == 5
    assert json.loads(done.output)["complete"] is False
    assert json.loads((out / "manifest.json").read_text())["complete"] is False
    assert heliograph("sites", "--run", out).code == 0


def test_a_folder_that_is_no_run_is_left_alone(
    heliograph: Heliograph, classes: Path, jdk: Path, tmp_path: Path
) -> None:
    (tmp_path / "precious").write_text("data")
    done = heliograph("analyze", classes, "--jdk", jdk, "--out", tmp_path)
    assert done.code == 2
    assert [each.name for each in tmp_path.iterdir()] == ["precious"]


def test_a_jdk_that_is_none_ends_with_3(heliograph: Heliograph, classes: Path, tmp_path: Path) -> None:
    done = heliograph("analyze", classes, "--jdk", tmp_path)
    assert done.code == 3
    assert str(tmp_path) in done.errors


def test_the_plain_solver_finds_the_same(
    heliograph: Heliograph, classes: Path, jdk: Path, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert heliograph("analyze", classes, "--jdk", jdk, "--out", out, "--solver", "reference", "-q").code == 0
    found = heliograph("diff", folder, out, "--all", "--format", "json")
    assert json.loads(found.output) == {
        "methods": {"gained": [], "lost": []}, "edges": {"gained": [], "lost": []}, "sites": [],
    }  # fmt: skip
