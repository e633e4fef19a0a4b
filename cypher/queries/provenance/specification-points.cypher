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
// column input: the call that brings it
// column sites: how many reflective calls it decides
// column decides: their names
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE (s.application OR NOT $application)
  RETURN s
}
MATCH (operand:OpenString)-[:OPERAND {name: 'name'}]->(s)
CALL (operand) {
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Input)
  WHERE start:OpenString AND all(flow IN relationships(way) WHERE startNode(flow):OpenString AND NOT endNode(flow):Input)
  WITH DISTINCT start
  MATCH (start)<-[:ENTERS]-(i:InputSource)
  RETURN i
}
RETURN i.inputKind AS kind, i.inputName AS name, i.name AS input, count(DISTINCT s) AS sites, collect(DISTINCT s.name) AS decides
ORDER BY sites DESC, kind, name, input
LIMIT $limit
