// title: What a method overrides
// description: The methods of supertypes that a method overrides or implements.
// group: structure
// paper: JVMS 5.4.5
// param $method: string, required: the method, as a.b.C.m or a.b.C.m(I)V
// example $method: org.hsqldb.server.Server.notify
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column method: the overriding one
// column overridden: what it overrides
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (m:Method {generation: g.number, qualifiedName: $method})
  RETURN m
  UNION
  MATCH (m:Method {generation: g.number, signature: $method})
  RETURN m
}
MATCH (m)-[:OVERRIDES]->(overridden:Method)
RETURN m.signature AS method, overridden.signature AS overridden
ORDER BY method, overridden
LIMIT $limit
