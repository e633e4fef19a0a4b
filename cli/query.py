"""`heliograph query`: asks the graph database, prints what it answers as that comes."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.exits import Exit, Failure, usage
from cli.present import write_json, write_line
from cypher.asking import Access, Answer, Cut, Limits, LoadedRun, Mistaken, asked, loaded_runs
from cypher.connection import Unavailable
from cypher.guard import LONGEST, Refused

if TYPE_CHECKING:
    from cypher.asking import Database
    from cypher.catalogue import Query


class Place(NamedTuple):
    """Which server is asked; the managed one if there is no `uri`."""

    uri: str | None
    user: str
    insecure: bool


MANAGED = Place(None, "neo4j", insecure=False)


class Wanted(NamedTuple):
    """What is asked for; `rows` is None if nobody said how many."""

    run: str | None
    parameters: Sequence[str]
    form: str
    rows: int | None
    seconds: float
    allow_incomplete: bool


@contextlib.contextmanager
def failing(advice: str = "") -> Iterator[None]:
    """Turns what is wrong with a query or the database into the failure of the command.

    `advice` is for those whose query is refused.
    """
    try:
        yield
    except Refused as problem:
        raise Failure(Exit.REFUSED, f"refused: {problem}{advice}") from None
    except Mistaken as problem:
        raise usage(str(problem)) from None
    except Unavailable as problem:
        raise Failure(Exit.UNAVAILABLE, str(problem)) from None


def connected(place: Place) -> Database:
    """Returns a connection to the server. Raises `Unavailable`."""
    from cypher.connection import connect

    if place.uri is not None:
        from cli.loading import password_of

        return connect(place.uri, place.user, password_of(place.user), insecure=place.insecure)
    from cli.server import managed
    from cypher.connection import USER

    server = managed()
    if not server.is_running():
        raise Unavailable(
            "the server is not running: start it with `heliograph graph start`, or name another one with --uri"
        )
    return connect(server.uri, USER, server.password())


def chosen(driver: Database, name: str | None, *, allow_incomplete: bool = False) -> LoadedRun:
    """Returns the run with that name in the graph, the newest if there is none."""
    found = loaded_runs(driver)
    if not found:
        raise usage("there is no run in the graph yet; `heliograph graph load` brings one there")
    run = next((each for each in found if name in (None, each.name)), None)
    if run is None:
        raise usage(f"the graph has no run {name}; it has {', '.join(each.name for each in found)}")
    if not run.complete and not allow_incomplete:
        raise usage(f"the run {run.name} is not loaded completely; --allow-incomplete asks it nonetheless")
    return run


def query_named(name: str) -> Query:
    """Returns a query of the catalogue."""
    from cypher.catalogue import Unusable, named

    try:
        return named(name)
    except Unusable as problem:
        raise usage(str(problem)) from None


def parameters_of(
    query: Query, given: Mapping[str, str], run: str, *, allow_incomplete: bool = False
) -> dict[str, Any]:
    """Returns the parameters of a query of the catalogue."""
    from cypher.catalogue import Unusable, bound

    try:
        return dict(bound(query, given, run, allow_incomplete=allow_incomplete))
    except Unusable as problem:
        raise usage(str(problem)) from None


def given_of(parameters: Sequence[str]) -> dict[str, str]:
    """Returns the values of parameters that were written as NAME=VALUE.

    >>> given_of(["site=a.B.m:1", "kind="])
    {'site': 'a.B.m:1', 'kind': ''}
    """
    found = {}
    for each in parameters:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise usage(f"a parameter is written NAME=VALUE, not {each}")
        found[name.strip().removeprefix("$")] = value
    return found


def value_of(text: str) -> Any:
    """Returns what a parameter of an ad-hoc query is: a value of JSON if it can be read as one, else the text.

    >>> value_of("12"), value_of("[1, 2]"), value_of("a.B"), value_of('"12"')
    (12, [1, 2], 'a.B', '12')
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def ask_catalogue(name: str, place: Place, wanted: Wanted) -> None:
    """Prints the answer to a query of the catalogue."""
    query = query_named(name)
    given = given_of(wanted.parameters)
    allow = wanted.allow_incomplete
    # What is wrong with the parameters is said without asking a server.
    parameters_of(query, given, "")
    with failing(), connected(place) as driver:
        run = chosen(driver, wanted.run, allow_incomplete=allow)
        parameters = parameters_of(query, given, run.name, allow_incomplete=allow)
        _print(driver, query.text, parameters, wanted, Access.CATALOGUE)


