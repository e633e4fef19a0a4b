"""Ctrl-C: compiled code and the compiler don't notice it, so a thread ends the process if it takes too long."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

from cli.exits import Exit

INTERRUPTED = "heliograph: interrupted\n"
# Seconds that a command gets to end by itself.
_GRACE = 1.5


@contextlib.contextmanager
def outlasting() -> Iterator[None]:
    """Raises `KeyboardInterrupt` again if what it went through made another exception of it.

    A connection that an interrupt found reading, say, can't be closed properly.
    """
    try:
        yield
    except Exception as problem:
        before = problem.__context__
        while before is not None:
            if isinstance(before, KeyboardInterrupt):
                raise before from None
            before = before.__context__
        raise


def end_soon_after_interrupt() -> None:
    """Makes an interrupt end the process within two seconds, a second one at once.

    Files are written aside and renamed, so that the caches stay whole.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    sys.unraisablehook = _on_dropped


def _on_dropped(dropped: sys.UnraisableHookArgs) -> None:
    """Ends the process after an interrupt that found it in the finaliser of an object, which drops what is raised."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    sys.stderr.write(INTERRUPTED)
    sys.stderr.flush()
    os._exit(Exit.INTERRUPTED)


def _watch(reading: int) -> None:
    interrupted = False
    while number := os.read(reading, 1):
        if number[0] != signal.SIGINT:
            continue
        if interrupted:
            os._exit(Exit.INTERRUPTED)
        interrupted = True
        threading.Thread(target=_end, daemon=True).start()


def _end() -> None:
    time.sleep(_GRACE)
    os._exit(Exit.INTERRUPTED)
