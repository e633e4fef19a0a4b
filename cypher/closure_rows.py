"""Statements about the relations that rules of the closure look at: how rows get there, are read, and go again.

Rows are `$rows`, ids in them count from `$base`. A relation has relationships of its name, a site of a call is a node
with the relationships of what it is given.
"""

from __future__ import annotations

from typing import LiteralString

# Makes the constraints and indexes, by which rules find nodes, and what is new.
SCHEMA: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT heliograph_solver_run IF NOT EXISTS FOR (r:SolverRun) REQUIRE r.number IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_alive IF NOT EXISTS FOR (r:SolverAlive) REQUIRE r.number IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_type IF NOT EXISTS FOR (t:SolverType) REQUIRE t.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_method IF NOT EXISTS FOR (m:SolverMethod) REQUIRE m.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_object IF NOT EXISTS FOR (o:SolverObject) REQUIRE o.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_pointer IF NOT EXISTS FOR (p:SolverPointer) REQUIRE p.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_site IF NOT EXISTS FOR (s:SolverSite) REQUIRE s.key IS UNIQUE",
    "CREATE INDEX heliograph_solver_objects IF NOT EXISTS FOR (o:SolverObject) ON (o.round)",
    "CREATE INDEX heliograph_solver_sites IF NOT EXISTS FOR (s:SolverSite) ON (s.round)",
    "CREATE INDEX heliograph_solver_watch IF NOT EXISTS FOR (w:SolverWatch) ON (w.round)",
    "CREATE INDEX heliograph_solver_wanted IF NOT EXISTS FOR (p:SolverWanted) ON (p.wanted)",
    "CREATE INDEX heliograph_solver_reached IF NOT EXISTS FOR (m:SolverReachable) ON (m.reached)",
    "CREATE INDEX heliograph_solver_new IF NOT EXISTS FOR ()-[r:SOLVER_NEW]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_points_to IF NOT EXISTS FOR ()-[r:SOLVER_POINTS_TO]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_assign IF NOT EXISTS FOR ()-[r:SOLVER_ASSIGN]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_untracked IF NOT EXISTS FOR ()-[r:SOLVER_ASSIGN_UNTRACKED]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_cast IF NOT EXISTS FOR ()-[r:SOLVER_CAST]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_exclude IF NOT EXISTS FOR ()-[r:SOLVER_EXCLUDE]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_load IF NOT EXISTS FOR ()-[r:SOLVER_LOAD]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_store IF NOT EXISTS FOR ()-[r:SOLVER_STORE]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_has_type IF NOT EXISTS FOR ()-[r:SOLVER_HAS_TYPE]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_calls IF NOT EXISTS FOR ()-[r:SOLVER_CALLS]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_field IF NOT EXISTS FOR ()-[r:SOLVER_FIELD]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_gives IF NOT EXISTS FOR ()-[r:SOLVER_GIVES_THIS]-() ON (r.round)",
)

