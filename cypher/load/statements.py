"""Cypher that follows from the declarations of the graph. All of it is fixed text: what is loaded are parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import LiteralString

from cypher import graph
from cypher.graph import Edge, Node

_WORD = re.compile(r"[A-Za-z_]+")


def _checked(text: str, *words: str) -> LiteralString:
    """Returns a statement that was put together of declared words alone."""
    assert all(_WORD.fullmatch(word) for word in words), words
    return text


def constraints() -> Iterator[LiteralString]:
    """Yields the statements that make constraints and indexes, unless they are there."""
    yield from (
        "CREATE CONSTRAINT heliograph_generation IF NOT EXISTS FOR (g:Generation) REQUIRE g.id IS UNIQUE",
        "CREATE CONSTRAINT heliograph_number IF NOT EXISTS FOR (g:Generation) REQUIRE g.number IS UNIQUE",
        "CREATE CONSTRAINT heliograph_current IF NOT EXISTS FOR (c:Current) REQUIRE c.name IS UNIQUE",
        "CREATE CONSTRAINT heliograph_batch IF NOT EXISTS FOR (b:Batch) REQUIRE b.id IS UNIQUE",
        "CREATE INDEX heliograph_batches IF NOT EXISTS FOR (b:Batch) ON (b.generation, b.phase)",
    )
    for node in graph.NODES:
        yield _checked(
            f"CREATE CONSTRAINT heliograph_key_{node.label} IF NOT EXISTS FOR (n:{node.label}) "
            "REQUIRE n.key IS UNIQUE",
            node.label,
        )
        yield _checked(
            f"CREATE INDEX heliograph_of_{node.label} IF NOT EXISTS FOR (n:{node.label}) ON (n.generation)",
            node.label,
        )
        for each in node.search:
            yield _checked(
                f"CREATE INDEX heliograph_{node.label}_{each} IF NOT EXISTS FOR (n:{node.label}) "
                f"ON (n.generation, n.{each})",
                node.label, each,
            )  # fmt: skip


def node_columns(node: Node) -> list[str]:
    """Returns the columns of a row of `create_nodes`."""
    return ["key", *node.properties]


def create_nodes(node: Node) -> LiteralString:
    """Returns the statement that makes nodes from `$rows`, of `$generation` and with the further labels `$labels`."""
    values = ", ".join(f"{name}: row[{place}]" for place, name in enumerate(node_columns(node)))
    text = (
        f"UNWIND $rows AS row CREATE (n:{node.label} {{generation: $generation, {values}}}) SET n:$($labels)"
    )
    return _checked(text, node.label, *node.properties)


def edge_columns(edge: Edge) -> list[str]:
    """Returns the columns of a row of `create_edges`."""
    return ["start", "end", *edge.properties]


def create_edges(edge: Edge) -> LiteralString:
    """Returns the statement that makes relationships from `$rows`."""
    values = ", ".join(f"{name}: row[{place}]" for place, name in enumerate(edge.properties, 2))
    text = (
        f"UNWIND $rows AS row MATCH (a:{edge.start} {{key: row[0]}}) MATCH (b:{edge.end} {{key: row[1]}}) "
        f"CREATE (a)-[:{edge.type} {{{values}}}]->(b)"
    )
    return _checked(text, edge.start, edge.end, edge.type, *edge.properties)


def count_nodes(node: Node) -> LiteralString:
    """Returns the statement that counts the nodes of `$generation`."""
    text = f"MATCH (n:{node.label} {{generation: $generation}}) RETURN count(n) AS found"
    return _checked(text, node.label)


def count_edges(edge: Edge) -> LiteralString:
    """Returns the statement that counts the relationships of `$generation`."""
    text = (
        f"MATCH (a:{edge.start} {{generation: $generation}})-[r:{edge.type}]->(:{edge.end}) "
        "RETURN count(r) AS found"
    )
    return _checked(text, edge.start, edge.end, edge.type)


def total_nodes(node: Node) -> LiteralString:
    """Returns the statement that counts all nodes of a label; the server knows this number."""
    return _checked(f"MATCH (:{node.label}) RETURN count(*) AS found", node.label)


def total_edges(type_: str) -> LiteralString:
    """Returns the statement that counts all relationships of a type; the server knows this number."""
    return _checked(f"MATCH ()-[r:{type_}]->() RETURN count(r) AS found", type_)


def delete_edges(node: Node) -> LiteralString:
    """Returns the statement that deletes what leaves the nodes of `$generation`, in transactions of its own."""
    text = (
        f"MATCH (:{node.label} {{generation: $generation}})-[r]->() "
        "CALL (r) { DELETE r } IN TRANSACTIONS OF 10000 ROWS"
    )
    return _checked(text, node.label)


def delete_nodes(node: Node) -> LiteralString:
    """Returns the statement that deletes the nodes of `$generation`, in transactions of its own."""
    text = (
        f"MATCH (n:{node.label} {{generation: $generation}}) "
        "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"
    )
    return _checked(text, node.label)


# --- what rules derive (see `cypher.inference`)
def index_rounds(type_: str) -> LiteralString:
    """Returns the statement that makes the index by which a rule finds what its last round derived."""
    text = f"CREATE INDEX heliograph_round_{type_} IF NOT EXISTS FOR ()-[r:{type_}]-() ON (r.generation, r.round)"
    return _checked(text, type_)


def delete_rounds(type_: str) -> LiteralString:
    """Returns the statement that deletes what a rule derived of `$generation`, in transactions of its own."""
    text = f"MATCH ()-[r:{type_} {{generation: $generation}}]->() CALL (r) {{ DELETE r }} IN TRANSACTIONS OF 10000 ROWS"
    return _checked(text, type_)


def delete_labels(label: str) -> LiteralString:
    """Returns the statement that takes a label from the nodes of `$generation`, in transactions of its own."""
    text = f"MATCH (n:{label} {{generation: $generation}}) CALL (n) {{ REMOVE n:{label} }} IN TRANSACTIONS OF 10000 ROWS"
    return _checked(text, label)
