"""Processes that outlive the command that starts them, known by number and birth so that no other is ever ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")


class Process(NamedTuple):
    """A process; the system gives its number to another one after its end, but never with the same birth."""

    pid: int
    birth: str


def birth(pid: int) -> str | None:
    """Returns when the process began, as the system writes it; None if there is none, or only its remains."""
    try:
        # The name, in parentheses, may hold anything. Behind it: the state first, the start 19 fields later.
        fields = (_PROC / str(pid) / "stat").read_text("utf-8", errors="replace").rpartition(")")[2].split()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("utf-8").strip()
    except OSError:
        return None if (_PROC / "self").exists() else _birth_by_ps(pid)
    return None if fields[0] in "ZX" else f"{boot} {fields[19]}"


def _birth_by_ps(pid: int) -> str | None:
    """Returns the same on systems without /proc."""
    state, _, began = _ps(pid, "stat=,lstart=").partition(" ")
    return None if not state or state.startswith("Z") else began.strip()


def memory(pid: int) -> int:
    """Returns the bytes of main memory that the process holds, 0 if nobody knows."""
    kilobytes = _ps(pid, "rss=")
    return int(kilobytes) * 1024 if kilobytes.isdigit() else 0


def _ps(pid: int, columns: str) -> str:
    command = ["ps", "-o", columns, "-p", str(pid)]
    environment = os.environ | {"LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def is_alive(process: Process) -> bool:
    """Returns whether the process still runs."""
    _bury(process.pid)
    return birth(process.pid) == process.birth


def _bury(pid: int) -> None:
    """Takes note of the end of `pid` if it is a child of this process."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def launch(command: Sequence[str], folder: Path, log: Path, environment: Mapping[str, str]) -> Process:
    """Starts a process in a session of its own, whose files are private. Raises OSError."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        # It stays when this command ends, so nobody waits for it.
        child = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=handle,
            stderr=subprocess.STDOUT, start_new_session=True, umask=0o077,
        )  # fmt: skip
    finally:
        os.close(handle)
    child.returncode = 0  # keeps Popen from warning that the process still runs
    return Process(child.pid, birth(child.pid) or "")


def stop(process: Process, grace: float) -> bool:
    """Asks the process to end, and makes it after `grace` seconds. Returns whether it ended by itself."""
    _send(process, signal.SIGTERM)
    end = time.monotonic() + grace
    while is_alive(process):
        if time.monotonic() > end:
            _send(process, signal.SIGKILL)
            while is_alive(process):
                time.sleep(0.05)
            return False
        time.sleep(0.1)
    return True


def _send(process: Process, number: signal.Signals) -> None:
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
