// title: From one input to one reflective call
// description: A shortest way of one object from a call that returns input to a reflective call that it decides.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $source: string, required: the call that returns input, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $source: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@23
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@61
// column input: the call that returns it
// column kind: of the input
// column name: which input, if a constant says so
// column site: the reflective call
// column object: what goes that way
// column steps: flows on the way
// column flow: the pointers on the way, in order
// column path: for pictures
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:CallSite {generation: g.number, name: $site})
  WHERE s:ReflectiveSite
  RETURN s
  UNION
  MATCH (m:Method {generation: g.number, qualifiedName: split($site, ':')[0]})-[:CONTAINS]->(s:ReflectiveSite)
  WHERE toString(s.line) = split($site, ':')[1]
  RETURN s
}
CALL (g) {
  MATCH (i:CallSite {generation: g.number, name: $source})
  WHERE i:InputSource
  RETURN i
  UNION
  MATCH (m:Method {generation: g.number, qualifiedName: split($source, ':')[0]})-[:CONTAINS]->(i:InputSource)
  WHERE toString(i.line) = split($source, ':')[1]
  RETURN i
}
MATCH (i)-[:RETURNS_TO]->(start:Pointer)
MATCH (operand:Pointer)-[:OPERAND]->(s)
CALL (s, start) {
  MATCH (o:Object)-[:SOURCE {kind: 'unknown'}]->(s)
  WHERE EXISTS {(start)-[:POINTS_TO]->()-[:HOLDS]->(o)}
  RETURN o
  ORDER BY o.key
  LIMIT 1
}
CALL (g) {
  MATCH (:InputSource {generation: g.number})-[:RETURNS_TO]->(r:Pointer)
  RETURN collect(DISTINCT r) AS results
}
CALL (o) {
  MATCH (o)<-[:HOLDS]-(:ObjectSet)<-[:POINTS_TO]-(p:Pointer)
  RETURN collect(p) AS holders
}
MATCH path = SHORTEST 1 (start)((x)-[:FLOWS_TO]->(y) WHERE (y:SetField OR y IN holders) AND NOT y IN results){0,40}(operand)
RETURN i.name AS input, i.inputKind AS kind, i.inputName AS name, s.name AS site, o.name AS object, length(path) AS steps,
  [p IN nodes(path) | p.name] AS flow, path
ORDER BY input, site, steps
