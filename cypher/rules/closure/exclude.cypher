// title: Exclusion
// description: What an earlier handler of an exception leaves to the next: the objects not of its type (JVMS 2.10).
// paper: The Java Virtual Machine Specification, 2.10
// head: (SolverPointer)-[:SOLVER_POINTS_TO]->(SolverObject)
// formal: PointsTo(x, o) :- Exclude(y, t, x), PointsTo(y, o), not InstanceOf(o, t), (not Tracked(o) or Wanted(x)).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)-[a:SOLVER_EXCLUDE]->(x)
  WHERE NOT EXISTS { (o)-[:SOLVER_INSTANCE_OF]->(:SolverType {key: a.type}) }
  RETURN x, o
  UNION
  MATCH (y)-[a:SOLVER_EXCLUDE]->(x) USING INDEX a:SOLVER_EXCLUDE(round) WHERE $since <= a.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE NOT EXISTS { (o)-[:SOLVER_INSTANCE_OF]->(:SolverType {key: a.type}) }
  RETURN x, o
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (y)-[a:SOLVER_EXCLUDE]->(x) MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE o.tracked AND NOT EXISTS { (o)-[:SOLVER_INSTANCE_OF]->(:SolverType {key: a.type}) }
  RETURN x, o
}
WITH x, o
WHERE (x:SolverWanted OR NOT o.tracked) AND NOT EXISTS { (x)-[:SOLVER_POINTS_TO]->(o) }
CALL (x, o) {
  CREATE (x)-[:SOLVER_POINTS_TO {round: $round}]->(o)
} IN TRANSACTIONS OF 20000 ROWS
