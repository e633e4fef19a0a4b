// title: Static calls
// description: A static call is made of its method.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverSite)-[:SOLVER_CALLS]->(SolverMethod)
// formal: Calls(s, m) :- StaticInvoke(s, m).
MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'static'
MATCH (s)-[:SOLVER_TARGET]->(m)
WITH s, m
WHERE NOT EXISTS { (s)-[:SOLVER_CALLS]->(m) }
CALL (s, m) {
  CREATE (s)-[:SOLVER_CALLS {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
