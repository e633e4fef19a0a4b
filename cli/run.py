"""Run directories: what an analysis found, as plain columns and JSON. Nothing else reads or writes them.

A run is written to a folder beside its place and moved there when it is whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from cli import reflective
from cli.exits import Exit, Failure
from cli.folders import private, state_root
from cli.naming import Columns, Names
from cli.reflective import ReflectiveColumns
from cli.structure import Structure
from cypher import schema
from cypher.schema import Diagnostic, Facts, Rows
from engine.heap import Objects
from engine.result import Result
from engine.sites import Sites
from engine.solver import PointsToRows, Statistics

# Bump whenever a run's files change.
SCHEMA_VERSION = 4
# Columns of more bytes are mapped, not read.
_MAPPED_FROM = 1 << 20
_STALE_SECONDS = 3600
MANIFEST, DIAGNOSTICS, WORDS = "manifest.json", "diagnostics.jsonl", "words.json"


class Recording(NamedTuple):
    """What a run is written from.

    `manifest(directory)` is what `manifest.json` says of it besides; it is asked when all else is written.
    """

    manifest: Callable[[Path], dict[str, Any]]
    result: Result
    names: Columns
    structure: Structure
    diagnostics: Sequence[Diagnostic]


def runs_root() -> Path:
    """Returns the folder of runs."""
    return state_root() / "runs"


def write(recording: Recording, place: Path | None, name: str) -> Path:
    """Writes a run to `place`, or as `name` into the folder of runs; returns its directory.

    Raises `Failure` if there is something at `place` that is no run, or it can't be written.
    """
    if place is None:
        private(state_root())
        place = private(runs_root()) / name
    elif place.exists() and not is_run(place) and (not place.is_dir() or any(place.iterdir())):
        raise Failure(Exit.USAGE, f"{place} exists and is no run: name another folder with --out")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _staged(place) as staging:
            _write_result(staging, recording)
            _write_manifest(staging, recording.result, recording.manifest(place))
    except OSError as problem:
        raise Failure(Exit.NO_INPUT, f"the run can't be written to {place}: {problem.strerror}") from None
    return place


@contextlib.contextmanager
def _staged(place: Path) -> Iterator[Path]:
    """Yields a private folder to be filled, which takes the place of `place` only if all went well."""
    _remove_abandoned(place.parent)
    staging = Path(tempfile.mkdtemp(prefix=".writing-", dir=place.parent))
    try:
        yield staging
        if place.exists():
            old = Path(tempfile.mkdtemp(prefix=".replaced-", dir=place.parent))
            place.rename(old / "run")
            staging.rename(place)
            shutil.rmtree(old, ignore_errors=True)
        else:
            staging.rename(place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Deletes what writers left that were killed."""
    for each in (*folder.glob(".writing-*"), *folder.glob(".replaced-*")):
        with contextlib.suppress(OSError):
            if time.time() - each.lstat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(each)


def _write_result(folder: Path, recording: Recording) -> None:
    result = recording.result
    for relation, rows in result.facts.items():
        _save(folder, f"fact-{relation.__name__}", np.stack(list(rows)))
    _save(folder, "reached", np.stack((result.reached, result.first_variable)))
    _save(folder, "sites", np.stack(result.sites))
    _save(folder, "calls", np.stack((result.call_site, result.call_callee)))
    _save(folder, "objects", np.stack(result.objects))
    _save(folder, "static-fields", np.stack((result.static_field, result.static_pointer)))
    for name, column in result.points_to._asdict().items():
        _save(folder, f"points-to-{name}", column)
    for name, column in recording.names._asdict().items():
        _save(folder, f"name-{name}", column)
    for name, column in recording.structure._asdict().items():
        _save(folder, f"structure-{name}", column)
    columns, words = reflective.columns_of(result.reflective, result.derived)
    for name, column in columns._asdict().items():
        _save(folder, f"reflective-{name}", column)
    _write_json(folder / WORDS, words)
    with _open(folder / DIAGNOSTICS) as file:
        for each in recording.diagnostics:
            file.write(json.dumps(asdict(each)) + "\n")


def _write_manifest(folder: Path, result: Result, more: dict[str, Any]) -> None:
    statistics = result.statistics._asdict()
    own = {"schemaVersion": SCHEMA_VERSION, "mode": result.mode, "complete": result.complete}
    _write_json(folder / MANIFEST, own | {"statistics": statistics} | more)


