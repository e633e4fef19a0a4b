"""Mutation testing of what the JVM is modelled to do: `python -m tests.engine.model_mutation` lists the survivors.

A mutant takes a row out of one of TABLES, or changes one function of MODULES. What notices it are the
expectations of fixtures that are analysed together as one program: one that fails, an exception, or no end. The
fixtures of a topic come first, in mode `points-to`, because all of them take long. What they don't notice is
then tried on all fixtures and in all modes: several mutants together, as far as they change different functions,
and one by one only if that is noticed. Each analysis is a process, forked from one that has read the classes.

There are thousands of mutants, and each takes seconds: `--part N` tries one in N of the changed functions, and
`--rows` only the rows.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from cli.kernel import Compilation, solver
from cli.pipeline import Job, _link, _open, _read
from cli.progress import Progress
from cli.summary import causing_sites
from cypher.program import APPLICATION
from engine import effects, entry, handles, library, machine, models, serialization
from engine.analysis import Options, analyse
from engine.reflection.modes import DEFAULT
from engine.result import Result
from loader.link import LinkedProgram
from tests import mutants
from tests.fixture_analysis import Graph, Target, _passes_on, computed
from tests.fixture_harness import FIXTURES, MODES, SUPPORT, build, expectations, fixtures, wrong_in_mode

# The names of the fixtures that may notice a change of a module begin so.
TOPICS: dict[ModuleType, str] = {
    models: (
        "Arr|Call|ClassLit|Clean|Clone|Curr|Dynamic|Exec|Final|ForName|GetClass|InvokeP|KnownA|Lambda|Load|Lookup|Member|NameI|Native|OwnL"
        "|Priv|Ref|Service|Stack|System|Thread|Throwable|Uncaught"
    ),
    machine: "Thread|Uncaught|Shutdown|Fin|Cleaners|Main|Own|Load|Dynamic|Call|HandleC|MethodT|VarH|Lambda|String|Rec|Pat",
    effects: "Invoke|Field|Class|Constr|GetM|Init|New|ArrayN|ArrayO|KnownA|Member|UnknownA|Meta|ProxyT|Handle[VSFU]|NoDef|NullA|Public",
    handles: "Handle|VarH|Unsafe|MethodT|Call|Dynamic|Inline|Atomic",
    serialization: "Serialization",
    entry: "InheritedM|InstanceM|MainI|Reflective|Uncaught|Static",
    library: "Service|Annot|Proxy|Enum|Bundle|UnsafeAl|Name",
}  # fmt: skip
MODULES = tuple(TOPICS)
# What each of them lists is taken out, one at a time: the elements of a tuple, the keys of a mapping, and what
# is at each key.
TABLES: tuple[tuple[ModuleType, str], ...] = (
    (models, "SITE_MODELS"),
    (models, "BODY_MODELS"),
    (models, "METAOBJECTS"),
    (models, "WRAPPERS"),
    (machine, "INITIALISED"),
    (machine, "SYSTEM_PHASES"),
    (machine, "LINKING"),
    (serialization, "READERS"),
    (serialization, "WRITERS"),
    (serialization, "PLAIN"),
    (handles, "_INVOKERS"),
)
# Most rows of these only say what code of the JDK runs, so that they are tried together at once; those of LINKING
# that name bootstrap methods and what links are held against a JVM by test_linking.
QUIET = {"INITIALISED", "SYSTEM_PHASES", "LINKING"}
# Fixtures are programs: nothing in them is the entry of a library.
NOT_CHANGED = {"call_library", "is_library_entry"}
PLENTY = (DEFAULT,)  # modes: all fixtures are analysed in the others, too
SLOWER = 4  # times the CPU time of the unchanged modules: no end
TOGETHER = 8  # mutants


class Row(NamedTuple):
    """The mutant of a table without a row, or without one of what it lists for a row."""

    module: ModuleType
    table: str
    row: Any
    listed: str = ""

    @property
    def name(self) -> str:
        if isinstance(self.row, models.SiteModel | models.BodyModel):
            return f"{self.table}: without {self.row.owner}.{self.row.name}"
        row = self.row if isinstance(self.row, str) else ".".join(self.row)
        return f"{self.table}: without {f'{row}: {self.listed}' if self.listed else row}"

    @property
    def place(self) -> object:
        """What other mutants must not change, to be tried together with this one."""
        return self.name

    def apply(self) -> None:
        """Takes it out, wherever a module of the engine knows the table."""
        old = vars(self.module)[self.table]
        new: Any
        if self.listed:
            new = {**old, self.row: tuple(each for each in old[self.row] if each != self.listed)}
        elif isinstance(old, Mapping):
            new = {key: value for key, value in old.items() if key != self.row}
        else:
            new = tuple(each for each in old if each != self.row)
        for each in [module for name, module in sys.modules.items() if name.startswith("engine.")]:
            if vars(each).get(self.table) is old:
                setattr(each, self.table, new)


class Code(NamedTuple):
    """The mutant of a function."""

    module: ModuleType
    mutant: mutants.Mutant

    @property
    def name(self) -> str:
        return self.mutant.name

    @property
    def place(self) -> object:
        """What other mutants must not change, to be tried together with this one."""
        return self.mutant.function

    def apply(self) -> None:
        """Changes the function, and those that it has returned to the table of models."""
        function, code = self.mutant.function, self.mutant.code
        inner = {each.co_name: each for each in code.co_consts if isinstance(each, CodeType)}
        for row in models.BODY_MODELS:
            if isinstance(row.means, FunctionType):
                outer, _, name = row.means.__qualname__.rpartition(".<locals>.")
                if outer == function.__code__.co_qualname:
                    row.means.__code__ = inner[name]
        function.__code__ = code


Mutant = Row | Code


def rows() -> Iterator[Row]:
    """Yields a mutant for each row of each table."""
    for module, name in TABLES:
        table = vars(module)[name]
        for row in table:
            yield Row(module, name, row)
            if isinstance(table, Mapping) and isinstance(table[row], tuple):
                yield from (Row(module, name, row, each) for each in table[row])


def changes() -> Iterator[Code]:
    """Yields the mutants of all functions."""
    for module in MODULES:
        yield from (Code(module, each) for each in mutants.mutants_of(module, NOT_CHANGED))


class Suite:
    """Fixtures as one program, linked: those whose names begin with a pattern."""

    def __init__(self, classes: Path, pattern: str = "", modes: Sequence[str] = MODES) -> None:
        self._fixtures = [each for each in fixtures() if re.match(pattern, each.name)]
        self._expected = {each.name: expectations(each) for each in self._fixtures}
        self._job = Job([str(classes)], [each.name for each in self._fixtures])
        self._modes = modes
        progress = Progress(quiet=True)
        compilation = Compilation(progress)
        self._loaded = _read(self._job, progress, *_open(self._job))
        compilation.wait()
        began = time.process_time()
        self.usual = self._wrong()  # of a part of the fixtures, some may need the others
        self.seconds = time.process_time() - began
        gc.collect()  # an analysis reserves more memory than a process may have twice

    def notices(self, changed: Iterable[Mutant]) -> str:
        """Returns what first goes wrong with a changed engine, empty if nothing does."""
        seconds = int(SLOWER * self.seconds) + 1
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            self._answer(changed, writing)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as stream:
            found = stream.read()
        _, status = os.waitpid(child, 0)
        return found or (f"ends with status {status}" if status else "")

    def _answer(self, changed: Iterable[Mutant], writing: int) -> None:
        """Writes what first goes wrong to a pipe, and ends the process."""
        try:
            for each in changed:
                each.apply()
            found = "".join(sorted(set(self.usual) ^ set(self._wrong()))[:1])
        except BaseException as exception:  # noqa: BLE001 whatever is raised is noticed
            found = repr(exception)
        os.write(writing, found.encode()[:1_000])
        os._exit(0)

    def _wrong(self) -> list[str]:
        """Returns what is wrong with the analyses in all modes."""
        found = []
        for mode in self._modes:
            program, entries, _ = _link(self._job, self._loaded)
            types = (program.type_named(f"java/lang/{each}") for each in ("Object", "Class"))
            graph = graph_of(program, analyse(program, solver(*types), entries, Options(mode)))
            found += [
                f"{mode}: {each}"
                for fixture in self._fixtures
                for each in wrong_in_mode(mode, self._expected[fixture.name], computed(graph, fixture))
            ]
        return found


def graph_of(program: LinkedProgram, result: Result) -> Graph:
    """Returns the call graph as far as calls are of the application, or of what only passes on calls."""
    names: dict[int, Target] = {}

    def named(method: int) -> Target:
        if method not in names:
            declaring, name, descriptor = program.name_of_method(method)
            parameters, _, returned = descriptor[1:].rpartition(")")
            names[method] = Target(program.name_of_type(declaring), name, parameters, returned)
        return names[method]

    causes = causing_sites(result)
    callers, offsets = result.sites.method[causes], result.sites.offset[causes]
    known = np.unique(callers[callers >= 0]).tolist()
    wanted = [
        each for each in known if program.flags_of_method(each) & APPLICATION or _passes_on(named(each))
    ]
    made = np.flatnonzero(np.isin(callers, wanted))
    lines = program.lines_of(callers[made], offsets[made])
    edges: dict[Target, list[tuple[int, Target]]] = {}
    columns = (callers[made], lines, result.call_callee[made])
    for caller, line, callee in zip(*(each.tolist() for each in columns), strict=True):
        edges.setdefault(named(caller), []).append((line, named(callee)))
    probe = (f"{SUPPORT}/Probe", "reached")
    probed = {caller for caller, found in edges.items() if any(callee[:2] == probe for _, callee in found)}
    return Graph(edges, frozenset(probed))


def survivors(tried: Sequence[Mutant], classes: Path, report: bool = False) -> list[str]:
    """Returns the names of the mutants that no fixture notices."""
    quiet = [each for each in tried if isinstance(each, Row) and each.table in QUIET]
    rest = quiet + unnoticed([each for each in tried if each not in quiet], classes, report)
    suite = Suite(classes)
    assert not suite.usual, suite.usual
    found: list[Mutant] = []
    while rest:
        distinct = list({each.place: each for each in reversed(rest)}.values())[:TOGETHER]
        rest = [each for each in rest if each not in distinct]
        found += _apart(suite, distinct, report)
    return sorted(each.name for each in found)


def unnoticed(tried: Sequence[Mutant], classes: Path, report: bool = False) -> list[Mutant]:
    """Returns the mutants that the fixtures of their topics don't notice."""
    found: list[Mutant] = []
    for module in MODULES:
        if of_module := [each for each in tried if each.module is module]:
            suite = Suite(classes, TOPICS[module], PLENTY)
            found += [each for each in of_module if not _noticed(suite, [each], report)]
    return found


