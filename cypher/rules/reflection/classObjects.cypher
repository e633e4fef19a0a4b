// title: Classes by name
// description: The classes that the constant names of `Class.forName` and `ClassLoader.loadClass` name.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.3
// head: (SolverReflective)-[:SOLVER_CLASS_OBJECT]->(SolverNamedClass)
// formal: ClassObject(i, t) :- ForName(i, v, _), StringAt(v, s), StringToClass(s, t).
CALL () {
  MATCH (v)-[n:SOLVER_STRING_AT]->(s) USING INDEX n:SOLVER_STRING_AT(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_FOR_NAME]->(i)
  MATCH (s)-[:SOLVER_STRING_TO_CLASS]->(t)
  RETURN i, t
  UNION
  MATCH (v)-[f:SOLVER_FOR_NAME]->(i) USING INDEX f:SOLVER_FOR_NAME(round) WHERE $since <= f.round < $round
  MATCH (v)-[:SOLVER_STRING_AT]->(s)
  MATCH (s)-[:SOLVER_STRING_TO_CLASS]->(t)
  RETURN i, t
}
WITH i, t
WHERE NOT EXISTS { (i)-[:SOLVER_CLASS_OBJECT]->(t) }
CALL (i, t) {
  CREATE (i)-[:SOLVER_CLASS_OBJECT {round: $round}]->(t)
} IN TRANSACTIONS OF 20000 ROWS
