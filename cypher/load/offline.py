"""Files for Neo4j's bulk import, written from tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from cypher import graph
from cypher.graph import BOOLEAN, TEXT
from cypher.load.generations import LOADING, Generation

_TYPES = {TEXT: "string", BOOLEAN: "boolean"}


def header(properties: Mapping[str, str]) -> list[str]:
    """Returns the columns of an import header for properties.

    >>> header({"name": TEXT, "line": graph.INTEGER})
    ['name:string', 'line:long']
    """
    return [f"{name}:{_TYPES.get(kind, 'long')}" for name, kind in properties.items()]


# How the import reads the files: keys are numbers, texts may hold line breaks.
OPTIONS = ("--id-type=integer", "--multiline-fields=true")


def write_generation(folder: Path, generation: Generation, properties: Mapping[str, str]) -> str:
    """Writes the node of a generation that is being loaded; returns the argument of the import that names it."""
    values = {"id": generation.id, "status": LOADING, **properties}
    columns = [":ID(Generation)", "number:long", *(f"{name}:string" for name in values)]
    row = pl.DataFrame(
        {
            ":ID": [generation.number],
            "number": [generation.number],
            **{name: [each] for name, each in values.items()},
        }
    )
    return f"--nodes=Generation={_write_files(folder, 'n-Generation', columns, row.columns, [row])}"


def write(
    folder: Path,
    generation: int,
    nodes: Mapping[str, Sequence[pl.DataFrame]],
    edges: Mapping[str, Sequence[pl.DataFrame]],
) -> list[str]:
    """Writes the files of one generation to `folder`; returns the arguments of the import that name them."""
    arguments = []
    for label, frames in nodes.items():
        declared = graph.node_of(label)
        columns = [
            "key:ID",
            "generation:long",
            *([":LABEL"] if declared.more else ()),
            *header(declared.properties),
        ]
        wanted = ["key", "generation", *(["labels"] if declared.more else ()), *declared.properties]
        tagged = (each.with_columns(generation=pl.lit(generation)) for each in frames)
        files = _write_files(folder, f"n-{label}", columns, wanted, tagged)
        arguments.append(f"--nodes={label}={files}")
    for name, frames in edges.items():
        edge = graph.edge_named(name)
        columns = [":START_ID", ":END_ID", *header(edge.properties)]
        files = _write_files(folder, f"r-{name}", columns, ["start", "end", *edge.properties], frames)
        arguments.append(f"--relationships={edge.type}={files}")
    return arguments


def _write_files(
    folder: Path,
    name: str,
    columns: Sequence[str],
    wanted: Sequence[str],
    frames: Iterable[pl.DataFrame],
) -> str:
    """Writes a header and a file for each frame; returns them as an argument lists them."""
    first = folder / f"{name}.header.csv"
    first.write_text(",".join(columns) + "\n")
    files = [first]
    for number, frame in enumerate(frames):
        file = folder / f"{name}.{number}.csv"
        frame.select(wanted).write_csv(file, include_header=False)
        files.append(file)
    return ",".join(map(str, files))
