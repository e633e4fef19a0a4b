"""The programs that are recorded: what is run, and the same as input of an analysis."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.jdk import Jdk
from tests.benchmarks.workloads import cache_folder, fetch
from tests.recall.java_agent import compile_java

DRIVERS = Path(__file__).with_name("drivers")


class Subject(NamedTuple):
    """A program on this machine; `inputs` are the application, `arguments` those of its main method."""

    name: str
    inputs: tuple[Path, ...]
    classpath: tuple[Path, ...]
    main: str
    arguments: tuple[str, ...]

    def analysis(self) -> list[str]:
        """Returns what `heliograph analyze` takes to analyse it."""
        listed = [str(each) for each in self.inputs]
        for each in self.classpath:
            listed += ["--classpath", str(each)]
        return [*listed, "--main", self.main]


class Session(NamedTuple):
    """How a program of the benchmarks' table is used.

    `driver` is the class of ours with the main method, empty if the program's own is run; `arguments`
    returns those of the main method, given a folder for what it writes.
    """

    driver: str
    arguments: Callable[[Path], list[str]]


def _file(name: str) -> str:
    return str(DRIVERS / name)


SESSIONS: dict[str, Session] = {
    "antlr2": Session("", lambda folder: ["-o", str(folder), _file("calculator.g")]),
    "checkstyle": Session(
        "", lambda folder: ["-c", _file("checks.xml"), "-o", str(folder / "report"), _file("SqlSession.java")]
    ),
    "hsqldb": Session("SqlSession", lambda _: []),
    "jython": Session("", lambda _: [_file("session.py2")]),
    "xalan": Session(
        "",
        lambda folder: [
            "-IN", _file("orders.xml"), "-XSL", _file("orders.xsl"), "-OUT", str(folder / "orders.html"),
            "-PARAM", "title", "All orders",
        ],
    ),
}  # fmt: skip


def subject(name: str, jdk: Jdk, folder: Path) -> Subject:
    """Returns the program `name`, fetched and compiled first; it writes to `folder` when it runs.

    Raises KeyError for an unknown name, Unavailable if a tool or the network is missing.
    """
    session = SESSIONS[name]
    workload = fetch(name)
    arguments = tuple(session.arguments(folder))
    if not session.driver:
        assert workload.main is not None
        return Subject(name, workload.inputs, workload.classpath, workload.main, arguments)
    source = DRIVERS / f"{session.driver}.java"
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    classes = cache_folder() / "recall" / f"{session.driver}-{digest}"
    if not classes.is_dir():
        compile_java(jdk, [source], classes, list(workload.inputs))
    return Subject(name, (classes, *workload.inputs), workload.classpath, session.driver, arguments)
