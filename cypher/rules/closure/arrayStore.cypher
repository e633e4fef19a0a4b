// title: Store into an array
// description: What a store into an array leaves: the objects of its element type (JVMS 6.5, aastore).
// paper: The Java Virtual Machine Specification, 6.5: aastore
// head: (SolverPointer)-[:SOLVER_CAST]->(SolverPointer)
// formal: Cast(x, t, z) :- Store(x, f, y), PointsTo(y, b), FieldPointer(b, f, z), ArrayOf(b, f, t).
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
WITH * WHERE field < 0
MATCH (b)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_ELEMENT]->(t)
MATCH (b)-[:SOLVER_FIELD {field: field}]->(z)
WITH DISTINCT x, t, z
WHERE x <> z AND NOT EXISTS { (x)-[:SOLVER_CAST {type: t.key}]->(z) }
CALL (x, t, z) {
  CREATE (x)-[:SOLVER_CAST {type: t.key, round: $round}]->(z)
} IN TRANSACTIONS OF 20000 ROWS
