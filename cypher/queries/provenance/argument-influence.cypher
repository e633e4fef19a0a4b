// title: What the program's arguments can influence
// description: The methods to which an argument of the command line may come, and the reflective calls that it decides there.
// group: provenance
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
  MATCH (:InputSource {generation: g.number})-[:RETURNS_TO]->(r:Pointer)
  RETURN collect(DISTINCT r) AS results
}
CALL (g) {
  MATCH (a:Object {generation: g.number, name: 'entry java.lang.String[]'})
  MATCH (a)<-[:HOLDS]-(:ObjectSet)<-[:POINTS_TO]-(p:Variable {index: 0})
  MATCH (m:Method {key: p.method})
  WHERE m.entryPoint AND m.application
  WITH DISTINCT a
  MATCH (start:ObjectField {base: a.key})
  RETURN start
}
CALL (start) {
  MATCH (start)-[:POINTS_TO]->()-[:HOLDS]->(o:Object {kind: 'entry'})
  MATCH (o)<-[:HOLDS]-(:ObjectSet)<-[:POINTS_TO]-(p:Pointer)
  RETURN collect(DISTINCT p) AS holders
}
MATCH way = (start)-[:FLOWS_TO*0..25]->(p:Pointer)
WHERE all(flow IN relationships(way) WHERE NOT endNode(flow) IN results)
  AND all(q IN nodes(way) WHERE q:SetField OR q IN holders)
WITH p, min(length(way)) AS far
OPTIONAL MATCH (p)-[:OPERAND]->(s:ReflectiveSite)
WITH p.method AS key, min(far) AS steps, collect(DISTINCT s.name) AS sites
MATCH (m:Method {key: key})
WHERE m.application OR NOT $application
RETURN m.signature AS method, steps, sites
ORDER BY steps, method
LIMIT $limit
