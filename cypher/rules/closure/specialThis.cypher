// title: Receivers of special calls
// description: All objects of the receiver of a special call come to its method.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(y, x) :- SpecialInvoke(s, y, m), HasType(y, _), Parameter(m, 0, x).
CALL () {
  MATCH (y)-[h:SOLVER_HAS_TYPE]->(t) USING INDEX h:SOLVER_HAS_TYPE(round) WHERE $since <= h.round < $round
  MATCH (y)<-[:SOLVER_RECEIVER]-(s {kind: 'special'})
  MATCH (s)-[:SOLVER_TARGET]->(:SolverMethod)-[:SOLVER_VARIABLE {position: 0}]->(x)
  RETURN y, x
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'special'
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_HAS_TYPE]->(t)
  MATCH (s)-[:SOLVER_TARGET]->(:SolverMethod)-[:SOLVER_VARIABLE {position: 0}]->(x)
  RETURN y, x
}
WITH y, x
WHERE y <> x AND NOT EXISTS { (y)-[:SOLVER_ASSIGN]->(x) }
CALL (y, x) {
  CREATE (y)-[:SOLVER_ASSIGN {round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
