// title: Results that are arguments
// description: What is passed to a method that returns always this parameter comes to what takes the result of its call.
// paper: Heliograph: arguments that are returned
// head: (SolverPointer)-[:SOLVER_ASSIGN]->(SolverPointer)
// formal: Assign(y, x) :- Calls(s, m), ReturnsParameter(m, i), Argument(s, i, y), Result(s, x), y no receiver.
MATCH (s)-[c:SOLVER_CALLS]->(m) USING INDEX c:SOLVER_CALLS(round) WHERE $since <= c.round < $round AND m.returns >= 0
MATCH (s)-[:SOLVER_RESULT]->(x)
MATCH (s)-[:SOLVER_ARGUMENT {position: m.returns}]->(y)
WHERE m.returns > 0 OR s.kind = 'static'
WITH DISTINCT y, x
WHERE y <> x AND NOT EXISTS { (y)-[:SOLVER_ASSIGN]->(x) }
CALL (y, x) {
  CREATE (y)-[:SOLVER_ASSIGN {round: $round}]->(x)
} IN TRANSACTIONS OF 20000 ROWS
