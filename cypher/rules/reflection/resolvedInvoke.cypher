// title: Invoked methods
// description: The methods that `Method.invoke` calls.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.5
// head: (SolverReflective)-[:SOLVER_RESOLVED_INVOKE]->(SolverNamedMethod)
// formal: ResolvedInvoke(i, m) :- InvokeCall(i, v, n, k), MethodAt(v, m), not NamedMethod(m, '<init>'), (n = 1 or not Inaccessible(m)), (k = -1 or Length(m, k)).
CALL () {
  MATCH (v)-[o:SOLVER_METHOD_AT]->(m) USING INDEX o:SOLVER_METHOD_AT(round) WHERE $since <= o.round < $round
  MATCH (v)-[n:SOLVER_INVOKE_CALL]->(i)
  WHERE m.name <> '<init>' AND (n.trusted = 1 OR NOT m.inaccessible) AND n.length IN [-1, m.length]
  RETURN i, m
  UNION
  MATCH (v)-[n:SOLVER_INVOKE_CALL]->(i) USING INDEX n:SOLVER_INVOKE_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_METHOD_AT]->(m)
  WHERE m.name <> '<init>' AND (n.trusted = 1 OR NOT m.inaccessible) AND n.length IN [-1, m.length]
  RETURN i, m
}
WITH i, m
WHERE NOT EXISTS { (i)-[:SOLVER_RESOLVED_INVOKE]->(m) }
CALL (i, m) {
  CREATE (i)-[:SOLVER_RESOLVED_INVOKE {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
