// title: What names are computed from
// description: The parts of the strings that decide a reflective call: constants, and input by which a part enters, one computation back.
// group: provenance
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@61
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column site: the reflective call
// column computed: the call that computes the string
// column part: the pointer that holds a part of it
// column kind: constant, or the kind of input
// column name: the text of the constant; which input, if a constant says so
// column input: the call that brings it
// column steps: flows from there to the part
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
MATCH (operand:OpenString)-[:OPERAND {name: 'name'}]->(s)
CALL (operand) {
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(result:Input)
  WHERE all(flow IN relationships(way) WHERE startNode(flow):OpenString AND NOT endNode(flow):Input)
  WITH DISTINCT result
  MATCH (result)<-[:ENTERS]-(computed:InputSource)
  MATCH (result)<-[flow:FLOWS_TO {kind: 'computed'}]-(part:Pointer)
  RETURN DISTINCT computed, part
}
CALL (part) {
  MATCH (part)<-[:STRING_CONSTANT]-(t:Text)
  RETURN 'constant' AS kind, t.text AS name, null AS input, 0 AS steps
  UNION
  MATCH way = (part)<-[:FLOWS_TO*0..]-(start:Input)
  WHERE start:OpenString AND all(flow IN relationships(way) WHERE startNode(flow):OpenString AND NOT endNode(flow):Input)
  WITH start, min(length(way)) AS steps
  MATCH (start)<-[:ENTERS]-(i:InputSource)
  RETURN i.inputKind AS kind, i.inputName AS name, i.name AS input, steps
}
RETURN s.name AS site, computed.name AS computed, part.name AS part, kind, name, input, steps
ORDER BY site, computed, part, steps, kind, name, input
LIMIT $limit
