// title: Store
// description: What a store leaves: all that its source points to, in the field of each object of its base.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(x, z) :- Store(x, f, y), PointsTo(y, b), FieldPointer(b, f, z), not ArrayOf(b, f, _).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(b) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)<-[l:SOLVER_STORE]-(x)
  WHERE NOT b.tracked
  RETURN x, b, l.field AS field
  UNION
  MATCH (x)-[l:SOLVER_STORE]->(y) USING INDEX l:SOLVER_STORE(round) WHERE $since <= l.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(b)
  WHERE NOT b.tracked
  RETURN x, b, l.field AS field
}
WITH * WHERE field >= 0 OR NOT EXISTS { (b)-[:SOLVER_TYPE]->()-[:SOLVER_ELEMENT]->() }
MATCH (b)-[:SOLVER_FIELD {field: field}]->(z)
WITH DISTINCT x, z
WHERE x <> z AND NOT EXISTS { (x)-[:SOLVER_ASSIGN]->(z) }
CALL (x, z) {
  CREATE (x)-[:SOLVER_ASSIGN {round: $round}]->(z)
} IN TRANSACTIONS OF 20000 ROWS
