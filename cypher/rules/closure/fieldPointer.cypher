// title: Fields of objects
// description: A pointer for each field of an object that is loaded or stored; field -1 is the elements of an array.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverObject)-[:SOLVER_FIELD]->(SolverPointer)
// formal: FieldPointer(b, f) :- Load(y, f, _), PointsTo(y, b), not Tracked(b).
// formal: FieldPointer(b, f) :- Store(_, f, y), PointsTo(y, b), not Tracked(b).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(b) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)-[l:SOLVER_LOAD]->(x)
  WHERE NOT b.tracked
  RETURN b, l.field AS field
  UNION
  MATCH (y)-[l:SOLVER_LOAD]->(x) USING INDEX l:SOLVER_LOAD(round) WHERE $since <= l.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(b)
  WHERE NOT b.tracked
  RETURN b, l.field AS field
  UNION
  MATCH (y)-[p:SOLVER_POINTS_TO]->(b) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)<-[l:SOLVER_STORE]-(x)
  WHERE NOT b.tracked
  RETURN b, l.field AS field
  UNION
  MATCH (x)-[l:SOLVER_STORE]->(y) USING INDEX l:SOLVER_STORE(round) WHERE $since <= l.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(b)
  WHERE NOT b.tracked
  RETURN b, l.field AS field
}
WITH b, field
WHERE NOT EXISTS { (b)-[:SOLVER_FIELD {field: field}]->() }
CALL (b, field) {
  CREATE (b)-[:SOLVER_FIELD {field: field, round: $round}]->(:SolverPointer)
} IN TRANSACTIONS OF 20000 ROWS
