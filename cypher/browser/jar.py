"""The Browser's jar with our guide in it, so that it comes from the Browser's own address.

The server serves the first folder `browser` on its class path, so ours can't stand in a jar of their own. Those that
were fetched stay as they were: this makes a copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import zipfile  # noqa: TID251  # adds to a jar whose hash is known; nothing of it is read
from pathlib import Path

from cypher.browser.guide import GUIDE, guide
from cypher.connection import Unavailable

_NAME = "neo4j-browser-"


def with_guide(class_path: list[Path], folder: Path) -> list[Path]:
    """Returns `class_path` with a copy of the Browser's jar, made in `folder`, in its place."""
    return [_copied(each, folder / each.name) if each.name.startswith(_NAME) else each for each in class_path]


def _copied(jar: Path, target: Path) -> Path:
    try:
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=".part-")  # made with mode 0600
        try:
            with os.fdopen(handle, "wb") as output, jar.open("rb") as stream:
                shutil.copyfileobj(stream, output, 1 << 20)
            with zipfile.ZipFile(aside, "a") as archive:
                archive.writestr(zipfile.ZipInfo(f"browser/{GUIDE}"), guide())
            Path(aside).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(aside).unlink()
            raise
    except (OSError, zipfile.BadZipFile) as problem:
        raise Unavailable(f"the Browser's guide can't be put into {target}: {problem}") from None
    return target
