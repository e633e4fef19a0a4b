"""Runs a command and measures what it and its children cost."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024
SAMPLE_SECONDS = 0.1


class Measurement(NamedTuple):
    """What one run did. `status` is the exit code, negative for a signal, None if it ran into the time limit.

    `cpu_seconds` is user + system of the process and all children it waited for. `peak_bytes` is the larger
    of the largest resident set of any one process and the largest sum over processes seen at one time (which
    counts shared pages several times). `other_load` is how many CPUs other programs kept busy meanwhile,
    None where the system does not say.
    """

    status: int | None
    output: str
    errors: str
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    other_load: float | None


def run(
    command: Sequence[str],
    timeout: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Measurement:
    """Runs `command` in a process group of its own and returns what it cost.

    `environment` is added to that of this process. After `timeout` seconds the whole group is killed.
    Raises OSError if the command cannot be started.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        busy, own, begin = _busy_seconds(), _own_cpu_seconds(), time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        expired = threading.Event()
        alarm = threading.Timer(timeout, _kill_group, (process.pid, expired))
        sampler = _TreeSampler(process.pid)
        alarm.start()
        sampler.start()
        try:
            _, waited, usage = os.wait4(process.pid, 0)
        except BaseException:
            _kill_group(process.pid, expired)
            raise
        finally:
            alarm.cancel()
            sampler.stop()
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(waited)  # else Popen would wait again
        cpu = usage.ru_utime + usage.ru_stime
        output.seek(0)
        errors.seek(0)
        return Measurement(
            None if expired.is_set() else process.returncode,
            output.read().decode("utf-8", "replace"),
            errors.read().decode("utf-8", "replace"),
            cpu,
            wall,
            max(usage.ru_maxrss * MAXRSS_BYTES, sampler.peak_bytes),
            _other_load(busy, cpu + _own_cpu_seconds() - own, wall),
        )


def _kill_group(leader: int, expired: threading.Event) -> None:
    expired.set()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _own_cpu_seconds() -> float:
    return sum(os.times()[:2])


def _busy_seconds() -> float | None:
    """Returns the CPU seconds that all programs of the machine have used since it started."""
    try:
        fields = (PROC / "stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _wait, interrupt, soft = map(int, fields[:7])
    return (user + nice + system + interrupt + soft) / TICKS_PER_SECOND


def _other_load(before: float | None, ours: float, wall: float) -> float | None:
    now = _busy_seconds()
    if before is None or now is None:
        return None
    return max(0.0, (now - before - ours) / wall)


class _TreeSampler(threading.Thread):
    """Records the largest sum of resident sets over the processes of a session, several times a second."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self._session = session
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            sizes = [size for size in map(self._resident_bytes, _process_ids()) if size]
            if len(sizes) > 1:  # a single process knows its peak exactly
                self.peak_bytes = max(self.peak_bytes, sum(sizes))

    def stop(self) -> None:
        self._done.set()
        self.join()

    def _resident_bytes(self, process: int) -> int:
        """Returns the resident set of `process`, 0 if it is not of the session or is gone."""
        try:
            after_name = (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        except (OSError, UnicodeDecodeError):
            return 0
        return int(after_name[21]) * PAGE_BYTES if int(after_name[3]) == self._session else 0


def _process_ids() -> list[int]:
    try:
        return [int(each.name) for each in PROC.iterdir() if each.name.isdigit()]
    except OSError:
        return []
