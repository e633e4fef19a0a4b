// title: Classes by names of the method
// description: The classes that `Class.forName` finds if all its names are constants of its method.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 6.3
// head: (SolverReflective)-[:SOLVER_CLASS_OBJECT]->(SolverNamedClass)
// formal: ClassObject(i, t) :- ForName(i, _, _), Local(i, v), StringAt(v, s), StringToClass(s, t).
CALL () {
  MATCH (v)-[n:SOLVER_STRING_AT]->(s) USING INDEX n:SOLVER_STRING_AT(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_LOCAL]->(i)
  MATCH (s)-[:SOLVER_STRING_TO_CLASS]->(t)
  WHERE EXISTS { (i)<-[:SOLVER_FOR_NAME]-() }
  RETURN i, t
  UNION
  MATCH (v)-[l:SOLVER_LOCAL]->(i) USING INDEX l:SOLVER_LOCAL(round) WHERE $since <= l.round < $round
  MATCH (v)-[:SOLVER_STRING_AT]->(s)
  MATCH (s)-[:SOLVER_STRING_TO_CLASS]->(t)
  WHERE EXISTS { (i)<-[:SOLVER_FOR_NAME]-() }
  RETURN i, t
  UNION
  MATCH ()-[f:SOLVER_FOR_NAME]->(i) USING INDEX f:SOLVER_FOR_NAME(round) WHERE $since <= f.round < $round
  MATCH (v)-[:SOLVER_LOCAL]->(i)
  MATCH (v)-[:SOLVER_STRING_AT]->(s)
  MATCH (s)-[:SOLVER_STRING_TO_CLASS]->(t)
  RETURN i, t
}
WITH i, t
WHERE NOT EXISTS { (i)-[:SOLVER_CLASS_OBJECT]->(t) }
CALL (i, t) {
  CREATE (i)-[:SOLVER_CLASS_OBJECT {round: $round}]->(t)
} IN TRANSACTIONS OF 20000 ROWS
