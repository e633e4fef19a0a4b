"""Specification files: what a user says of program points, a line each (Livshits, Whaley, Lam, § 5.2.7, Fig. 16).

    loadImpl() @ 43 InetAddress.java:1231 => java.net.Inet4AddressImpl

says that the name at the call at bytecode offset 43 of the methods `loadImpl` of that file, in line 1231, may be
`java.net.Inet4AddressImpl`. Several lines list several names; `-` in place of a name says that there is none (else).
A class file without line numbers leaves out `:1231`. Empty lines and what follows `#` are comments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cli.exits import Exit, Failure, usage
from cypher.program import Program
from cypher.schema import Diagnostic, listed
from engine.specification import Specification

NOTHING = "-"
# The parts of a line, with what a user is told to write where one isn't found.
_PARTS = (
    (re.compile(r"\s*(?P<method>[^\s()]+)\(\)"), "the name of a method with (), as in loadImpl()"),
    (re.compile(r"\s+@\s+(?P<offset>\d+)(?=\s)"), "@ and a bytecode offset, as in @ 43"),
    (
        re.compile(r"\s+(?P<file>(?!=>)[^\s:]+)(?::(?P<line>\d+))?(?=\s)"),
        "a source file and a line, as in InetAddress.java:1231",
    ),
    (re.compile(r"\s+=>"), "=>"),
    (re.compile(r"\s+(?P<name>[^\s#]+)"), "a name, or - if there is none"),
    (re.compile(r"\s*(?:#.*)?$"), "the end of the line"),
)


class Point(NamedTuple):
    """A program point; `line` is -1 if the class file doesn't say."""

    method: str
    offset: int
    file: str
    line: int

    def __str__(self) -> str:
        line = f":{self.line}" if self.line >= 0 else ""
        return f"{self.method}() @ {self.offset} {self.file}{line}"


class Line(NamedTuple):
    """Line `row` of a file says that `point` may generate `name`, or NOTHING."""

    row: int
    point: Point
    name: str


def source_file(internal: str) -> str:
    """Returns the usual source file of a class, with its folder: that of its outermost class.

    >>> source_file("a/b/C$D"), source_file("$C")
    ('a/b/C.java', '$C.java')
    """
    folder, slash, name = internal.rpartition("/")
    return f"{folder}{slash}{name.split('$')[0] or name}.java"


def read(path: Path) -> list[Line]:
    """Returns the lines of a specification file. Raises `Failure` (usage) for one that is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise Failure(Exit.USAGE, f"{path}: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise usage(f"{path} is no text in UTF-8: byte {problem.start + 1}") from None
    numbered = enumerate(text.splitlines(), 1)
    lines = [_parsed(path, row, line) for row, line in numbered if line.split("#")[0].strip()]
    _refuse_contradictions(path, lines)
    return lines


def _refuse_contradictions(path: Path, lines: Sequence[Line]) -> None:
    """Refuses that a point generates nothing and something."""
    first: dict[Point, Line] = {}
    for line in lines:
        other = first.setdefault(line.point, line)
        if (other.name == NOTHING) != (line.name == NOTHING):
            text = f"line {line.row}: says of {line.point} what line {other.row} contradicts"
            raise usage(f"{path}, {text}: there is {NOTHING}, or there are names")


def _parsed(path: Path, row: int, line: str) -> Line:
    found: dict[str, str | None] = {}
    at = 0
    for pattern, expected in _PARTS:
        match = pattern.match(line, at)
        if match is None:
            column = at + len(line[at:]) - len(line[at:].lstrip()) + 1
            raise usage(f"{path}, line {row}, column {column}: expected {expected}")
        found |= match.groupdict()
        at = match.end()
    place = Point(
        str(found["method"]), int(found["offset"] or 0), str(found["file"]), int(found["line"] or -1)
    )
    return Line(row, place, str(found["name"]))


class Matching:
    """Finds the points of the lines of a specification file in a program."""

    def __init__(self, path: Path | None, lines: Sequence[Line], program: Program) -> None:
        self._path, self._lines, self._program = path, lines, program
        self._by_place: dict[tuple[str, int], list[Line]] = defaultdict(list)
        for line in self._lines:
            self._by_place[line.point.method, line.point.offset].append(line)
        self._used: set[int] = set()
        self._absent: set[int] = set()
        offsets = sorted({each.point.offset for each in self._lines})
        self.specification = Specification(offsets, self._at, self._on_absent)

    def _at(self, method: int, offset: int) -> Sequence[str] | None:
        found = self._lines_at(method, offset)
        self._used.update(each.row for each in found)
        return [each.name for each in found if each.name != NOTHING] if found else None

    def _on_absent(self, method: int, offset: int, name: str) -> None:
        self._absent.update(each.row for each in self._lines_at(method, offset) if each.name == name)

    def _lines_at(self, method: int, offset: int) -> list[Line]:
        declaring, name, _ = self._program.name_of_method(method)
        near = self._by_place.get((name, offset))
        if not near:
            return []
        file = source_file(self._program.name_of_type(declaring)).rpartition("/")[2]
        line = int(self._program.lines_of(np.array([method], np.int32), np.array([offset], np.int32))[0])
        return [each for each in near if each.point.file == file and each.point.line in (line, -1)]

    def diagnostics(self) -> Iterator[Diagnostic]:
        """Yields what is wrong with the lines in this program: that no such call may run, that there is no such name."""
        unused = [f"{each.point} (line {each.row})" for each in self._lines if each.row not in self._used]
        absent = [f"{each.name} (line {each.row})" for each in self._lines if each.row in self._absent]
        for code, text, found in (
            (
                "SPEC-UNMATCHED",
                "lines of the specification that name no call of the program which may run",
                unused,
            ),
            ("SPEC-ABSENT", "lines of the specification that name no class or member of the program", absent),
        ):
            if found:
                whole = f"{text} ({len(found)}): {listed(found)}"
                yield Diagnostic(code, "warning", whole, "soundness", archive=str(self._path))
