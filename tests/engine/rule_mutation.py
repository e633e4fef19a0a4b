"""Mutation testing of the rules for reflection: `python -m tests.engine.rule_mutation` tries them all.

A mutant is one change of a function of `changed_rules.MODULES`: of a rule's body, or of what rules call. It takes
effect at the calls of one fixture only, so that one analysis of all fixtures that name rules tries as many mutants
as there are fixtures. What notices a mutant are the expectations of its fixture: one that fails, an exception, or no
end.

Calls of the JDK's code are analysed only for what no fixture notices without, which takes a tenth of the time.

Where a mutant derives from all that comes to the calls of a fixture what the rules do, the fixpoint is the same, and
it isn't tried there. Mutants that derive the same there count as one. Each analysis is a process, forked from one
that has read the classes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cli.kernel import Compilation, solver
from cli.pipeline import Job, _link, _open, _read
from cli.progress import Progress
from engine.analysis import APPLICATION, PROGRAM, Options, analyse
from engine.reflection.modes import CASTS, LOCAL, POINTS_TO
from tests.engine.changed_rules import MODULES, ChangedReflection
from tests.engine.model_mutation import compiled, graph_of
from tests.fixture_analysis import computed
from tests.fixture_harness import (
    ALONE,
    FIXTURES,
    Fixture,
    expectations,
    fixtures,
    negative,
    positive,
    wrong_in_mode,
)
from tests.mutants import Mutant, mutants_of, sampled

# Mutants that no fixture notices without the JDK's code, below the reasons.
SURVIVORS = Path(__file__).with_name("rule_survivors.txt")
# Together the modes have all rules; in `casts`, what some of them miss is found by casts in the JDK's code.
TRIED = [Options(mode, scope) for scope in (APPLICATION, PROGRAM) for mode in (CASTS, POINTS_TO, LOCAL)]

Answers = dict[str, dict[str, int]]
Wrong = dict[str, list[str]]
# By fixture, the mutants that derive the same there, by a number for what that is.
Waiting = dict[str, dict[int, list[str]]]


def mutants() -> Iterator[Mutant]:
    """Yields the mutants of all functions, whose names begin with their modules."""
    for module in MODULES:
        short = module.__name__.rpartition(".")[2]
        yield from (each._replace(name=f"{short}.{each.name}") for each in mutants_of(module))


def is_bound(name: str) -> bool:
    """Returns whether a mutant only takes another of the numbers next to 0 for the first id, which no program chooses.

    >>> is_bound("f: found >= 0 → found > 0"), is_bound("f: found >= 0 → found < 0")
    (True, False)
    """
    before, _, after = name.partition(": ")[2].partition(" → ")
    return _bounded(before) == _bounded(after)


def _bounded(text: str) -> str:
    return re.sub(r"<=? -?[01]\b", "< 0", re.sub(r">=? -?[01]\b", ">= 0", text))


def fixtures_of_rules(root: Path) -> list[Fixture]:
    """Returns the fixtures of a folder that name rules."""
    return [each for each in fixtures(root) if positive(each) or negative(each)]


def known_survivors() -> set[str]:
    """Returns the names in SURVIVORS."""
    lines = SURVIVORS.read_text(encoding="utf-8").splitlines()
    return {each for each in lines if each and not each.startswith("#")}


class Suite:
    """Fixtures as one program, read."""

    def __init__(self, classes: Path, known: Sequence[Fixture]) -> None:
        self._fixtures = known
        self._expected = {each.name: expectations(each) for each in known}
        self._job = Job([str(classes)], [each.name for each in known])
        progress = Progress(quiet=True)
        compilation = Compilation(progress)
        self._loaded = _read(self._job, progress, *_open(self._job))
        compilation.wait()
        # What is wrong without mutants: some expectations lean on the JDK's code, or on other fixtures.
        self._usual: Wrong = {}

    def answers(self, options: Options, tried: Sequence[Mutant]) -> Answers:
        """Returns what mutants derive otherwise (see `ChangedReflection.answers`)."""
        found: Answers
        found, self._usual = forked(lambda: self._answers(options, tried))
        return found

    def wrong(self, options: Options, chosen: Mapping[str, Mutant]) -> Wrong:
        """Returns what is wrong with each fixture when all are analysed with a mutant at some."""
        found: Wrong = forked(lambda: self._analysed(options, chosen)[0])
        return {
            name: [each for each in wrong if each not in self._usual[name]] for name, wrong in found.items()
        }

    def _answers(self, options: Options, tried: Sequence[Mutant]) -> tuple[Answers, Wrong]:
        wrong, reflection = self._analysed(options, {})
        return reflection.answers(tried), wrong

    def _analysed(self, options: Options, chosen: Mapping[str, Mutant]) -> tuple[Wrong, ChangedReflection]:
        program, entries, _ = _link(self._job, self._loaded)
        types = (program.type_named(f"java/lang/{each}") for each in ("Object", "Class"))
        made: list[ChangedReflection] = []

        def reflection(*given: Any) -> ChangedReflection:
            made.append(ChangedReflection(*given, chosen=chosen, known=self._fixtures))
            return made[0]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("engine.analysis.Reflection", reflection)
            patch.setattr("engine.analysis.Analysis.release", lambda _: None)  # it is asked below
            patch.setattr("engine.analysis.report", lambda *_: ())  # mutants derive what no report tells of
            result = analyse(program, solver(*types), entries, options)
        graph = graph_of(program, result)
        wrong = {
            each.name: wrong_in_mode(options.mode, self._expected[each.name], computed(graph, each))
            for each in self._fixtures
        }
        for name, trial in made[0].trials.items():
            wrong[name] += [trial.failure] if trial.failure else []
        return wrong, made[0]


def forked(compute: Callable[[], Any]) -> Any:
    """Returns what a process computes that is forked from this one."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _tell(compute, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        content = stream.read()
    _, status = os.waitpid(child, 0)
    assert not status, f"the analysis ends with status {status}"
    return json.loads(content)


