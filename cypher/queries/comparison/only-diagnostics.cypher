// title: Diagnostics that only one run has
// description: The diagnostics that one run has and the other lacks.
// group: comparison
// param $other: string, required: the run that lacks them
// example $other: hsqldb:points-to
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column code: of the diagnostic
// column severity: note, warning or error
// column text: what is wrong
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (:Current {name: $other})-[:IS]->(h:Generation)
  WHERE h.status = 'complete' OR $allowIncomplete
  RETURN h
}
MATCH (d:Diagnostic {generation: g.number})
CALL (d, h) {
  OPTIONAL MATCH (e:Diagnostic {generation: h.number, code: d.code})
  WHERE e.text = d.text AND e.archive = d.archive AND e.entry = d.entry AND e.method = d.method
  RETURN count(e) AS found
}
WITH d, found
WHERE found = 0
RETURN d.code AS code, d.severity AS severity, d.text AS text
ORDER BY code, text
LIMIT $limit
