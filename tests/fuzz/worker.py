"""Reads mutants in a process of its own, watched: `python -m tests.fuzz.worker CORPUS SCRATCH READERS`.

READERS is a module with the readers, or a module and one of its bugs.

A line of its input is a JSON object: kind, seed, start, stop, and whether each mutant is read alone. A line of
its output answers with the verdicts, what went wrong, and what it cost. The first line says that it is ready.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from cli.memory import own_peak_bytes
from tests.fuzz import corpus
from tests.fuzz.corpus import Corpus, Mutant
from tests.fuzz.readers import Files, Reader
from tests.mutants import limited

SLOW = 2.0  # seconds of CPU time that a mutant may take
MEMORY = 512 << 20  # bytes that the process may have at its peak
_ADDRESSES = 8 << 30  # bytes beyond which memory is refused, so that a mutant can't take the machine's
_SHORT = 600  # bytes of a mutant that are quoted

# Events of the interpreter (PEP 578) that no reader causes, once all codecs that it needs are loaded.
_FORBIDDEN = re.compile(
    r"subprocess|os\.(?!listdir|scandir)|pty|ctypes|socket|shutil|tempfile|pickle|marshal|urllib|http|ftplib"
    r"|smtplib|sqlite3|mmap|import|exec|compile"
)
_CODECS = ("ascii", "latin-1", "utf-8", "utf-16-le", "utf-16-be")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Forbidden(BaseException):
    """Reading a file did what only a program may do; no reader catches this."""


class Watch:
    """Notices forbidden events while it is on: also opening a file that is not in `folder`, or for writing.

    It can't be taken away again, as no audit hook can.
    """

    def __init__(self, folder: Path) -> None:
        self.on = False
        self._folder = os.path.realpath(folder)
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and self._is_forbidden(event, arguments):
            self.on = False
            raise Forbidden(f"{event} {arguments!r}"[:300])

    def _is_forbidden(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = arguments
            return bool(flags & _WRITING) or not os.fsdecode(path).startswith(self._folder)
        if event == "os.truncate":
            return not isinstance(arguments[0], int)  # the mutants' own files are open
        return _FORBIDDEN.match(event) is not None


class Session:
    """Reads mutants and keeps account."""

    def __init__(self, corpus_: Corpus, files: Files, readers: dict[str, Reader], watch: Watch) -> None:
        self._corpus, self._files, self._readers, self._watch = corpus_, files, readers, watch
        for kind in ("zip", "image"):
            for each in corpus_.mutants(kind, 0, 0, corpus_.round(kind)):
                files.prepare([each.file])

    def warm_up(self) -> None:
        """Reads the corpus as it is, unwatched, so that what is imported late has been."""
        for kind in corpus.KINDS:
            self._readers[kind](self._files, self._corpus.originals(kind))

    def answer(self, kind: str, seed: int, start: int, stop: int, *, alone: bool) -> dict[str, Any]:
        """Returns verdicts (`A` accepted, `R` refused, `F` failed), failures and costs of these mutants."""
        began = time.process_time()
        verdicts: list[str] = []
        failures: list[dict[str, Any]] = []
        slowest = (0.0, start)
        width = 1 if alone else self._corpus.round(kind)
        for first in range(start, stop, width):
            batch = list(self._corpus.mutants(kind, seed, first, min(first + width, stop)))
            problem, accepted, seconds = self._read(kind, batch)
            slowest = max(slowest, (seconds / len(batch), first))
            if not problem:
                verdicts += ["A" if each else "R" for each in accepted]
                continue
            found = 0
            for each in batch:
                problem_of_one, accepted, _ = self._read(kind, [each])
                verdicts.append("F" if problem_of_one else "A" if accepted[0] else "R")
                if problem_of_one:
                    found += 1
                    failures.append(failure(kind, seed, [each], problem_of_one))
            if not found:
                failures.append(failure(kind, seed, batch, problem))
        return {
            "verdicts": "".join(verdicts),
            "failures": failures,
            "seconds": time.process_time() - began,
            "slowest": slowest,
            "memory": own_peak_bytes(),
        }

    def _read(self, kind: str, batch: list[Mutant]) -> tuple[str, list[bool], float]:
        """Returns what went wrong, "" if nothing did, which mutants were accepted, and the CPU time."""
        problem, accepted = "", [False] * len(batch)
        began = time.process_time()
        try:
            with limited(3 * SLOW):
                self._watch.on = True
                try:
                    accepted = self._readers[kind](self._files, batch)
                finally:
                    self._watch.on = False
        except (Exception, Forbidden, SystemExit):  # noqa: BLE001 whatever is raised is reported
            problem = "".join(traceback.format_exc().splitlines(keepends=True)[-9:])
        seconds = time.process_time() - began
        if not problem and seconds > SLOW:
            problem = f"slow: {seconds:.1f} s of CPU time"
        return problem, accepted, seconds


def failure(kind: str, seed: int, batch: list[Mutant], problem: str) -> dict[str, Any]:
    """Returns what a person needs to see a failure again; of several mutants, only all together do it."""
    first = batch[0]
    return {
        "which": f"{kind}:{seed}:{first.number}" + (f"-{batch[-1].number}" if len(batch) > 1 else ""),
        "mutator": first.mutator,
        "origin": first.origin,
        "problem": problem,
        "bytes": first.data.hex() if len(batch) == 1 and len(first.data) <= _SHORT else "",
    }


def main(corpus_folder: str, scratch: str, readers: str) -> None:
    """Answers until the input ends."""
    files = Files(Path(scratch))
    module, _, bug = readers.partition(":")
    chosen = import_module(module)
    read = dict.fromkeys(corpus.KINDS, chosen.BUGS[bug]) if bug else chosen.READERS
    session = Session(corpus.load(Path(corpus_folder)), files, read, Watch(Path(scratch)))
    for each in _CODECS:
        "".encode(each)
    session.warm_up()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, resource.RLIM_INFINITY))
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(session.answer(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
