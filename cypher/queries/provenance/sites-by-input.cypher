// title: What input reaches reflective calls
// description: How many reflective calls each kind of input decides.
// group: provenance
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// column kind: of the input
// column sites: how many reflective calls
// column inputs: how many calls return it
// column names: some of the inputs
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (:InputSource {generation: g.number})-[:RETURNS_TO]->(r:Pointer)
  RETURN collect(DISTINCT r) AS results
}
CALL (g) {
  MATCH (a:Object {generation: g.number, name: 'entry java.lang.String[]'})
  MATCH (a)<-[:HOLDS]-(:ObjectSet)<-[:POINTS_TO]-(p:Variable {index: 0})
  MATCH (m:Method {key: p.method})
  WHERE m.entryPoint AND m.application
  RETURN collect(DISTINCT a.key) AS arguments
}
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
CALL (s) {
  MATCH (o:Object)-[:SOURCE {kind: 'unknown'}]->(s)
  WHERE o.type = 'java.lang.String'
  RETURN count(o) AS objects
}
MATCH (operand:Pointer)-[:OPERAND {name: 'name'}]->(s)
WHERE objects > 0
CALL (operand, results, arguments) {
  MATCH way = (operand)<-[:FLOWS_TO*0..25]-(start:Pointer)
  WHERE all(flow IN relationships(way) WHERE NOT endNode(flow) IN results)
  WITH start, min(length(way)) AS steps
  WHERE start IN results OR start.base IN arguments
  OPTIONAL MATCH (start)<-[:RETURNS_TO]-(i:InputSource)
  RETURN start, steps, i
}
RETURN coalesce(i.inputKind, 'argument') AS kind, count(DISTINCT s) AS sites, count(DISTINCT i) AS inputs,
  collect(DISTINCT CASE WHEN i.inputName <> '' THEN i.inputName END)[0..10] AS names
ORDER BY sites DESC, kind
