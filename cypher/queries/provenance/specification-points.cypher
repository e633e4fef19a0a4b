// title: Where the unknown enters
// description: The calls by which unknown names enter the program, with the reflective calls that each decides: what a user would specify first.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column kind: of the input
// column name: which input, if a constant says so
// column input: the call that returns it
// column sites: how many reflective calls it decides
// column decides: their names
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
RETURN coalesce(i.inputKind, 'argument') AS kind, i.inputName AS name, i.name AS input, count(DISTINCT s) AS sites, collect(DISTINCT s.name) AS decides
ORDER BY sites DESC, kind, name, input
LIMIT $limit
