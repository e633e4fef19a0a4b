// title: What the program's arguments can influence
// description: The methods to which an argument of the command line may come, and the reflective calls that it decides there.
// group: provenance
// param $computed: boolean, default true: also by strings that are computed from it
// example $computed: false
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column method: where it may come
// column steps: flows on the way
// column sites: reflective calls of the method that it decides
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (i:InputSource {generation: g.number})
  WHERE i.inputKind = 'argument'
  RETURN i
}
CALL (i) {
  MATCH (i)-[:ENTERS]->(start:OpenString)
  MATCH way = (start)-[:FLOWS_TO*0..]->(p:OpenString)
  WHERE all(flow IN relationships(way) WHERE endNode(flow):OpenString AND (flow.kind = 'computed' AND $computed OR NOT endNode(flow):Input))
  RETURN p, min(length(way)) AS far
}
OPTIONAL MATCH (p)-[:OPERAND {name: 'name'}]->(s:ReflectiveSite)
WITH p.method AS key, min(far) AS steps, collect(DISTINCT s.name) AS sites
MATCH (m:Method {key: key})
WHERE m.application OR NOT $application
RETURN m.signature AS method, steps, sites
ORDER BY steps, method
LIMIT $limit
