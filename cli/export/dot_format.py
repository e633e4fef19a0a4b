"""The call graph for Graphviz: a node for each method, an edge for each pair of caller and callee."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cli.edges import edges_of, kind_of, of_application
from cli.run import Run
from cli.text import shown


def lines(run: Run, application: bool) -> Iterator[str]:
    """Yields the lines; calls that are not in the bytecode are dashed and say what makes them."""
    names = run.names
    edges = edges_of(run.result)
    if application:
        edges = of_application(edges, names)
    yield "digraph calls {\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n"
    methods = np.unique(np.concatenate((edges.caller, edges.callee)))
    for method, own in zip(methods.tolist(), names.is_application(methods).tolist(), strict=True):
        style = ", style=filled, fillcolor=lightyellow" if own else ""
        yield f'  m{method} [label="{escaped(str(names.method(method)))}"{style}];\n'
    pairs = np.unique(np.stack((edges.caller, edges.callee, edges.origin), axis=1), axis=0)
    for caller, callee, origin in pairs.tolist():
        kind = kind_of(origin)
        style = "" if kind == "call" else f' [style=dashed, label="{kind}"]'
        yield f"  m{caller} -> m{callee}{style};\n"
    yield "}\n"


def escaped(text: str) -> str:
    r"""Returns `text` for a quoted string of DOT, in which nothing is an escape.

    >>> escaped('a"b\\N')
    'a\\"b\\\\N'
    """
    return shown(text).replace("\\", "\\\\").replace('"', '\\"')
