// title: Calls that only one run has
// description: The pairs of caller and callee that one run has and the other lacks.
// group: comparison
// param $other: string, required: the run that lacks them
// example $other: hsqldb:points-to
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column caller: the calling method
// column callee: the called method
// column kinds: how it is called
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (:Current {name: $other})-[:IS]->(h:Generation)
  WHERE h.status = 'complete' OR $allowIncomplete
  RETURN h
}
CALL (g) {
  MATCH (m:Method {generation: g.number})
  WHERE m.reachable AND (m.application OR NOT $application)
  RETURN m
}
CALL (m, h) {
  OPTIONAL MATCH (:Method {generation: h.number, signature: m.signature})-[:CALLS]->(callee:Method)
  RETURN collect(DISTINCT callee.signature) AS others
}
MATCH (m)-[call:CALLS]->(n:Method)
WHERE NOT n.signature IN others
RETURN m.signature AS caller, n.signature AS callee, collect(DISTINCT call.kind) AS kinds
ORDER BY caller, callee
LIMIT $limit
