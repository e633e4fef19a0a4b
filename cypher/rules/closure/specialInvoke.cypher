// title: Special calls
// description: A special call is made of its method if there is an object.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverSite)-[:SOLVER_CALLS]->(SolverMethod)
// formal: Calls(s, m) :- SpecialInvoke(s, y, m), HasType(y, _).
CALL () {
  MATCH (y)-[h:SOLVER_HAS_TYPE]->(t) USING INDEX h:SOLVER_HAS_TYPE(round) WHERE $since <= h.round < $round
  MATCH (y)<-[:SOLVER_RECEIVER]-(s {kind: 'special'})
  MATCH (s)-[:SOLVER_TARGET]->(m)
  RETURN s, m
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'special'
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_HAS_TYPE]->(t)
  MATCH (s)-[:SOLVER_TARGET]->(m)
  RETURN s, m
}
WITH s, m
WHERE NOT EXISTS { (s)-[:SOLVER_CALLS]->(m) }
CALL (s, m) {
  CREATE (s)-[:SOLVER_CALLS {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
