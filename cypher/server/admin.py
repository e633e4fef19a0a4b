"""Neo4j's administration tool: the first password, and the bulk import."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cypher.connection import Unavailable
from cypher.server.files import write_private
from cypher.server.progress import Tell

_TOOL = "org.neo4j.cli.AdminTool"
_STAGE = re.compile(r"\((\d)/(\d)\) ([A-Z][\w ]+?) \d{4}-")
_SHARE = re.compile(r"(\d{1,3})% ∆")
_TOTAL = re.compile(r" {1,8}(\d{1,18}) (nodes|relationships|properties)")
# What Java says about old ways of Neo4j's libraries, and what the tool says around a reason.
_NOISE = (
    "WARNING: ", "Picked up ", "\tat ", "---", "Command Failed", "Check that ", "Run with ", "Please provide ",
    "Full exception details",
)  # fmt: skip


class Imported(NamedTuple):
    """What the bulk import has written, as it counted itself."""

    nodes: int
    relationships: int
    properties: int


class Tool(NamedTuple):
    """How the tool of one version is called: by `java` and its options up to the main class, for one home."""

    java: tuple[str, ...]
    home: Path

    def set_password(self, password: str) -> None:
        """Sets the password of a server that never ran. Raises `Unavailable`.

        The tool takes it as an argument, which everybody could see; so it stands in a file that the tool reads.
        """
        with tempfile.TemporaryDirectory(dir=self.home, prefix=".secret-") as folder:  # with mode 0700
            file = Path(folder, "arguments")
            write_private(file, f"{password}\n")
            done = self._run("dbms", "set-initial-password", f"@{file}")
            output, _ = done.communicate()
        if done.returncode:
            raise Unavailable(
                f"the server's password could not be set: {reason(output.replace(password, '…'))}"
            )

    def import_full(self, database: str, arguments: Sequence[str], folder: Path, tell: Tell) -> Imported:
        """Imports files, named from `folder`, into a new database. Raises `Unavailable`."""
        what, lines = f"importing into {database}", []
        tell(what, "")
        with self._run("database", "import", "full", database, *arguments, folder=folder) as process:
            try:
                assert process.stdout is not None
                stage = ""
                for line in process.stdout:
                    lines.append(line)
                    if found := _STAGE.search(line):
                        stage = f"{found[3]} ({found[1]} of {found[2]})"
                        tell(what, stage)
                    elif share := _SHARE.search(line):
                        tell(what, f"{stage} {share[1]} %")
            except BaseException:
                process.kill()
                raise
        output = "".join(lines)
        log = self.home / "logs" / "import.log"
        write_private(log, output)
        if process.returncode:
            raise Unavailable(f"the import failed: {reason(output)} (all of it: {log})")
        totalled = filter(None, (_TOTAL.fullmatch(line.rstrip()) for line in lines))
        totals = {each[2]: int(each[1]) for each in totalled}
        return Imported(*(totals.get(name, 0) for name in Imported._fields))

    def _run(self, *arguments: str, folder: Path | None = None) -> subprocess.Popen[str]:
        environment = server_environment() | {
            "NEO4J_HOME": str(self.home),
            "NEO4J_CONF": str(self.home / "conf"),
        }
        try:
            return subprocess.Popen(
                [*self.java, _TOOL, *arguments], cwd=folder or self.home / "run", env=environment, umask=0o077,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                errors="replace",
            )  # fmt: skip
        except OSError as problem:
            raise Unavailable(f"{self.java[0]} can't be run: {problem.strerror}") from None


def server_environment() -> dict[str, str]:
    """Returns the environment without what speaks of another server, its password not the least."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}


def reason(output: str) -> str:
    r"""Returns the line that says best why a program of Neo4j's has failed.

    >>> reason("WARNING: x\njava.lang.IllegalStateException: outer\n\tat a.b\nCaused by: java.io.IOException: inner")
    'inner'
    """
    lines = [line.rstrip() for line in output.splitlines() if line.strip() and not line.startswith(_NOISE)]
    for mark in ("Caused by: ", "Exception", "ERROR", "rror"):
        chosen = [line for line in lines if mark in line]
        if chosen:
            line = chosen[-1].strip()
            return re.sub(r"^(?:Caused by: )?(?:[\w$]+\.)+[\w$]+: ", "", line)[:500]
    return lines[-1].strip()[:500] if lines else "it gave no reason"
