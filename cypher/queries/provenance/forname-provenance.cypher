// title: From input to Class.forName
// description: How input from outside the program becomes the name of a class that is looked up: a shortest way from each source to each such call.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $kind: string, default '': only this kind of input
// example $kind: computed string
// param $computed: boolean, default true: also input from which strings are computed that decide
// example $computed: false
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 100: the most rows
// example $limit: 100
// column site: the call that looks up a class
// column kind: of the input
// column name: which input, if a constant says so
// column input: the call that brings it
// column steps: flows on the way
// column computations: how many of them are from a part of a string to the string
// column flow: the pointers on the way, in order
// column rules: those that derived something at the call
// column path: for pictures
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.role = 'class-by-name' AND (s.application OR NOT $application)
  RETURN s
}
MATCH (operand:OpenString)-[:OPERAND {name: 'name'}]->(s)
CALL (operand) {
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Input)
  WHERE start:OpenString
    AND all(flow IN relationships(way) WHERE startNode(flow):OpenString AND (flow.kind = 'computed' AND $computed OR NOT endNode(flow):Input))
  WITH start, min(length(way)) AS steps
  MATCH (start)<-[:ENTERS]-(i:InputSource)
  RETURN i, min(steps) AS steps
}
WITH s, i, steps
WHERE $kind = '' OR i.inputKind = $kind
ORDER BY steps, s.key, i.key
LIMIT $limit
MATCH path = SHORTEST 1 (i)-[:ENTERS]->(:Input&OpenString)
  ((x)-[flow:FLOWS_TO]->(y:OpenString) WHERE flow.kind = 'computed' AND $computed OR NOT y:Input)*
  (:Pointer)-[:OPERAND {name: 'name'}]->(s)
RETURN s.name AS site, i.inputKind AS kind, i.inputName AS name, i.name AS input, length(path) - 2 AS steps,
  size([flow IN relationships(path) WHERE flow.kind = 'computed']) AS computations, [p IN nodes(path)[1..-1] | p.name] AS flow,
  COLLECT {MATCH (d:Derivation)-[:DERIVED_AT]->(s) RETURN DISTINCT d.rule AS rule ORDER BY rule} AS rules, path
ORDER BY site, steps, kind, name, input
