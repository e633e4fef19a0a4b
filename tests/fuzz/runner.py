"""Runs workers over mutants, through hangs and crashes, and counts."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz import corpus
from tests.fuzz.corpus import Corpus
from tests.fuzz.worker import MEMORY, failure

ROOT = Path(__file__).parents[2]
READERS = "tests.fuzz.readers"
STEP = 1000  # mutants in one question, about
PATIENCE = 60.0  # seconds for these, of which each takes milliseconds
PATIENCE_ALONE = 30.0  # of which 6 are CPU time at most
_MOST_FAILURES = 100  # that are described
_MOST_STUCK = 20

COMMIT = {"class": 50_000, "zip": 5_000, "image": 500}
RELEASE = {"class": 2_000_000, "zip": 200_000, "image": 50_000}


@dataclass
class Figures:
    """What came of mutants of one kind. `accepted` and `refused` count by mutator; memory is in bytes."""

    kind: str
    seed: int
    following: int = 0  # the index after the last mutant
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    memory: int = 0

    @property
    def mutants(self) -> int:
        """Returns how many mutants were read."""
        return self.accepted.total() + self.refused.total() + self.failed

    @property
    def useless(self) -> list[str]:
        """Returns the mutators that never made a file that is accepted, or one that is refused."""
        named = corpus.OF_CLASSES if self.kind == "class" else corpus.OF_CONTAINERS
        return [
            name
            for name in dict.fromkeys(each for each, _ in named)
            if not self.accepted[name] or not self.refused[name]
        ]

    def __str__(self) -> str:
        rate = self.mutants / self.seconds if self.seconds else 0
        lines = [
            f"{self.kind}, seed {self.seed}: {self.mutants:,} mutants",
            f"  {self.accepted.total():,} accepted, {self.refused.total():,} refused, {self.failed:,} failed",
            f"  {self.seconds:.1f} s of CPU time, {rate:,.0f} a second, at most {self.memory >> 20} MiB",
            f"  the slowest {1000 * self.slowest[0]:.1f} ms each, from {self.slowest[1]}",
        ]
        lines += [
            f"  {name:<16}{self.accepted[name]:>9,} accepted {self.refused[name]:>9,} refused"
            for name in sorted({*self.accepted, *self.refused})
        ]
        alike: dict[str, list[dict[str, Any]]] = {}
        for each in self.failures:
            alike.setdefault(each["problem"].splitlines()[-1], []).append(each)
        for group in alike.values():
            first = group[0]
            lines += [
                f"  FAILED {first['which']} ({first['mutator']} of {first['origin']}), {len(group)} like it"
            ]
            lines += [f"    {line}" for line in first["problem"].splitlines()]
            lines += [f"    bytes {first['bytes']}"] if first["bytes"] else []
        return "\n".join(lines)


class Stuck(Exception):
    """A worker that doesn't answer, or ended."""


class Worker:
    """A process that reads mutants; it is started when it is asked, and again after it was stuck."""

    def __init__(self, folder: Path, readers: str) -> None:
        self._folder, self._readers = folder, readers
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, patience: float, **question: object) -> dict[str, Any]:
        """Returns the answer of `tests.fuzz.worker`. Raises Stuck."""
        process = self._started()
        asked, answered = process.stdin, process.stdout
        assert asked is not None
        assert answered is not None
        try:
            asked.write(json.dumps(question).encode() + b"\n")
            asked.flush()
        except BrokenPipeError:
            pass  # what was written before it ended says why
        ready, _, _ = select.select([answered], [], [], patience)
        line = answered.readline() if ready else b""
        if not line:
            self.stop()
            raise Stuck(f"no answer in {patience} s" if not ready else f"ended with {process.returncode}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            folders = [str(self._folder / each) for each in ("corpus", "scratch")]
            command = [sys.executable, "-m", "tests.fuzz.worker", *folders, self._readers]
            process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._process = process
            assert process.stdout is not None
            if process.stdout.readline() != b"ready\n":
                self.stop()
                raise RuntimeError("the worker doesn't start")
        return self._process


class Runner:
    """Has mutants of a corpus read."""

    def __init__(self, folder: Path, corpus_: Corpus, readers: str = READERS) -> None:
        self.corpus = corpus_
        (folder / "corpus").mkdir()
        (folder / "scratch").mkdir()
        corpus_.save(folder / "corpus")
        self._worker = Worker(folder, readers)

    def run(self, figures: Figures, stop: int) -> Figures:
        """Returns the figures with those of the mutants up to `stop`."""
        whole = self.corpus.round(figures.kind)
        step = whole * max(1, STEP // whole)
        while figures.following < stop:
            start, figures.following = figures.following, min(figures.following + step, stop)
            self._step(figures, start, figures.following)
        return figures

    def close(self) -> None:
        """Ends the worker."""
        self._worker.stop()

    def _step(self, figures: Figures, start: int, stop: int) -> None:
        question = {"kind": figures.kind, "seed": figures.seed}
        try:
            answer = self._worker.ask(PATIENCE, **question, start=start, stop=stop, alone=False)
            if answer["memory"] <= MEMORY:
                self._add(figures, start, answer)
                return
        except Stuck:
            pass
        self._worker.stop()
        for number in range(start, stop):
            try:
                answer = self._worker.ask(
                    PATIENCE_ALONE, **question, start=number, stop=number + 1, alone=True
                )
            except Stuck as problem:
                self._fail(figures, number, f"stuck: {problem}")
                if sum(each["problem"].startswith("stuck") for each in figures.failures) == _MOST_STUCK:
                    raise
                continue
            if answer["memory"] > MEMORY:
                self._worker.stop()
                self._fail(figures, number, f"memory: {answer['memory'] >> 20} MiB")
                figures.memory = max(figures.memory, answer["memory"])
                continue
            self._add(figures, number, answer)

    def _add(self, figures: Figures, start: int, answer: dict[str, Any]) -> None:
        for at, verdict in enumerate(answer["verdicts"]):
            name = self.corpus.mutator(figures.kind, start + at)
            if verdict == "F":
                figures.failed += 1
            else:
                (figures.accepted if verdict == "A" else figures.refused)[name] += 1
        # Mutants that fail only together are no failed mutant, but a failure.
        figures.failures += answer["failures"][: _MOST_FAILURES - len(figures.failures)]
        figures.seconds += answer["seconds"]
        seconds, near = answer["slowest"]
        figures.slowest = max(figures.slowest, (seconds, near))
        figures.memory = max(figures.memory, answer["memory"])

    def _fail(self, figures: Figures, number: int, problem: str) -> None:
        figures.failed += 1
        mutant = self.corpus.mutant(figures.kind, figures.seed, number)
        if len(figures.failures) < _MOST_FAILURES:
            figures.failures.append(failure(figures.kind, figures.seed, [mutant], problem))


@contextmanager
def runner(readers: str = READERS) -> Iterator[Runner]:
    """Builds the corpus and gives it to a runner."""
    with tempfile.TemporaryDirectory(prefix="heliograph-fuzz-") as folder:
        compiled = Path(folder, "compiled")
        compiled.mkdir()
        made = Runner(Path(folder), corpus.build(compiled), readers)
        try:
            yield made
        finally:
            made.close()
