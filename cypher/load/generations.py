"""Generations: one load of one run each. Readers see only those that are complete and current."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from neo4j import ManagedTransaction, Session
from neo4j.exceptions import ConstraintError

from cypher import graph
from cypher.load import statements, writing

LOADING, COMPLETE = "loading", "complete"
_TRIES = 8


class CountMismatch(Exception):
    """The graph doesn't hold what was loaded (`DB-COUNT`)."""


class Generation(NamedTuple):
    """A generation in a database; `number` is part of the keys of its nodes."""

    id: str
    number: int
    complete: bool


def prepare(session: Session) -> None:
    """Makes the constraints and indexes that are missing, and waits for them."""
    for statement in statements.constraints():
        session.run(statement).consume()
    session.run("CALL db.awaitIndexes(300)").consume()


def enter(session: Session, identity: str, properties: Mapping[str, Any]) -> Generation:
    """Returns the generation with this id, which is made if there is none."""
    for attempt in range(_TRIES):
        try:
            return writing.write(session, _enter, identity, dict(properties))
        except ConstraintError:
            # Another loader has taken the number.
            if attempt == _TRIES - 1:
                raise
    raise AssertionError


def _enter(transaction: ManagedTransaction, identity: str, properties: dict[str, Any]) -> Generation:
    record = transaction.run(
        "MERGE (g:Generation {id: $id}) "
        "ON CREATE SET g += $properties, g.status = 'loading', g.created = datetime() "
        "WITH g CALL (*) { WITH g WHERE g.number IS NULL OPTIONAL MATCH (o:Generation) "
        "WITH g, coalesce(max(o.number), 0) + 1 AS next SET g.number = next RETURN count(*) AS made } "
        "RETURN g.number AS number, g.status AS status",
        id=identity,
        properties=properties,
    ).single(strict=True)
    return Generation(identity, record["number"], record["status"] == COMPLETE)


def counts(session: Session, generation: int) -> dict[str, int]:
    """Returns the number of nodes of each label and of relationships of each kind."""
    found = {}
    for node in graph.NODES:
        record = session.run(statements.count_nodes(node), generation=generation).single(strict=True)
        found[node.label] = record["found"]
    for edge in graph.EDGES:
        record = session.run(statements.count_edges(edge), generation=generation).single(strict=True)
        found[edge.name] = record["found"]
    return found


def totals(session: Session) -> dict[str, int]:
    """Returns the number of all nodes of each label and of all relationships of each type."""
    found = {}
    for node in graph.NODES:
        found[node.label] = session.run(statements.total_nodes(node)).single(strict=True)["found"]
    for type_ in sorted({edge.type for edge in graph.EDGES}):
        found[type_] = session.run(statements.total_edges(type_)).single(strict=True)["found"]
    return found


def by_type(expected: Mapping[str, int]) -> dict[str, int]:
    """Returns counts as `totals` has them: those of relationships of one type added up."""
    types = {edge.name: edge.type for edge in graph.EDGES}
    found: dict[str, int] = {}
    for name, number in expected.items():
        key = types.get(name, name)
        found[key] = found.get(key, 0) + number
    return found


def compare(found: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Raises `CountMismatch` unless the graph holds what is expected."""
    wrong = [
        f"{each}: {found.get(each, 0):,} instead of {number:,}"
        for each, number in expected.items()
        if found.get(each, 0) != number
    ]
    if wrong:
        raise CountMismatch("; ".join(wrong))


def finish(session: Session, generation: Generation, name: str) -> None:
    """Makes a generation, of which the counts were compared, what readers of `name` see."""
    writing.write(session, _finish, generation.id, name)
    session.run(
        "MATCH (b:Batch {generation: $id}) CALL (b) { DELETE b } IN TRANSACTIONS OF 5000 ROWS",
        id=generation.id,
    ).consume()


def _finish(transaction: ManagedTransaction, identity: str, name: str) -> None:
    transaction.run(
        "MATCH (g:Generation {id: $id}) SET g.status = 'complete', g.name = $name "
        "MERGE (c:Current {name: $name}) WITH g, c OPTIONAL MATCH (c)-[old:IS]->() DELETE old "
        "WITH DISTINCT g, c CREATE (c)-[:IS]->(g)",
        id=identity,
        name=name,
    ).consume()


def remove_old(session: Session, name: str) -> int:
    """Deletes the complete generations of `name` that nobody sees any more; returns how many."""
    records = session.run(
        "MATCH (g:Generation {name: $name}) WHERE g.status = 'complete' AND NOT EXISTS { (:Current)-[:IS]->(g) } "
        "RETURN g.id AS id, g.number AS number",
        name=name,
    )
    found = [(each["id"], each["number"]) for each in records]
    for identity, number in found:
        remove(session, identity, number)
    return len(found)


def remove(session: Session, identity: str, number: int) -> None:
    """Deletes a generation, its nodes first."""
    for node in graph.NODES:
        session.run(statements.delete_edges(node), generation=number).consume()
    for node in graph.NODES:
        session.run(statements.delete_nodes(node), generation=number).consume()
    session.run(
        "MATCH (b:Batch {generation: $id}) CALL (b) { DELETE b } IN TRANSACTIONS OF 5000 ROWS", id=identity
    ).consume()
    session.run(
        "MATCH (g:Generation {id: $id}) OPTIONAL MATCH (c:Current)-[:IS]->(g) DETACH DELETE g, c", id=identity
    ).consume()


def is_empty(session: Session) -> bool:
    """Returns whether a database has no nodes at all."""
    return session.run("MATCH (n) RETURN n LIMIT 1").single() is None


def other_schemas(session: Session) -> list[str]:
    """Returns the versions of the graph's schema, other than ours, of which the database holds generations."""
    records = session.run(
        "MATCH (g:Generation) WHERE g.schemaVersion <> $version RETURN DISTINCT g.schemaVersion AS version",
        version=str(graph.VERSION),
    )
    return sorted(each["version"] for each in records)
