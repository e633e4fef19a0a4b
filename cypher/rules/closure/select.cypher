// title: Selection
// description: The method that a virtual call of a signature runs on an object of a type: that of the class or the next one above it, else the only most specific default.
// paper: The Java Virtual Machine Specification, 5.4.6
// head: (SolverType)-[:SOLVER_SELECTS]->(SolverMethod)
// formal: Select(t, g, m) :- VirtualInvoke(_, y, g), HasType(y, t), Selected(t, g, m).
CALL () {
  MATCH (y)-[h:SOLVER_HAS_TYPE]->(t) USING INDEX h:SOLVER_HAS_TYPE(round) WHERE $since <= h.round < $round
  MATCH (y)<-[:SOLVER_RECEIVER]-(s {kind: 'virtual'})
  RETURN t, s.signature AS signature
  UNION
  MATCH (s:SolverSite) USING INDEX s:SolverSite(round) WHERE $since <= s.round < $round AND s.kind = 'virtual'
  MATCH (s)-[:SOLVER_RECEIVER]->(y)
  MATCH (y)-[:SOLVER_HAS_TYPE]->(t)
  RETURN t, s.signature AS signature
}
WITH t, signature
WHERE NOT EXISTS { (t)-[:SOLVER_SELECTS {signature: signature}]->() }
CALL (t, signature) {
  OPTIONAL MATCH way = (t)-[:SOLVER_EXTENDS*0..]->(:SolverType)-[:SOLVER_DECLARES {signature: signature}]->(declared)
  WITH t, signature, declared ORDER BY length(way)
  WITH t, signature, collect(declared)[0] AS first
  CALL (t, signature, first) {
    WITH first WHERE first IS NOT NULL
    RETURN first AS m
    UNION
    WITH t, signature, first WHERE first IS NULL
    MATCH (t)-[:SOLVER_SUBTYPE_OF]->(i)-[:SOLVER_DECLARES {signature: signature}]->(default)
    WHERE i.interface AND NOT default.abstract AND NOT EXISTS {
      (t)-[:SOLVER_SUBTYPE_OF]->(j)-[:SOLVER_DECLARES {signature: signature}]->()
      WHERE j.interface AND j <> i AND EXISTS { (j)-[:SOLVER_SUBTYPE_OF]->(i) }
    }
    WITH collect(default) AS specific WHERE size(specific) = 1
    RETURN specific[0] AS m
  }
  RETURN m
}
WITH t, signature, m
WHERE NOT m.abstract
CALL (t, signature, m) {
  CREATE (t)-[:SOLVER_SELECTS {signature: signature}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
