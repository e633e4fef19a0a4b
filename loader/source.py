"""Where the bytes of an archive come from: a file, or an entry of another archive.

Files are read by position and never mapped: a mapped file that shrinks while it is read ends the process.
"""

from __future__ import annotations

import hashlib
import os
import stat
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cypher.schema import Diagnostic

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """What an input may cost. Sizes are in bytes; `nesting` counts archives inside archives.

    Entries of more than `ratio_from` bytes that inflate by more than `ratio` together get `ratio_bytes`: that
    is what a decompression bomb consists of, and hardly anything else.
    """

    archive_bytes: int = 2 * GIB
    nested_bytes: int = 256 * MIB
    entries: int = 200_000
    entry_bytes: int = 16 * MIB
    inflated_per_archive: int = 4 * GIB
    inflated_per_run: int = 16 * GIB
    ratio: int = 200
    ratio_from: int = MIB
    ratio_bytes: int = 256 * MIB
    nesting: int = 3


class Source(Protocol):
    """Bytes of known length, read by position."""

    @property
    def label(self) -> str:
        """Returns the path for display, as in `app.war!WEB-INF/lib/x.jar`."""

    @property
    def size(self) -> int:
        """Returns the number of bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """Returns the bytes at `offset`: fewer than `length` only where the source ends."""

    def check(self) -> None:
        """Raises `Changed` if the bytes are no longer those that were opened."""

    def drop(self) -> None:
        """Gives back the memory that can be had again."""


class InputError(Exception):
    """An input that ends the run or an archive. `diagnostics` say why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(each.text for each in diagnostics))
        self.diagnostics = diagnostics


class Refused(InputError):
    """An archive that is not read. The others still are."""

    @property
    def diagnostic(self) -> Diagnostic:
        """Returns why."""
        return self.diagnostics[0]


class Changed(InputError):
    """A file that changed while it was read: nothing of this run may be kept."""


def refusal(code: str, text: str, label: str, entry: str = "") -> Refused:
    """Returns the exception that refuses the archive `label`."""
    return Refused(Diagnostic(code, "error", text, "soundness", label, entry))


def sha256_of(source: Source, *, salt: str = "") -> str:
    """Returns the hash of `salt` and all bytes of `source`, in hexadecimal."""
    digest = hashlib.sha256(salt.encode())
    for offset in range(0, source.size, MIB):
        digest.update(source.read(offset, MIB))
    return digest.hexdigest()


class FileSource:
    """A regular file. Raises `Refused` if it can't be opened, is anything else, or is over `max_bytes`."""

    def __init__(self, path: str | Path, label: str, max_bytes: int) -> None:
        self.label = label
        self._path = path
        try:
            # Opening a device or a pipe can block or act, so its kind is looked at before and after.
            self._require_file(Path(path).stat())
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise refusal("IN-MISSING", "there is no such file", label) from None
        except (OSError, ValueError) as problem:
            raise refusal("IN-UNREADABLE", f"can't be opened: {_reason(problem)}", label) from None
        self.close = weakref.finalize(self, os.close, self._fd)
        status = os.fstat(self._fd)
        self._require_file(status)
        self._identity = _identity(status)
        self.size = status.st_size
        if self.size > max_bytes:
            raise refusal(
                "ARC-BUDGET", f"has {self.size:,} bytes, more than the limit of {max_bytes:,}", label
            )

    def _require_file(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise refusal("IN-NOT-FILE", "is neither a regular file nor a directory", self.label)

    @property
    def modified(self) -> int:
        """Returns the time of the last modification, in nanoseconds."""
        return self._identity[3]

    def read(self, offset: int, length: int) -> bytes:
        """Returns the bytes at `offset`: fewer than `length` only where the file ends."""
        wanted = max(0, min(length, self.size - offset))
        try:
            found = os.pread(self._fd, wanted, offset) if wanted and offset >= 0 else b""
            while found and len(found) < wanted:  # one call returns at most 2 GiB, or less on a slow disk
                more = os.pread(self._fd, wanted - len(found), offset + len(found))
                if not more:
                    break
                found += more
        except OSError as problem:
            raise refusal("IN-UNREADABLE", f"can't be read: {_reason(problem)}", self.label) from None
        if len(found) < wanted and offset >= 0:
            raise self.changed()
        return found

    def check(self) -> None:
        """Raises `Changed` if the file, or what its path leads to, is not what was opened."""
        try:
            same = _identity(os.fstat(self._fd)) == self._identity == _identity(Path(self._path).stat())
        except OSError:
            same = False
        if not same:
            raise self.changed()

    def drop(self) -> None:
        """Does nothing: no bytes are kept."""

    def changed(self) -> Changed:
        """Returns the exception that says so."""
        text = "changed or went away while it was read"
        return Changed(Diagnostic("ARC-CHANGED", "error", text, "soundness", self.label))


class NestedSource:
    """An entry of another archive, inflated when it is needed and dropped when memory is wanted back."""

    def __init__(self, label: str, inflate: Callable[[], bytes], outer: Source) -> None:
        self.label = label
        self._inflate = inflate
        self._outer = outer
        self._data: bytes | None = inflate()
        self.size = len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        """Returns the bytes at `offset`: fewer than `length` only where the entry ends."""
        if self._data is None:
            self._data = self._inflate()
            self._outer.drop()
        return self._data[offset : offset + length] if offset >= 0 and length > 0 else b""

    def check(self) -> None:
        """Raises `Changed` if the file that holds the entry changed."""
        self._outer.check()

    def drop(self) -> None:
        """Forgets the inflated bytes."""
        self._data = None
        self._outer.drop()


class WindowSource:
    """An entry that the other archive stores as it is."""

    def __init__(self, label: str, outer: Source, start: int, size: int) -> None:
        self.label = label
        self._outer = outer
        self._start = start
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Returns the bytes at `offset`: fewer than `length` only where the entry ends."""
        wanted = min(length, self.size - offset)
        return self._outer.read(self._start + offset, wanted) if offset >= 0 and wanted > 0 else b""

    def check(self) -> None:
        """Raises `Changed` if the file that holds the entry changed."""
        self._outer.check()

    def drop(self) -> None:
        """Forgets inflated bytes further out."""
        self._outer.drop()


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _reason(problem: OSError | ValueError) -> str:
    return problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
