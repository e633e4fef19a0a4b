"""Names that the JDK composes lead to their classes (`engine.confined.COMPOSED`)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli.analyze import analyze
from cli.pipeline import Job
from cli.progress import Progress
from cli.run import Run

SOURCE = """
class Main {
    public static void main(String[] arguments) {
        System.out.println(new java.util.Date());
    }
}
"""
CALLER = "sun.util.calendar.CalendarSystem.forName"
MADE = "sun.util.calendar.JulianCalendar.<init>"


def callees(classes: Path, place: Path) -> set[str]:
    """Returns what is called in `CalendarSystem.forName` if the program in `classes` is analysed."""
    analyze(Job([str(classes)], ["Main"]), place, Progress(quiet=True))
    run = Run(place)
    calls = zip(
        run.result.sites.method[run.result.call_site].tolist(), run.result.call_callee.tolist(), strict=True
    )
    name = {each: run.names.method(each).qualified for each in run.result.reached.tolist()}
    return {name[callee] for caller, callee in calls if name.get(caller) == CALLER}


@pytest.mark.slow
def test_calendar_systems_are_made(tmp_path: Path, javac: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Main.java").write_text(SOURCE)
    subprocess.run([javac, "-d", str(tmp_path / "classes"), str(tmp_path / "Main.java")], check=True)
    assert MADE in callees(tmp_path / "classes", tmp_path / "run")
    monkeypatch.setattr("engine.confined.COMPOSED", {})
    without = callees(tmp_path / "classes", tmp_path / "without")
    assert "java.lang.Class.forName" in without
    assert MADE not in without
