// title: From input to Method.invoke
// description: How input from outside the program decides which method is invoked: a shortest way from each source to the call that looks up the method, or its class.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $kind: string, default '': only this kind of input
// example $kind: computed string
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// param $limit: integer, default 100: the most rows
// example $limit: 100
// column site: the call of Method.invoke
// column through: the call that looks up the method or the class by the input
// column kind: of the input
// column name: which input, if a constant says so
// column input: the call that returns it
// column steps: flows on the way
// column flow: the pointers on the way, in order
// column path: for pictures
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.role = 'invoke' AND (s.application OR NOT $application)
  RETURN s
}
MATCH (subject:Pointer)-[:OPERAND {name: 'subject'}]->(s)
CALL (subject) {
  MATCH (subject)<-[:FLOWS_TO*0..25]-(found:Pointer)
  WITH DISTINCT found
  MATCH (found)<-[:RETURNS_TO]-(member:ReflectiveSite {role: 'member'})
  MATCH (subject)-[:POINTS_TO]->()-[:HOLDS]->(o:MethodObject|UnknownObject)
  WHERE EXISTS {(found)-[:POINTS_TO]->()-[:HOLDS]->(o)}
  RETURN DISTINCT member
}
CALL (member) {
  RETURN member AS through
  UNION
  MATCH (class:Pointer)-[:OPERAND {name: 'subject'}]->(member)
  CALL (class) {
    MATCH (class)<-[:FLOWS_TO*0..25]-(named:Pointer)
    WITH DISTINCT named
    MATCH (named)<-[:RETURNS_TO]-(through:ReflectiveSite {role: 'class-by-name'})
    MATCH (class)-[:POINTS_TO]->()-[:HOLDS]->(o:ClassObject|UnknownObject)
    WHERE EXISTS {(named)-[:POINTS_TO]->()-[:HOLDS]->(o)}
    RETURN DISTINCT through
  }
  RETURN through
}
WITH g, collect(DISTINCT [s, through]) AS pairs
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
UNWIND pairs AS pair
WITH results, arguments, pair[0] AS s, pair[1] AS through
CALL (through) {
  MATCH (o:Object)-[:SOURCE {kind: 'unknown'}]->(through)
  RETURN collect(DISTINCT o) AS objects
}
MATCH (operand:Pointer)-[:OPERAND {name: 'name'}]->(through)
WHERE size(objects) > 0
CALL (operand, results, arguments) {
  MATCH way = (operand)<-[:FLOWS_TO*0..25]-(start:Pointer)
  WHERE all(flow IN relationships(way) WHERE NOT endNode(flow) IN results)
  WITH start, min(length(way)) AS steps
  WHERE start IN results OR start.base IN arguments
  OPTIONAL MATCH (start)<-[:RETURNS_TO]-(i:InputSource)
  RETURN start, steps, i
}
WITH s, through, objects, operand, results, start, steps, i
WHERE $kind = '' OR coalesce(i.inputKind, 'argument') = $kind
WITH *
ORDER BY steps, s.key, through.key, i.key, start.key
LIMIT $limit
MATCH path = SHORTEST 1 (start)((x)-[:FLOWS_TO]->(y) WHERE NOT y IN results){0,25}(operand)
WHERE any(o IN objects WHERE all(p IN nodes(path) WHERE p:SetField OR EXISTS {(p)-[:POINTS_TO]->()-[:HOLDS]->(o)}))
RETURN s.name AS site, through.name AS through, coalesce(i.inputKind, 'argument') AS kind, i.inputName AS name, i.name AS input, steps,
  [p IN nodes(path) | p.name] AS flow, path
ORDER BY site, through, steps, kind, name, input
