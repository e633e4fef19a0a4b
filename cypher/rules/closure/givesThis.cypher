// title: Generic receivers of virtual calls
// description: The receivers from which tracked objects come to a method, since its call runs that on the generic object of their type.
// paper: Heliograph: tracked objects
// head: (SolverPointer)-[:SOLVER_GIVES_THIS]->(SolverMethod)
// formal: GivesThis(y, m) :- VirtualInvoke(s, y, g), PointsTo(y, o), Generic(_, o), Type(o, t), Select(t, g, m).
CALL () {
  MATCH (y)-[p:SOLVER_POINTS_TO]->(o) USING INDEX p:SOLVER_POINTS_TO(round) WHERE $since <= p.round < $round AND o.generic
  MATCH (y)<-[:SOLVER_RECEIVER]-(s {kind: 'virtual'})
  MATCH (o)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_SELECTS {signature: s.signature}]->(m)
  RETURN y, m
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'virtual'
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_POINTS_TO]->(o)
  WHERE o.generic
  MATCH (o)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_SELECTS {signature: s.signature}]->(m)
  RETURN y, m
}
WITH y, m
WHERE NOT EXISTS { (y)-[:SOLVER_GIVES_THIS]->(m) }
CALL (y, m) {
  CREATE (y)-[:SOLVER_GIVES_THIS {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
