"""Measures `heliograph analyze` on real programs, beside Tai-e.

Each program is analysed in each mode with all caches empty but the kernel compiled (`no cache`) and with full
caches (`warm`); the first run of all compiles the kernel too (`cold compile`). Run it on a quiet machine:
the column `other` says how many CPUs were busy with something else during a run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks import jdk as jdks
from tests.benchmarks import peer as peers
from tests.benchmarks import subject
from tests.benchmarks.measure import Measurement
from tests.benchmarks.workloads import Unavailable, Workload, fetch, programs

DEFAULT_PROGRAMS = ("hello", "ecj", "hsqldb")
MODES = ("none", "points-to")
QUIET = 0.1
MEGABYTE = 1e6


class Row(NamedTuple):
    """One measured run. `failure` is a sentence if it gave no result to compare."""

    program: str
    tool: str
    mode: str
    state: str
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    other_load: float | None
    reachable_methods: int | None = None
    call_edges: int | None = None
    implicit_edges: int | None = None
    phases: dict[str, float] | None = None
    failure: str | None = None


class Plan(NamedTuple):
    """What to measure, and how."""

    workloads: list[Workload]
    modes: Sequence[str]
    warm_runs: int
    jdk: jdks.Jdk
    peer: peers.Peer | None
    peer_options: str
    peer_heap: str
    timeout: float


def measured(plan: Plan) -> Iterator[Row]:
    """Yields the rows of all runs of `plan`, one run at a time."""
    with tempfile.TemporaryDirectory(prefix="heliograph-bench-") as folder:
        sandbox = subject.Sandbox(Path(folder))
        for mode in plan.modes:
            label = "cold compile" if mode == plan.modes[0] else "new mode"
            yield _subject_row(plan, sandbox, plan.workloads[0], mode, label)
        for workload in plan.workloads:
            if plan.peer is not None:
                yield _peer_row(plan, plan.peer, workload)
            for mode in plan.modes:
                sandbox.empty_caches()
                yield _subject_row(plan, sandbox, workload, mode, "no cache")
                warm = [_subject_row(plan, sandbox, workload, mode, "warm") for _ in range(plan.warm_runs)]
                yield sorted(warm, key=lambda row: row.cpu_seconds)[len(warm) // 2]


def _subject_row(plan: Plan, sandbox: subject.Sandbox, workload: Workload, mode: str, state: str) -> Row:
    cost, result, compiled = subject.analyze(sandbox, workload, plan.jdk, mode, plan.timeout)
    if compiled and state in ("no cache", "warm"):
        state += " + compile"
    row = _row(workload.name, "heliograph", mode, state, cost)
    if cost.status != 0 or result is None:
        return row._replace(failure=_failure(cost))
    return row._replace(
        reachable_methods=result["reachableMethods"],
        call_edges=result["callEdges"],
        implicit_edges=result["implicitEdges"],
        phases=result["phases"],
        failure=None if result["complete"] else "incomplete",
    )


def _peer_row(plan: Plan, peer: peers.Peer, workload: Workload) -> Row:
    try:
        cost, counts = peers.run(peer, workload, plan.timeout, plan.peer_options, plan.peer_heap)
    except Unavailable as failure:
        return Row(workload.name, "tai-e", plan.peer_options, "", 0.0, 0.0, 0, None, failure=str(failure))
    row = _row(workload.name, "tai-e", plan.peer_options, "", cost)
    if cost.status != 0 or counts is None:
        return row._replace(failure=_failure(cost))
    return row._replace(reachable_methods=counts.reachable_methods, call_edges=counts.call_edges)


def _row(program: str, tool: str, mode: str, state: str, cost: Measurement) -> Row:
    return Row(
        program, tool, mode, state, cost.cpu_seconds, cost.wall_seconds, cost.peak_bytes, cost.other_load
    )


def _failure(cost: Measurement) -> str:
    if cost.status is None:
        return "time limit"
    last = (cost.errors.strip() or cost.output.strip() or "no output").splitlines()[-1]
    return f"exit {cost.status}: {last[:200]}"


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Yields the lines of a table; ratios say how many times more Tai-e took for the same program."""
    yield (
        f"{'program':<12}{'mode':<11}{'state':<22}{'CPU s':>8}{'wall s':>8}{'MB':>7}{'methods':>9}"
        f"{'edges':>10}{'other':>7}   Tai-e ÷ ours: CPU, wall, memory"
    )
    reference: Row | None = None
    for row in rows:
        if row.tool != "heliograph":
            reference = row
        ratios = _ratios(reference, row) if reference and reference.program == row.program else ""
        first = ("Tai-e", "") if row.tool != "heliograph" else (row.mode, row.state)
        if not row.peak_bytes:
            yield f"{row.program:<12}{first[0]:<11}{row.failure}"
            continue
        yield (
            f"{row.program:<12}{first[0]:<11}{first[1]:<22}{row.cpu_seconds:>8.1f}{row.wall_seconds:>8.1f}"
            f"{row.peak_bytes / MEGABYTE:>7.0f}{_number(row.reachable_methods):>9}{_number(row.call_edges):>10}"
            f"{_load(row.other_load):>7}   {row.failure or ratios}"
        )