def _tell(compute: Callable[[], Any], writing: int) -> None:
    """Writes what is computed to a pipe, and ends the process."""
    status = 1
    try:
        with os.fdopen(writing, "w", encoding="utf-8") as stream:
            json.dump(compute(), stream)
        status = 0
    except BaseException:  # noqa: BLE001 is told
        traceback.print_exc()
    finally:
        os._exit(status)


def survivors(
    tried: Sequence[Mutant], folder: Path, ways: Sequence[Options] = TRIED, report: bool = False
) -> list[str]:
    """Returns the names of the mutants that no fixture notices in some `ways` of analysing them, save bounds.

    Fixtures are compiled into an empty folder. Those of ALONE are analysed one by one.
    """
    together, alone = compiled(folder), compiled(folder, ALONE)
    programs = [(together, fixtures_of_rules(FIXTURES))]
    programs += [(alone, [each]) for each in fixtures_of_rules(ALONE)]
    alive = {each.name: each for each in tried}
    for classes, known in programs:
        suite = Suite(classes, known)
        for options in ways:
            _try_in(suite, options, alive, report)
    return sorted(each for each in alive if not is_bound(each))


def _try_in(suite: Suite, options: Options, alive: dict[str, Mutant], report: bool) -> None:
    """Takes out of `alive` what the fixtures notice in a mode and scope."""
    waiting: Waiting = defaultdict(lambda: defaultdict(list))
    for mutant, places in suite.answers(options, list(alive.values())).items():
        for fixture, answer in places.items():
            waiting[fixture][answer].append(mutant)
    while chosen := _choice(waiting, alive):
        wrong = suite.wrong(options, {name: alive[alike[0]] for name, alike in chosen.items()})
        assert not any(each for name, each in wrong.items() if name not in chosen), wrong
        for fixture, alike in chosen.items():
            if report:
                print(
                    f"{options.mode}, {options.scope}, {fixture}: {wrong[fixture][:1] or 'goes unnoticed'}",
                    *alike,
                    sep="\n    ",
                    flush=True,
                )
            for each in alike if wrong[fixture] else ():
                alive.pop(each, None)


def _choice(waiting: Waiting, alive: Collection[str]) -> dict[str, list[str]]:
    """Takes for each fixture those that derive the same, of which most are alive and aren't tried at another."""
    chosen: dict[str, list[str]] = {}
    taken: set[str] = set()
    for fixture, answers in waiting.items():
        for answer, alike in list(answers.items()):
            answers[answer] = [each for each in alike if each in alive]
        free = {answer: len(set(alike) - taken) for answer, alike in answers.items()}
        most = max(free, key=lambda answer: free[answer], default=0)
        if free.get(most):
            chosen[fixture] = answers.pop(most)
            taken |= set(chosen[fixture])
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    tried = [each for each in mutants() if sampled(each.name, given.part)]
    with tempfile.TemporaryDirectory(prefix="heliograph-tests-") as folder:
        found = survivors(tried, Path(folder), report=given.verbose)
    print(*sorted({*found} - known_survivors()), sep="\n")
    print(f"{len(found)} of {len(tried)} survive; those above are not in {SURVIVORS.name}")


if __name__ == "__main__":
    main()
