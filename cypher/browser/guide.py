"""A guide and a style for Neo4j Browser: the catalogue to click on, and a colour for each kind of node.

Clicks can't give parameters. So the guide's first click sets those that a query requires to examples from the newest
run (`values.cypher`), and the others stand in its queries as their defaults.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files

from cypher.catalogue import GROUPS, Query, Value, named, queries

# Where the Browser finds it, from its own address.
GUIDE = "heliograph/guide.html"

# How many paths a picture shows well.
_DRAWN = 8
_PLACE = re.compile(r"\{\{(?P<kind>[a-z]+)(?: (?P<name>[a-z-]+))?\}\}")
_RULE = re.compile(r"^(?P<selector>[\w.]+) \{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL)
# Two queries mean different things by the same parameter; the Browser has one value for each name.
_OTHERWISE = {("input-influence", "name"): "input"}


def style() -> dict[str, dict[str, str]]:
    """Returns the properties of each kind of node and relationship in pictures, by selector."""
    return {rule["selector"]: _properties(rule["body"]) for rule in _RULE.finditer(_text("style.grass"))}


def _properties(body: str) -> dict[str, str]:
    listed = (line.strip().removesuffix(";").partition(": ") for line in body.splitlines())
    return {name: value.strip("'") for name, _, value in listed}


def on_connecting(browser: str) -> str:
    """Returns what the Browser at the address `browser` does when it is connected: take the style, play the guide.

    The style stands in the command. Were it fetched as the guide is, it could come later and stand above it.
    """
    return f"style {json.dumps(style(), separators=(',', ':'))}; play {browser}/{GUIDE}"


@cache
def guide() -> str:
    """Returns the guide, a page in the Browser's form."""
    return _PLACE.sub(_filled, _text("guide.html"))


def values() -> str:
    """Returns the command that sets the parameters of the guide's queries."""
    statement = _text("values.cypher").strip()
    names = re.findall(r" AS (\w+)(?=,|$)", statement.rpartition("RETURN")[2])
    # The braces on the left take columns of one row; without them each name would take the first column of another.
    return f"param [{{{', '.join(names)}}}] => {{{statement}}}"


def clickable(query: Query, limit: int | None = None) -> str:
    """Returns a query of the catalogue as the guide has it: its title as a comment, and its statement.

    Its parameters are those of the first click or their defaults; of a picture, `limit` says how many rows it takes.
    """
    statement = "\n".join(line for line in query.text.splitlines() if not line.startswith("//"))
    for each in query.parameters:
        other = _OTHERWISE.get((query.name, each.name), each.name)
        value = f"${other}" if each.default is None else _literal(each.default)
        if limit is not None and each.name == "limit":
            value = _literal(limit)
        statement = re.sub(rf"\${each.name}\b", value.replace("\\", r"\\"), statement)
    return f"// {query.title}\n{statement.strip()}"


def _literal(value: Value) -> str:
    r"""Returns a value as Cypher writes it.

    >>> print(_literal(True), _literal(7), _literal("it's"))
    true 7 'it\'s'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _filled(place: re.Match[str]) -> str:
    """Returns what stands in the guide at a place."""
    kind, name = place["kind"], place["name"]
    if kind == "values":
        return escape(values())
    if kind == "legend":
        return _legend()
    if kind == "picture":
        return _runnable(_text("pictures", f"{name}.cypher").replace("// title: ", "// ", 1).strip())
    if kind == "query":
        return _runnable(clickable(named(name), _DRAWN))
    assert kind == "group"
    assert name in GROUPS
    return "\n".join(_runnable(clickable(each)) for each in queries() if each.group == name)


def _runnable(statement: str) -> str:
    """Returns a query that can be clicked on: two lines of it are seen, the others by scrolling."""
    return (
        '<pre class="code runnable" style="max-height: 3.6em; overflow-y: auto; margin: 0 0 6px 0">'
        f"{escape(statement)}</pre>"
    )


def _legend() -> str:
    """Returns the colours of nodes, which are those of the style."""
    rows = []
    for selector, properties in style().items():
        kind, _, label = selector.partition(".")
        if kind != "node" or not label:
            continue
        caption = properties.get("caption", "name").replace("{", "").replace("}", "")
        rows.append(
            f'<span style="display: inline-block; margin: 2px; padding: 4px 10px; border-radius: 12px; '
            f"background: {properties.get('color', '#B8BEC8')}; "
            f"color: {properties.get('text-color-internal', '#1F2430')}; "
            f'border: 2px solid {properties.get("border-color", "#8C94A3")}">'
            f"<b>{escape(label)}</b> {escape(caption)}</span>"
        )
    return f"<p>{' '.join(rows)}</p>"


def _text(*path: str) -> str:
    return files("cypher").joinpath("browser", *path).read_text(encoding="utf-8")
