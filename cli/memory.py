"""How much memory there is, and how much this process has."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes that `ru_maxrss` counts in
# The share of the memory that is free at the start which an analysis may take unless it is told otherwise.
_SHARE = 0.92


def resident_bytes() -> int:
    """Returns the resident set of this process; where the system doesn't say, the largest so far."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return peak_memory_bytes()


def peak_memory_bytes() -> int:
    """Returns the largest resident set so far of this process, or of a child that ended."""
    return max(own_peak_bytes(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT)


def own_peak_bytes() -> int:
    """Returns the largest resident set so far of this process alone.

    Linux hands the peak of the process that started this one on to `ru_maxrss`, but not to the status file.
    """
    peak = _entry("/proc/self/status", "VmHWM:")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT if peak is None else peak


def default_limit() -> int | None:
    """Returns how much this process may take before the system would end it, None where nobody knows."""
    free = [each for each in (_entry("/proc/meminfo", "MemAvailable:"), _left_in_group()) if each is not None]
    return int((resident_bytes() + min(free)) * _SHARE) if free else None


def _entry(path: str, name: str) -> int | None:
    """Returns the bytes that a line of a system file tells in kilobytes, None if there is none."""
    for line in _read(path).splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


def _left_in_group() -> int | None:
    """Returns what the control group of this process (a container's, say) may still take; cached files don't count."""
    for folder, most, now in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        limit, used = _read(f"{folder}/{most}").strip(), _read(f"{folder}/{now}").strip()
        if limit.isdigit() and used.isdigit():
            cached = dict(line.split() for line in _read(f"{folder}/memory.stat").splitlines())
            return max(int(limit) - int(used) + int(cached.get("inactive_file", 0)), 0)
    return None


def _read(path: str) -> str:
    try:
        return Path(path).read_text("ascii", "replace")
    except OSError:
        return ""
