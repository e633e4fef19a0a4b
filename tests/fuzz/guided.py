"""Fuzzing that is guided by coverage of the loader, for class files: needs Atheris, which not every machine has."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MEMORY = 512  # MiB that are allocated at once; Atheris itself grows beyond that
_ROOM = 4096
SLOW = 2  # seconds


def start(folder: Path, seconds: int) -> int:
    """Runs Atheris over the files in `folder`, to which it adds; returns its exit code."""
    if find_spec("atheris") is None:
        print("Atheris is not installed: nothing was guided.")
        return 0
    from tests.fuzz import corpus

    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        with tempfile.TemporaryDirectory() as compiled:
            corpus.build(Path(compiled)).save(folder)
    found = folder.with_name(f"{folder.name}-failures")
    found.mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-malloc_limit_mb={MEMORY}", f"-rss_limit_mb={_ROOM}"]
    limits += [f"-timeout={SLOW}", "-max_len=4096"]
    command = [sys.executable, "-m", __name__, str(folder), f"-artifact_prefix={found}/", *limits]
    return subprocess.run(command, check=False, cwd=ROOT).returncode


def main() -> None:
    """Hands the process to Atheris."""
    atheris: Any = import_module("atheris")
    # Nothing of the loader may have been imported before.
    with atheris.instrument_imports(include=["loader"]):
        from tests.fuzz.corpus import Mutant
        from tests.fuzz.readers import Files, read_classes
    files = Files(Path())

    def read(data: bytes) -> None:
        read_classes(files, [Mutant(0, "", "", "x/Guided.class", data)])

    atheris.Setup(sys.argv, read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
