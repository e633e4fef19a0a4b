"""The compiled solver: where its machine code is kept, and its one compilation."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from cli.folders import cache_root, private
from cli.progress import Progress
from engine.solver import Solver


def folder() -> Path:
    """Returns the folder of machine code for these sources, this compiler, this Python and this kind of machine."""
    digest = hashlib.sha256()
    spec = find_spec("engine.kernel")
    for place in spec.submodule_search_locations or () if spec else ():
        for source in sorted(Path(place).glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    for each in (
        metadata.version("numba"),
        metadata.version("llvmlite"),
        platform.python_version(),
        platform.machine(),
    ):
        digest.update(each.encode() + b"\0")
    return cache_root() / f"kernel-{digest.hexdigest()[:16]}"


def solver(object_type: int, class_type: int) -> Solver:
    """Returns a compiled solver; `ready` was called before."""
    from engine.kernel.solver import KernelSolver

    return KernelSolver(object_type, class_type)


def ready(progress: Progress) -> None:
    """Imports the solver, and compiles it if this wasn't done before."""
    private(cache_root())
    # Machine code is code: it is never taken from a folder that somebody else could have named.
    os.environ["NUMBA_CACHE_DIR"] = str(private(folder()))
    from engine.kernel import solver as _  # noqa: F401  # declares what is to be compiled
    from engine.kernel.compiled import build, is_built

    if is_built():
        return
    progress.say("compiling the solver for this machine; this happens once")
    with progress.bar("compiling the solver", 1.0) as advance:
        for share in build():
            advance(share, "")
