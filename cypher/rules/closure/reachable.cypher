// title: Reachability
// description: The methods that are called may run.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1: calls
// head: (SolverMethod:SolverReachable)
// formal: Reachable(m) :- Calls(_, m).
MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $since <= c.round < $round
WITH DISTINCT m
WHERE NOT m:SolverReachable
CALL (m) {
  SET m:SolverReachable, m.reached = $round
} IN TRANSACTIONS OF 20000 ROWS
