"""The picture of a report: bars for each program and mode, as SVG.

Three columns of bars are little to draw, so they are written here; a library for plots would be the largest
dependency of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from cli.report.figures import Figures
from cli.text import shown
from engine.reflection.modes import NOTHING

_FONT = "Helvetica, Arial, sans-serif"
_INK, _FAINT = "#222222", "#666666"
_MARGIN, _LABELS, _BARS, _VALUE, _GAP = 20, 110, 200, 62, 34
_TOP, _ROW, _BAR, _NAME = 72, 19, 13, 24
_PANEL = _BARS + _VALUE + _GAP
# Characters of a program's name that find room.
_WIDTH = 90
# About how wide a letter of a legend is.
_LETTER = 5.5


class _Part(NamedTuple):
    """A part of a bar: its length, and which of the panel's colours it has."""

    size: float
    colour: int


class _Panel(NamedTuple):
    """A column of bars: colours and what they mean, the parts of the bar of each row, and its label."""

    title: str
    legend: tuple[tuple[str, str], ...]
    parts: Callable[[Figures], tuple[_Part, ...]]
    form: str


def _calls(each: Figures) -> tuple[_Part, ...]:
    calls = each.everything.calls
    if each.mode == NOTHING:
        return (_Part(calls.total, 3),)
    return _Part(calls.fully, 0), _Part(calls.partially, 1), _Part(calls.unresolved, 2)


def _methods(each: Figures) -> tuple[_Part, ...]:
    own = each.application.methods
    return _Part(own, 0), _Part(each.everything.methods - own, 1)


def _seconds(each: Figures) -> tuple[_Part, ...]:
    return _Part(each.solver, 0), _Part(max(each.total - each.solver, 0.0), 1)


# (colours that people who see fewer colours tell apart, by Okabe and Ito)
_PANELS = (
    _Panel("Calls of Class.forName", (("#009e73", "fully"), ("#f0c000", "partially"), ("#d55e00", "unresolved"), ("#bbbbbb", "ignored")), _calls,
           "{:,.0f}"),
    _Panel("Methods in the call graph", (("#0072b2", "application"), ("#8cc5e8", "library")), _methods, "{:,.0f}"),
    _Panel("CPU seconds", (("#5b4b8a", "solver"), ("#bdb2d9", "the rest")), _seconds, "{:,.1f}"),
)  # fmt: skip


def svg(found: Sequence[Figures]) -> Iterator[str]:
    """Yields the picture of what was found, at least one program, all of it at once."""
    places = list(_places(found))
    height = places[-1] + _ROW + _MARGIN
    width = 2 * _MARGIN + _LABELS + len(_PANELS) * _PANEL
    root = Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", width=str(width), height=str(height),
        attrib={"font-family": _FONT},
    )  # fmt: skip
    SubElement(root, "title").text = "Calls of Class.forName, size of the call graph and time by mode"
    SubElement(root, "rect", width="100%", height="100%", fill="#ffffff")
    _draw_labels(root, found, places)
    for number, panel in enumerate(_PANELS):
        _draw(root, panel, _MARGIN + _LABELS + number * _PANEL, found, places)
    yield tostring(root, encoding="unicode") + "\n"


def _places(found: Sequence[Figures]) -> Iterator[int]:
    """Yields where the row of each begins; above the first of a program is room for its name."""
    place, before = _TOP, None
    for each in found:
        if each.program != before:
            place += _NAME
        yield place
        place, before = place + _ROW, each.program


def _draw_labels(root: Element, found: Sequence[Figures], places: Sequence[int]) -> None:
    before = None
    for each, place in zip(found, places, strict=True):
        if each.program != before:
            name = shown(each.program)
            _write(
                root,
                name if len(name) <= _WIDTH else name[: _WIDTH - 1] + "…",
                _MARGIN,
                place - 6,
                weight="bold",
            )
        _write(root, each.mode if each.complete else f"{each.mode} *", _MARGIN + 12, place + _BAR - 2, _FAINT)
        before = each.program


def _draw(root: Element, panel: _Panel, left: int, found: Sequence[Figures], places: Sequence[int]) -> None:
    """Draws the title, the legend and the bars of a panel; its longest bar fills it."""
    _write(root, panel.title, left, _MARGIN + 12, weight="bold")
    at: float = left
    for colour, meaning in panel.legend:
        _box(root, at, _MARGIN + 24, 10, 10, colour)
        _write(root, meaning, at + 14, _MARGIN + 33, _FAINT, size="11")
        at += 26 + _LETTER * len(meaning)
    rows = [panel.parts(each) for each in found]
    longest = max(sum(part.size for part in parts) for parts in rows) or 1
    for parts, place in zip(rows, places, strict=True):
        at = left
        for part in parts:
            length = _BARS * part.size / longest
            _box(root, at, place, length, _BAR, panel.legend[part.colour][0])
            at += length
        _write(root, panel.form.format(sum(part.size for part in parts)), at + 5, place + _BAR - 2)


def _box(root: Element, x: float, y: int, width: float, height: int, colour: str) -> None:
    SubElement(root, "rect", x=f"{x:.1f}", y=str(y), width=f"{width:.1f}", height=str(height), fill=colour)


def _write(
    root: Element,
    text: str,
    x: float,
    y: int,
    colour: str = _INK,
    *,
    weight: str = "normal",
    size: str = "12",
) -> None:
    place = {"x": f"{x:.1f}", "y": str(y), "fill": colour, "font-size": size, "font-weight": weight}
    SubElement(root, "text", place).text = text
