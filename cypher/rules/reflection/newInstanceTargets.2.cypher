// title: New objects by constructors
// description: The constructors that `Constructor.newInstance` runs: those of classes that can be instantiated.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.4
// head: (SolverReflective)-[:SOLVER_NEW_INSTANCE_TARGET]->(SolverNamedMethod)
// formal: NewInstanceTarget(i, m) :- ConstructorCall(i, v, n, k), MethodAt(v, m), Creates(m), (n = 1 or not Inaccessible(m)), (k = -1 or Length(m, k)).
// Differs: The paper prints `Class.newInstance` in this rule, which the text before it corrects. Here and in the rule of `Method.invoke`, a member that takes more or fewer arguments than are passed isn't called.
CALL () {
  MATCH (v)-[c:SOLVER_METHOD_AT]->(m) USING INDEX c:SOLVER_METHOD_AT(round) WHERE $since <= c.round < $round
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  WHERE m.creates AND (n.trusted = 1 OR NOT m.inaccessible) AND n.length IN [-1, m.length]
  RETURN i, m
  UNION
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i) USING INDEX n:SOLVER_CONSTRUCTOR_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_METHOD_AT]->(m)
  WHERE m.creates AND (n.trusted = 1 OR NOT m.inaccessible) AND n.length IN [-1, m.length]
  RETURN i, m
}
WITH i, m
WHERE NOT EXISTS { (i)-[:SOLVER_NEW_INSTANCE_TARGET]->(m) }
CALL (i, m) {
  CREATE (i)-[:SOLVER_NEW_INSTANCE_TARGET {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
