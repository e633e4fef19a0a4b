// title: What names are computed from
// description: The input from which a string is computed that decides a reflective call, one computation back.
// group: provenance
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@61
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column site: the reflective call
// column computed: the call that computes the string
// column position: of the argument that is a part of it, 0 for the receiver
// column kind: of the input
// column name: which input, if a constant says so
// column input: the call that returns it
// column steps: flows from the input to the argument
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
MATCH (decides:Pointer)-[:OPERAND]->(s)
CALL (decides, results) {
  MATCH way = (decides)<-[:FLOWS_TO*0..25]-(result:Pointer)
  WHERE all(flow IN relationships(way) WHERE NOT endNode(flow) IN results)
  WITH DISTINCT result
  MATCH (result)<-[:RETURNS_TO]-(computed:InputSource {inputKind: 'computed string'})
  RETURN DISTINCT computed
}
MATCH (operand:Pointer)-[argument:ARGUMENT]->(computed)
CALL (operand, results, arguments) {
  MATCH way = (operand)<-[:FLOWS_TO*0..25]-(start:Pointer)
  WHERE all(flow IN relationships(way) WHERE NOT endNode(flow) IN results)
  WITH start, min(length(way)) AS steps
  WHERE start IN results OR start.base IN arguments
  OPTIONAL MATCH (start)<-[:RETURNS_TO]-(i:InputSource)
  RETURN start, steps, i
}
RETURN s.name AS site, computed.name AS computed, argument.position AS position, coalesce(i.inputKind, 'argument') AS kind, i.inputName AS name, i.name AS input, steps
ORDER BY site, computed, position, steps, kind, name, input
LIMIT $limit
