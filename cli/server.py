"""`heliograph graph`: the managed Neo4j server, told in tables and sentences."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.exits import Exit, Failure
from cli.folders import private, state_root
from cli.present import write_json, write_line
from cli.progress import Progress
from cli.text import bytes_text
from cypher.connection import Unavailable

if TYPE_CHECKING:
    from cypher.server.managed import Managed, Status
    from cypher.server.progress import Tell


@contextlib.contextmanager
def failing() -> Iterator[None]:
    """Turns what is wrong with the database into the failure of the command."""
    try:
        yield
    except Unavailable as problem:
        raise Failure(Exit.UNAVAILABLE, str(problem)) from None


def managed() -> Managed:
    """Returns this user's server."""
    try:
        from cypher.server.managed import Managed
    except ImportError:  # it needs what only POSIX systems have
        raise Failure(
            Exit.UNAVAILABLE,
            "the managed server runs on Linux and macOS; use docker/compose.yaml or a server of your own (--uri)",
        ) from None
    return Managed(private(state_root()) / "neo4j")


@contextlib.contextmanager
def telling(progress: Progress) -> Iterator[Tell]:
    """Yields what shows the progress of long work: a bar on a terminal, a line for each step elsewhere."""
    said = ""
    with progress.bar("", None) as advance:

        def tell(what: str, far: str) -> None:
            nonlocal said
            if not sys.stderr.isatty() and what != said:
                progress.say(what)
            said = what
            advance(0.0, f"{what}  {far}".rstrip())

        yield tell


def write_status(server: Managed, *, as_json: bool, verify: bool) -> None:
    """Prints how the server is; fails if its jars are to be verified and are not what was fetched."""
    status = server.status()
    assembly = server.assembly(status.version)
    damaged = assembly.damaged(fully=True) if verify else []
    if as_json:
        extra = {"damagedJars": damaged} if verify else {}
        write_json(_document(status) | {"installed": assembly.is_known()} | extra)
    else:
        _write_lines(status, installed=assembly.is_known())
    if damaged:
        raise Failure(
            Exit.UNAVAILABLE,
            f"{len(damaged)} of the server's jars are not what was fetched ({', '.join(damaged[:3])}): "
            "`heliograph graph stop`, then `heliograph graph start --verify`, fetch them again",
        )


def _document(status: Status) -> dict[str, object]:
    """Returns the status for programs."""
    return {
        "status": state(status),
        "version": status.version,
        "pid": status.pid,
        "since": status.since,
        "bolt": status.uri,
        "browser": status.browser,
        "java": status.java,
        "database": status.database,
        "databaseBytes": status.database_size,
        "memoryBytes": status.memory,
        "folder": status.folder,
    }


def state(status: Status) -> str:
    """Returns the server's state in words."""
    if not status.running:
        return "stopped"
    return "running" if status.answers else "not answering"


def _write_lines(status: Status, *, installed: bool) -> None:
    rows = [
        ("status", state(status)),
        ("Neo4j", status.version + ("" if installed else " (not fetched yet)")),
    ]
    if status.running:
        rows += [
            ("since", f"{status.since}"),
            ("process", f"{status.pid}, {bytes_text(status.memory or 0)} of memory, {status.java}"),
            ("bolt", f"{status.uri}"),
            ("browser", f"{status.browser}"),
        ]
    rows += [
        ("database", f"{status.database}, {bytes_text(status.database_size)}"),
        ("folder", status.folder),
    ]
    for name, value in rows:
        write_line(f"{name:<10}{value}")


def write_started(server: Managed, *, fresh: bool) -> None:
    """Prints where the server answers, and where its password is."""
    write_line(f"Neo4j {server.settings.version} {'is running' if fresh else 'was running already'}")
    write_line(f"bolt      {server.uri}")
    write_line(f"browser   {server.browser_url}")
    write_line(f"user      neo4j, with the password in {server.folder / 'password'}")
