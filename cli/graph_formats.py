"""Answers of the graph database in the forms that programs read: JSON, CSV, GraphML."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from cli.exits import usage
from cli.text import shown, spreadsheet_cell
from cypher.asking import GraphNode, GraphPath, GraphRelationship

Rows = Iterable[Sequence[Any]]
Write = Callable[[Sequence[str], Rows], None]

# Rows that decide how wide the columns of a table are; those that follow are printed as they come.
_SEEN = 500
# Whatever XML 1.0 can't hold.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BLOCK = 1 << 16


def document(value: Any) -> Any:
    """Returns a value of an answer as JSON has it.

    >>> document(GraphNode("4:x:1", ("Class",), {"name": "a.B"}))
    {'id': '4:x:1', 'labels': ['Class'], 'properties': {'name': 'a.B'}}
    """
    if isinstance(value, GraphNode):
        return {"id": value.id, "labels": list(value.labels), "properties": value.properties}
    if isinstance(value, GraphRelationship):
        return {
            "id": value.id, "type": value.type, "start": value.start, "end": value.end,
            "properties": value.properties,
        }  # fmt: skip
    if isinstance(value, GraphPath):
        return {
            "nodes": [document(each) for each in value.nodes],
            "relationships": [document(each) for each in value.relationships],
        }
    if isinstance(value, list):
        return [document(each) for each in value]
    if isinstance(value, dict):
        return {name: document(each) for name, each in value.items()}
    return value


def text_of(value: Any) -> str:
    """Returns a value of an answer as people read it, unescaped.

    >>> text_of(GraphNode("4:x:1", ("Class",), {"name": "a.B"})), text_of([1, None]), text_of(None)
    ('(:Class a.B)', '[1,null]', '')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, GraphNode):
        return f"({_labels(value)} {_title(value)})"
    if isinstance(value, GraphRelationship):
        return f"[:{value.type}]"
    if isinstance(value, GraphPath):
        return _path_text(value)
    if isinstance(value, list) and any(isinstance(each, (GraphNode, GraphRelationship)) for each in value):
        return ", ".join(map(text_of, value))
    return json.dumps(document(value), ensure_ascii=False, separators=(",", ":"))


def _labels(node: GraphNode) -> str:
    return "".join(f":{each}" for each in node.labels)


def _title(node: GraphNode) -> str:
    """Returns what tells a node from others of its label."""
    properties = node.properties
    named = (
        properties.get(each) for each in ("qualifiedName", "signature", "name", "text", "rule", "code", "id")
    )
    return next((str(each) for each in named if each is not None), node.id)


def _path_text(path: GraphPath) -> str:
    parts = [text_of(path.nodes[0])] if path.nodes else []
    for before, step, after in zip(path.nodes, path.relationships, path.nodes[1:], strict=False):
        forward = step.start == before.id
        parts.append(f"{'-' if forward else '<-'}[:{step.type}]{'->' if forward else '-'}{text_of(after)}")
    return "".join(parts)


class _Output:
    """Writes pieces in blocks: a system call for each row would take longer than the row."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        self._pieces.append(text)
        self._size += len(text)
        if self._size > _BLOCK:
            self.flush()
        return len(text)

    def flush(self) -> None:
        sys.stdout.write("".join(self._pieces))
        sys.stdout.flush()
        self._pieces.clear()
        self._size = 0


def write_json(columns: Sequence[str], rows: Rows) -> None:
    """Prints an array with one object for each row, as the rows come."""
    output = _Output()
    encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode
    before = "[\n"
    for row in rows:
        output.write(before + encode(dict(zip(columns, map(document, row), strict=True))))
        before = ",\n"
    output.write("\n]\n" if before != "[\n" else "[]\n")
    output.flush()


def write_csv(columns: Sequence[str], rows: Rows) -> None:
    """Prints rows as they come; text that a spreadsheet might run is guarded."""
    output = _Output()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, columns))
    writer.writerows(map(_csv_cell, row) for row in rows)
    output.flush()


def _csv_cell(value: Any) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    return spreadsheet_cell(value if isinstance(value, str) else "" if value is None else _compact(value))


def _compact(value: Any) -> str:
    return json.dumps(document(value), ensure_ascii=False, separators=(",", ":"))


def write_table(columns: Sequence[str], rows: Rows) -> None:
    """Prints a table; the first rows decide how wide its columns are."""
    output = _Output()
    for line in table(columns, rows):
        output.write(line + "\n")
    output.flush()


def table(columns: Sequence[str], rows: Rows) -> Iterator[str]:
    """Yields the lines of a table, escaped for terminals."""
    from rich.cells import cell_len

    if not columns:
        return
    coming = iter(rows)
    first = [[*map(_cell, row)] for row in itertools.islice(coming, _SEEN)]
    heads = [shown(each) for each in columns]
    numeric = [bool(first) and all(number for _, number in cells) for cells in zip(*first, strict=True)]
    numeric = numeric or [False] * len(columns)
    widths = [
        max(map(cell_len, texts))
        for texts in zip(heads, *([t for t, _ in row] for row in first), strict=True)
    ]

    def line(cells: Sequence[str]) -> str:
        padded = []
        for text, width, right in zip(cells, widths, numeric, strict=True):
            space = " " * (width - cell_len(text))
            padded.append(space + text if right else text + space)
        return "  ".join(padded).rstrip()

    yield line(heads)
    yield "  ".join("─" * width for width in widths)
    for row in first:
        yield line([text for text, _ in row])
    for values in coming:
        yield line([_cell(each)[0] for each in values])


def _cell(value: Any) -> tuple[str, bool]:
    """Returns the text of a cell, and whether it is a number or missing."""
    number = value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
    return shown(text_of(value)), number


def write_graphml(columns: Sequence[str], rows: Rows) -> None:
    """Prints the nodes, relationships and paths of an answer as GraphML, each once."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[str, GraphRelationship] = {}
    for row in rows:
        for value in row:
            _collect(value, nodes, edges)
    if not nodes and not edges:
        raise usage(
            f"GraphML is for nodes, relationships and paths, and none of the columns {', '.join(columns)} has "
            "any; use --format csv"
        )
    output = io.StringIO()
    _write_graphml(output, nodes, edges)
    sys.stdout.write(output.getvalue())
    sys.stdout.flush()


