"""Statements about the relations that rules of reflection look at: how rows get there, and are read.

Rows are `$rows`, ids in them count from `$base`; those below 0, as of primitive types, count back from the end of the
run's. What the program has is told of what the other rows mention, before these.
"""

from __future__ import annotations

from typing import LiteralString

# Makes the constraints and indexes, by which rules find nodes, and what is new.
SCHEMA: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT heliograph_solver_operand IF NOT EXISTS FOR (n:SolverOperand) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_reflective IF NOT EXISTS FOR (n:SolverReflective) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_class IF NOT EXISTS FOR (n:SolverNamedClass) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_named_method IF NOT EXISTS FOR (n:SolverNamedMethod) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_named_field IF NOT EXISTS FOR (n:SolverNamedField) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT heliograph_solver_text IF NOT EXISTS FOR (n:SolverText) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX heliograph_solver_lookup IF NOT EXISTS FOR (n:SolverLookup) ON (n.round)",
    "CREATE INDEX heliograph_solver_for_name IF NOT EXISTS FOR ()-[r:SOLVER_FOR_NAME]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_string_at IF NOT EXISTS FOR ()-[r:SOLVER_STRING_AT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_class_at IF NOT EXISTS FOR ()-[r:SOLVER_CLASS_AT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_method_at IF NOT EXISTS FOR ()-[r:SOLVER_METHOD_AT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_field_at IF NOT EXISTS FOR ()-[r:SOLVER_FIELD_AT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_unknown_at IF NOT EXISTS FOR ()-[r:SOLVER_UNKNOWN_AT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_local IF NOT EXISTS FOR ()-[r:SOLVER_LOCAL]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_result_cast IF NOT EXISTS FOR ()-[r:SOLVER_RESULT_CAST]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_new_instance_call IF NOT EXISTS FOR ()-[r:SOLVER_NEW_INSTANCE_CALL]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_constructor_call IF NOT EXISTS FOR ()-[r:SOLVER_CONSTRUCTOR_CALL]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_invoke_call IF NOT EXISTS FOR ()-[r:SOLVER_INVOKE_CALL]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_field_call IF NOT EXISTS FOR ()-[r:SOLVER_FIELD_CALL]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_parameter_classes IF NOT EXISTS FOR ()-[r:SOLVER_PARAMETER_CLASSES]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_parameter_class IF NOT EXISTS FOR ()-[r:SOLVER_PARAMETER_CLASS]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_class_object IF NOT EXISTS FOR ()-[r:SOLVER_CLASS_OBJECT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_initialised_by IF NOT EXISTS FOR ()-[r:SOLVER_INITIALISED_BY]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_new_instance_target IF NOT EXISTS FOR ()-[r:SOLVER_NEW_INSTANCE_TARGET]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_candidate IF NOT EXISTS FOR ()-[r:SOLVER_CANDIDATE]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_method_object IF NOT EXISTS FOR ()-[r:SOLVER_METHOD_OBJECT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_field_object IF NOT EXISTS FOR ()-[r:SOLVER_FIELD_OBJECT]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_resolved_invoke IF NOT EXISTS FOR ()-[r:SOLVER_RESOLVED_INVOKE]-() ON (r.round)",
    "CREATE INDEX heliograph_solver_resolved_field IF NOT EXISTS FOR ()-[r:SOLVER_RESOLVED_FIELD]-() ON (r.round)",
)

