"""Units on disk, so that an archive is translated once: one file each, named by the digest of the archive.

A file is a header, an index in JSON, and the unit's arrays, which are mapped into memory: what nobody
touches is never read, apart from the checksum. Files are written aside and renamed, so that a reader sees
the whole of one or none, and a file that is replaced stays intact for who has mapped it.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import secrets
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cypher.schema import Diagnostic
from loader.unit import RELATIONS, VERSION, Unit

_MAGIC = b"heliou01"
# magic, bytes of the index, its CRC-32, sums over the arrays
_HEADER = Struct("<8sQQQQ")
# The arrays are summed in blocks of this many words, and the sums of the blocks by their place. Each array
# begins a block.
_BLOCK = 512
_ALIGNMENT = 8 * _BLOCK
_MOST_INDEX = 64 << 20
_STALE_SECONDS = 3600
_NAME = re.compile(r"([0-9a-f]{8,128})-v(\d{1,9})\.unit")
_DTYPES = {"int32": np.int32, "int64": np.int64, "uint8": np.uint8}
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)

Array = NDArray[Any]


class Entry(NamedTuple):
    """A file of the cache; `current` tells whether this version of the program would read it."""

    digest: str
    current: bool
    size: int
    modified: float


class BadEntry(Exception):
    """A file of the cache that isn't as it was written."""


def default_root() -> Path:
    """Returns where the cache of this user is."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification has relative paths ignored.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "heliograph"


def load(root: Path, digest: str, report: list[Diagnostic] | None = None) -> Unit | None:
    """Returns the unit of the archive with this digest, None if there is none that can be used.

    If there is one that can't, adds a note to `report`.
    """
    path = _path(root, digest)
    try:
        _check_folder(root)
        _check_folder(path.parent)
        return _read(path)
    except FileNotFoundError:
        return None
    except (OSError, BadEntry) as problem:
        if report is not None:
            text = f"{path}: {_plain(problem)}; the archive is translated again"
            report.append(Diagnostic("CACHE-BAD", "note", text))
        return None


def store(root: Path, digest: str, unit: Unit, report: list[Diagnostic] | None = None) -> bool:
    """Keeps the unit of the archive with this digest; returns False, with a warning, if that can't be."""
    path = _path(root, digest)
    try:
        _make_folder(root)
        _make_folder(path.parent)
        _write(path, unit)
    except (OSError, BadEntry) as problem:
        if report is not None:
            report.append(Diagnostic("CACHE-WRITE", "warning", f"{path}: {_plain(problem)}; nothing is kept"))
        return False
    _remove_outdated(path, digest)
    return True


def entries(root: Path) -> list[Entry]:
    """Returns the files of the cache, by digest."""
    found = []
    for path, digest, version in _files(root):
        with suppress(OSError):
            status = path.lstat()
            found.append(Entry(digest, version == VERSION, status.st_size, status.st_mtime))
    return found


def clear(root: Path) -> int:
    """Removes the files of the cache; returns how many bytes that freed."""
    freed = 0
    for path, _, _ in _files(root):
        with suppress(OSError):
            size = path.lstat().st_size
            path.unlink()
            freed += size
    return freed


def _path(root: Path, digest: str) -> Path:
    name = f"{digest}-v{VERSION}.unit"
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{digest!r} is no digest in hexadecimal")
    return root / "units" / name


def _files(root: Path) -> Iterator[tuple[Path, str, int]]:
    """Yields path, digest and version of each file, in the order of names."""
    try:
        _check_folder(root)
        _check_folder(root / "units")
        listed = sorted((root / "units").iterdir())
    except (OSError, BadEntry):
        return
    for path in listed:
        match = _NAME.fullmatch(path.name)
        if match is not None:
            yield path, match[1], int(match[2])


def _plain(problem: Exception) -> str:
    return problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)


# --- folders


def _check_folder(folder: Path) -> None:
    """Raises BadEntry if `folder` isn't a folder of this user's own."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise BadEntry(f"{folder} is no directory")
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise BadEntry(f"{folder} belongs to somebody else")


def _make_folder(folder: Path) -> None:
    """Makes `folder`, for this user alone."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    _check_folder(folder)
    if stat.S_IMODE(folder.lstat().st_mode) & 0o077:
        folder.chmod(0o700)


def _remove_outdated(path: Path, digest: str) -> None:
    """Removes units of the same archive by other versions, and what interrupted writers left."""
    with suppress(OSError):
        for other in path.parent.iterdir():
            match = _NAME.fullmatch(other.name)
            outdated = match is not None and match[1] == digest and other.name != path.name
            abandoned = other.suffix == ".part" and time.time() - other.lstat().st_mtime > _STALE_SECONDS
            if outdated or abandoned:
                other.unlink()


# --- files


