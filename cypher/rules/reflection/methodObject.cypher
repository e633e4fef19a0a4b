// title: Method objects
// description: The candidates whose parameters may be those that the call names.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.5
// head: (SolverReflective)-[:SOLVER_METHOD_OBJECT]->(SolverNamedMethod)
// formal: MethodObject(i, m) :- Candidate(i, m), not ParameterClasses(i, _).
// formal: MethodObject(i, m) :- Candidate(i, m), ParameterClasses(i, n), Length(m, n), for all ParameterType(m, k, t): (ParameterClass(i, k, t) or ParameterClass(i, k, ANY)).
// Differs: The paper takes every method of that name; the parameter classes are required too where they are known.
CALL () {
  MATCH (i)-[c:SOLVER_CANDIDATE]->(m) USING INDEX c:SOLVER_CANDIDATE(round) WHERE $since <= c.round < $round
  RETURN i, m
  UNION
  MATCH (i)-[l:SOLVER_PARAMETER_CLASSES]->() USING INDEX l:SOLVER_PARAMETER_CLASSES(round) WHERE $since <= l.round < $round
  MATCH (i)-[:SOLVER_CANDIDATE]->(m)
  RETURN i, m
  UNION
  MATCH (i)-[p:SOLVER_PARAMETER_CLASS]->() USING INDEX p:SOLVER_PARAMETER_CLASS(round) WHERE $since <= p.round < $round
  MATCH (i)-[:SOLVER_CANDIDATE]->(m)
  RETURN i, m
}
WITH i, m
WHERE NOT EXISTS { (i)-[:SOLVER_METHOD_OBJECT]->(m) } AND (
  NOT EXISTS { (i)-[:SOLVER_PARAMETER_CLASSES]->() }
  OR EXISTS { (i)-[:SOLVER_PARAMETER_CLASSES {length: m.length}]->() } AND NOT EXISTS {
    (m)-[p:SOLVER_PARAMETER_TYPE]->(t) WHERE NOT EXISTS {
      (i)-[c:SOLVER_PARAMETER_CLASS {place: p.place}]->(u) WHERE u = t OR u.any
    }
  }
)
CALL (i, m) {
  CREATE (i)-[:SOLVER_METHOD_OBJECT {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