ROWS: dict[str, LiteralString] = {
    # (pointer, text)
    "StringAt": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[0]}) MERGE (b:SolverText {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_STRING_AT {round: $round}]->(b)"
    ),
    # (pointer, type)
    "ClassAt": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_CLASS_AT {round: $round}]->(b)"
    ),
    # (pointer, method)
    "MethodAt": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_METHOD_AT {round: $round}]->(b)"
    ),
    # (pointer, field)
    "FieldAt": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[0]}) MERGE (b:SolverNamedField {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_FIELD_AT {round: $round}]->(b)"
    ),
    # (pointer, site that returned it)
    "UnknownAt": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[0]}) MERGE (b:SolverReflective {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_UNKNOWN_AT {round: $round}]->(b)"
    ),
    # (site, pointer)
    "Local": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[1]}) MERGE (b:SolverReflective {key: $base + row[0]}) "
        "CREATE (a)-[:SOLVER_LOCAL {round: $round}]->(b)"
    ),
    # (site, pointer, whether it initialises)
    "ForName": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[1]}) MERGE (b:SolverReflective {key: $base + row[0]}) "
        "CREATE (a)-[:SOLVER_FOR_NAME {initialises: row[2], round: $round}]->(b)"
    ),
    # (site, pointer, whether it may use what is accessible to the JDK only)
    "NewInstanceCall": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[1]}) MERGE (b:SolverReflective {key: $base + row[0]}) "
        "CREATE (a)-[:SOLVER_NEW_INSTANCE_CALL {trusted: row[2], round: $round}]->(b)"
    ),
    # (site, pointer, likewise, how many arguments it passes)
    "ConstructorCall": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[1]}) MERGE (b:SolverReflective {key: $base + row[0]}) "
        "CREATE (a)-[:SOLVER_CONSTRUCTOR_CALL {trusted: row[2], length: row[3], round: $round}]->(b)"
    ),
    "InvokeCall": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[1]}) MERGE (b:SolverReflective {key: $base + row[0]}) "
        "CREATE (a)-[:SOLVER_INVOKE_CALL {trusted: row[2], length: row[3], round: $round}]->(b)"
    ),
    # (site, pointer, whether it writes, whether it may use what is accessible to the JDK only)
    "FieldCall": (
        "UNWIND $rows AS row MERGE (a:SolverOperand {key: $base + row[1]}) MERGE (b:SolverReflective {key: $base + row[0]}) "
        "CREATE (a)-[:SOLVER_FIELD_CALL {writes: row[2], trusted: row[3], round: $round}]->(b)"
    ),
    # (site, type, whether it is in the JDK's code)
    "ResultCast": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_RESULT_CAST {inside: row[2], round: $round}]->(b)"
    ),
    # (site, sort, whether it finds declared ones, pointer to the class, pointer to the name)
    "GetMember": (
        "UNWIND $rows AS row MERGE (i:SolverReflective {key: $base + row[0]}) "
        "MERGE (v:SolverOperand {key: $base + row[3]}) MERGE (w:SolverOperand {key: $base + row[4]}) "
        "CREATE (n:SolverLookup {sort: row[1], declared: row[2], round: $round}), (n)-[:SOLVER_LOOKUP_SITE]->(i), "
        "(n)-[:SOLVER_LOOKUP_CLASS]->(v), (n)-[:SOLVER_LOOKUP_NAME]->(w)"
    ),
    # (site, number of parameters)
    "ParameterClasses": (
        "UNWIND $rows AS row MERGE (i:SolverReflective {key: $base + row[0]}) "
        "CREATE (i)-[:SOLVER_PARAMETER_CLASSES {length: row[1], round: $round}]->(i)"
    ),
    # (site, place, type): that numbered -1 stands for any
    "ParameterClass": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[2]}) "
        "SET b.any = row[2] = 4294967295 CREATE (a)-[:SOLVER_PARAMETER_CLASS {place: row[1], round: $round}]->(b)"
    ),
    # (site, type)
    "ClassObject": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_CLASS_OBJECT {round: $round}]->(b)"
    ),
    "InitialisedBy": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_INITIALISED_BY {round: $round}]->(b)"
    ),
    # (site, method)
    "NewInstanceTarget": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_NEW_INSTANCE_TARGET {round: $round}]->(b)"
    ),
    "Candidate": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_CANDIDATE {round: $round}]->(b)"
    ),
    "MethodObject": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_METHOD_OBJECT {round: $round}]->(b)"
    ),
    "ResolvedInvoke": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_RESOLVED_INVOKE {round: $round}]->(b)"
    ),
    # (site, field)
    "FieldObject": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedField {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_FIELD_OBJECT {round: $round}]->(b)"
    ),
    "ResolvedField": (
        "UNWIND $rows AS row MERGE (a:SolverReflective {key: $base + row[0]}) MERGE (b:SolverNamedField {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_RESOLVED_FIELD {round: $round}]->(b)"
    ),
    # (text, as it is written)
    "Text": "UNWIND $rows AS row MERGE (s:SolverText {key: $base + row[0]}) SET s.text = row[1]",
    # (text, the type that it names)
    "StringToClass": (
        "UNWIND $rows AS row MERGE (a:SolverText {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_STRING_TO_CLASS ]->(b)"
    ),
    # (type)
    "Jdk": "UNWIND $rows AS row MERGE (t:SolverNamedClass {key: $base + row[0]}) SET t.jdk = row[1]",
    "Encapsulated": "UNWIND $rows AS row MERGE (t:SolverNamedClass {key: $base + row[0]}) SET t.encapsulated = row[1]",
    # (type, method), of types that can be instantiated
    "DefaultConstructor": (
        "UNWIND $rows AS row MERGE (a:SolverNamedClass {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_DEFAULT_CONSTRUCTOR ]->(b)"
    ),
    # (type that can be instantiated, supertype)
    "ConcreteSubtype": (
        "UNWIND $rows AS row MERGE (a:SolverNamedClass {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[1]}) "
        "CREATE (a)-[:SOLVER_CONCRETE_SUBTYPE ]->(b)"
    ),
    # (method, name, number of parameters, whether it is a constructor of a type that can be instantiated, whether it is
    # accessible to the JDK only)
    "NamedMethod": (
        "UNWIND $rows AS row MERGE (m:SolverNamedMethod {key: $base + row[0]}) "
        "SET m.name = row[1], m.length = row[2], m.creates = row[3], m.inaccessible = row[4]"
    ),
    # (method, place, type)
    "ParameterType": (
        "UNWIND $rows AS row MERGE (a:SolverNamedMethod {key: $base + row[0]}) MERGE (b:SolverNamedClass {key: $base + row[2]}) "
        "CREATE (a)-[:SOLVER_PARAMETER_TYPE {place: row[1]}]->(b)"
    ),
    # (type, whether it is asked for declared ones, method)
    "FindsMethod": (
        "UNWIND $rows AS row MERGE (a:SolverNamedClass {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[2]}) "
        "CREATE (a)-[:SOLVER_FINDS_METHOD {declared: row[1]}]->(b)"
    ),
    "FindsConstructor": (
        "UNWIND $rows AS row MERGE (a:SolverNamedClass {key: $base + row[0]}) MERGE (b:SolverNamedMethod {key: $base + row[2]}) "
        "CREATE (a)-[:SOLVER_FINDS_CONSTRUCTOR {declared: row[1]}]->(b)"
    ),
    # (type, whether it is asked for declared ones, field)
    "FindsField": (
        "UNWIND $rows AS row MERGE (a:SolverNamedClass {key: $base + row[0]}) MERGE (b:SolverNamedField {key: $base + row[2]}) "
        "CREATE (a)-[:SOLVER_FINDS_FIELD {declared: row[1]}]->(b)"
    ),
    # (field, name, whether it is accessible to the JDK only)
    "NamedField": (
        "UNWIND $rows AS row MERGE (f:SolverNamedField {key: $base + row[0]}) SET f.name = row[1], f.inaccessible = row[2]"
    ),
}

