"""The tables of a report, for people: those of the paper, how precise the results are, and the paper's own numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cli.report.figures import APPLICATION, BOUNDS, WIDEST, Code, Figures, WideSite
from cli.report.order import Step
from cli.report.paper import Published, benchmark_of, published
from cli.report.studies import Study
from cli.text import short_name
from engine.reflection.modes import LIVSHITS, NOTHING

Cell = str | int | float | None

# Modes that know of no specification points: they follow no string from one method to the next.
_LOCAL = ("none", "local")
_INCOMPLETE = (
    "* A limit of time or memory ended the analysis: the numbers are those of what was found so far."
)
_RESOLUTION = """\
T: calls of Class.forName in code that may run; FR: fully resolved, PR: partially, UR: not. FR are calls of our status \
resolved: all names that arrive are constants. As in the paper's definition that includes names of which there is no \
class, and calls at which no name arrives at all (the last columns, of all code).
PR are our partial ones: a class is found, and something unknown arrives as well. UR are our unresolved ones: what \
arrives is unknown, or besides only names of which there is no class.
Under none nothing is resolved. Compilers for Java 5 and later translate T.class to a constant, those of the paper's \
time to a call of Class.forName."""
_SPECIFICATION = """\
Sites: calls of Class.forName that are not fully resolved, for which a user could say which classes are meant. Points: \
the different places where what is unknown at them comes from (files, properties, computed strings). ≥: there are \
calls of which only the first 20 were counted."""
_SIZES = (
    "Classes are those that declare a method of the call graph. Last column: the last mode beside the first."
)
_TIMES = """\
CPU seconds. Solver: building the call graph with points-to sets and reflection. Total: the whole command, with reading \
translated archives and writing the run, without fetching with Maven and loading the compiled solver."""
_ORDER = (
    "Methods, call edges and targets of reflective calls in all code. A mode has all that the one before has."
)
_SPREAD = "Reflective calls of all kinds that have a target, by their number of targets."
_WIDE = "Each call in the mode in which it has the most targets."
_PAPER = """\
Livshits, Whaley, Lam: Reflection Analysis for Java (2005), figures 19, 21, 22 and 23, as printed: wall-clock seconds on an \
Opteron 150, JDK 1.4.2_08. The solver's time of jedit under casts is printed as 0, and one of its calls under \
sound is in no column. § 6.5 speaks of as many as 95 % of the calls of jedit resolved at least partly."""


