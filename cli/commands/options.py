"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.exits import usage


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"


RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="A run's name or directory; the newest if not given."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="A table for people or JSON for programs.")]
AllOption = Annotated[bool, typer.Option("--all", help="Add what lies in libraries and the JDK.")]
JdkOption = Annotated[
    str | None,
    typer.Option("--jdk", metavar="HOME", help="The JDK whose library is used; JAVA_HOME's if not given."),
]
ReleaseOption = Annotated[
    int | None,
    typer.Option("--release", min=1, help="The release that multi-release jars are read for; the JDK's."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes and warnings.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what happens.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Where to write; standard output if not given.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=0, help="Rows of a table; 0 for all.")]
UriOption = Annotated[
    str | None,
    typer.Option(
        "--uri", metavar="URI", envvar="NEO4J_URI",
        help="A server, as in neo4j+s://host:7687; the managed one if not given. Its password is read from "
        "NEO4J_PASSWORD.",
    ),
]  # fmt: skip
UserOption = Annotated[
    str, typer.Option("--user", metavar="NAME", envvar="NEO4J_USER", help="The user of that server.")
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Allow a connection to another machine without encryption.")
]


def memory_bytes(text: str | None) -> int | None:
    """Returns the bytes that `--max-memory` says. Raises `Failure`."""
    from cli.text import bytes_of

    try:
        return None if text is None else bytes_of(text)
    except ValueError:
        raise usage(f"--max-memory {text} is no size; write 4g or 800m") from None
