"""What every commit has to pass: no mutant of what is read raises, hangs, takes memory or hides a class."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import corpus
from tests.fuzz.oracle import Verdicts, compare, oracle
from tests.fuzz.runner import COMMIT, Figures, Runner, runner
from tests.fuzz.worker import MEMORY

pytestmark = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")

SEED = 1
FEW = {"class": 880, "zip": 180, "image": 70}
COMPARED = {"class": 5_000, "zip": 1_000}


@pytest.fixture(scope="module")
def run() -> Iterator[Runner]:
    with runner() as made:
        yield made


@pytest.mark.parametrize("kind", corpus.KINDS)
def test_few_mutants_are_read_or_refused(run: Runner, kind: str) -> None:
    figures = run.run(Figures(kind, SEED), FEW[kind])
    assert not figures.failures, str(figures)
    assert figures.mutants == FEW[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", corpus.KINDS)
def test_mutants_are_read_or_refused(run: Runner, kind: str) -> None:
    figures = run.run(Figures(kind, SEED), COMMIT[kind])
    print(figures)
    assert not figures.failures, str(figures)
    assert not figures.useless
    assert figures.mutants == COMMIT[kind]
    assert figures.memory <= MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPARED)
def test_what_the_jvm_accepts_we_accept(run: Runner, kind: str, tmp_path: Path) -> None:
    with oracle(tmp_path) as java:
        verdicts = compare(run.corpus, java, Verdicts(kind, SEED), COMPARED[kind])
    print(verdicts)
    assert not verdicts.different, str(verdicts)
    assert verdicts.counts["both accept"] > COMPARED[kind] // 10
    assert verdicts.counts["both refuse"] > COMPARED[kind] // 10
