"""A directory as a container of entries, as the JVM sees one on the class path."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from cypher.schema import Diagnostic
from loader.source import FileSource, Limits, Refused, Source, refusal
from loader.zipread import EntryError


class Directory:
    """The files under `root` by name with `/`. Symbolic links are followed, except into what holds them.

    Raises `Refused` if the directory can't be listed or has too many files.
    """

    def __init__(self, root: str | Path, label: str, limits: Limits) -> None:
        self.label = label
        self.diagnostics: list[Diagnostic] = []
        self._limits = limits
        self._files: dict[str, tuple[str, int, int]] = {}
        try:
            status = Path(root).stat()
            self._walk(os.fspath(root), (status.st_dev, status.st_ino))
        except OSError as problem:
            raise refusal("IN-UNREADABLE", f"can't be listed: {problem.strerror}", label) from None

    def names(self) -> Iterator[str]:
        """Yields the names of all files, sorted."""
        yield from sorted(self._files)

    def read(self, name: str) -> bytes:
        """Returns the bytes of `name`. Raises `EntryError`; `Changed` if it differs from when it was listed."""
        path, size, modified = self._files[name]
        try:
            source = FileSource(path, f"{self.label}/{name}", self._limits.archive_bytes)
        except Refused as problem:
            raise EntryError(problem.diagnostic.code, problem.diagnostic.text) from None
        if (source.size, source.modified) != (size, modified):
            raise source.changed()
        if size > self._limits.entry_bytes:
            text = f"has {size:,} bytes, more than the limit of {self._limits.entry_bytes:,}"
            raise EntryError("ARC-ENTRY-SIZE", text)
        content = source.read(0, size)
        source.check()
        source.close()
        return content

    def nested(self, name: str, label: str) -> Source:
        """Returns the file `name` as a source of bytes. Raises `Refused`."""
        return FileSource(self._files[name][0], label, self._limits.archive_bytes)

    def digest(self, salt: str) -> str:
        """Returns the hash of `salt`, all names, and the contents of those files that can be read."""
        digest = hashlib.sha256(salt.encode())
        for name in self.names():
            digest.update(name.encode("utf-8", "surrogateescape") + b"\0")
            try:
                digest.update(hashlib.sha256(self.read(name)).digest())
            except EntryError as problem:
                digest.update(str(problem).encode())
        return digest.hexdigest()

    def check(self) -> None:
        """Does nothing: each file is checked when it is read."""

    def drop(self) -> None:
        """Does nothing: no bytes are kept."""

    def _walk(self, root: str, identity: tuple[int, int]) -> None:
        """Adds the files under `root`, without recursion: nesting has no limit but that of the files."""
        # Each directory still to be listed, with the identities of those around it and its own.
        waiting: list[tuple[str, str, frozenset[tuple[int, int]]]] = [(root, "", frozenset({identity}))]
        listed = 0
        while waiting:
            path, prefix, around = waiting.pop()
            listed += 1
            if max(listed, len(self._files)) > self._limits.entries:
                text = f"has more than {self._limits.entries:,} files, the limit"
                raise refusal("ARC-ENTRIES", text, self.label)
            try:
                with os.scandir(path) as listing:
                    found = list(listing)
            except OSError as problem:
                if not prefix:
                    raise
                self._note("IN-UNREADABLE", f"can't be listed: {problem.strerror}", prefix)
                continue
            for each in found:
                inside = self._add(each, prefix + each.name)
                if inside is not None and inside in around:
                    text = "leads back to a directory that holds it"
                    self._note("IN-LOOP", text, prefix + each.name, "none")
                elif inside is not None:
                    waiting.append((each.path, f"{prefix}{each.name}/", around | {inside}))

    def _add(self, found: os.DirEntry[str], name: str) -> tuple[int, int] | None:
        """Adds a file. Returns the identity of a directory."""
        try:
            status = found.stat()
        except OSError as problem:
            self._note("IN-UNREADABLE", f"can't be looked at: {problem.strerror}", name)
            return None
        if stat.S_ISDIR(status.st_mode):
            return status.st_dev, status.st_ino
        if stat.S_ISREG(status.st_mode):
            self._files[name] = (found.path, status.st_size, status.st_mtime_ns)
        else:
            self._note("IN-NOT-FILE", "is neither a regular file nor a directory", name)
        return None

    def _note(self, code: str, text: str, entry: str, effect: str = "soundness") -> None:
        self.diagnostics.append(Diagnostic(code, "warning", text, effect, self.label, entry))
