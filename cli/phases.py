"""What each phase of a command costs."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes that `ru_maxrss` counts in


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of the children that ended, in seconds."""
    used = (resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def peak_memory_bytes() -> int:
    """Returns the largest resident set so far of this process, or of a child that ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(own_peak_bytes(), children * _UNIT)


def own_peak_bytes() -> int:
    """Returns the largest resident set so far of this process alone.

    Linux hands the peak of the process that started this one on to `ru_maxrss`, but not to the status file.
    """
    with contextlib.suppress(OSError), Path("/proc/self/status").open(encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


class Phases:
    """The CPU seconds of each phase, in the order in which they began. What came before counts as `start`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {"start": cpu_seconds()}

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds what happens inside to the phase `name`."""
        before = cpu_seconds()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + cpu_seconds() - before
