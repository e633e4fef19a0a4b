"""What each phase of a command costs."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of the children that ended, in seconds."""
    used = (resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


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
