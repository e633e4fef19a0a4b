// title: Who overrides a method
// description: The methods that override or implement a method, in any subtype.
// group: structure
// paper: JVMS 5.4.5
// param $method: string, required: the method, as a.b.C.m or a.b.C.m(I)V
// example $method: org.hsqldb.lib.Notified.notify
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column method: the overridden one
// column overrider: what overrides it
// column reachable: whether that may run
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (m:Method {generation: g.number, qualifiedName: $method})
  RETURN m
  UNION
  MATCH (m:Method {generation: g.number, signature: $method})
  RETURN m
}
MATCH (overrider:Method)-[:OVERRIDES]->(m)
RETURN m.signature AS method, overrider.signature AS overrider, overrider.reachable AS reachable
ORDER BY method, overrider
LIMIT $limit
