// title: From input to a reflective call
// description: How input from outside the program comes to what decides a reflective call: a shortest way from each source.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@61
// param $kind: string, default '': only this kind of input
// example $kind: computed string
// param $limit: integer, default 50: the most rows
// example $limit: 100
// column site: the call
// column kind: of the input
// column name: which input, if a constant says so
// column input: the call that returns it
// column steps: flows on the way
// column flow: the pointers on the way, in order
// column path: for pictures
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
  MATCH (s:CallSite {generation: g.number, name: $site})
  WHERE s:ReflectiveSite
  RETURN s
  UNION
  MATCH (m:Method {generation: g.number, qualifiedName: split($site, ':')[0]})-[:CONTAINS]->(s:ReflectiveSite)
  WHERE toString(s.line) = split($site, ':')[1]
  RETURN s
}
CALL (s) {
  MATCH (o:Object)-[:SOURCE {kind: 'unknown'}]->(s)
  RETURN collect(DISTINCT o) AS objects
}
MATCH (operand:Pointer)-[:OPERAND]->(s)
WHERE size(objects) > 0
CALL (operand, results, arguments) {
  MATCH way = (operand)<-[:FLOWS_TO*0..25]-(start:Pointer)
  WHERE all(flow IN relationships(way) WHERE NOT endNode(flow) IN results)
  WITH start, min(length(way)) AS steps
  WHERE start IN results OR start.base IN arguments
  OPTIONAL MATCH (start)<-[:RETURNS_TO]-(i:InputSource)
  RETURN start, steps, i
}
WITH s, objects, operand, results, start, steps, i
WHERE $kind = '' OR coalesce(i.inputKind, 'argument') = $kind
WITH *
ORDER BY steps, s.key, i.key, start.key
LIMIT $limit
MATCH path = SHORTEST 1 (start)((x)-[:FLOWS_TO]->(y) WHERE NOT y IN results){0,25}(operand)
WHERE any(o IN objects WHERE all(p IN nodes(path) WHERE p:SetField OR EXISTS {(p)-[:POINTS_TO]->()-[:HOLDS]->(o)}))
RETURN s.name AS site, coalesce(i.inputKind, 'argument') AS kind, i.inputName AS name, i.name AS input, steps, [p IN nodes(path) | p.name] AS flow, path
ORDER BY site, steps, kind, name, input
