"""The runs of a report: those that there are already, and others by `heliograph analyze`.

Each analysis is a process of its own, so that it costs what it would cost alone, and ends nothing else if it fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cli.analyze import answers
from cli.exits import Exit, Failure
from cli.pipeline import Job, prepare
from cli.progress import Progress
from cli.report.programs import Program
from cli.run import Run, listed
from engine.reflection.modes import SOUND

_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from cli.main import main; main()"
# How `analyze` ends if it would end like that in any mode.
_ANY_MODE = (Exit.USAGE, Exit.NO_INPUT)
_SPOKEN = "heliograph: "


class Study(NamedTuple):
    """What came of a program: the folders of its runs by mode, and why there is none in other modes ("" stands for all)."""

    program: Program
    runs: dict[str, Path]
    failures: dict[str, Failure]


class _Task(NamedTuple):
    """An analysis that has to be made."""

    study: Study
    mode: str
    job: Job


def studies(
    programs: Sequence[Program], modes: Sequence[str], progress: Progress, *, fresh: bool
) -> list[Study]:
    """Returns what is found about the programs in each of `modes`; runs that there are serve unless `fresh`."""
    found = [Study(each, {}, {}) for each in programs]
    tasks = [task for study in found for task in _tasks(study, modes, progress, fresh)]
    with progress.bar("analysing", len(tasks)) as advance:
        for number, task in enumerate(tasks):
            advance(number, f"{number + 1} of {len(tasks)}: {task.study.program.name}, {task.mode}")
            _do(task, progress)
    return found


def _tasks(study: Study, modes: Sequence[str], progress: Progress, fresh: bool) -> list[_Task]:
    """Enters the runs that there are of a program, and returns the analyses that are lacking."""
    try:
        job, inputs = prepare(study.program.job, progress)
    except Failure as failure:
        study.failures[""] = failure
        return []
    runs = [] if fresh else _runs()
    tasks = []
    for mode in modes:
        wanted = replace(job, mode=mode, specification=job.specification if mode == SOUND else None)
        known = next((each for each in runs if answers(each.manifest, wanted, inputs)), None)
        if known:
            progress.detail(f"{study.program.name}, {mode}: {known.folder} is there")
            study.runs[mode] = known.folder
        else:
            tasks.append(_Task(study, mode, wanted))
    return tasks


def _runs() -> list[Run]:
    """Returns the runs of the user whose manifests can be read, the newest first."""
    found = []
    for folder in listed():
        run = Run(folder)
        try:
            run.manifest  # noqa: B018
        except Failure:
            continue
        found.append(run)
    return found


def _do(task: _Task, progress: Progress) -> None:
    """Analyses, and enters the run, or why there is none."""
    study = task.study
    if "" in study.failures:
        return
    command = [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path), *_arguments(task.job)]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode in (Exit.DONE, Exit.INCOMPLETE) and done.stdout:
        summary: dict[str, Any] = json.loads(done.stdout)
        progress.detail(f"{study.program.name}, {task.mode}: {summary['cpuSeconds']:.1f} CPU seconds")
        study.runs[task.mode] = Path(summary["run"])
        return
    progress.detail(done.stderr)
    failure = _failure(done.returncode, done.stderr)
    study.failures["" if failure.code in _ANY_MODE else task.mode] = failure


def _arguments(job: Job) -> list[str]:
    """Returns the command line of an analysis."""
    values = (
        ("--mode", [job.mode]), ("--main", job.mains), ("--entry", job.entries), ("--classpath", job.classpath),
        ("--jdk", [job.jdk]), ("--release", [job.release]), ("--timeout", [job.timeout]),
        ("--max-memory", [job.max_memory]), ("--spec", [job.specification]),
    )  # fmt: skip
    options = [f"{name}={each}" for name, listed in values for each in listed if each is not None]
    library = ["--library"] if job.library else []
    return ["analyze", "--format", "json", *options, *library, "--", *job.inputs]


def _failure(code: int, errors: str) -> Failure:
    """Returns why an analysis failed: its own sentence, if it came to that."""
    if code < 0:
        return Failure(Exit.INCOMPLETE, f"it was ended by signal {-code}, perhaps for lack of memory")
    lines = errors.strip().splitlines() or ["it gave no reason"]
    if code not in set(Exit) - {Exit.BUG}:
        cause = lines[-2] if len(lines) > 1 else lines[-1]
        return Failure(Exit.BUG, f"an error in heliograph itself: {cause}; -v shows all of it")
    spoken = [each.removeprefix(_SPOKEN) for each in lines if each.startswith(_SPOKEN)]
    return Failure(Exit(code), spoken[-1] if spoken else lines[-1])
