// title: Classes by casts of new objects
// description: The classes of unknown name that `Class.newInstance` makes objects of, which the casts of its result let pass.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.4.2
// head: (SolverReflective)-[:SOLVER_CLASS_OBJECT]->(SolverNamedClass)
// formal: ClassObject(ic, t) :- NewInstanceCall(i, v, _), UnknownAt(v, ic), ForName(ic, _, _), DefaultConstructor(t, _), for all ResultCast(i, tc, n): ConcreteSubtype(t, tc), (n = 0 or not Jdk(t)), not Encapsulated(t).
// Differs: `unresolved(ic)` of the paper is that a name which is no constant reaches ic, so partially resolved calls count as well; of t there are objects; and what i returns is cast on every way on which the method goes on.
CALL () {
  MATCH (v)-[u:SOLVER_UNKNOWN_AT]->(ic) USING INDEX u:SOLVER_UNKNOWN_AT(round) WHERE $since <= u.round < $round
  MATCH (v)-[:SOLVER_NEW_INSTANCE_CALL]->(i)
  RETURN i, ic
  UNION
  MATCH (v)-[n:SOLVER_NEW_INSTANCE_CALL]->(i) USING INDEX n:SOLVER_NEW_INSTANCE_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, ic
  UNION
  MATCH (i)-[c:SOLVER_RESULT_CAST]->() USING INDEX c:SOLVER_RESULT_CAST(round) WHERE $since <= c.round < $round
  MATCH (v)-[:SOLVER_NEW_INSTANCE_CALL]->(i)
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, ic
  UNION
  MATCH ()-[f:SOLVER_FOR_NAME]->(ic) USING INDEX f:SOLVER_FOR_NAME(round) WHERE $since <= f.round < $round
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ic)
  MATCH (v)-[:SOLVER_NEW_INSTANCE_CALL]->(i)
  RETURN i, ic
}
WITH i, ic
WHERE EXISTS { (ic)<-[:SOLVER_FOR_NAME]-() }
MATCH (i)-[c:SOLVER_RESULT_CAST]->(tc)
MATCH (t)-[:SOLVER_CONCRETE_SUBTYPE]->(tc)
WHERE (c.inside = 0 OR NOT t.jdk) AND NOT t.encapsulated AND EXISTS { (t)-[:SOLVER_DEFAULT_CONSTRUCTOR]->() } AND NOT EXISTS {
  (i)-[:SOLVER_RESULT_CAST]->(other) WHERE NOT EXISTS { (t)-[:SOLVER_CONCRETE_SUBTYPE]->(other) }
}
WITH DISTINCT ic, t
WHERE NOT EXISTS { (ic)-[:SOLVER_CLASS_OBJECT]->(t) }
CALL (ic, t) {
  CREATE (ic)-[:SOLVER_CLASS_OBJECT {round: $round}]->(t)
} IN TRANSACTIONS OF 20000 ROWS
