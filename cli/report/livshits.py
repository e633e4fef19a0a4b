"""`heliograph report livshits`: the tables of the paper for programs of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cli.exits import Exit, Failure, usage
from cli.export.writing import to_file
from cli.present import write_json
from cli.progress import Progress
from cli.report import plot, writing
from cli.report.figures import Figures, figures_of
from cli.report.order import Step, steps
from cli.report.programs import Program
from cli.report.studies import Study, studies
from cli.report.tables import sections
from cli.run import Run
from engine.reflection.modes import LIVSHITS, MODES


class Report(NamedTuple):
    """What was found about each program, and its numbers in the order of programs and modes."""

    studies: list[Study]
    figures: list[Figures]
    order: list[Step]

    def exit_code(self) -> Exit:
        """Returns how the command ends: as the first program did that failed."""
        failed = [failure.code for study in self.studies for failure in study.failures.values()]
        if not failed and not all(each.complete for each in self.figures):
            return Exit.INCOMPLETE
        return next(iter(failed), Exit.DONE)


def modes_of(wanted: Sequence[str]) -> list[str]:
    """Returns the modes of the paper that there are, or those of them that are wanted. Raises `Failure`."""
    known = [each for each in LIVSHITS if each in MODES]
    for each in wanted:
        if each not in known:
            raise usage(f"there is no mode {each} in the report: choose {' or '.join(known)}")
    return [each for each in known if not wanted or each in wanted]


def report(programs: Sequence[Program], modes: Sequence[str], progress: Progress, *, fresh: bool) -> Report:
    """Returns the report on programs in `modes`. Raises `Failure` if none has a result."""
    found = studies(programs, modes, progress, fresh=fresh)
    figures = [
        figures_of(Run(study.runs[mode]), study.program.name, mode)
        for study in found
        for mode in modes
        if mode in study.runs
    ]
    if not figures:
        failed = [(study.program.name, each) for study in found for each in study.failures.values()]
        sentences = "\n".join(f"{name}: {each}" for name, each in failed)
        raise Failure(failed[0][1].code, sentences)
    return Report(found, figures, list(steps(found, modes)))


def write_files(found: Report, folder: Path) -> None:
    """Writes `report.md`, the CSV files and the picture. Raises `Failure` if that can't be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise usage(f"{folder} can't be written: {problem.strerror}") from None
    records = writing.records_of(found.figures)
    for name, columns in writing.FILES.items():
        to_file(writing.csv_lines(records, columns), folder / name)
    to_file(plot.svg(found.figures), folder / writing.PLOT)
    to_file(
        writing.markdown(found.studies, sections(found.studies, found.figures, found.order)),
        folder / "report.md",
    )


def write(found: Report, output_format: str) -> None:
    """Prints the report: tables, `markdown`, `csv` or `json`."""
    if output_format == "json":
        write_json(writing.document(found.studies, found.figures, found.order))
    elif output_format == "csv":
        records = writing.records_of(found.figures)
        to_file(writing.csv_lines(records, list(records[0])), None)
    elif output_format == "markdown":
        to_file(writing.markdown(found.studies, sections(found.studies, found.figures, found.order)), None)
    else:
        writing.write(sections(found.studies, found.figures, found.order))