ROWS: dict[str, LiteralString] = {
    # (type, whether it is an interface)
    "TypeNode": "UNWIND $rows AS row CREATE (:SolverType {key: $base + row[0], interface: row[1]})",
    # (type, supertype), each type below itself as well
    "SubtypeOf": (
        "UNWIND $rows AS row MATCH (t:SolverType {key: $base + row[0]}) MATCH (u:SolverType {key: $base + row[1]}) "
        "CREATE (t)-[:SOLVER_SUBTYPE_OF]->(u)"
    ),
    # (type, superclass)
    "Extends": (
        "UNWIND $rows AS row MATCH (t:SolverType {key: $base + row[0]}) MATCH (u:SolverType {key: $base + row[1]}) "
        "CREATE (t)-[:SOLVER_EXTENDS]->(u)"
    ),
    # (array type, type of its elements)
    "Element": (
        "UNWIND $rows AS row MATCH (t:SolverType {key: $base + row[0]}) MATCH (u:SolverType {key: $base + row[1]}) "
        "CREATE (t)-[:SOLVER_ELEMENT]->(u)"
    ),
    # (method, whether it is abstract, number of parameters, parameter that it returns or -1, declaring type)
    "MethodNode": (
        "UNWIND $rows AS row CREATE (:SolverMethod {key: $base + row[0], abstract: row[1], parameters: row[2], "
        "returns: row[3], declaring: $base + row[4]})"
    ),
    # (type, signature, method)
    "Declares": (
        "UNWIND $rows AS row MATCH (t:SolverType {key: $base + row[0]}) MATCH (m:SolverMethod {key: $base + row[2]}) "
        "CREATE (t)-[:SOLVER_DECLARES {signature: row[1]}]->(m)"
    ),
    # (object, type, whether it is tracked, whether it stands for tracked ones)
    "Type": (
        "UNWIND $rows AS row MATCH (t:SolverType {key: $base + row[1]}) "
        "CREATE (:SolverObject {key: $base + row[0], tracked: row[2], generic: row[3], round: $round})"
        "-[:SOLVER_TYPE]->(t)"
    ),
    # (first pointer, last pointer)
    "PointerNode": (
        "UNWIND $rows AS row UNWIND range(row[0], row[1]) AS id CREATE (:SolverPointer {key: $base + id})"
    ),
    # (object, field, pointer)
    "FieldNumber": (
        "UNWIND $rows AS row MATCH (:SolverObject {key: $base + row[0]})-[:SOLVER_FIELD {field: row[1]}]->(x) "
        "SET x.key = $base + row[2]"
    ),
    # (method, position, pointer): the parameters, then what is returned, then what is thrown
    "Parameter": (
        "UNWIND $rows AS row MATCH (m:SolverMethod {key: $base + row[0]}) "
        "MATCH (x:SolverPointer {key: $base + row[2]}) CREATE (m)-[:SOLVER_VARIABLE {position: row[1]}]->(x)"
    ),
    # (site, kind, signature of a virtual call)
    "SiteNode": (
        "UNWIND $rows AS row "
        "CREATE (:SolverSite {key: $base + row[0], kind: row[1], signature: row[2], round: $round})"
    ),
    # (site, method) of a static or special call
    "Target": (
        "UNWIND $rows AS row MATCH (s:SolverSite {key: $base + row[0]}) MATCH (m:SolverMethod {key: $base + row[1]}) "
        "CREATE (s)-[:SOLVER_TARGET]->(m)"
    ),
    # (site, pointer)
    "Receiver": (
        "UNWIND $rows AS row MATCH (s:SolverSite {key: $base + row[0]}) MATCH (x:SolverPointer {key: $base + row[1]}) "
        "CREATE (s)-[:SOLVER_RECEIVER]->(x)"
    ),
    "Result": (
        "UNWIND $rows AS row MATCH (s:SolverSite {key: $base + row[0]}) MATCH (x:SolverPointer {key: $base + row[1]}) "
        "CREATE (s)-[:SOLVER_RESULT]->(x)"
    ),
    "Thrown": (
        "UNWIND $rows AS row MATCH (s:SolverSite {key: $base + row[0]}) MATCH (x:SolverPointer {key: $base + row[1]}) "
        "CREATE (s)-[:SOLVER_THROWN]->(x)"
    ),
    # (site, position, pointer)
    "Argument": (
        "UNWIND $rows AS row MATCH (s:SolverSite {key: $base + row[0]}) MATCH (x:SolverPointer {key: $base + row[2]}) "
        "CREATE (s)-[:SOLVER_ARGUMENT {position: row[1]}]->(x)"
    ),
    # (pointer, object)
    "New": (
        "UNWIND $rows AS row MATCH (x:SolverPointer {key: $base + row[0]}) "
        "MATCH (o:SolverObject {key: $base + row[1]}) CREATE (x)-[:SOLVER_NEW {round: $round}]->(o)"
    ),
    # (tracked object, what stands for it)
    "Generic": (
        "UNWIND $rows AS row MATCH (o:SolverObject {key: $base + row[0]}) "
        "MATCH (g:SolverObject {key: $base + row[1]}) CREATE (o)-[:SOLVER_GENERIC]->(g)"
    ),
    # (source, target)
    "Assign": (
        "UNWIND $rows AS row MATCH (y:SolverPointer {key: $base + row[0]}) "
        "MATCH (x:SolverPointer {key: $base + row[1]}) CREATE (y)-[:SOLVER_ASSIGN {round: $round}]->(x)"
    ),
    "AssignUntracked": (
        "UNWIND $rows AS row MATCH (y:SolverPointer {key: $base + row[0]}) "
        "MATCH (x:SolverPointer {key: $base + row[1]}) CREATE (y)-[:SOLVER_ASSIGN_UNTRACKED {round: $round}]->(x)"
    ),
    # (source, type, target)
    "Cast": (
        "UNWIND $rows AS row MATCH (y:SolverPointer {key: $base + row[0]}) "
        "MATCH (x:SolverPointer {key: $base + row[2]}) "
        "CREATE (y)-[:SOLVER_CAST {type: $base + row[1], round: $round}]->(x)"
    ),
    "Exclude": (
        "UNWIND $rows AS row MATCH (y:SolverPointer {key: $base + row[0]}) "
        "MATCH (x:SolverPointer {key: $base + row[2]}) "
        "CREATE (y)-[:SOLVER_EXCLUDE {type: $base + row[1], round: $round}]->(x)"
    ),
    # (base, field, target)
    "Load": (
        "UNWIND $rows AS row MATCH (y:SolverPointer {key: $base + row[0]}) "
        "MATCH (x:SolverPointer {key: $base + row[2]}) "
        "CREATE (y)-[:SOLVER_LOAD {field: row[1], round: $round}]->(x)"
    ),
    # (source, field, base)
    "Store": (
        "UNWIND $rows AS row MATCH (x:SolverPointer {key: $base + row[0]}) "
        "MATCH (y:SolverPointer {key: $base + row[2]}) "
        "CREATE (x)-[:SOLVER_STORE {field: row[1], round: $round}]->(y)"
    ),
    # (pointer, tag)
    "Watch": (
        "UNWIND $rows AS row MATCH (x:SolverPointer {key: $base + row[0]}) "
        "CREATE (:SolverWatch {tag: row[1], round: $round})-[:SOLVER_WATCHES]->(x)"
    ),
    # (site, method)
    "Calls": (
        "UNWIND $rows AS row MATCH (s:SolverSite {key: $base + row[0]}) MATCH (m:SolverMethod {key: $base + row[1]}) "
        "WITH DISTINCT s, m WHERE NOT EXISTS { (s)-[:SOLVER_CALLS]->(m) } "
        "CREATE (s)-[:SOLVER_CALLS {round: $round}]->(m)"
    ),
    # (method)
    "Reachable": (
        "UNWIND $rows AS row MATCH (m:SolverMethod {key: $base + row[0]}) WHERE NOT m:SolverReachable "
        "SET m:SolverReachable, m.reached = $round"
    ),
}

