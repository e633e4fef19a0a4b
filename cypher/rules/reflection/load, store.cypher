// title: Accessed fields
// description: The fields that `Field.get…` and `Field.set…` access.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.6
// head: (SolverReflective)-[:SOLVER_RESOLVED_FIELD]->(SolverNamedField)
// formal: ResolvedField(i, f) :- FieldCall(i, v, _, n), FieldAt(v, f), (n = 1 or not Inaccessible(f)).
CALL () {
  MATCH (v)-[o:SOLVER_FIELD_AT]->(f) USING INDEX o:SOLVER_FIELD_AT(round) WHERE $since <= o.round < $round
  MATCH (v)-[n:SOLVER_FIELD_CALL]->(i)
  WHERE n.trusted = 1 OR NOT f.inaccessible
  RETURN i, f
  UNION
  MATCH (v)-[n:SOLVER_FIELD_CALL]->(i) USING INDEX n:SOLVER_FIELD_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_FIELD_AT]->(f)
  WHERE n.trusted = 1 OR NOT f.inaccessible
  RETURN i, f
}
WITH i, f
WHERE NOT EXISTS { (i)-[:SOLVER_RESOLVED_FIELD]->(f) }
CALL (i, f) {
  CREATE (i)-[:SOLVER_RESOLVED_FIELD {round: $round}]->(f)
} IN TRANSACTIONS OF 20000 ROWS
