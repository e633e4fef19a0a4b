// title: Cast
// description: What a cast lets pass: the objects of its type (JVMS 6.5, checkcast).
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_POINTS_TO]->(SolverObject)
// formal: PointsTo(x, o) :- Cast(y, t, x), PointsTo(y, o), InstanceOf(o, t), (not Tracked(o) or Wanted(x)).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)-[a:SOLVER_CAST]->(x)
  WHERE EXISTS { (o)-[:SOLVER_INSTANCE_OF]->(:SolverType {key: a.type}) }
  RETURN x, o
  UNION
  MATCH (y)-[a:SOLVER_CAST]->(x) USING INDEX a:SOLVER_CAST(round) WHERE $since <= a.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE EXISTS { (o)-[:SOLVER_INSTANCE_OF]->(:SolverType {key: a.type}) }
  RETURN x, o
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (y)-[a:SOLVER_CAST]->(x) MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE o.tracked AND EXISTS { (o)-[:SOLVER_INSTANCE_OF]->(:SolverType {key: a.type}) }
  RETURN x, o
}
WITH x, o
WHERE (x:SolverWanted OR NOT o.tracked) AND NOT EXISTS { (x)-[:SOLVER_POINTS_TO]->(o) }
CALL (x, o) {
  CREATE (x)-[:SOLVER_POINTS_TO {round: $round}]->(o)
} IN TRANSACTIONS OF 20000 ROWS
