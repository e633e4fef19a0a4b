// title: Allocation
// description: What an allocation brings: its object, and the generic one of its type with each that is tracked.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_POINTS_TO]->(SolverObject)
// formal: PointsTo(x, o) :- New(x, o), (not Tracked(o) or Wanted(x)).
// formal: PointsTo(x, g) :- New(x, o), Generic(o, g).
CALL () {
  MATCH (x)-[n:SOLVER_NEW]->(o) USING INDEX n:SOLVER_NEW(round) WHERE $since <= n.round < $round
  RETURN x, o
  UNION
  MATCH (x)-[n:SOLVER_NEW]->(t) USING INDEX n:SOLVER_NEW(round) WHERE $since <= n.round < $round
  MATCH (t)-[:SOLVER_GENERIC]->(o)
  RETURN x, o
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (x)-[:SOLVER_NEW]->(o)
  RETURN x, o
}
WITH x, o
WHERE (x:SolverWanted OR NOT o.tracked) AND NOT EXISTS { (x)-[:SOLVER_POINTS_TO]->(o) }
CALL (x, o) {
  CREATE (x)-[:SOLVER_POINTS_TO {round: $round}]->(o)
} IN TRANSACTIONS OF 20000 ROWS
