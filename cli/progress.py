"""Progress on standard error: bars on a terminal, nothing elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cli.text import shown

if TYPE_CHECKING:
    import rich.progress

# Seconds between two changes on the screen.
INTERVAL = 0.2

Advance = Callable[[float, str], None]


class Progress:
    """Shows what a command is doing, unless it is to be quiet."""

    def __init__(self, quiet: bool, verbose: bool = False) -> None:
        self._quiet = quiet
        self._verbose = verbose

    def say(self, text: str) -> None:
        """Prints a line about what happens, which may take a while."""
        if not self._quiet:
            sys.stderr.write(shown(text) + "\n")

    def detail(self, text: str) -> None:
        """Prints a line for those who want to know more."""
        if self._verbose and not self._quiet:
            sys.stderr.write(shown(text) + "\n")

    @contextlib.contextmanager
    def bar(self, title: str, total: float | None) -> Iterator[Advance]:
        """Yields a function that shows how much of `total` is done (None: nobody knows), and a text beside it."""
        if self._quiet or not sys.stderr.isatty():
            yield _nothing
            return
        bars = _bars()
        with bars:
            task = bars.add_task(title, total=total, detail="")
            last = 0.0

            def advance(done: float, text: str) -> None:
                nonlocal last
                if time.monotonic() - last >= INTERVAL:
                    last = time.monotonic()
                    bars.update(task, completed=done, detail=text, refresh=True)

            yield advance


def _nothing(_done: float, _text: str) -> None:
    """Shows nothing."""


def _bars() -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    return Bars(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24),
        TextColumn("{task.fields[detail]}", markup=False), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True, refresh_per_second=4,
    )  # fmt: skip
