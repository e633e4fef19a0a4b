// title: Results
// description: What a method returns comes to what takes the result of its call.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(y, x) :- Calls(s, m), Returns(m, y), Result(s, x).
MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $since <= c.round < $round AND m.returns < 0
MATCH (s)-[:SOLVER_RESULT]->(x)
MATCH (m)-[:SOLVER_VARIABLE {position: m.parameters}]->(y)
WITH DISTINCT y, x
WHERE y <> x AND NOT EXISTS { (y)-[:SOLVER_ASSIGN]->(x) }
CALL (y, x) {
  CREATE (y)-[:SOLVER_ASSIGN {round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
