"""Where exports go: standard output, or a file that appears when it is whole."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterable
from pathlib import Path

from cli.exits import usage


def to_file(lines: Iterable[str], out: Path | None) -> None:
    """Writes text to `out`, or to standard output. Raises `Failure` if the file can't be written.

    What isn't Unicode in it becomes an escape.
    """
    if out is None:
        for line in lines:
            sys.stdout.write(line.encode("utf-8", "backslashreplace").decode("utf-8"))
        return
    part = out.with_name(f".{out.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            with part.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(lines)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise usage(f"{out} can't be written: {problem.strerror}") from None
