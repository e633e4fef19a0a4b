// title: From one input to one reflective call
// description: A shortest way from a call that brings input to a reflective call whose name it decides.
// group: provenance
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005
// param $source: string, required: the call that brings input, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $source: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@23
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.Routine.getMethods(Ljava/lang/String;)[Ljava/lang/reflect/Method;@61
// param $computed: boolean, default true: also input from which strings are computed that decide
// example $computed: false
// column input: the call that brings it
// column kind: of the input
// column name: which input, if a constant says so
// column site: the reflective call
// column steps: flows on the way
// column computations: how many of them are from a part of a string to the string
// column flow: the pointers on the way, in order
// column rules: those that derived something at the call
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
MATCH path = SHORTEST 1 (i)-[:ENTERS]->(:Input&OpenString)
  ((x)-[flow:FLOWS_TO]->(y:OpenString) WHERE flow.kind = 'computed' AND $computed OR NOT y:Input)*
  (:Pointer)-[:OPERAND {name: 'name'}]->(s)
RETURN i.name AS input, i.inputKind AS kind, i.inputName AS name, s.name AS site, length(path) - 2 AS steps,
  size([flow IN relationships(path) WHERE flow.kind = 'computed']) AS computations, [p IN nodes(path)[1..-1] | p.name] AS flow,
  COLLECT {MATCH (d:Derivation)-[:DERIVED_AT]->(s) RETURN DISTINCT d.rule AS rule ORDER BY rule} AS rules, path
ORDER BY input, site, steps
