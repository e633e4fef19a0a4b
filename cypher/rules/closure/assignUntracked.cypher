// title: Assignment of what is not tracked
// description: What is assigned without the objects that are told apart for reflection.
// paper: Heliograph: tracked objects
// head: (SolverPointer)-[:SOLVER_POINTS_TO]->(SolverObject)
// formal: PointsTo(x, o) :- AssignUntracked(y, x), PointsTo(y, o), not Tracked(o).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)-[a:SOLVER_ASSIGN_UNTRACKED]->(x)
  WHERE NOT o.tracked
  RETURN x, o
  UNION
  MATCH (y)-[a:SOLVER_ASSIGN_UNTRACKED]->(x) USING INDEX a:SOLVER_ASSIGN_UNTRACKED(round) WHERE $since <= a.round < $round
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE NOT o.tracked
  RETURN x, o
}
WITH x, o
WHERE (x:SolverWanted OR NOT o.tracked) AND NOT EXISTS { (x)-[:SOLVER_POINTS_TO]->(o) }
CALL (x, o) {
  CREATE (x)-[:SOLVER_POINTS_TO {round: $round}]->(o)
} IN TRANSACTIONS OF 20000 ROWS
