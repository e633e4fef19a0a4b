"""Tai-e, the fastest analyser of its kind in Java, as the benchmarks run it: a JVM of its own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import measure
from tests.benchmarks.jdk import Jdk
from tests.benchmarks.workloads import Unavailable, Workload, cache_folder, fetch_jars

VERSION = "0.5.2"
COORDINATES = f"net.pascal-lab:tai-e:{VERSION}"
OPTIONS = "reflection-inference:null"
REPACK = Path(__file__).with_name("RepackJdk.java")
STATISTIC = r"^#{}:\s+([\d,]+) \(insens\)"


class Counts(NamedTuple):
    """The size of a call graph."""

    reachable_methods: int
    call_edges: int


class Peer(NamedTuple):
    """Tai-e ready to run: its jars, and a working folder that holds the JDK's classes as it wants them."""

    jdk: Jdk
    jars: tuple[Path, ...]
    folder: Path


def prepare(jdk: Jdk) -> Peer:
    """Returns the analyser, fetched and given the classes of `jdk` first unless the cache has both.

    Raises Unavailable if a tool or the network is missing.
    """
    jars = tuple(fetch_jars((COORDINATES,)))
    folder = cache_folder() / "peer" / f"jdk-{jdk.version}"
    archive = folder / "java-benchmarks" / "JREs" / f"jre1.{jdk.feature}" / "rt.jar"
    if not archive.is_file():
        archive.parent.mkdir(parents=True, exist_ok=True)
        partial = archive.with_suffix(f".{os.getpid()}.partial")
        done = measure.run([jdk.tool("java"), str(REPACK), str(partial)], timeout=600)
        if done.status != 0:
            partial.unlink(missing_ok=True)
            raise Unavailable(f"The JDK's classes could not be repacked:\n{done.errors.strip()}")
        partial.replace(archive)
    return Peer(jdk, jars, folder)


def command(
    peer: Peer, workload: Workload, output: Path, options: str = OPTIONS, heap: str = "8g", dump: bool = False
) -> list[str]:
    """Returns the command that analyses `workload`, to be run in `peer.folder`.

    `options` are added to those of its context-insensitive points-to analysis. Its files go to `output`;
    `dump` adds `reachable-methods.txt` and `call-edges.txt` (and the time to write them).
    """
    if workload.main is None:
        raise Unavailable(f"Tai-e has no library mode for {workload.name}.")
    listed = [peer.jdk.tool("java"), f"-Xmx{heap}", "-cp", os.pathsep.join(map(str, peer.jars))]
    listed += ["pascal.taie.Main", "--output-dir", str(output), "-java", str(peer.jdk.feature)]
    listed += ["-cp", os.pathsep.join(map(str, workload.inputs + workload.classpath)), "-m", workload.main]
    if workload.classpath:
        listed.append("--allow-phantom")  # libraries mention optional ones, for which Tai-e would stop
    listed += ["-a", ";".join(each for each in ("pta=cs:ci", options) if each)]
    return [*listed, "-a", "cg=dump-methods:true;dump-call-edges:true"] if dump else listed


def run(
    peer: Peer, workload: Workload, timeout: float, options: str = OPTIONS, heap: str = "8g"
) -> tuple[measure.Measurement, Counts | None]:
    """Analyses `workload`; returns the cost and, if it came to an end, the size of the call graph."""
    with tempfile.TemporaryDirectory() as output:
        listed = command(peer, workload, Path(output), options, heap)
        done = measure.run(listed, timeout, cwd=peer.folder)
    return done, counts(done.output + done.errors)


def counts(log: str) -> Counts | None:
    """Returns the size of the call graph from the statistics in `log`, None if it has none.

    Tai-e sets its separators every four digits.

    >>> counts("#reachable methods:   1,4047 (insens) / 1 (sens)\\n#call graph edges:  8,9032 (insens) / 2 (sens)")
    Counts(reachable_methods=14047, call_edges=89032)
    """
    found: Sequence[re.Match[str] | None] = [
        re.search(STATISTIC.format(name), log, re.MULTILINE)
        for name in ("reachable methods", "call graph edges")
    ]
    numbers = [int(each[1].replace(",", "")) for each in found if each is not None]
    return Counts(*numbers) if len(numbers) == 2 else None
