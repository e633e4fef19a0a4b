"""A report as text: tables for terminals, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cli.present import write_line, write_table
from cli.report.figures import SPREAD_NAMES, Figures
from cli.report.order import Step
from cli.report.paper import published
from cli.report.studies import Study
from cli.report.tables import Cell, Section, widest_sites
from cli.run import Run
from cli.text import shown, spreadsheet_cell
from cli.version import version

PLOT = "plot.svg"
_KEY = ("program", "mode", "code")
# The columns of records that each file has; the first three say what a row is about.
FILES: dict[str, tuple[str, ...]] = {
    "fig19.csv": (*_KEY, "complete", "calls", "fully", "partially", "unresolved", "classAbsent", "noName"),
    "fig21.csv": (
        *_KEY, "complete", "partially", "unresolved", "specificationPoints", "specificationPointsMore",
    ),
    "fig22.csv": (*_KEY, "complete", "classes", "methods"),
    "fig23.csv": ("program", "mode", "complete", "solverSeconds", "totalSeconds"),
    "precision.csv": (*_KEY, "complete", *SPREAD_NAMES),
}  # fmt: skip
_SPECIAL = re.compile(r"([\\`*_\[\]<>|])")


def records_of(found: Sequence[Figures]) -> list[dict[str, Any]]:
    """Returns all numbers, a record for each program, mode and kind of code."""
    return [record for each in found for record in each.records()]


def document(studies: Sequence[Study], found: Sequence[Figures], order: Sequence[Step]) -> dict[str, Any]:
    """Returns the report for programs."""
    return {
        "figures": records_of(found),
        "order": [each._asdict() for each in order],
        "widest": [each._asdict() for each in widest_sites(found)],
        "failures": [
            {"program": study.program.name, "mode": mode or None, "reason": str(failure)}
            for study in studies
            for mode, failure in study.failures.items()
        ],
        "paper": [each._asdict() for each in published()],
    }


def csv_lines(records: Sequence[dict[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """Yields records as CSV, each row once; cells that a spreadsheet would take for formulas are guarded."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(dict.fromkeys(tuple(_csv_cell(each[name]) for name in columns) for each in records))
    yield buffer.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return spreadsheet_cell(value) if isinstance(value, str) else value


def write(listed: Iterable[Section]) -> None:
    """Prints the tables for people."""
    for number, table in enumerate(table for section in listed for table in section.tables):
        if number:
            write_line()
        write_table(table.columns, [[_text(each) for each in row] for row in table.rows], table.title)
        for line in table.note.splitlines():
            write_line(line)


def _text(value: Cell) -> str:
    """Returns a cell as people read it."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else value


def markdown(studies: Sequence[Study], listed: Iterable[Section]) -> Iterator[str]:
    """Yields the lines of the report in Markdown."""
    yield "# Reflection analysis in the modes of Livshits, Whaley and Lam\n\n"
    yield f"Made by heliograph {version()}. The numbers are also in the CSV files beside this one.\n\n"
    yield from _markdown_table(
        ("program", "input", "starts at", "JDK"), [_programs_row(each) for each in studies]
    )
    for section in listed:
        yield f"\n## {section.title}\n"
        if section.title == "Figures":
            yield f"\n![Calls of Class.forName, size of the call graph and time by mode]({PLOT})\n"
        for table in section.tables:
            yield f"\n### {table.title}\n\n"
            yield from _markdown_table(table.columns, table.rows)
            for line in table.note.splitlines():
                yield f"\n{_escaped(line)}\n"


def _programs_row(study: Study) -> tuple[Cell, ...]:
    program = study.program
    folder = next(iter(study.runs.values()), None)
    if folder is None:
        return program.name, program.given, None, None
    manifest = Run(folder).manifest
    starts = [
        *manifest["mains"],
        *manifest["entries"],
        *(["its public methods"] if manifest["library"] else []),
    ]
    return program.name, program.given, ", ".join(starts), str(manifest["summary"]["jdk"]["version"])


def _markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    yield f"| {' | '.join(each.removesuffix('#') for each in columns)} |\n"
    yield f"| {' | '.join('---:' if each.endswith('#') else '---' for each in columns)} |\n"
    for row in rows:
        yield f"| {' | '.join(_escaped(_text(each)) for each in row)} |\n"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", shown(text))