def _arrays(unit: Unit) -> Iterator[tuple[str, Array]]:
    """Yields name and content of each array of a unit."""
    for each in fields(Unit):
        value = getattr(unit, each.name)
        if each.name == "body":
            for relation, columns in value.items():
                for name, column in columns.items():
                    yield f"body/{relation}/{name}", column
        elif each.name == "body_at":
            for relation, offsets in value.items():
                yield f"body_at/{relation}", offsets
        elif each.name != "diagnostics":
            yield each.name, value


def _names() -> set[str]:
    """Returns the names of all arrays of a unit."""
    plain = {each.name for each in fields(Unit)} - {"body", "body_at", "diagnostics"}
    offsets = {f"body_at/{relation}" for relation in RELATIONS}
    columns = {f"body/{relation}/{name}" for relation, names in RELATIONS.items() for name in names}
    return plain | offsets | columns


def _block_sums(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns the sum of each block; the last may be shorter than the others."""
    whole = len(words) // _BLOCK * _BLOCK
    sums = words[:whole].reshape(-1, _BLOCK).sum(axis=1, dtype=np.uint64)
    return sums if whole == len(words) else np.append(sums, words[whole:].sum(dtype=np.uint64))


def _sums(blocks: NDArray[np.uint64]) -> tuple[int, int]:
    """Returns checksums that a changed bit, a missing block and exchanged blocks show in.

    They are sums, for speed: this runs over all of the file each time that it is opened.
    """
    places = np.arange(1, len(blocks) + 1, dtype=np.uint64)
    return int(blocks.sum(dtype=np.uint64)), int((blocks * places).sum(dtype=np.uint64))


def _padded(values: Array) -> NDArray[np.uint8]:
    """Returns the bytes of an array, and zeros up to where the next one begins."""
    content = np.ascontiguousarray(values).view(np.uint8)
    padding = -len(content) % _ALIGNMENT
    return np.append(content, np.zeros(padding, np.uint8)) if padding else content


def _write(path: Path, unit: Unit) -> None:
    """Writes `unit` to a file of its own, which then takes the name `path`."""
    sections: list[tuple[str, str, int, int]] = []
    blocks: list[NDArray[np.uint64]] = []
    place = 0
    for name, values in _arrays(unit):
        content = _padded(values)
        sections.append((name, values.dtype.name, place, len(values)))
        blocks.append(_block_sums(content.view(np.uint64)))
        place += len(content)
    index = json.dumps({"sections": sections, "diagnostics": [list(each) for each in _rows(unit)]}).encode()
    index += b" " * (-(_HEADER.size + len(index)) % _ALIGNMENT)
    header = _HEADER.pack(_MAGIC, len(index), zlib.crc32(index), *_sums(np.concatenate(blocks)))
    part = path.with_name(f"{secrets.token_hex(8)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(header + index)
            for _, values in _arrays(unit):
                file.write(_padded(values).data)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _rows(unit: Unit) -> Iterator[tuple[Any, ...]]:
    names = [each.name for each in fields(Diagnostic)]
    for diagnostic in unit.diagnostics:
        yield tuple(getattr(diagnostic, name) for name in names)


def _read(path: Path) -> Unit:
    """Returns the unit in the file; its arrays are views of the mapped file and can't be written to."""
    descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BadEntry("no plain file")
        if status.st_size < _HEADER.size:
            raise BadEntry("cut off")
        mapped = mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)
    magic, size, checksum, *sums = _HEADER.unpack_from(mapped)
    start = _HEADER.size + size
    if magic != _MAGIC or size > _MOST_INDEX or start > len(mapped) or len(mapped) % _ALIGNMENT:
        raise BadEntry("not written by this version, or damaged")
    encoded = mapped[_HEADER.size : start]
    if zlib.crc32(encoded) != checksum:
        raise BadEntry("the index is damaged")
    words = np.frombuffer(mapped, np.uint64, offset=start)
    if _sums(_block_sums(words)) != tuple(sums):
        raise BadEntry("damaged")
    try:
        return _unit(json.loads(encoded), words.view(np.uint8))
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise BadEntry("the index is not one of this version") from problem


def _unit(index: dict[str, Any], data: NDArray[np.uint8]) -> Unit:
    arrays: dict[str, Array] = {}
    end = 0
    for name, dtype, start, count in index["sections"]:
        kind = np.dtype(_DTYPES[dtype])
        if start < 0 or count < 0 or start + count * kind.itemsize > len(data):
            raise ValueError(name)
        arrays[name] = data[start : start + count * kind.itemsize].view(kind)
        end = max(end, start + count * kind.itemsize)
    if end + -end % _ALIGNMENT != len(data):
        raise ValueError("more than the arrays")
    if arrays.keys() != _names():
        raise ValueError("other arrays than a unit has")
    body = {
        relation: {name: arrays.pop(f"body/{relation}/{name}") for name in names}
        for relation, names in RELATIONS.items()
    }
    body_at = {relation: arrays.pop(f"body_at/{relation}") for relation in RELATIONS}
    diagnostics = [Diagnostic(*each) for each in index["diagnostics"]]
    return Unit(**arrays, body_at=body_at, body=body, diagnostics=diagnostics)
