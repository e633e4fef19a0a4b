"""`heliograph analyze`: a job from beginning to end, and what it prints."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli import diagnostics, run
from cli.exits import Exit
from cli.memory import peak_memory_bytes
from cli.naming import Names
from cli.phases import cpu_seconds
from cli.pipeline import Job, Outcome, analyse_job
from cli.present import write_line, write_table
from cli.progress import Progress
from cli.rows import shared
from cli.summary import summary
from cli.text import bytes_text
from cli.version import version
from engine.analysis import APPLICATION
from loader.archives import Inputs


def analyze(job: Job, out: Path | None, progress: Progress) -> tuple[dict[str, Any], Outcome]:
    """Analyses, writes the run, and returns what sums it up. Raises `Failure`."""
    began = time.time()
    outcome = analyse_job(job, progress)
    outcome.result = replace(outcome.result, points_to=shared(outcome.result.points_to))
    summed: dict[str, Any] = {}

    def manifest(place: Path) -> dict[str, Any]:
        outcome.phases.seconds["run"] = cpu_seconds() - written_from
        summed.update(_summary(job, outcome, place))
        return _manifest(job, outcome, began) | {"summary": summed}

    written_from = cpu_seconds()
    recording = run.Recording(manifest, outcome.result, outcome.names, outcome.structure, outcome.diagnostics)
    run.write(recording, out, _run_name(job, began))
    return summed, outcome


def _summary(job: Job, outcome: Outcome, place: Path) -> dict[str, Any]:
    return {
        "schemaVersion": run.SCHEMA_VERSION,
        "mode": job.mode,
        "scope": job.scope,
        "jdk": {"home": str(outcome.jdk.home), "version": outcome.jdk.version},
        **summary(outcome.result, Names(outcome.names)),
        "complete": outcome.result.complete,
        "diagnostics": [group.document() for group in diagnostics.groups(outcome.diagnostics)],
        "cpuSeconds": round(cpu_seconds(), 3),
        "peakMemoryBytes": peak_memory_bytes(),
        "phases": {name: round(seconds, 3) for name, seconds in outcome.phases.seconds.items()},
        "run": str(place.absolute()),
    }


def _manifest(job: Job, outcome: Outcome, began: float) -> dict[str, Any]:
    """Returns what is kept of how the run came about."""
    return _asked(job, outcome.inputs) | {
        "created": datetime.fromtimestamp(began, UTC).isoformat(timespec="seconds"),
        "inputs": list(job.inputs),
        "classpath": list(job.classpath),
        "typesMet": outcome.types_met,
        "mains": outcome.mains,
    }


def _asked(job: Job, inputs: Inputs) -> dict[str, Any]:
    """Returns all that decides what is found, limits of time and memory apart."""
    archives = [{"label": each.label, "role": each.role, "digest": each.digest} for each in inputs.archives]
    return {
        "heliograph": version(),
        "mode": job.mode,
        "archives": archives,
        "mainsAsked": list(job.mains),
        "library": job.library,
        "entries": list(job.entries),
        "release": inputs.release,
        "addOpens": list(job.add_opens),
        "solver": job.solver,
        "scope": job.scope,
        "without": list(job.without),
        "specification": job.specification and hashlib.sha256(job.specification.read_bytes()).hexdigest(),
    }


def answers(manifest: Mapping[str, Any], job: Job, inputs: Inputs) -> bool:
    """Returns whether a run found what an analysis of `job`, which reads `inputs`, would find."""
    asked = _asked(job, inputs)
    return bool(manifest["complete"]) and all(manifest.get(name) == value for name, value in asked.items())


def _run_name(job: Job, began: float) -> str:
    """Returns a name that sorts by time and tells what was analysed."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(job.inputs[0]).name).strip("-.")[:40] or "program"
    moment = datetime.fromtimestamp(began, UTC).strftime("%Y%m%d-%H%M%S")
    scope = f"-{job.scope}" if job.scope == APPLICATION else ""
    return f"{moment}-{stem}-{job.mode}{scope}-{secrets.token_hex(2)}"


def write_summary(found: Mapping[str, Any]) -> None:
    """Prints what sums a run up, for people."""
    sites = found["sites"]
    rows = [
        ("reachable methods", found["reachableMethods"]),
        ("of the application", found["applicationMethods"]),
        ("call edges", found["callEdges"]),
        ("implicit edges", found["implicitEdges"]),
        ("points-to pairs", found["pointsToPairs"]),
        ("reflective calls resolved", sites["resolved"]),
        ("partially resolved", sites["partial"]),
        ("unresolved", sites["unresolved"]),
    ]
    scope = ", library code closed off" if found["scope"] == APPLICATION else ""
    write_table((f"mode {found['mode']}, JDK {found['jdk']['version']}{scope}", "#"), rows)
    if not found["complete"]:
        write_line("INCOMPLETE: a limit of time or memory was reached; this is what was found so far.")
    cost = f"{found['cpuSeconds']:.1f} CPU seconds, {bytes_text(found['peakMemoryBytes'])}"
    write_line(f"{cost}; written to {found['run']}")


def exit_code(outcome: Outcome, strict: bool) -> Exit:
    """Returns how the command ends."""
    if not outcome.result.complete:
        return Exit.INCOMPLETE
    unsound = any(each.effect == "soundness" for each in outcome.diagnostics)
    return Exit.STRICT if strict and unsound else Exit.DONE
