"""Folders of this user, for nobody else, and never through a link that someone else put there."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NotPrivate(Exception):
    """A folder can't be made private: `str` is the sentence for the user."""


def private_folder(folder: Path) -> Path:
    """Returns `folder`, made with mode 0700. Raises `NotPrivate` if it is a link or belongs to someone else."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as problem:
        raise NotPrivate(f"{folder} can't be used: {problem.strerror}") from None
    if not stat.S_ISDIR(status.st_mode):
        raise NotPrivate(f"{folder} is no folder but a link or a file; remove it")
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise NotPrivate(f"{folder} belongs to another user")
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return folder
