"""`heliograph runs`: which runs there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cli import run
from cli.exits import Failure, usage
from cli.present import write_line, write_table
from cli.text import bytes_text


class RunRow(NamedTuple):
    """A run of the user."""

    name: str
    created: str
    mode: str
    program: str
    methods: int
    complete: bool
    size: int
    path: str

    def document(self) -> dict[str, Any]:
        """Returns the row for programs."""
        found = self._asdict()
        found["bytes"] = found.pop("size")
        return found


def rows() -> list[RunRow]:
    """Returns the runs, the newest first; those that can't be read are left out."""
    found = []
    for folder in run.listed():
        try:
            manifest = run.Run(folder).manifest
            summary = manifest["summary"]
            program = " ".join([*manifest["inputs"], *manifest["mains"]])
            found.append(_row(folder, manifest, program, summary["reachableMethods"]))
        except (Failure, KeyError, TypeError):
            continue
    return found


def _row(folder: Path, manifest: dict[str, Any], program: str, methods: int) -> RunRow:
    return RunRow(
        folder.name, manifest["created"], manifest["mode"], program, methods, manifest["complete"],
        run.size_of(folder), str(folder),
    )  # fmt: skip


def write(found: Sequence[RunRow]) -> None:
    """Prints the runs as a table."""
    if not found:
        write_line("there is no run; `heliograph analyze` makes one")
        return
    write_table(
        ("run", "of", "mode", "methods#", "complete", "size#"),
        [
            (
                each.name,
                each.program,
                each.mode,
                each.methods,
                "yes" if each.complete else "no",
                bytes_text(each.size),
            )
            for each in found
        ],
    )


def remove(names: Sequence[str], keep: int | None) -> None:
    """Deletes the runs with these names, and all but the newest `keep`. Raises `Failure`."""
    known = {each.name: each for each in run.listed()}
    unknown = [each for each in names if each not in known]
    if unknown:
        raise usage(f"there is no run {', '.join(unknown)}; `heliograph runs list` names those there are")
    chosen = [*names, *([] if keep is None else list(known)[keep:])]
    for name in dict.fromkeys(chosen):
        run.remove(known[name])
        write_line(f"removed {name}")
