// title: From string constants to Class.forName
// description: How a string constant becomes the name of a class that is looked up: a shortest way of each constant to each such call.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 100: the most rows
// example $limit: 100
// column site: the call that looks up a class
// column text: the constant
// column steps: flows on the way
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
MATCH (operand:Pointer)-[:OPERAND {name: 'name'}]->(s)
CALL (s, operand) {
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Pointer)
  WHERE all(flow IN relationships(way) WHERE flow.kind <> 'computed')
  WITH start, min(length(way)) AS far
  MATCH (start)<-[:STRING_CONSTANT]-(t:Text)<-[:STANDS_FOR]-(o:StringObject)
  WHERE EXISTS {(o)-[:SOURCE {kind: 'constant'}]->(s)}
  RETURN t, o, min(far) AS far
}
WITH s, t, o, far
ORDER BY far, s.key, t.key
LIMIT $limit
MATCH path = SHORTEST 1 (t)-[:STRING_CONSTANT]->(:Pointer)
  ((x)-[:FLOWS_TO]->(y) WHERE y:SetField OR EXISTS {(y)-[:POINTS_TO]->()-[:HOLDS]->(o)})*
  (:Pointer)-[:OPERAND {name: 'name'}]->(s)
RETURN s.name AS site, t.text AS text, length(path) - 2 AS steps, [p IN nodes(path)[1..-1] | p.name] AS flow,
  COLLECT {MATCH (d:Derivation)-[:DERIVED_AT]->(s) RETURN DISTINCT d.rule AS rule ORDER BY rule} AS rules, path
ORDER BY site, steps, text
