// title: Receivers of virtual calls
// description: The objects on which a virtual call runs a method come to that.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_POINTS_TO]->(SolverObject)
// formal: PointsTo(x, o) :- VirtualInvoke(s, y, g), PointsTo(y, o), Type(o, t), Select(t, g, m), Parameter(m, 0, x), (not Tracked(o) or Wanted(x)).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round
  MATCH (y)<-[:SOLVER_RECEIVER]-(s {kind: 'virtual'})
  WITH DISTINCT o, s.signature AS signature
  MATCH (o)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_SELECTS {signature: signature}]->(m)-[:SOLVER_VARIABLE {position: 0}]->(x)
  RETURN x, o
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'virtual'
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WITH DISTINCT o, s.signature AS signature
  MATCH (o)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_SELECTS {signature: signature}]->(m)-[:SOLVER_VARIABLE {position: 0}]->(x)
  RETURN x, o
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (x)<-[:SOLVER_VARIABLE {position: 0}]-(m)<-[:SOLVER_CALLS]-(s {kind: 'virtual'})-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE o.tracked
  MATCH (o)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_SELECTS {signature: s.signature}]->(m)
  RETURN x, o
}
WITH x, o
WHERE (x:SolverWanted OR NOT o.tracked) AND NOT EXISTS { (x)-[:SOLVER_POINTS_TO]->(o) }
CALL (x, o) {
  CREATE (x)-[:SOLVER_POINTS_TO {round: $round}]->(o)
} IN TRANSACTIONS OF 20000 ROWS