def _open(path: Path) -> TextIO:
    """Returns a new file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass")


def _write_json(path: Path, value: Any) -> None:
    with _open(path) as file:
        json.dump(value, file)


def _save(folder: Path, name: str, column: NDArray[Any]) -> None:
    descriptor = os.open(folder / f"{name}.npy", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        np.save(file, column, allow_pickle=False)


def is_run(folder: Path) -> bool:
    """Returns whether `folder` looks like a run."""
    return (folder / MANIFEST).is_file() and (folder / "reached.npy").is_file()


def listed() -> list[Path]:
    """Returns the runs of the user, the newest first."""
    root = runs_root()
    if not root.is_dir():
        return []
    return sorted((each for each in root.iterdir() if is_run(each)), key=_age)


def _age(folder: Path) -> tuple[float, str]:
    return -(folder / MANIFEST).stat().st_mtime, folder.name


def find(wanted: str | None) -> Run:
    """Returns the run at the path or with the name `wanted`, or the newest. Raises `Failure`."""
    if wanted is None:
        newest = next(iter(listed()), None)
        if newest is None:
            raise Failure(Exit.USAGE, "there is no run yet: `heliograph analyze` makes one")
        return Run(newest)
    for folder in (Path(wanted), runs_root() / wanted):
        if is_run(folder):
            return Run(folder)
    raise Failure(Exit.USAGE, f"{wanted} is no run; `heliograph runs list` names those there are")


def remove(folder: Path) -> None:
    """Deletes a run. Raises `Failure` if it can't."""
    try:
        shutil.rmtree(folder)
    except OSError as problem:
        raise Failure(Exit.NO_INPUT, f"{folder} can't be deleted: {problem.strerror}") from None


def size_of(folder: Path) -> int:
    """Returns the bytes that the files of a run take."""
    return sum(each.stat().st_size for each in folder.iterdir() if stat.S_ISREG(each.lstat().st_mode))


class Run:
    """A run, read as far as it is asked for. Raises `Failure` if a part of it is missing or damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What is known of the run as a whole."""
        found: dict[str, Any] = self._json(MANIFEST)
        if not isinstance(found, dict) or found.get("schemaVersion") != SCHEMA_VERSION:
            raise Failure(
                Exit.NO_INPUT, f"{self.folder} was written by another version of heliograph: analyze again"
            )
        return found

    @cached_property
    def names(self) -> Names:
        """The names of what the run mentions."""
        return Names(Columns(*(self._load(f"name-{each}") for each in Columns._fields)))

    @cached_property
    def structure(self) -> Structure:
        """Supertypes, archives and annotations."""
        return Structure(*(self._load(f"structure-{each}") for each in Structure._fields))

    @cached_property
    def result(self) -> Result:
        """All that was found, as the analysis returned it; large columns are read where they are touched."""
        manifest, words = self.manifest, self._json(WORDS)
        columns = ReflectiveColumns(*(self._load(f"reflective-{each}") for each in ReflectiveColumns._fields))
        reached, first_variable = self._load("reached")
        call_site, call_callee = self._load("calls")
        static_field, static_pointer = self._load("static-fields")
        return Result(
            manifest["mode"], manifest["complete"], reached, first_variable, self._facts(),
            Sites(*self._load("sites")), call_site, call_callee, Objects(*self._load("objects")),
            PointsToRows(*(self._load(f"points-to-{each}") for each in PointsToRows._fields)),
            static_field, static_pointer, reflective.sites_of(columns, words),
            reflective.derived_of(columns, words), Statistics(**manifest["statistics"]),
            tuple(self.diagnostics), manifest["summary"]["phases"], "passed-arguments" not in manifest["without"],
        )  # fmt: skip

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics."""
        text = self._text(DIAGNOSTICS)
        return [Diagnostic(**json.loads(each)) for each in text.splitlines()]

    def _facts(self) -> Facts:
        return {each: Rows(each, self._load(f"fact-{each.__name__}")) for each in schema.FACTS}

    def _load(self, name: str) -> NDArray[Any]:
        path = self.folder / f"{name}.npy"
        try:
            mapped: Literal["r"] | None = "r" if path.stat().st_size > _MAPPED_FROM else None
            found: NDArray[Any] = np.load(path, mmap_mode=mapped, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            raise self._damaged(path) from None
        return np.asarray(found)  # (looking at single entries of the class `memmap` is slow)

    def _text(self, name: str) -> str:
        try:
            return (self.folder / name).read_text("utf-8", "surrogatepass")
        except (OSError, ValueError):
            raise self._damaged(self.folder / name) from None

    def _json(self, name: str) -> Any:
        try:
            return json.loads(self._text(name))
        except ValueError:
            raise self._damaged(self.folder / name) from None

    def _damaged(self, path: Path) -> Failure:
        return Failure(Exit.NO_INPUT, f"{path} is missing or damaged: analyze again")
