"""The agent that records calls, built from its sources and ASM."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.jdk import Jdk
from tests.benchmarks.workloads import Unavailable, cache_folder, fetch_jars

SOURCES = Path(__file__).with_name("agent")
ASM = "org.ow2.asm:asm-tree:9.4"
MANIFEST = """\
Manifest-Version: 1.0
Premain-Class: heliograph.recall.Agent
Boot-Class-Path: {jar}
Can-Retransform-Classes: true
"""
JAR, RECORDER = "agent.jar", "recorder"
# The package whose classes the bootstrap loader has, since all code calls them.
BOOT = Path("heliograph", "recall")


class Agent(NamedTuple):
    """The agent's jar, and the class path of what works inside it."""

    jar: Path
    path: tuple[Path, ...]

    def option(self, out: Path) -> str:
        """Returns the option of `java` that records to `out`."""
        return f"-javaagent:{self.jar}={out},{os.pathsep.join(map(str, self.path))}"


def agent(jdk: Jdk) -> Agent:
    """Returns the agent, compiled first unless the cache has it. Raises Unavailable."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:12]
    asm = fetch_jars((ASM,))
    folder = cache_folder() / "recall" / f"agent-{jdk.version}-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder.parent))
        try:
            _build(jdk, staging, sources, asm)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return Agent(folder / JAR, (folder / RECORDER, *asm))


def _build(jdk: Jdk, folder: Path, sources: list[Path], asm: list[Path]) -> None:
    classes = folder / RECORDER
    compile_java(jdk, sources, classes, asm)
    with zipfile.ZipFile(folder / JAR, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", MANIFEST.format(jar=JAR))
        for each in sorted((classes / BOOT).glob("*.class")):
            jar.write(each, each.relative_to(classes))
    shutil.rmtree(classes / BOOT)


def compile_java(jdk: Jdk, sources: list[Path], classes: Path, path: list[Path]) -> None:
    """Compiles sources into the folder `classes`. Raises Unavailable if they don't."""
    command = [jdk.tool("javac"), "-g", "-nowarn", "-proc:none", "-d", str(classes)]
    command += ["-cp", os.pathsep.join(map(str, path)), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise Unavailable(f"javac failed:\n{done.stdout}{done.stderr}")
