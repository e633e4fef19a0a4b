// title: Assignment
// description: What is assigned to a variable: all that the other one points to.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_POINTS_TO]->(SolverObject)
// formal: PointsTo(x, o) :- Assign(y, x), PointsTo(y, o), (not Tracked(o) or Wanted(x)).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)-[a:SOLVER_ASSIGN]->(x)
  RETURN x, o
  UNION
  MATCH (y)-[a:SOLVER_ASSIGN]->(x) USING INDEX a:SOLVER_ASSIGN(round) WHERE $since <= a.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  RETURN x, o
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (y)-[a:SOLVER_ASSIGN]->(x) MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE o.tracked
  RETURN x, o
}
WITH x, o
WHERE (x:SolverWanted OR NOT o.tracked) AND NOT EXISTS { (x)-[:SOLVER_POINTS_TO]->(o) }
CALL (x, o) {
  CREATE (x)-[:SOLVER_POINTS_TO {round: $round}]->(o)
} IN TRANSACTIONS OF 20000 ROWS
