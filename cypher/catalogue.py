"""The catalogue: read-only queries, one file each, whose header says what they answer, take and return.

A file is called like its query and stands in the folder of its group. It begins with these comments, in this order:

    // title: …
    // description: … (one sentence)
    // group: …
    // paper: … (if it is from one, or the section of a specification)
    // param $NAME: string | integer | boolean, required | default VALUE: what it is
    // example $NAME: … (after each parameter)
    // column NAME: what it is

and goes on with one statement. Every statement also takes `$run`, the name of a `Current`, and `$allowIncomplete`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import LiteralString, NamedTuple, TypeAlias

GROUPS = ("structure", "reflection", "provenance", "comparison", "diagnostics")
STRING, INTEGER, BOOLEAN = "string", "integer", "boolean"
# What every query takes besides what its header says.
RUN, ALLOW_INCOMPLETE = "run", "allowIncomplete"

Value: TypeAlias = str | int | bool

_COMMENT = re.compile(r"// (?P<key>title|description|group|paper|param|example|column)\b(?P<rest>.*)")
_NAMED = re.compile(r" \$?(?P<name>[A-Za-z]+): (?P<text>.+)")
_PARAMETER = re.compile(
    r"(?P<type>string|integer|boolean), (?:(?P<required>required)|default (?P<default>'[^']*'|\S+)): (?P<text>.+)"
)
_ORDER = ("title", "description", "group", "paper", "param", "example", "column")
_BOOLEANS = {"true": True, "false": False}
_LARGEST = 2**63 - 1


class Unusable(Exception):
    """A query or a parameter that can't be used: `str` is the sentence for the user."""


class Parameter(NamedTuple):
    """A parameter of a query; `default` is None if it must be given."""

    name: str
    type: str
    default: Value | None
    meaning: str
    example: str

    @property
    def required(self) -> bool:
        """Returns whether it must be given."""
        return self.default is None


class Column(NamedTuple):
    """A column of a query's result."""

    name: str
    meaning: str


class Query(NamedTuple):
    """A query of the catalogue; `text` is the whole file and goes to the server as it is."""

    name: str
    title: str
    description: str
    group: str
    paper: str
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    text: LiteralString

    def example(self) -> dict[str, str]:
        """Returns the example value of each parameter, as a user writes it."""
        return {each.name: each.example for each in self.parameters}


@cache
def queries() -> tuple[Query, ...]:
    """Returns all queries, by group and name."""
    return tuple(
        _read(file, group) for group in GROUPS for file in _files(files("cypher") / "queries" / group)
    )


def named(name: str) -> Query:
    """Returns the query of that name. Raises `Unusable`, with the names that look like it."""
    found = {each.name: each for each in queries()}
    if name not in found:
        raise Unusable(f"there is no query {name!r}{_or_rather(name, found)}; `query list` lists all")
    return found[name]


def bound(
    query: Query, given: Mapping[str, str], run: str, *, allow_incomplete: bool = False
) -> dict[str, Value]:
    """Returns the values of all parameters of a query on `run`. Raises `Unusable`."""
    known = {each.name: each for each in query.parameters}
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise Unusable(f"{query.name} has no parameter {name!r}{_or_rather(name, known)}; {takes}")
    missing = [each for each in query.parameters if each.required and each.name not in given]
    if missing:
        wanted = " and ".join(f"{each.name} ({each.meaning})" for each in missing)
        raise Unusable(f"{query.name} needs {wanted}, as in {missing[0].name}={missing[0].example}")
    values: dict[str, Value] = {RUN: run, ALLOW_INCOMPLETE: allow_incomplete}
    for each in query.parameters:
        if each.name in given:
            values[each.name] = _value(each, given[each.name])
        elif each.default is not None:
            values[each.name] = each.default
    return values


