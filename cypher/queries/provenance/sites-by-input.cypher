// title: What input reaches reflective calls
// description: How many reflective calls each kind of input decides by their names.
// group: provenance
// param $computed: boolean, default false: also input from which strings are computed that decide
// example $computed: true
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// column kind: of the input
// column sites: how many reflective calls
// column inputs: how many calls bring it
// column names: some of the inputs
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE (s.application OR NOT $application)
  RETURN s
}
MATCH (operand:OpenString)-[:OPERAND {name: 'name'}]->(s)
WITH operand, collect(s.key) AS decided
CALL (operand) {
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Input)
  WHERE start:OpenString
    AND all(flow IN relationships(way) WHERE startNode(flow):OpenString AND (flow.kind = 'computed' AND $computed OR NOT endNode(flow):Input))
  WITH DISTINCT start
  MATCH (start)<-[:ENTERS]-(i:InputSource)
  RETURN i.inputKind AS kind, collect(i) AS found
}
WITH kind, collect(decided) AS decided, collect(found) AS found
CALL (decided) {
  UNWIND decided AS keys
  UNWIND keys AS site
  RETURN count(DISTINCT site) AS sites
}
CALL (found) {
  UNWIND found AS each
  UNWIND each AS i
  RETURN count(DISTINCT i) AS inputs, collect(DISTINCT CASE WHEN i.inputName <> '' THEN i.inputName END)[0..10] AS names
}
RETURN kind, sites, inputs, names
ORDER BY sites DESC, kind
