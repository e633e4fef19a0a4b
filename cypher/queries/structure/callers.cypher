// title: Who calls a method
// description: The methods that may call a method, and where each call stands.
// group: structure
// param $method: string, required: the method, as a.b.C.m or a.b.C.m(I)V
// example $method: org.hsqldb.Database.close
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column caller: the calling method
// column callee: the called method, of which there may be several
// column kind: static, special, virtual, reflective or implicit
// column rule: what made a call that is no instruction
// column line: of the call
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (m:Method {generation: g.number, qualifiedName: $method})
  RETURN m
  UNION
  MATCH (m:Method {generation: g.number, signature: $method})
  RETURN m
}
MATCH (caller:Method)-[call:CALLS]->(m)
RETURN caller.signature AS caller, m.signature AS callee, call.kind AS kind, call.rule AS rule, call.line AS line
ORDER BY caller, callee, call.offset, kind, rule
LIMIT $limit
