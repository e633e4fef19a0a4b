"""`heliograph demo`: a real program, its reflective calls, and why one of them has its target."""

from __future__ import annotations

from pathlib import Path

from cli.analyze import analyze, write_summary
from cli.diagnostics import tell
from cli.explain import explain
from cli.pipeline import Job
from cli.present import write_line
from cli.progress import Progress
from cli.run import Run
from cli.sites import rows, write

COORDINATES, MAIN = "antlr:antlr:2.7.7", "antlr.Tool"


def show(progress: Progress) -> None:
    """Analyses the program and prints its sites and an explanation. Raises `Failure` if it can't be fetched."""
    write_line(f"heliograph analyze {COORDINATES} --main {MAIN}")
    progress.say("fetching the program with Maven, and reading it and the JDK")
    summary, outcome = analyze(Job((COORDINATES,), (MAIN,)), None, progress)
    tell(outcome.diagnostics, notes=False)
    write_summary(summary)
    run = Run(Path(summary["run"]))
    found = rows(run, everything=False)
    write_line("heliograph sites")
    write(run, found, everything=False)
    resolved = [
        each for each in found if each.targets and any(kind == "constant" for kind, _ in each.sources)
    ]
    for chosen in (resolved or [each for each in found if each.targets] or found)[:1]:
        write_line(f"heliograph explain '{chosen.name}'")
        for explanation in explain(run, chosen.name):
            for line in explanation.lines():
                write_line(line)
