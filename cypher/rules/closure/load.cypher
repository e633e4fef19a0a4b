// title: Load
// description: What a load brings: all that the field of each object of its base points to.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(z, x) :- Load(y, f, x), PointsTo(y, b), FieldPointer(b, f, z).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(b) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)-[l:SOLVER_LOAD]->(x)
  WHERE NOT b.tracked
  RETURN x, b, l.field AS field
  UNION
  MATCH (y)-[l:SOLVER_LOAD]->(x) USING INDEX l:SOLVER_LOAD(round) WHERE $since <= l.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(b)
  WHERE NOT b.tracked
  RETURN x, b, l.field AS field
}
MATCH (b)-[:SOLVER_FIELD {field: field}]->(z)
WITH DISTINCT z, x
WHERE z <> x AND NOT EXISTS { (z)-[:SOLVER_ASSIGN]->(x) }
CALL (z, x) {
  CREATE (z)-[:SOLVER_ASSIGN {round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