def _apart(suite: Suite, tried: Sequence[Mutant], report: bool) -> Iterator[Mutant]:
    """Yields the mutants that go unnoticed: all, if they do so together."""
    if not _noticed(suite, tried, report):
        yield from tried
    elif tried[1:]:
        half = len(tried) // 2
        yield from _apart(suite, tried[:half], report)
        yield from _apart(suite, tried[half:], report)


def _noticed(suite: Suite, tried: Sequence[Mutant], report: bool) -> bool:
    found = suite.notices(tried)
    if report:
        print(f"{'; '.join(each.name for each in tried)}\n    {found or 'goes unnoticed'}", flush=True)
    return bool(found)


def compiled(folder: Path, root: Path = FIXTURES) -> Path:
    """Returns a new folder in `folder` with the classes of all fixtures of the folder `root`."""
    classes = folder / root.name
    classes.mkdir()
    javac = shutil.which("javac")
    assert javac is not None
    build(classes, javac, root)
    return classes


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    changed = () if given.rows else (each for each in changes() if mutants.sampled(each.name, given.part))
    tried = [*rows(), *changed]
    with tempfile.TemporaryDirectory(prefix="heliograph-tests-") as folder:
        found = survivors(tried, compiled(Path(folder)), given.verbose)
    print("\n".join([*found, f"{len(found)} of {len(tried)} survive"]))


if __name__ == "__main__":
    main()
