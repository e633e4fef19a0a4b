// title: New objects of classes
// description: The default constructors that `Class.newInstance` runs.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.3
// head: (SolverReflective)-[:SOLVER_NEW_INSTANCE_TARGET]->(SolverNamedMethod)
// formal: NewInstanceTarget(i, m) :- NewInstanceCall(i, v, n), ClassAt(v, t), DefaultConstructor(t, m), (n = 1 or not Inaccessible(m)).
// Differs: Here and in the rules below, a member that only the JDK may use is none that other code uses.
CALL () {
  MATCH (v)-[c:SOLVER_CLASS_AT]->(t) USING INDEX c:SOLVER_CLASS_AT(round) WHERE $since <= c.round < $round
  MATCH (v)-[n:SOLVER_NEW_INSTANCE_CALL]->(i)
  MATCH (t)-[:SOLVER_DEFAULT_CONSTRUCTOR]->(m)
  WHERE n.trusted = 1 OR NOT m.inaccessible
  RETURN i, m
  UNION
  MATCH (v)-[n:SOLVER_NEW_INSTANCE_CALL]->(i) USING INDEX n:SOLVER_NEW_INSTANCE_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (t)-[:SOLVER_DEFAULT_CONSTRUCTOR]->(m)
  WHERE n.trusted = 1 OR NOT m.inaccessible
  RETURN i, m
}
WITH i, m
WHERE NOT EXISTS { (i)-[:SOLVER_NEW_INSTANCE_TARGET]->(m) }
CALL (i, m) {
  CREATE (i)-[:SOLVER_NEW_INSTANCE_TARGET {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
