// title: Why one method calls another
// description: The calls from one method to another, and the rules that made those that reflection makes.
// group: provenance
// param $from: string, required: the calling method, as a.b.C.m or a.b.C.m(I)V
// example $from: org.hsqldb.resources.ResourceBundleHandler.getBundle
// param $to: string, required: the called method
// example $to: java.util.ResourceBundle.getBundle
// column caller: the calling method
// column callee: the called method
// column site: the call
// column line: of the call
// column declared: what the instruction names
// column kind: static, special, virtual, reflective or implicit
// column rule: what made a call that is no instruction
// column derived: the rule that found the called method there
// column paper: where the rule stands
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (a:Method {generation: g.number, qualifiedName: $from})
  RETURN a
  UNION
  MATCH (a:Method {generation: g.number, signature: $from})
  RETURN a
}
CALL (g) {
  MATCH (b:Method {generation: g.number, qualifiedName: $to})
  RETURN b
  UNION
  MATCH (b:Method {generation: g.number, signature: $to})
  RETURN b
}
MATCH (a)-[call:CALLS]->(b)
MATCH (s:CallSite {key: call.site})
OPTIONAL MATCH (s)<-[:DERIVED_AT]-(d:Derivation)
WHERE EXISTS {(d)-[:DERIVES]->(b)}
RETURN DISTINCT a.signature AS caller, b.signature AS callee, s.name AS site, s.line AS line, s.declared AS declared, call.kind AS kind,
  call.rule AS rule, d.rule AS derived, d.paper AS paper
ORDER BY caller, callee, site, kind, rule, derived