class Table(NamedTuple):
    """A table with its title, and a note below it. Columns whose name ends with `#` hold numbers; None is unknown."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    note: str = ""


class Section(NamedTuple):
    """A heading with tables."""

    title: str
    tables: list[Table]


def sections(studies: Sequence[Study], found: Sequence[Figures], order: Sequence[Step]) -> list[Section]:
    """Returns all tables that have rows."""
    resolved = resolution(found)
    if not all(each.complete for each in found):
        resolved = resolved._replace(note=f"{_INCOMPLETE}\n{resolved.note}")
    listed = (
        ("Figures", [resolved, specification(found), sizes(found), times(found)]),
        ("Order of the modes", [ordered(order)]),
        ("Precision", [spread(found), widest(found)]),
        ("Beside the figures of the paper", beside(found) or [whole_paper()]),
        ("Not analysed", [failures(studies)]),
    )
    filled = [Section(title, [each for each in tables if each.rows]) for title, tables in listed]
    return [each for each in filled if each.tables]


def _mode(each: Figures) -> str:
    return each.mode if each.complete else f"{each.mode} *"


def resolution(found: Sequence[Figures]) -> Table:
    """Returns figure 19: how many calls of `Class.forName` are resolved."""
    columns = ("T#", "FR#", "PR#", "UR#")
    return Table(
        "Calls of Class.forName (figure 19)",
        ("program", "mode", *(f"application {each}" for each in columns), *(f"all {each}" for each in columns),
         "no such class#", "no name#"),
        [
            (each.program, _mode(each), *_statuses(each, each.application), *_statuses(each, each.everything),
             *_nothing_found(each))
            for each in found
        ],
        _RESOLUTION,
    )  # fmt: skip


def _statuses(figures: Figures, code: Code) -> tuple[int | None, ...]:
    calls = code.calls
    return calls[:4] if figures.mode != NOTHING else (calls.total, None, None, None)


def _nothing_found(figures: Figures) -> tuple[int | None, int | None]:
    calls = figures.everything.calls
    return (calls.class_absent, calls.no_name) if figures.mode != NOTHING else (None, None)


def specification(found: Sequence[Figures]) -> Table:
    """Returns figure 21 as far as it is known without a specification: what one would be needed for."""
    return Table(
        "Calls that need a specification (figure 21)",
        ("program", "starting with", "sites#", "library#", "application#", "points#", "application points#"),
        [(each.program, _mode(each), *_to_specify(each)) for each in found if each.mode not in _LOCAL],
        _SPECIFICATION,
    )


def _to_specify(figures: Figures) -> tuple[Cell, ...]:
    own, everything = figures.application.calls, figures.everything.calls
    mine, sites = (calls.partially + calls.unresolved for calls in (own, everything))
    points = (f"{'≥ ' if calls.more else ''}{calls.points:,}" for calls in (everything, own))
    return sites, sites - mine, mine, *points


def _by_program(found: Sequence[Figures]) -> Iterator[tuple[str, dict[str, Figures]]]:
    for program in dict.fromkeys(each.program for each in found):
        yield program, {each.mode: each for each in found if each.program == program}


def _modes(found: Sequence[Figures]) -> list[str]:
    return sorted({each.mode for each in found}, key=LIVSHITS.index)


def sizes(found: Sequence[Figures]) -> Table:
    """Returns figure 22: the size of the call graph."""
    modes = _modes(found)
    rows: list[tuple[Cell, ...]] = []
    for place, what in enumerate(("classes", "methods")):
        for program, of in _by_program(found):
            codes = {mode: each.codes() for mode, each in of.items()}
            for row, more in ((1, ""), (0, " of the application")):
                numbers = [_size(codes[mode][row][1])[place] if mode in codes else None for mode in modes]
                first, last = numbers[0], numbers[-1]
                factor = f"{last / first:.2f}" if first and last else None
                rows.append((program, what + more, *numbers, factor))
    columns = ("program", "number of", *(f"{mode}#" for mode in modes), f"{modes[-1]} / {modes[0]}#")
    return Table("Size of the call graph (figure 22)", columns, rows, _SIZES)


def _size(code: Code) -> tuple[int, int]:
    return code.classes, code.methods


def times(found: Sequence[Figures]) -> Table:
    """Returns figure 23: what each mode costs."""
    modes = _modes(found)
    rows: list[tuple[Cell, ...]] = []
    for program, of in _by_program(found):
        seconds = [(of[mode].solver, of[mode].total) if mode in of else (None, None) for mode in modes]
        rows.append((program, *(each for pair in seconds for each in pair)))
    columns = ("program", *(f"{mode} {what}#" for mode in modes for what in ("solver", "total")))
    return Table("Time (figure 23)", columns, rows, _TIMES)


def ordered(order: Sequence[Step]) -> Table:
    """Returns what a mode lacks of what the one before has."""
    columns = ("program", "mode", "after", "methods lacking#", "call edges lacking#", "targets lacking#")
    rows: list[tuple[Cell, ...]] = [
        (each.program, each.after, each.before, each.methods, each.edges, each.targets) for each in order
    ]
    return Table("What a mode lacks of the one before", columns, rows, _ORDER)


def spread(found: Sequence[Figures]) -> Table:
    """Returns how many targets reflective calls have."""
    ranges = [_range(low + 1, high) for low, high in zip((0, *BOUNDS), BOUNDS, strict=False)]
    ranges.append(f"> {BOUNDS[-1]}")
    return Table(
        "Targets of a reflective call",
        ("program", "mode", *(f"{APPLICATION} {each}#" for each in ranges), *(f"all {each}#" for each in ranges)),
        [
            (each.program, _mode(each), *each.application.spread, *each.everything.spread)
            for each in found
            if each.mode != NOTHING
        ],
        _SPREAD,
    )  # fmt: skip


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def widest_sites(found: Sequence[Figures]) -> list[WideSite]:
    """Returns the sites with the most targets of all, each in the first mode in which it has the most."""
    best: dict[tuple[str, str], WideSite] = {}
    for site in (site for each in found for site in each.widest):
        key = site.program, site.site
        if key not in best or best[key].targets < site.targets:
            best[key] = site
    return sorted(best.values(), key=lambda each: (-each.targets, each.program, each.site))[:WIDEST]


def widest(found: Sequence[Figures]) -> Table:
    """Returns the reflective calls with the most targets."""
    return Table(
        f"The {WIDEST} reflective calls with the most targets",
        ("program", "call", "code", "of", "targets#", "mode", "status", "reason"),
        [
            (each.program, each.place, each.code, short_name(each.api), each.targets, each.mode, each.status, each.reason)
            for each in widest_sites(found)
        ],
        _WIDE,
    )  # fmt: skip


def beside(found: Sequence[Figures]) -> list[Table]:
    """Returns our numbers for all code beside those of the paper, for programs of which it speaks."""
    theirs = {(each.program, each.mode): each for each in published()}
    pairs = [
        (each, theirs[benchmark, each.mode])
        for each in found
        if (benchmark := benchmark_of(each.program)) and (benchmark, each.mode) in theirs
    ]
    if not pairs:
        return []
    return [
        Table(
            "Calls of Class.forName",
            ("program", "mode", *(f"{each}{of}#" for each in ("T", "FR", "PR", "UR") for of in ("", " paper"))),
            [(each.program, _mode(each), *_beside_calls(each, paper)) for each, paper in pairs],
        ),
        Table(
            "Size and time",
            ("program", "mode", *(f"{each}{of}#" for each in ("classes", "methods", "solver", "total")
                                  for of in ("", " paper"))),
            [(each.program, _mode(each), *_beside_sizes(each, paper)) for each, paper in pairs],
            _PAPER,
        ),
    ]  # fmt: skip


def _beside_calls(each: Figures, paper: Published) -> Iterator[Cell]:
    theirs = (paper.calls, paper.fully, paper.partially, paper.unresolved)
    for pair in zip(_statuses(each, each.everything), theirs, strict=True):
        yield from pair


def _beside_sizes(each: Figures, paper: Published) -> Iterator[Cell]:
    code = each.everything
    ours = (code.classes, code.methods, each.solver, each.total)
    theirs = (paper.classes, paper.methods, paper.solver_seconds, paper.total_seconds)
    for pair in zip(ours, theirs, strict=True):
        yield from pair


def whole_paper() -> Table:
    """Returns the numbers of the paper."""
    columns = (
        "program", "mode", "T#", "FR#", "PR#", "UR#", "classes#", "methods#", "solver#", "total#",
        "specifications#", "sites#", "library#", "application#",
    )  # fmt: skip
    return Table("The programs of the paper", columns, [tuple(each) for each in published()], _PAPER)


def failures(studies: Sequence[Study]) -> Table:
    """Returns what was not analysed, and why."""
    rows: list[tuple[Cell, ...]] = [
        (study.program.name, mode or "all", str(failure))
        for study in studies
        for mode, failure in study.failures.items()
    ]
    return Table("Programs and modes without a result", ("program", "mode", "reason"), rows)
