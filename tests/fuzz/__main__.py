"""Reads mutants of class files, archives and images, and compares with a JVM: `python -m tests.fuzz`.

Without arguments that is what every commit has to pass, with `--release` what every release has to; `--kind`,
`--seed` and `--count` choose parts. What was done is kept in `build/fuzz`: the same command goes on with it,
until fuzzer, reader or JDK change.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

from tests.fuzz import guided
from tests.fuzz.corpus import KINDS, Corpus
from tests.fuzz.oracle import Verdicts, compare, oracle
from tests.fuzz.runner import COMMIT, RELEASE, ROOT, Figures, Runner, runner

KEPT = ROOT / "build" / "fuzz"
STEP = 10_000  # mutants between two lines of progress
RELEASE_SEED, COMMIT_SEED = 2, 1
_SOURCES = ("loader/*.py", "tests/fuzz/*.py", "tests/fuzz/*.java", "tests/badinputs/*.py")


class Kept:
    """Figures and verdicts in files, so that a run may be interrupted."""

    def __init__(self, corpus: Corpus) -> None:
        digest = sha256("".join(corpus.classes).encode() + b"".join(corpus.classes.values()))
        for path in sorted(each for pattern in _SOURCES for each in ROOT.glob(pattern)):
            digest.update(path.read_bytes())
        self._folder = KEPT / digest.hexdigest()[:16]
        self._folder.mkdir(parents=True, exist_ok=True)

    def figures(self, kind: str, seed: int) -> Figures:
        """Returns the figures to go on with."""
        path = self._path(Figures(kind, seed))
        if not path.exists():
            return Figures(kind, seed)
        kept = json.loads(path.read_text())
        counts = {each: Counter(kept[each]) for each in ("accepted", "refused")}
        return Figures(**kept | counts | {"slowest": tuple(kept["slowest"])})

    def verdicts(self, kind: str, seed: int) -> Verdicts:
        """Returns the verdicts to go on with."""
        path = self._path(Verdicts(kind, seed))
        if not path.exists():
            return Verdicts(kind, seed)
        kept = json.loads(path.read_text())
        return Verdicts(**kept | {"counts": Counter(kept["counts"])})

    def save(self, result: Figures | Verdicts) -> None:
        """Writes a result."""
        path = self._path(result)
        aside = path.with_suffix(".new")
        aside.write_text(json.dumps(vars(result)))
        aside.replace(path)

    def _path(self, result: Figures | Verdicts) -> Path:
        return self._folder / f"{type(result).__name__}-{result.kind}-{result.seed}.json"


def read(run: Runner, kept: Kept, kind: str, seed: int, count: int) -> bool:
    """Reads mutants; returns whether nothing is wrong."""
    figures = kept.figures(kind, seed)
    while figures.following < count:
        run.run(figures, min(figures.following + STEP, count))
        kept.save(figures)
        print(f"{kind}, seed {seed}: read {figures.following:,} of {count:,}", file=sys.stderr, flush=True)
    print(figures)
    few = count < COMMIT[kind]
    if figures.useless and not few:
        print("  useless: " + ", ".join(figures.useless))
    return not figures.failures and (few or not figures.useless)


def judge(run: Runner, kept: Kept, kind: str, seed: int, count: int) -> bool:
    """Compares mutants with the JVM; returns whether it accepts none that we refuse."""
    verdicts = kept.verdicts(kind, seed)
    with tempfile.TemporaryDirectory() as folder, oracle(Path(folder)) as java:
        while verdicts.following < count:
            compare(run.corpus, java, verdicts, min(verdicts.following + STEP, count))
            kept.save(verdicts)
            done = f"{verdicts.following:,} of {count:,}"
            print(f"{kind}, seed {seed}: compared {done}", file=sys.stderr, flush=True)
    print(verdicts)
    return not verdicts.different


def reproduce(which: str, out: Path) -> None:
    """Writes one mutant to a file."""
    kind, seed, number = which.split(":")
    with runner() as run:
        mutant = run.corpus.mutant(kind, int(seed), int(number))
    out.write_bytes(mutant.data)
    print(f"{which} is made by {mutant.mutator} of {mutant.origin}; its name is {mutant.file}")


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--release", action="store_true", help="as many mutants as a release has to pass")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind")
    parser.add_argument("--seed", type=int, help="another series of mutants")
    parser.add_argument("--count", type=int, help="so many mutants of each kind")
    parser.add_argument("--reproduce", metavar="KIND:SEED:INDEX", help="write one mutant to --out")
    parser.add_argument("--out", type=Path, default=Path("mutant"), help="the file for --reproduce")
    parser.add_argument("--guided", type=int, metavar="SECONDS", help="guided by coverage (needs Atheris)")
    parser.add_argument("--corpus", type=Path, default=KEPT / "guided", help="the folder that --guided keeps")
    arguments = parser.parse_args()
    if arguments.reproduce:
        reproduce(arguments.reproduce, arguments.out)
        return 0
    if arguments.guided:
        return guided.start(arguments.corpus, arguments.guided)
    budget = RELEASE if arguments.release else COMMIT
    seed = arguments.seed
    if seed is None:
        seed = RELEASE_SEED if arguments.release else COMMIT_SEED
    right = True
    with runner() as run:
        kept = Kept(run.corpus)
        for kind in arguments.kind or KINDS:
            count = arguments.count or budget[kind]
            right &= read(run, kept, kind, seed, count)
            if kind != "image":  # Java has no reader of its own for damaged images
                right &= judge(run, kept, kind, seed, count)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
