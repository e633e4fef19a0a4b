"""Records what a program calls: `python -m tests.recall.record NAME --out FILE`.

A recording is UTF-8 text of rows whose columns are separated by tabs. Methods are written `a.b.C.m(I)V`.

    call        CALLER        CALLEE        an instruction of CALLER led to CALLEE
    init        CALLER        CALLEE        an instruction of CALLER made the JVM initialise the class of CALLEE
    jvm         <jvm>         CALLEE        the JVM called CALLEE by itself
    reflective  CALLER:LINE   API   TARGET  the call of the reflection API in that line had this target

Each row stands there once. Lines that begin with `#` are comments. Classes made for lambdas, proxies and
accessors, and the insides of method handles, aren't frames: what they call is called by the method below
them. What isn't recorded: calls before the agent's start and those of threads that the JVM began before it
(their first frames), virtual calls of native methods that subclasses may override, methods that would get
larger than 64 kB (a comment names each).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import jdk as jdks
from tests.benchmarks.workloads import Unavailable
from tests.recall.java_agent import agent
from tests.recall.subjects import SESSIONS, Subject, subject

TIMEOUT = 1200  # seconds
OPTIONS = ("-Xmx3g", "-Xss8m", "-XX:-DontCompileHugeMethods")


def record(recorded: Subject, jdk: jdks.Jdk, out: Path, folder: Path) -> str:
    """Runs a program in `folder` and writes what it calls to `out`; returns what it printed.

    Raises Unavailable if it fails.
    """
    path = os.pathsep.join(map(str, (*recorded.inputs, *recorded.classpath)))
    command = [jdk.tool("java"), *OPTIONS, agent(jdk).option(out.absolute()), "-cp", path]
    command += [recorded.main, *recorded.arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode or not out.is_file():
        raise Unavailable(f"{recorded.name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main() -> int:
    """Records one program to a file, or all of them into a folder."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("name", choices=[*SESSIONS, "all"])
    parser.add_argument("--out", type=Path, required=True, help="a file; with `all`, a folder")
    parser.add_argument("--analysis", action="store_true", help="print the arguments of `heliograph analyze`")
    options = parser.parse_args()
    status = 0
    for name in SESSIONS if options.name == "all" else [options.name]:
        out = options.out / f"{name}.tsv" if options.name == "all" else options.out
        with tempfile.TemporaryDirectory() as folder:
            try:
                jdk = jdks.find()
                chosen = subject(name, jdk, Path(folder))
                if options.analysis:
                    print(*chosen.analysis())
                    continue
                out.parent.mkdir(parents=True, exist_ok=True)
                print(record(chosen, jdk, out, Path(folder)), file=sys.stderr)
            except Unavailable as failure:
                print(f"{name}: {failure}", file=sys.stderr)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
