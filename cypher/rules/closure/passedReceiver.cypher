// title: Results that are receivers
// description: A receiver that runs a method which always returns it comes to what takes the result of the call: the objects of its class.
// paper: Heliograph: arguments that are returned
// head: (SolverPointer)-[:SOLVER_CAST]->(SolverPointer)
// formal: Cast(y, t, x) :- Calls(s, m), ReturnsParameter(m, 0), DeclaredBy(m, t), Receiver(s, y), Result(s, x).
MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $since <= c.round < $round AND m.returns = 0
MATCH (s)-[:SOLVER_RESULT]->(x)
MATCH (s)-[:SOLVER_RECEIVER]->(y)
WHERE s.kind <> 'static'
WITH DISTINCT y, m.declaring AS type, x
WHERE y <> x AND NOT EXISTS { (y)-[:SOLVER_CAST {type: type}]->(x) }
CALL (y, type, x) {
  CREATE (y)-[:SOLVER_CAST {type: type, round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
