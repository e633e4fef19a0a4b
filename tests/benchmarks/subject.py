"""Heliograph as the benchmarks run it: by its command line, with caches that begin empty."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks import measure
from tests.benchmarks.jdk import Jdk
from tests.benchmarks.workloads import Unavailable, Workload

COMPILED_SUFFIXES = (".nbi", ".nbc")  # numba's index and machine code


class Sandbox(NamedTuple):
    """A folder that stands for the user's cache and state folders."""

    folder: Path

    def environment(self) -> dict[str, str]:
        """Returns the variables that send every cache and every run into the folder."""
        names = {"XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state", "NUMBA_CACHE_DIR": "numba"}
        return {name: str(self.folder / place) for name, place in names.items()}

    def compiled_files(self) -> dict[str, int]:
        """Returns the time of last change of each file of compiled code."""
        return {
            str(each): each.stat().st_mtime_ns
            for each in self.folder.rglob("*")
            if each.suffix in COMPILED_SUFFIXES
        }

    def empty_caches(self) -> None:
        """Removes all but the compiled code."""
        for each in self.folder.rglob("*"):
            if not each.is_dir() and each.suffix not in COMPILED_SUFFIXES:
                each.unlink()

    def remove_runs(self) -> None:
        """Removes the runs that were written."""
        shutil.rmtree(self.folder / "state", ignore_errors=True)


class Outcome(NamedTuple):
    """What an `analyze` cost, what it printed (None if that was no JSON object), and whether it compiled."""

    cost: measure.Measurement
    result: dict[str, Any] | None
    compiled: bool


def executable() -> str:
    """Returns the path of the command `heliograph` of this environment. Raises Unavailable if there is none."""
    beside = Path(sys.executable).with_name("heliograph")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("heliograph")
    if found is None:
        raise Unavailable("The command `heliograph` is not installed in this environment.")
    return found


def version() -> str:
    """Returns what the command says of its version."""
    return measure.run([executable(), "--version"], timeout=60).output.strip()


def analyze(sandbox: Sandbox, workload: Workload, jdk: Jdk, mode: str, timeout: float) -> Outcome:
    """Runs `heliograph analyze` on `workload` with the caches of `sandbox`."""
    command = [executable(), "analyze", *workload.arguments()]
    command += ["--jdk", str(jdk.home), "--mode", mode, "--format", "json"]
    before = sandbox.compiled_files()
    cost = measure.run(command, timeout, cwd=sandbox.folder, environment=sandbox.environment())
    compiled = sandbox.compiled_files() != before
    sandbox.remove_runs()
    return Outcome(cost, _object(cost.output), compiled)


def _object(text: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
