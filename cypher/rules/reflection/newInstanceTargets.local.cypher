// title: New objects of classes of the method
// description: The default constructors that `Class.newInstance` runs if its classes are constants of its method.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 6.3
// head: (SolverReflective)-[:SOLVER_NEW_INSTANCE_TARGET]->(SolverNamedMethod)
// formal: NewInstanceTarget(i, m) :- NewInstanceCall(i, _, n), Local(i, v), ClassAt(v, t), DefaultConstructor(t, m), (n = 1 or not Inaccessible(m)).
CALL () {
  MATCH (v)-[c:SOLVER_CLASS_AT]->(t) USING INDEX c:SOLVER_CLASS_AT(round) WHERE $since <= c.round < $round
  MATCH (v)-[:SOLVER_LOCAL]->(i)
  MATCH (t)-[:SOLVER_DEFAULT_CONSTRUCTOR]->(m)
  WHERE EXISTS { (i)<-[n:SOLVER_NEW_INSTANCE_CALL]-() WHERE n.trusted = 1 OR NOT m.inaccessible }
  RETURN i, m
  UNION
  MATCH (v)-[l:SOLVER_LOCAL]->(i) USING INDEX l:SOLVER_LOCAL(round) WHERE $since <= l.round < $round
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (t)-[:SOLVER_DEFAULT_CONSTRUCTOR]->(m)
  WHERE EXISTS { (i)<-[n:SOLVER_NEW_INSTANCE_CALL]-() WHERE n.trusted = 1 OR NOT m.inaccessible }
  RETURN i, m
  UNION
  MATCH ()-[n:SOLVER_NEW_INSTANCE_CALL]->(i) USING INDEX n:SOLVER_NEW_INSTANCE_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_LOCAL]->(i)
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