def _collect(value: Any, nodes: dict[str, GraphNode], edges: dict[str, GraphRelationship]) -> None:
    if isinstance(value, GraphNode):
        nodes[value.id] = value
    elif isinstance(value, GraphRelationship):
        edges[value.id] = value
    elif isinstance(value, (GraphPath, list)):
        for each in (*value.nodes, *value.relationships) if isinstance(value, GraphPath) else value:
            _collect(each, nodes, edges)
    elif isinstance(value, dict):
        for each in value.values():
            _collect(each, nodes, edges)


def _write_graphml(output: TextIO, nodes: dict[str, GraphNode], edges: dict[str, GraphRelationship]) -> None:
    # An end that the answer has no node for is one without properties.
    ends = {end for each in edges.values() for end in (each.start, each.end)} - nodes.keys()
    number = {name: f"n{place}" for place, name in enumerate([*nodes, *sorted(ends)])}
    node_rows = {
        number[each.id]: {"labels": _labels(each), "label": _title(each), **_named(each.properties)}
        for each in nodes.values()
    }
    edge_rows = {
        f"e{place}": {"type": each.type, "label": each.type, **_named(each.properties)}
        for place, each in enumerate(edges.values())
    }
    output.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation='
        '"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
    )
    keys = {
        domain: _declare(output, domain, rows.values())
        for domain, rows in (("node", node_rows), ("edge", edge_rows))
    }
    output.write('<graph id="G" edgedefault="directed">\n')
    output.writelines(
        f'<node id="{name}">{_data(properties, keys["node"])}</node>\n'
        for name, properties in node_rows.items()
    )
    output.writelines(f'<node id="{number[end]}"/>\n' for end in sorted(ends))
    for (name, properties), edge in zip(edge_rows.items(), edges.values(), strict=True):
        source, target = number[edge.start], number[edge.end]
        output.write(
            f'<edge id="{name}" source="{source}" target="{target}">{_data(properties, keys["edge"])}</edge>\n'
        )
    output.write("</graph>\n</graphml>\n")


def _named(properties: dict[str, Any]) -> dict[str, Any]:
    """Returns properties, those whose names are taken under another one."""
    taken = ("label", "labels", "type")
    return {f"{name}_" if name in taken else name: value for name, value in properties.items()}


def _declare(output: TextIO, domain: str, rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Writes what properties there are, with their types; returns their keys."""
    types: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                types.setdefault(name, set()).add(_type(value))
    keys = {}
    for place, (name, found) in enumerate(types.items()):
        keys[name] = f"{domain[0]}{place}"
        type_ = found.pop() if len(found) == 1 else "double" if found == {"long", "double"} else "string"
        title = quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", name))
        output.write(f'<key id="{keys[name]}" for="{domain}" attr.name={title} attr.type="{type_}"/>\n')
    return keys


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "long" if isinstance(value, int) else "double" if isinstance(value, float) else "string"


def _data(properties: dict[str, Any], keys: dict[str, str]) -> str:
    return "".join(
        f'<data key="{keys[name]}">{escape(_NOT_XML.sub(_visible, _xml_text(value)))}</data>'
        for name, value in properties.items()
        if value is not None
    )


def _xml_text(value: Any) -> str:
    return value if isinstance(value, str) else _compact(value)


def _visible(character: re.Match[str]) -> str:
    return shown(character[0])
