// title: What a method calls
// description: The methods that a method may call, and where each call stands.
// group: structure
// param $method: string, required: the method, as a.b.C.m or a.b.C.m(I)V
// example $method: org.hsqldb.server.Server.main
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column caller: the calling method, of which there may be several
// column line: of the call
// column callee: the called method
// column kind: static, special, virtual, reflective or implicit
// column rule: what made a call that is no instruction
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (m:Method {generation: g.number, qualifiedName: $method})
  RETURN m
  UNION
  MATCH (m:Method {generation: g.number, signature: $method})
  RETURN m
}
MATCH (m)-[call:CALLS]->(callee:Method)
RETURN m.signature AS caller, call.line AS line, callee.signature AS callee, call.kind AS kind, call.rule AS rule
ORDER BY caller, call.offset, callee, kind, rule
LIMIT $limit
