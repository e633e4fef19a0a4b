// title: Exceptions of calls
// description: What a method throws comes to where its call throws.
// paper: The Java Virtual Machine Specification, 2.10
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(y, x) :- Calls(s, m), Throws(m, y), Thrown(s, x).
MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $since <= c.round < $round
MATCH (s)-[:SOLVER_THROWN]->(x)
MATCH (m)-[:SOLVER_VARIABLE {position: m.parameters + 1}]->(y)
WITH DISTINCT y, x
WHERE y <> x AND NOT EXISTS { (y)-[:SOLVER_ASSIGN]->(x) }
CALL (y, x) {
  CREATE (y)-[:SOLVER_ASSIGN {round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
