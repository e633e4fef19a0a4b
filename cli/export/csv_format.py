"""The call graph as CSV: one line for each call."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from cli.edges import edges_of, kind_of, of_application
from cli.run import Run
from cli.text import spreadsheet_cell

COLUMNS = ("caller", "line", "offset", "kind", "callee")


def lines(run: Run, application: bool) -> Iterator[str]:
    """Yields the lines, the header first; cells that a spreadsheet would take for formulas are guarded."""
    names = run.names
    edges = edges_of(run.result)
    if application:
        edges = of_application(edges, names)
    numbers = names.lines(edges.caller, edges.offset).tolist()
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    texts: dict[int, str] = {}
    for caller, offset, origin, callee, line in zip(
        *(column.tolist() for column in edges), numbers, strict=True
    ):
        for method in (caller, callee):
            if method not in texts:
                texts[method] = spreadsheet_cell(str(names.method(method)))
        at = line if line >= 0 else ""
        writer.writerow((texts[caller], at, offset, kind_of(origin), texts[callee]))
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
