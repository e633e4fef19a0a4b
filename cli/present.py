"""Output: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from cli.text import shown

_WIDE = 1 << 16


def write_json(value: Any) -> None:
    """Prints `value` as JSON; text that is no Unicode is escaped."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=True)
    sys.stdout.write("\n")


def write_line(text: str = "") -> None:
    """Prints a line, control characters escaped."""
    sys.stdout.write(shown(text) + "\n")


def write_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Prints rows as a table; columns whose name ends with `#` hold numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        numeric = name.endswith("#")
        table.add_column(name.removesuffix("#"), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(each, Text) for each in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        # Nothing is folded for programs that look for words in lines.
        console = Console(highlight=False, width=_WIDE)
    console.print(table)


def _cell(value: object, make: Any) -> Any:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return make("\n".join(shown(line) for line in text.split("\n")))
