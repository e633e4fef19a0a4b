// title: What is unknown at reflective calls
// description: The unknown objects that arrive at reflective calls, with the place where each is made.
// group: provenance
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column object: what arrives
// column method: where it is made; nothing if the JVM or a model makes it
// column line: of the instruction
// column sites: how many reflective calls it reaches
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
MATCH (o:Object)-[:SOURCE {kind: 'unknown'}]->(s)
WITH o, count(DISTINCT s) AS sites
OPTIONAL MATCH (m:Method {key: o.method})
RETURN o.name AS object, m.signature AS method, o.line AS line, sites
ORDER BY sites DESC, object, method, line
LIMIT $limit
