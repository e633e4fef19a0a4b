"""`heliograph cache`: what is kept so that it need not be made again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cli.folders import cache_root
from cli.present import write_line, write_table
from cli.text import bytes_text
from loader import cache


class CacheRow(NamedTuple):
    """Something that is kept: an archive's translation, or compiled code. `current`: whether it is still used."""

    kind: str
    name: str
    current: bool
    bytes: int


def rows() -> list[CacheRow]:
    """Returns what the cache holds."""
    units = [
        CacheRow("archive", each.digest[:16], each.current, each.size) for each in cache.entries(cache_root())
    ]
    return units + [
        CacheRow("compiled code", each.name, _is_current(each), _size(each)) for each in _compiled()
    ]


def _compiled() -> list[Path]:
    root = cache_root()
    if root.is_symlink() or not root.is_dir():
        return []
    found = (each for each in root.iterdir() if each.name.startswith("kernel-"))
    return sorted(each for each in found if each.is_dir() and not each.is_symlink())


def _is_current(folder: Path) -> bool:
    from cli.kernel import folder as current

    return folder == current()


def _size(folder: Path) -> int:
    return sum(each.lstat().st_size for each in folder.rglob("*") if each.is_file())


def write(found: Sequence[CacheRow]) -> None:
    """Prints what the cache holds as a table."""
    if found:
        columns = ("kind", "name", "in use", "size#")
        write_table(
            columns,
            [
                (each.kind, each.name, "yes" if each.current else "no", bytes_text(each.bytes))
                for each in found
            ],
        )
    write_line(f"{bytes_text(sum(each.bytes for each in found))} in {cache_root()}")


def clear() -> None:
    """Deletes all of it and says how much that frees."""
    freed = cache.clear(cache_root())
    for folder in _compiled():
        freed += _size(folder)
        shutil.rmtree(folder, ignore_errors=True)
    write_line(f"{bytes_text(freed)} freed")
