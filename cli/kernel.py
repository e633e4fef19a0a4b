"""The compiled solver: where its machine code is kept, and its one compilation, in a process beside the reading."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on this platform
    fcntl = None  # type: ignore[assignment]

from cli.exits import Failure
from cli.folders import cache_root, private
from cli.progress import Progress
from engine.solver import Solver

_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from cli.kernel import build; build()"


def folder() -> Path:
    """Returns the folder of machine code for these sources, this compiler, this Python and this kind of machine."""
    digest = hashlib.sha256()
    spec = find_spec("engine.kernel")
    for place in spec.submodule_search_locations or () if spec else ():
        for source in sorted(Path(place).glob("*.py")):
            digest.update(str(source).encode() + b"\0" + source.read_bytes())
    versions = (metadata.version("numba"), metadata.version("llvmlite"), platform.python_version())
    for each in (*versions, platform.machine()):
        digest.update(each.encode() + b"\0")
    return cache_root() / f"kernel-{digest.hexdigest()[:16]}"


def solver(object_type: int, class_type: int) -> Solver:
    """Returns a compiled solver; `Compilation.wait` was called before."""
    from engine.kernel.solver import KernelSolver

    return KernelSolver(object_type, class_type)


def build() -> None:
    """Compiles the solver, unless another process does so first; prints the share that is done, a line each."""
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt), _lock(Path(os.environ["NUMBA_CACHE_DIR"])):
        if not _is_built():
            from engine.kernel.compiled import build as shares

            for share in shares():
                sys.stdout.write(f"{share}\n")
                sys.stdout.flush()


@contextlib.contextmanager
def _lock(place: Path) -> Iterator[None]:
    """Keeps other processes from compiling into the same folder; the system ends the lock with the process."""
    with (place / "lock").open("w") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Compilation:
    """Compiles the solver, if this wasn't done before, while the inputs are read."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._child: subprocess.Popen[str] | None = None
        # Machine code is code: it is never taken from a folder that somebody else could have named.
        os.environ["NUMBA_CACHE_DIR"] = str(self._place())
        if not _is_built():
            progress.say("compiling the solver for this machine; this happens once")
            command = [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path)]
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )

    def _place(self) -> Path:
        """Returns the folder for machine code, one for this run alone if that of the cache can't be used."""
        try:
            private(cache_root())
            return private(folder())
        except Failure as failure:
            self._progress.say(f"warning CACHE-WRITE: {failure}; nothing is kept")
            place = Path(tempfile.mkdtemp(prefix="heliograph-"))
            atexit.register(shutil.rmtree, place, ignore_errors=True)
            return place

    def wait(self) -> None:
        """Returns when the solver is compiled."""
        if self._child is None:
            return
        assert self._child.stdout is not None
        with self._progress.bar("compiling the solver", 1.0) as advance:
            for line in self._child.stdout:
                advance(float(line), "")
        self._child.wait()
        self._child = None
        if not _is_built():
            # The other process failed: what is wrong shows here.
            from engine.kernel.compiled import build as shares

            for _ in shares():
                pass

    def stop(self) -> None:
        """Ends the compilation if it still runs."""
        if self._child is not None:
            self._child.terminate()
            self._child.wait()


def _is_built() -> bool:
    from engine.kernel import solver as _  # noqa: F401  # declares what is to be compiled
    from engine.kernel.compiled import is_built

    return is_built()
