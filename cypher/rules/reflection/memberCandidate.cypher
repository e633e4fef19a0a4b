// title: Methods by name
// description: The methods of a class that the constant name of a `get[Declared]Method` call names, whatever their parameters.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.5
// head: (SolverReflective)-[:SOLVER_CANDIDATE]->(SolverNamedMethod)
// formal: Candidate(i, m) :- GetMember(i, 'method', d, v, w), ClassAt(v, t), StringAt(w, s), FindsMethod(t, d, m), NamedMethod(m, s).
// Differs: The paper takes every method of that name; a class object at the receiver is required too.
CALL () {
  MATCH (v)-[c:SOLVER_CLASS_AT]->(t) USING INDEX c:SOLVER_CLASS_AT(round) WHERE $since <= c.round < $round
  MATCH (v)<-[:SOLVER_LOOKUP_CLASS]-(look {sort: 'method'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_NAME]->(w)
  MATCH (w)-[:SOLVER_STRING_AT]->(s)
  MATCH (t)-[:SOLVER_FINDS_METHOD {declared: look.declared}]->(m {name: s.text})
  RETURN i, m
  UNION
  MATCH (w)-[n:SOLVER_STRING_AT]->(s) USING INDEX n:SOLVER_STRING_AT(round) WHERE $since <= n.round < $round
  MATCH (w)<-[:SOLVER_LOOKUP_NAME]-(look {sort: 'method'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(v)
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (t)-[:SOLVER_FINDS_METHOD {declared: look.declared}]->(m {name: s.text})
  RETURN i, m
  UNION
  MATCH (look:SolverLookup) USING INDEX look:SolverLookup(round) WHERE $since <= look.round < $round AND look.sort = 'method'
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(v)
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (look)-[:SOLVER_LOOKUP_NAME]->(w)
  MATCH (w)-[:SOLVER_STRING_AT]->(s)
  MATCH (t)-[:SOLVER_FINDS_METHOD {declared: look.declared}]->(m {name: s.text})
  RETURN i, m
}
WITH i, m
WHERE NOT EXISTS { (i)-[:SOLVER_CANDIDATE]->(m) }
CALL (i, m) {
  CREATE (i)-[:SOLVER_CANDIDATE {round: $round}]->(m)
} IN TRANSACTIONS OF 20000 ROWS
