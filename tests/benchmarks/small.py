"""The small benchmark for continuous integration: what the caches and the compiled kernel save on hello world.

Times differ from machine to machine, so it prints ratios only and never fails on one; it fails if an analysis
does. The unit beside the runs' own ratios is a `javac` of one small class.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import jdk as jdks
from tests.benchmarks import measure, subject
from tests.benchmarks.workloads import HELLO, Unavailable, fetch

BUDGET_SECONDS = 110.0
MODES = ("none", "points-to")


def compile_seconds(jdk: jdks.Jdk) -> float:
    """Returns the CPU seconds of one `javac`, as the measure of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "Hello.java")
        source.write_text(HELLO, encoding="utf-8")
        done = measure.run([jdk.tool("javac"), "-d", folder, str(source)], timeout=30)
    if done.status != 0:
        raise Unavailable(f"javac failed: {done.errors.strip()}")
    return done.cpu_seconds


def main() -> int:
    """Prints the ratios; returns 1 if an analysis failed, 2 if a tool is missing."""
    deadline = time.monotonic() + BUDGET_SECONDS
    cpu: dict[str, float] = {}
    try:
        jdk = jdks.find()
        workload = fetch("hello")
        unit = compile_seconds(jdk)
        with tempfile.TemporaryDirectory(prefix="heliograph-bench-") as folder:
            sandbox = subject.Sandbox(Path(folder))
            for state in ("cold compile", "no cache", *(f"warm, {mode}" for mode in MODES)):
                if state == "no cache":
                    sandbox.empty_caches()
                remaining = deadline - time.monotonic()
                if remaining < 1:
                    print("out of time; the remaining runs are left out")
                    break
                mode = state.partition(", ")[2] or MODES[0]
                cost, result, _ = subject.analyze(sandbox, workload, jdk, mode, remaining)
                if cost.status is None:
                    print(f"{state}: out of time")
                    break
                if cost.status != 0 or result is None or not result["complete"]:
                    print(f"{state}: exit {cost.status}\n{cost.errors}", file=sys.stderr)
                    return 1
                cpu[state] = cost.cpu_seconds
    except Unavailable as failure:
        print(failure, file=sys.stderr)
        return 2
    warm = cpu.get(f"warm, {MODES[0]}")
    for state, seconds in cpu.items():
        of_warm = f"{seconds / warm:6.1f} × warm" if warm else ""
        print(f"{state:<16}{seconds / unit:6.1f} × javac {of_warm}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
