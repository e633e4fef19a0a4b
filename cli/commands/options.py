"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes and warnings.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what happens.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Where to write; standard output if not given.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=0, help="Rows of a table; 0 for all.")]
