// title: Constructors of classes
// description: The constructors of the classes on which `get[Declared]Constructor` is called, whatever their parameters.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.4
// head: (SolverReflective)-[:SOLVER_CANDIDATE]->(SolverNamedMethod)
// formal: Candidate(i, m) :- GetMember(i, 'constructor', d, v, _), ClassAt(v, t), FindsConstructor(t, d, m).
CALL () {
  MATCH (v)-[c:SOLVER_CLASS_AT]->(t) USING INDEX c:SOLVER_CLASS_AT(round) WHERE $since <= c.round < $round
  MATCH (v)<-[:SOLVER_LOOKUP_CLASS]-(look {sort: 'constructor'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (t)-[:SOLVER_FINDS_CONSTRUCTOR {declared: look.declared}]->(m)
  RETURN i, m
  UNION
  MATCH (look:SolverLookup) USING INDEX look:SolverLookup(round) WHERE $since <= look.round < $round AND look.sort = 'constructor'
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(v)
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (t)-[:SOLVER_FINDS_CONSTRUCTOR {declared: look.declared}]->(m)
  RETURN i, m
}
WITH i, m
WHERE NOT EXISTS { (i)-[:SOLVER_CANDIDATE]->(m) }
CALL (i, m) {
  CREATE (i)-[:SOLVER_CANDIDATE {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
