"""Run directories: what is written is what is read, whole or not at all, and nothing in them is code."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from cli import run as runs
from cli.exits import Failure
from cli.run import Recording, Run, write
from cli.summary import summary
from cypher import schema


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A run to be spoilt."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def recording(run: Run) -> Recording:
    manifest = {name: value for name, value in run.manifest.items() if name != "statistics"}
    return Recording(lambda _: manifest, run.result, run.names.columns, run.structure, run.diagnostics)


def test_a_run_that_was_read_is_written_as_it_was(run: Run, tmp_path: Path) -> None:
    place = write(recording(run), tmp_path / "again", "")
    names = sorted(each.name for each in run.folder.iterdir())
    assert sorted(each.name for each in place.iterdir()) == names
    for name in names:
        assert (place / name).read_bytes() == (run.folder / name).read_bytes(), name


def test_a_run_has_all_facts_and_results(run: Run) -> None:
    result = run.result
    assert {each.name for each in fields(result)} >= {"facts", "points_to", "reflective", "derived"}
    assert set(result.facts) == set(schema.FACTS)
    assert len(result.facts[schema.Invoke]) == len(result.sites.method)
    assert {each.rule for each in result.derived} >= {"classObjects", "resolvedInvoke"}


def test_the_summary_can_be_had_again(run: Run) -> None:
    found = summary(run.result, run.names)
    assert found.items() <= run.manifest["summary"].items()


def test_lines_of_many_are_lines_of_each(run: Run) -> None:
    sites = run.result.sites
    known = np.flatnonzero(sites.method >= 0)
    methods, offsets = sites.method[known], sites.offset[known]
    many = run.names.lines(methods, offsets).tolist()
    assert many == [
        run.names.line(method, offset)
        for method, offset in zip(methods.tolist(), offsets.tolist(), strict=True)
    ]
    assert max(many) > 0


def test_a_failed_write_leaves_the_old_run(run: Run, copy: Path) -> None:
    def fail(_place: Path) -> dict[str, object]:
        raise OSError(28, "No space left on device")

    before = {each.name: each.read_bytes() for each in copy.iterdir()}
    with pytest.raises(Failure, match="No space left"):
        write(recording(run)._replace(manifest=fail), copy, "")
    assert {each.name: each.read_bytes() for each in copy.iterdir()} == before
    assert [each.name for each in copy.parent.iterdir()] == ["copy"]


def test_an_interrupted_write_leaves_nothing(run: Run, tmp_path: Path) -> None:
    def interrupt(_place: Path) -> dict[str, object]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(recording(run)._replace(manifest=interrupt), tmp_path / "new", "")
    assert list(tmp_path.iterdir()) == []


def test_a_run_can_be_written_over(run: Run, copy: Path) -> None:
    (copy / "more").write_text("x")
    write(recording(run), copy, "")
    assert not (copy / "more").exists()
    assert len(Run(copy).result.reached) == len(run.result.reached)


@pytest.mark.parametrize(
    "name", ["reached.npy", "calls.npy", "name-text_bytes.npy", "fact-Invoke.npy", "words.json"]
)
def test_a_damaged_run_is_refused_with_a_sentence(copy: Path, name: str) -> None:
    content = (copy / name).read_bytes()
    for damaged in (content[:40], b"", None):
        if damaged is None:
            (copy / name).unlink()
        else:
            (copy / name).write_bytes(damaged)
        with pytest.raises(Failure, match="missing or damaged"):
            _ = Run(copy).result, Run(copy).names.texts


def test_objects_in_a_column_are_never_loaded(copy: Path) -> None:
    np.save(copy / "sites.npy", np.array([{"a": 1}], object))
    with pytest.raises(Failure, match="missing or damaged"):
        _ = Run(copy).result


def test_a_run_of_another_version_is_refused(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"schemaVersion": 0}))
    with pytest.raises(Failure, match="another version"):
        _ = Run(copy).result


def test_a_folder_of_runs_that_is_a_link_is_refused(run: Run, state: Path, tmp_path: Path) -> None:
    state.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    state.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Failure, match="no folder but a link"):
        write(recording(run), None, "name")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_runs_are_found_by_name_and_path(run: Run, state: Path) -> None:
    place = write(recording(run), None, "first")
    assert place == state / "first"
    assert runs.find("first").folder == runs.find(None).folder == runs.find(str(place)).folder == place
    with pytest.raises(Failure, match="is no run"):
        runs.find("second")
