"""Tables of the README that follow from the schema."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from cypher.schema import columns_of


def holds_if(relation: type[tuple[Any, ...]]) -> str:
    """Returns the sentence that defines `relation`, without its first words.

    Raises ValueError if the docstring of `relation` does not begin with them.

    >>> from cypher.schema import Calls
    >>> holds_if(Calls)
    '`site` may call `callee`.'
    """
    first = inspect.cleandoc(relation.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    if not first.startswith("Holds if "):
        raise ValueError(f"The docstring of {relation.__name__} must begin with 'Holds if'.")
    return first.removeprefix("Holds if ")


def relation_table(relations: Iterable[type[tuple[Any, ...]]]) -> str:
    """Returns `relations` as a Markdown table: name, columns, and when a row holds."""
    lines = ["| relation | columns | holds if |", "| --- | --- | --- |"]
    for relation in relations:
        names = ", ".join(f"`{name}`" for name in columns_of(relation))
        lines.append(
            f"| `{relation.__name__}` | {names} | {holds_if(relation).replace('|', chr(92) + '|')} |"
        )
    return "\n".join(lines)


def node_table() -> str:
    """Returns the labels of the graph as a Markdown table."""
    from cypher.graph import NODES

    lines = ["| label | what it is | properties |", "| --- | --- | --- |"]
    for node in NODES:
        more = "".join(f" `:{each}`" for each in node.more)
        names = ", ".join(f"`{name}`" for name in node.properties)
        lines.append(f"| `:{node.label}`{more and f' (and{more})'} | {node.holds} | {names} |")
    return "\n".join(lines)


def edge_table() -> str:
    """Returns the relationships of the graph as a Markdown table."""
    from cypher.graph import EDGES

    lines = ["| relationship | what it says | properties |", "| --- | --- | --- |"]
    for edge in EDGES:
        names = ", ".join(f"`{name}`" for name in edge.properties)
        lines.append(f"| `(:{edge.start})-[:{edge.type}]->(:{edge.end})` | {edge.holds} | {names} |")
    return "\n".join(lines)