REACHED: LiteralString = (
    "MATCH (m:SolverReachable) USING INDEX m:SolverReachable(reached) WHERE $since <= m.reached <= $now "
    "RETURN m.key - $base AS method ORDER BY m.reached, method"
)
WATCHED: LiteralString = (
    "CALL () { "
    "MATCH (x)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round <= $now "
    "MATCH (w:SolverWatch)-[:SOLVER_WATCHES]->(x) RETURN w, o "
    "UNION "
    "MATCH (w:SolverWatch) USING INDEX w:SolverWatch(round) WHERE $since <= w.round <= $now "
    "MATCH (w)-[:SOLVER_WATCHES]->(x) MATCH (x)-[:SOLVER_POINTS_TO]->(o) RETURN w, o } "
    "RETURN w.tag AS tag, o.key - $base AS obj"
)
CALLS: LiteralString = (
    "MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $base <= c.round <= $now "
    "RETURN s.key - $base AS site, m.key - $base AS callee ORDER BY c.round, site, callee"
)
SELECTED: LiteralString = (
    "MATCH (:SolverType {key: $base + $type})-[:SOLVER_SELECTS {signature: $signature}]->(m) "
    "RETURN m.key - $base AS method"
)
OBJECTS: LiteralString = (
    "MATCH (x:SolverPointer {key: $base + $pointer})-[:SOLVER_POINTS_TO]->(o) "
    "RETURN o.key - $base AS obj ORDER BY obj"
)
POINTS_TO: LiteralString = (
    "MATCH (x:SolverPointer) WHERE $base <= x.key < $end "
    "RETURN x.key - $base AS pointer, COLLECT { MATCH (x)-[:SOLVER_POINTS_TO]->(o) RETURN o.key - $base } AS objects"
)
FIELDS: LiteralString = (
    "MATCH (b)-[f:SOLVER_FIELD]->() USING INDEX f:SOLVER_FIELD(round) WHERE $since <= f.round <= $now "
    "RETURN b.key - $base AS base, f.field AS field ORDER BY base, field"
)

# Deletes a run whose keys and rounds lie between `$base` and `$end`, most of which are points-to pairs.
DELETIONS: tuple[LiteralString, ...] = (
    """
    MATCH ()-[p:SOLVER_POINTS_TO]->() USING INDEX p:SOLVER_POINTS_TO(round) WHERE $base <= p.round < $end
    CALL (p) { DELETE p } IN TRANSACTIONS OF 50000 ROWS
    """,
    """
    MATCH (o:SolverObject)-[:SOLVER_FIELD]->(x) WHERE $base <= o.key < $end
    CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF 1000 ROWS
    """,
    "MATCH (w:SolverWatch) WHERE $base <= w.round < $end CALL (w) { DETACH DELETE w } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (s:SolverSite) WHERE $base <= s.key < $end CALL (s) { DETACH DELETE s } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (x:SolverPointer) WHERE $base <= x.key < $end CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (o:SolverObject) WHERE $base <= o.key < $end CALL (o) { DETACH DELETE o } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (m:SolverMethod) WHERE $base <= m.key < $end CALL (m) { DETACH DELETE m } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (t:SolverType) WHERE $base <= t.key < $end CALL (t) { DETACH DELETE t } IN TRANSACTIONS OF 1000 ROWS",
)
