// title: From input to Method.invoke
// description: How input from outside the program decides which method is invoked: a shortest way from each source to the call that looks up the method, or its class.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $kind: string, default '': only this kind of input
// example $kind: computed string
// param $computed: boolean, default true: also input from which strings are computed that decide
// example $computed: false
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// param $limit: integer, default 100: the most rows
// example $limit: 100
// column site: the call of Method.invoke
// column through: the call that looks up the method or the class by the input
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
  WHERE s.role = 'invoke' AND (s.application OR NOT $application)
  RETURN s
}
CALL (s) {
  MATCH (s)(()<-[:SOURCE {kind: 'unknown'}]-(:UnknownObject)-[:MADE_BY]->(:ReflectiveSite)){0,2}(through:ReflectiveSite)
  RETURN DISTINCT through
}
MATCH (operand:OpenString)-[:OPERAND {name: 'name'}]->(through)
CALL (operand) {
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Input)
  WHERE start:OpenString
    AND all(flow IN relationships(way) WHERE startNode(flow):OpenString AND (flow.kind = 'computed' AND $computed OR NOT endNode(flow):Input))
  WITH start, min(length(way)) AS steps
  MATCH (start)<-[:ENTERS]-(i:InputSource)
  RETURN i, min(steps) AS steps
}
WITH s, through, i, steps
WHERE $kind = '' OR i.inputKind = $kind
ORDER BY steps, s.key, through.key, i.key
LIMIT $limit
MATCH path = SHORTEST 1 (i)-[:ENTERS]->(:Input&OpenString)
  ((x)-[flow:FLOWS_TO]->(y:OpenString) WHERE flow.kind = 'computed' AND $computed OR NOT y:Input)*
  (:Pointer)-[:OPERAND {name: 'name'}]->(through)
RETURN s.name AS site, through.name AS through, i.inputKind AS kind, i.inputName AS name, i.name AS input, length(path) - 2 AS steps,
  size([flow IN relationships(path) WHERE flow.kind = 'computed']) AS computations, [p IN nodes(path)[1..-1] | p.name] AS flow,
  COLLECT {MATCH (d:Derivation)-[:DERIVED_AT]->(s) RETURN DISTINCT d.rule AS rule ORDER BY rule} AS rules, path
ORDER BY site, through, steps, kind, name, input
