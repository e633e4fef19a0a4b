"""No index of the kernel is out of bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_random_programs_stay_within_bounds() -> None:
    # Its own folder: the machine code differs, and takes more than a minute the first time.
    folder = Path(os.environ["NUMBA_CACHE_DIR"]).with_name("numba-bounds")
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-m", "tests.engine.bounds", "75"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    complete, exhausted = map(int, done.stdout.split())
    assert complete > 10
    assert exhausted > 10
