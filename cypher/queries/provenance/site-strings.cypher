// title: The strings that reach a reflective call
// description: The string constants that may be the name at a reflective call, input left out.
// group: provenance
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@61
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column site: the call
// column text: the constant
// column known: whether the program has anything of that name
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
CALL (s) {
  MATCH (:Object)-[constant:SOURCE {kind: 'constant'}]->(s)
  RETURN constant.text AS text, true AS known
  UNION
  MATCH (operand:Pointer)-[:OPERAND {name: 'name'}]->(s)
  MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Pointer)
  WHERE all(flow IN relationships(way) WHERE NOT endNode(flow):Input)
  WITH DISTINCT start
  MATCH (t:Text)-[:STRING_CONSTANT]->(start)
  WHERE NOT EXISTS {(t)<-[:STANDS_FOR]-(:Object)}
  RETURN t.text AS text, false AS known
}
RETURN s.name AS site, text, known
ORDER BY site, known DESC, text
LIMIT $limit