def _or_rather(name: str, known: Iterable[str]) -> str:
    """Returns a question for the names that look like `name`.

    >>> _or_rather("caller", ["callers", "callees", "members"])
    ', did you mean callers or callees?'
    """
    close = get_close_matches(name, list(known), n=3)
    return f", did you mean {' or '.join(close)}?" if close else ""


def _value(parameter: Parameter, text: str) -> Value:
    """Returns what a user wrote for a parameter as a value of its type."""
    if parameter.type == INTEGER:
        if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > _LARGEST:
            raise Unusable(f"{parameter.name} must be a whole number, not {text!r}")
        return int(text)
    if parameter.type == BOOLEAN:
        if text.lower() not in _BOOLEANS:
            raise Unusable(f"{parameter.name} must be true or false, not {text!r}")
        return _BOOLEANS[text.lower()]
    return text


# --- files
def _files(folder: Traversable) -> list[Traversable]:
    return sorted(
        (each for each in folder.iterdir() if each.name.endswith(".cypher")), key=lambda each: each.name
    )


def _read(file: Traversable, group: str) -> Query:
    """Returns the query in a file. Raises ValueError if its header isn't in the form above."""
    # (It is a file of this package: nothing that a user gives gets into it.)
    text: LiteralString = file.read_text(encoding="utf-8")
    try:
        query = parsed(file.name.removesuffix(".cypher"), text)
        _check(query.group == group, f"the group isn't {group}")
    except ValueError as problem:
        raise ValueError(f"{group}/{file.name}: {problem}") from None
    return query


def parsed(name: str, text: LiteralString) -> Query:
    """Returns a query from its text. Raises ValueError if the header isn't in the form above."""
    single: dict[str, str] = {}
    parameters: list[Parameter] = []
    columns: list[Column] = []
    examples: dict[str, str] = {}
    before = ""
    for key, rest in _header(text):
        _check(
            _ORDER.index(key) >= _ORDER.index(before or "title") or (before, key) == ("example", "param"),
            f"{key} must not follow {before}",
        )
        before = key
        if key in ("param", "example", "column"):
            match = _NAMED.fullmatch(rest)
            _check(match is not None, f"{key} needs a name and a text")
            assert match is not None
            if key == "param":
                parameters.append(_parameter(match["name"], match["text"]))
            elif key == "example":
                _check(
                    bool(parameters) and parameters[-1].name == match["name"],
                    f"the example of {match['name']} must follow it",
                )
                examples[match["name"]] = match["text"]
            else:
                columns.append(Column(match["name"], match["text"]))
        else:
            _check(rest.startswith(": ") and key not in single, f"{key} needs one text")
            single[key] = rest.removeprefix(": ")
    for each in ("title", "description", "group"):
        _check(each in single, f"there is no {each}")
    _check(bool(columns), "there is no column")
    _check(examples.keys() == {each.name for each in parameters}, "each parameter needs an example")
    return Query(
        name, single["title"], single["description"], single["group"], single.get("paper", ""),
        tuple(each._replace(example=examples[each.name]) for each in parameters), tuple(columns), text,
    )  # fmt: skip


def _header(text: str) -> Iterator[tuple[str, str]]:
    """Yields the key of each comment at the beginning, and what follows it."""
    for line in text.splitlines():
        if not line.startswith("//"):
            return
        match = _COMMENT.fullmatch(line)
        _check(match is not None, f"{line!r} isn't in the form of a header")
        assert match is not None
        yield match["key"], match["rest"]


def _parameter(name: str, text: str) -> Parameter:
    match = _PARAMETER.fullmatch(text)
    _check(match is not None, f"{text!r} isn't in the form of a parameter")
    assert match is not None
    parameter = Parameter(name, match["type"], None, match["text"], "")
    if match["required"]:
        return parameter
    try:
        return parameter._replace(default=_value(parameter, match["default"].strip("'")))
    except Unusable as problem:
        raise ValueError(str(problem)) from None


def _check(holds: bool, text: str) -> None:
    if not holds:
        raise ValueError(text)
