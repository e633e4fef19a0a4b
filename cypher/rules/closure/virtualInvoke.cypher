// title: Virtual calls
// description: A virtual call is made of what selection finds in the types of its receiver.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverSite)-[:SOLVER_CALLS]->(SolverMethod)
// formal: Calls(s, m) :- VirtualInvoke(s, y, g), HasType(y, t), Select(t, g, m).
CALL () {
  MATCH (y)-[h:SOLVER_HAS_TYPE]->(t) USING INDEX h:SOLVER_HAS_TYPE(round) WHERE $since <= h.round < $round
  MATCH (y)<-[:SOLVER_RECEIVER]-(s {kind: 'virtual'})
  MATCH (t)-[:SOLVER_SELECTS {signature: s.signature}]->(m)
  RETURN s, m
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'virtual'
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_HAS_TYPE]->(t)
  MATCH (t)-[:SOLVER_SELECTS {signature: s.signature}]->(m)
  RETURN s, m
}
WITH s, m
WHERE NOT EXISTS { (s)-[:SOLVER_CALLS]->(m) }
CALL (s, m) {
  CREATE (s)-[:SOLVER_CALLS {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
