"""Output: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from cli.text import shown

_WIDE = 1 << 16


def write_json(value: Any) -> None:
    """Prints `value` as JSON, of a list an element a line; text that is no Unicode is escaped."""
    if not isinstance(value, list):
        sys.stdout.write(f"{json.dumps(value, indent=2)}\n")
        return
    # (without an indent, compiled code writes it)
    for place, each in enumerate(value):
        sys.stdout.write(f"{',' if place else '['}\n{json.dumps(each)}")
    sys.stdout.write("\n]\n" if value else "[]\n")


def write_line(text: str = "") -> None:
    """Prints a line, control characters escaped."""
    sys.stdout.write(shown(text) + "\n")


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Prints rows as a table; columns whose name ends with `#` hold numbers.

    Names of classes and methods can be long: cells are never folded, so that a name stays in one piece.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        numeric = name.endswith("#")
        table.add_column(name.removesuffix("#"), justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(each, Text) for each in row))
    Console(highlight=False, width=_WIDE).print(table)


def write_styled(parts: Iterable[tuple[str, str]]) -> None:
    """Prints a line of (text, style), control characters escaped; styles show on terminals only."""
    from rich.console import Console
    from rich.text import Text

    line = Text()
    for text, style in parts:
        line.append(shown(text), style)
    Console(highlight=False, soft_wrap=True).print(line)


def _cell(value: object, make: Any) -> Any:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return make("\n".join(shown(line) for line in text.split("\n")))
