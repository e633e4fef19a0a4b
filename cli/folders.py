"""The user's cache and state folders: private, and never through a link that someone else put there."""

from __future__ import annotations

import os
from pathlib import Path

from cli.exits import Exit, Failure
from cypher.private import NotPrivate, private_folder

NAME = "heliograph"


def cache_root() -> Path:
    """Returns the folder of caches: below XDG_CACHE_HOME, or where the specification puts them."""
    return _base("XDG_CACHE_HOME", ".cache") / NAME


def state_root() -> Path:
    """Returns the folder of state, which holds the runs: below XDG_STATE_HOME, or where the specification puts it."""
    return _base("XDG_STATE_HOME", ".local/state") / NAME


def _base(variable: str, usual: str) -> Path:
    # The specification says that relative paths are to be ignored.
    given = os.environ.get(variable, "")
    return Path(given) if given and Path(given).is_absolute() else Path.home() / usual


def private(folder: Path) -> Path:
    """Returns `folder`, made with mode 0700. Raises `Failure` if it is a link or belongs to someone else."""
    try:
        return private_folder(folder)
    except NotPrivate as problem:
        raise Failure(Exit.NO_INPUT, str(problem)) from None
