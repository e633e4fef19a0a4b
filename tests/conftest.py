"""What holds for all tests: where they may write, how Hypothesis searches, what a CI machine must have.

Runs go to a folder that is deleted afterwards. Caches (the translated JDK, compiled code) go to `build/`,
so that they outlive a test run without touching the user's own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from cli import kernel

CACHE = Path(__file__).parents[1] / "build" / "cache"
# Set to try all fixtures where a test takes a part of them for the time they need.
EVERYTHING = "HELIOGRAPH_ALL_FIXTURES"
STATE = pytest.StashKey[tempfile.TemporaryDirectory[str]]()

settings.register_profile("everyday", deadline=None, max_examples=100, print_blob=True)
settings.register_profile("thorough", parent=settings.get_profile("everyday"), max_examples=2_000)
settings.register_profile("release", parent=settings.get_profile("everyday"), max_examples=100_000)


# A worker takes a file at a time; those that take minutes begin first, so that none is left with one in the end.
_LONG = {
    "test_fixtures.py", "test_closure.py", "test_catalogue.py", "test_load_faults.py", "test_load.py", "test_inference.py",
    "test_solvers.py", "test_mutation.py", "test_rules_have_fixtures.py", "test_server_real.py", "test_query.py",
}  # fmt: skip


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts long files first; the rest stays in its random order."""
    items.sort(key=lambda each: each.path.name not in _LONG)


def pytest_configure(config: pytest.Config) -> None:
    """Sets the environment before the compiler, which reads it once, is imported."""
    missing = [name for name in ("java", "javac") if shutil.which(name) is None]
    if missing and os.environ.get("CI"):
        raise pytest.UsageError(f"CI would skip tests: {' and '.join(missing)} not found.")
    state = tempfile.TemporaryDirectory(prefix="heliograph-tests-")
    config.stash[STATE] = state
    CACHE.mkdir(parents=True, exist_ok=True)
    os.environ.update(XDG_STATE_HOME=state.name, XDG_CACHE_HOME=str(CACHE))
    # Tests of the engine share the compiled solver with those of the commands.
    os.environ["NUMBA_CACHE_DIR"] = str(kernel.folder())
    # What the tests run in Java, servers too, lives for seconds: optimizing it takes twice as long as it saves.
    options = "JAVA_TOOL_OPTIONS"
    os.environ[options] = f"{os.environ.get(options, '')} -XX:TieredStopAtLevel=1".strip()
    for name in ("FORCE_COLOR", "NO_COLOR"):
        os.environ.pop(name, None)
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("everyday")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Deletes the runs."""
    if state := config.stash.get(STATE, None):
        state.cleanup()
