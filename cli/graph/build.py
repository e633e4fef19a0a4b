"""From a run to the tables of its graph."""

from __future__ import annotations

from cli.graph.analysis import Analysis
from cli.graph.calls import Calls
from cli.graph.frames import Tables
from cli.graph.inputs import Inputs
from cli.graph.names import ElementNames
from cli.graph.structure import Structure
from cli.run import Run
from cypher import graph


def tables_of(run: Run, generation: int, detail: str) -> Tables:
    """Returns the nodes and relationships of a run as the generation of that number."""
    names, tables = ElementNames(run), Tables(generation)
    inputs = Inputs(names)
    Structure(names, tables).add()
    Calls(names, tables, inputs).add()
    if detail != graph.STRUCTURE:
        Analysis(names, tables, inputs).add(detail)
    return tables