def _ratios(reference: Row, row: Row) -> str:
    if row.tool != "heliograph" or reference.failure or row.failure:
        return ""
    return (
        f"{reference.cpu_seconds / row.cpu_seconds:>5.1f}{reference.wall_seconds / row.wall_seconds:>7.1f}"
        f"{reference.peak_bytes / row.peak_bytes:>7.1f}"
    )


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _load(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}" + ("!" if value > QUIET else "")


def machine(jdk: jdks.Jdk) -> dict[str, Any]:
    """Returns what the numbers depend on besides the programs."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memoryBytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "jdk": jdk.version,
        "heliograph": subject.version(),
        "numba": metadata.version("numba"),
        "taie": peers.VERSION,
        "loadAverage": os.getloadavg(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compare", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"programs (default: {' '.join(DEFAULT_PROGRAMS)}; all: every one)"
    )
    parser.add_argument("--peer", action="store_true", help="run Tai-e beside it")
    parser.add_argument(
        "--peer-options", default=peers.OPTIONS, help="options of Tai-e's pta (default: %(default)s)"
    )
    parser.add_argument("--peer-heap", default="8g", help="largest heap of Tai-e (default: %(default)s)")
    parser.add_argument("--modes", default=",".join(MODES), help="comma-separated (default: %(default)s)")
    parser.add_argument("--warm-runs", type=int, default=3, help="their median counts (default: %(default)s)")
    parser.add_argument("--jdk", type=Path, help="the JDK to analyse, and to run Tai-e on")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a run (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there, too")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; returns 1 if a run failed, 2 if a program or tool cannot be had."""
    options = _parser().parse_args(arguments)
    names = list(programs()) if options.names == ["all"] else options.names or list(DEFAULT_PROGRAMS)
    unknown = set(names) - set(programs())
    if unknown:
        print(
            f"No such program: {', '.join(sorted(unknown))}. Known: {', '.join(programs())}.", file=sys.stderr
        )
        return 2
    try:
        jdk = jdks.find(options.jdk)
        plan = Plan(
            [fetch(name) for name in names], options.modes.split(","), max(1, options.warm_runs), jdk,
            peers.prepare(jdk) if options.peer else None, options.peer_options, options.peer_heap, options.timeout,
        )  # fmt: skip
        subject.executable()
    except Unavailable as failure:
        print(failure, file=sys.stderr)
        return 2
    about = machine(jdk)
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    rows: list[Row] = []
    for line in table(_kept(measured(plan), rows)):
        print(line, flush=True)
    if options.json:
        document = {"machine": about, "runs": [row._asdict() for row in rows]}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return int(any(row.failure and row.peak_bytes for row in rows))


def _kept(rows: Iterable[Row], into: list[Row]) -> Iterator[Row]:
    """Yields `rows`, each put into `into` first, so that what was measured survives an interrupt."""
    for row in rows:
        into.append(row)
        yield row


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
