// title: Field objects
// description: The fields that the constant name of a `get[Declared]Field` call names.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.6
// head: (SolverReflective)-[:SOLVER_FIELD_OBJECT]->(SolverNamedField)
// formal: FieldObject(i, f) :- GetMember(i, 'field', d, v, w), ClassAt(v, t), StringAt(w, s), FindsField(t, d, f), NamedField(f, s).
// Differs: A class object at the receiver is required too.
CALL () {
  MATCH (v)-[c:SOLVER_CLASS_AT]->(t) USING INDEX c:SOLVER_CLASS_AT(round) WHERE $since <= c.round < $round
  MATCH (v)<-[:SOLVER_LOOKUP_CLASS]-(look {sort: 'field'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_NAME]->(w)
  MATCH (w)-[:SOLVER_STRING_AT]->(s)
  MATCH (t)-[:SOLVER_FINDS_FIELD {declared: look.declared}]->(f {name: s.text})
  RETURN i, f
  UNION
  MATCH (w)-[n:SOLVER_STRING_AT]->(s) USING INDEX n:SOLVER_STRING_AT(round) WHERE $since <= n.round < $round
  MATCH (w)<-[:SOLVER_LOOKUP_NAME]-(look {sort: 'field'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(v)
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (t)-[:SOLVER_FINDS_FIELD {declared: look.declared}]->(f {name: s.text})
  RETURN i, f
  UNION
  MATCH (look:SolverLookup) USING INDEX look:SolverLookup(round) WHERE $since <= look.round < $round AND look.sort = 'field'
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(v)
  MATCH (v)-[:SOLVER_CLASS_AT]->(t)
  MATCH (look)-[:SOLVER_LOOKUP_NAME]->(w)
  MATCH (w)-[:SOLVER_STRING_AT]->(s)
  MATCH (t)-[:SOLVER_FINDS_FIELD {declared: look.declared}]->(f {name: s.text})
  RETURN i, f
}
WITH i, f
WHERE NOT EXISTS { (i)-[:SOLVER_FIELD_OBJECT]->(f) }
CALL (i, f) {
  CREATE (i)-[:SOLVER_FIELD_OBJECT {round: $round}]->(f)
} IN TRANSACTIONS OF 20000 ROWS