def ask_adhoc(text: str, place: Place, wanted: Wanted, *, write: bool, sure: bool) -> None:
    """Prints the answer to a query that somebody wrote."""
    from_input = text == "-"
    text = _read() if from_input else text
    given = {name: value_of(each) for name, each in given_of(wanted.parameters).items()}
    if write and not sure and not from_input and sys.stdin.isatty():
        _confirm()
    with failing(" (--write lifts this guard)"), connected(place) as driver:
        if "$run" in text and "run" not in given:
            given["run"] = chosen(driver, wanted.run, allow_incomplete=wanted.allow_incomplete).name
        _print(driver, text, given, wanted, Access.WRITE if write else Access.GUARDED)


def _read() -> str:
    """Returns the query that comes on standard input."""
    try:
        return sys.stdin.buffer.read(4 * LONGEST + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise usage("the query on standard input is no UTF-8") from None


def _confirm() -> None:
    sys.stderr.write("This query may change or delete what the graph holds. Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure(Exit.REFUSED, "not confirmed")


def _print(
    driver: Database, text: str, parameters: Mapping[str, Any], wanted: Wanted, access: Access
) -> None:
    limits = limits_of(wanted.rows, wanted.seconds)
    with asked(driver, text, parameters, limits, access) as answer:
        write_answer(answer, wanted.form)
    if answer.changes:
        sys.stderr.write(f"heliograph: {changed(answer)}\n")
    if answer.cut is Cut.ROWS and wanted.rows is not None:
        # As many as were asked for.
        sys.stderr.write(f"heliograph: {cut_short(answer, limits)}\n")
    elif answer.cut is not Cut.NO:
        raise Failure(Exit.INCOMPLETE, cut_short(answer, limits))


def limits_of(rows: int | None, seconds: float) -> Limits:
    """Returns the limits of an answer: as many rows as usual if nobody said how many, all of them for 0."""
    return Limits(seconds=seconds) if rows is None else Limits(rows or None, seconds)


def write_answer(answer: Answer, form: str) -> None:
    """Prints an answer as it comes."""
    from cli import graph_formats

    write = {
        "table": graph_formats.write_table, "json": graph_formats.write_json,
        "csv": graph_formats.write_csv, "graphml": graph_formats.write_graphml,
    }[form]  # fmt: skip
    write(answer.columns, answer)


def changed(answer: Answer) -> str:
    """Returns what a query has changed, in words."""
    return ", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in answer.changes.items())


def cut_short(answer: Answer, limits: Limits) -> str:
    """Returns why an answer isn't whole, in words."""
    if answer.cut is Cut.ROWS:
        return f"there are more than these {limits.rows:,} rows (--limit 0 for all)"
    if answer.cut is Cut.MEMORY:
        return "the query needed more memory than one may take; what is printed isn't all"
    return f"the query was ended after {limits.seconds:g} seconds (--timeout); what is printed isn't all"


def write_list(group: str | None, *, as_json: bool) -> None:
    """Prints the queries of the catalogue, or of one group of it."""
    from cypher.catalogue import queries

    found = sorted(queries(), key=lambda each: (each.group, each.name))
    groups = sorted({each.group for each in found})
    if group is not None and group not in groups:
        raise usage(f"there is no group {group}; there are {', '.join(groups)}")
    found = [each for each in found if group in (None, each.group)]
    if as_json:
        write_json([_document(each) for each in found])
        return
    for number, (name, members) in enumerate(groupby(found, key=lambda each: each.group)):
        if number:
            write_line()
        write_line(name)
        for each in members:
            write_line(f"  {each.name:<28} {each.title}")


def _document(query: Query) -> dict[str, Any]:
    return {
        "name": query.name,
        "group": query.group,
        "title": query.title,
        "description": query.description,
        "parameters": [each._asdict() for each in query.parameters],
        "columns": [each._asdict() for each in query.columns],
        "text": query.text,
    }


def write_query(name: str, *, as_json: bool) -> None:
    """Prints a query of the catalogue: what it answers, its parameters, its text."""
    query = query_named(name)
    if as_json:
        write_json(_document(query))
        return
    for line in query.text.rstrip("\n").split("\n"):
        write_line(line)
