// title: Where tracked objects are told apart
// description: The pointers that are watched, and those from which objects come to them.
// paper: Heliograph: tracked objects
// head: (SolverPointer:SolverWanted)
// formal: Wanted(y) :- Watch(y, _).
// formal: Wanted(y) :- Assign(y, x), Wanted(x).
// formal: Wanted(y) :- Cast(y, t, x), Wanted(x).
// formal: Wanted(y) :- Exclude(y, _, x), Wanted(x).
// formal: Wanted(y) :- GivesThis(y, m), Parameter(m, 0, x), Wanted(x).
CALL () {
  MATCH (w:SolverWatch) USING INDEX w:SolverWatch(round) WHERE $since <= w.round < $round
  MATCH (w)-[:SOLVER_WATCHES]->(y)
  RETURN y
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (y)-[:SOLVER_ASSIGN|SOLVER_CAST|SOLVER_EXCLUDE]->(x)
  RETURN y
  UNION
  MATCH (x:SolverWanted) USING INDEX x:SolverWanted(wanted) WHERE $since <= x.wanted < $round
  MATCH (y)-[:SOLVER_GIVES_THIS]->(:SolverMethod)-[:SOLVER_VARIABLE {position: 0}]->(x)
  RETURN y
  UNION
  MATCH (y)-[a:SOLVER_ASSIGN]->(x:SolverWanted) USING INDEX a:SOLVER_ASSIGN(round) WHERE $since <= a.round < $round
  RETURN y
  UNION
  MATCH (y)-[a:SOLVER_CAST]->(x:SolverWanted) USING INDEX a:SOLVER_CAST(round) WHERE $since <= a.round < $round
  RETURN y
  UNION
  MATCH (y)-[a:SOLVER_EXCLUDE]->(x:SolverWanted) USING INDEX a:SOLVER_EXCLUDE(round) WHERE $since <= a.round < $round
  RETURN y
  UNION
  MATCH (y)-[a:SOLVER_GIVES_THIS]->(m) USING INDEX a:SOLVER_GIVES_THIS(round) WHERE $since <= a.round < $round
  MATCH (m)-[:SOLVER_VARIABLE {position: 0}]->(:SolverWanted)
  RETURN y
}
WITH y
WHERE NOT y:SolverWanted
CALL (y) {
  SET y:SolverWanted, y.wanted = $round
} IN TRANSACTIONS OF 20000 ROWS
