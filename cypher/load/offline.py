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


def write(
    folder: Path,
    generation: Generation,
    properties: Mapping[str, str],
    nodes: Mapping[str, Sequence[pl.DataFrame]],
    edges: Mapping[str, Sequence[pl.DataFrame]],
) -> list[str]:
    """Writes the files of a generation that is being loaded; returns the arguments of an import in `folder`.

    `properties` are those of the generation itself.
    """
    files = _Files(folder)
    arguments = [f"--nodes=Generation={_write_generation(files, generation, properties)}"]
    for label, frames in nodes.items():
        declared = graph.node_of(label)
        columns = [
            "key:ID",
            "generation:long",
            *([":LABEL"] if declared.more else ()),
            *header(declared.properties),
        ]
        wanted = ["key", "generation", *(["labels"] if declared.more else ()), *declared.properties]
        tagged = (each.with_columns(generation=pl.lit(generation.number)) for each in frames)
        arguments.append(f"--nodes={label}={files.write(f'n-{label}', columns, wanted, tagged)}")
    for name, frames in edges.items():
        edge = graph.edge_named(name)
        columns = [":START_ID", ":END_ID", *header(edge.properties)]
        wanted = ["start", "end", *edge.properties]
        arguments.append(f"--relationships={edge.type}={files.write(f'r-{name}', columns, wanted, frames)}")
    return ["--id-type=integer", *files.options(), *arguments]


def _write_generation(files: _Files, generation: Generation, properties: Mapping[str, str]) -> str:
    values = {"id": generation.id, "status": LOADING, **properties}
    columns = [":ID(Generation)", "number:long", *(f"{name}:string" for name in values)]
    row = pl.DataFrame(
        {
            ":ID": [generation.number],
            "number": [generation.number],
            **{name: [each] for name, each in values.items()},
        }
    )
    return files.write("n-Generation", columns, row.columns, [row])


class _Files:
    """The files of an import, and which of them have texts with line breaks.

    Those are named to the import: it takes a tenth of a second for each file that may have some, before all else.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._multiline: list[str] = []

    def write(
        self, name: str, columns: Sequence[str], wanted: Sequence[str], frames: Iterable[pl.DataFrame]
    ) -> str:
        """Writes a header and a file for each frame; returns them as an argument lists them."""
        # (without a folder in front, calendar versions find no file)
        files = [f"./{name}.header.csv"]
        (self._folder / files[0]).write_text(",".join(columns) + "\n")
        for number, frame in enumerate(frames):
            file = f"./{name}.{number}.csv"
            rows = frame.select(wanted)
            rows.write_csv(self._folder / file, include_header=False)
            files.append(file)
            if _has_line_breaks(rows):
                self._multiline.append(file)
        return ",".join(files)

    def options(self) -> list[str]:
        """Returns the options for line breaks in the files that were written."""
        if not self._multiline:
            return []
        return ["--multiline-fields-format=v2", f"--multiline-fields={','.join(self._multiline)}"]


def _has_line_breaks(frame: pl.DataFrame) -> bool:
    r"""Returns whether a text of `frame` has a line break.

    >>> _has_line_breaks(pl.DataFrame({"text": ["a", None, "b\rc"]}))
    True
    >>> _has_line_breaks(pl.DataFrame({"text": ["a", None], "line": [1, 2]}))
    False
    """
    texts = frame.select(pl.col(pl.String).str.contains("[\r\n]").any())
    return any(texts.rows()[0]) if texts.width else False
