// title: Arguments
// description: What is passed to a method comes to its parameters.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(y, x) :- Calls(s, m), Argument(s, i, y), Parameter(m, i, x).
MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $since <= c.round < $round
MATCH (s)-[a:SOLVER_ARGUMENT]->(y)
WHERE a.position < m.parameters
MATCH (m)-[:SOLVER_VARIABLE {position: a.position}]->(x)
WITH DISTINCT y, x
WHERE y <> x AND NOT EXISTS { (y)-[:SOLVER_ASSIGN]->(x) }
CALL (y, x) {
  CREATE (y)-[:SOLVER_ASSIGN {round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
