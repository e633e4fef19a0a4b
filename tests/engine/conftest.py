"""The compiled kernel, built once for all tests and kept in the folder that NUMBA_CACHE_DIR names."""

from __future__ import annotations

import fcntl
import importlib
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kernel() -> None:
    """Compiles the kernel, unless it is on disk; processes that test side by side wait for one another."""
    from engine.kernel import compiled

    importlib.import_module("engine.kernel.solver")  # declares what is to be compiled
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not compiled.is_built():
            for _ in compiled.build():
                pass
