// title: Types of receivers
// description: The types of the objects on which calls are made.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_HAS_TYPE]->(SolverType)
// formal: HasType(y, t) :- Receiver(s, y), PointsTo(y, o), Type(o, t).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
    AND EXISTS { (y)<-[:SOLVER_RECEIVER]-() }
  MATCH (o)-[:SOLVER_TYPE]->(t)
  RETURN y, t
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_POINTS_TO]->(:SolverObject)-[:SOLVER_TYPE]->(t)
  RETURN y, t
}
WITH y, t
WHERE NOT EXISTS { (y)-[:SOLVER_HAS_TYPE]->(t) }
CALL (y, t) {
  CREATE (y)-[:SOLVER_HAS_TYPE {round: $round}]->(t)
} IN TRANSACTIONS OF 20000 ROWS
