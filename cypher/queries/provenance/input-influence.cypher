// title: What an input can influence
// description: The methods to which a property, environment variable, resource or other input may come as a string, and the reflective calls that it decides there.
// group: provenance
// param $name: string, required: the name of the property, variable or resource, or the call that brings the input, as a.b.C.m:LINE
// example $name: java.system.class.loader
// param $computed: boolean, default true: also by strings that are computed from it
// example $computed: false
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column input: the call that brings it
// column kind: of the input
// column method: where it may come
// column steps: flows on the way
// column sites: reflective calls of the method that it decides
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (i:InputSource {generation: g.number})
  WHERE i.inputName = $name
  RETURN i
  UNION
  MATCH (m:Method {generation: g.number, qualifiedName: split($name, ':')[0]})-[:CONTAINS]->(i:InputSource)
  WHERE toString(i.line) = split($name, ':')[1]
  RETURN i
}
CALL (i) {
  MATCH (i)-[:ENTERS]->(start:OpenString)
  MATCH way = (start)-[:FLOWS_TO*0..]->(p:OpenString)
  WHERE all(flow IN relationships(way) WHERE endNode(flow):OpenString AND (flow.kind = 'computed' AND $computed OR NOT endNode(flow):Input))
  RETURN p, min(length(way)) AS far
}
OPTIONAL MATCH (p)-[:OPERAND {name: 'name'}]->(s:ReflectiveSite)
WITH i, p.method AS key, min(far) AS steps, collect(DISTINCT s.name) AS sites
MATCH (m:Method {key: key})
WHERE m.application OR NOT $application
RETURN i.name AS input, i.inputKind AS kind, m.signature AS method, steps, sites
ORDER BY input, steps, method
LIMIT $limit
