"""Private folders and files: of this user, for nobody else, never through a link."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from cypher import private
from cypher.connection import Unavailable
from cypher.private import NotPrivate


def private_folder(folder: Path) -> Path:
    """Returns `folder`, made with mode 0700. Raises `Unavailable` if it is a link or belongs to someone else."""
    try:
        return private.private_folder(folder)
    except NotPrivate as problem:
        raise Unavailable(str(problem)) from None


def write_private(file: Path, text: str) -> None:
    """Writes a file with mode 0600, whole or not at all; what was there, a link too, is replaced."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # made with mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(name).replace(file)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as problem:
        raise Unavailable(f"{file} can't be written: {problem.strerror}") from None


def read_private(file: Path) -> str | None:
    """Returns a file's text, or None if there is no file. Raises `Unavailable` if it isn't this user's alone."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise Unavailable(f"{file} can't be read, or is a link: {problem.strerror}") from None
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise Unavailable(f"{file} is no file of this user; remove it")
        if stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(stream.fileno(), 0o600)
        return stream.read().decode("utf-8", "replace")


def read_object(file: Path) -> dict[str, Any] | None:
    """Returns the JSON object in a private file, or None if there is no file. Raises `Unavailable`."""
    text = read_private(file)
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Unavailable(f"{file} is damaged; remove it")
    return found


def size_of(folder: Path) -> int:
    """Returns the bytes of all files below `folder`."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # the server deletes files at any time
                total += Path(place, name).lstat().st_size
    return total