# What was derived in the last round, by relation.
DERIVED: dict[str, LiteralString] = {
    "ClassObject": (
        "MATCH (i)-[r:SOLVER_CLASS_OBJECT]->(x) USING INDEX r:SOLVER_CLASS_OBJECT(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "InitialisedBy": (
        "MATCH (i)-[r:SOLVER_INITIALISED_BY]->(x) USING INDEX r:SOLVER_INITIALISED_BY(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "NewInstanceTarget": (
        "MATCH (i)-[r:SOLVER_NEW_INSTANCE_TARGET]->(x) USING INDEX r:SOLVER_NEW_INSTANCE_TARGET(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "Candidate": (
        "MATCH (i)-[r:SOLVER_CANDIDATE]->(x) USING INDEX r:SOLVER_CANDIDATE(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "MethodObject": (
        "MATCH (i)-[r:SOLVER_METHOD_OBJECT]->(x) USING INDEX r:SOLVER_METHOD_OBJECT(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "ResolvedInvoke": (
        "MATCH (i)-[r:SOLVER_RESOLVED_INVOKE]->(x) USING INDEX r:SOLVER_RESOLVED_INVOKE(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "FieldObject": (
        "MATCH (i)-[r:SOLVER_FIELD_OBJECT]->(x) USING INDEX r:SOLVER_FIELD_OBJECT(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
    "ResolvedField": (
        "MATCH (i)-[r:SOLVER_RESOLVED_FIELD]->(x) USING INDEX r:SOLVER_RESOLVED_FIELD(round) WHERE r.round = $now "
        "RETURN i.key - $base AS site, x.key - $base AS found ORDER BY site, found"
    ),
}

DELETIONS: tuple[LiteralString, ...] = (
    "MATCH (n:SolverLookup) WHERE $base <= n.round < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (n:SolverOperand) WHERE $base <= n.key < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (n:SolverReflective) WHERE $base <= n.key < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (n:SolverNamedMethod) WHERE $base <= n.key < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (n:SolverNamedField) WHERE $base <= n.key < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (n:SolverNamedClass) WHERE $base <= n.key < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
    "MATCH (n:SolverText) WHERE $base <= n.key < $end CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS",
)
