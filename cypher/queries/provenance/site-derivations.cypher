// title: What rules derived at a reflective call
// description: The rows that rules derived at a reflective call, and what they went by.
// group: provenance
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.server.HsqlSocketFactory.newFactory(Ljava/lang/String;)Lorg/hsqldb/server/HsqlSocketFactory;@1
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column site: the call
// column rule: its name
// column relation: what it derived
// column target: the class, method or field
// column premises: constants and unknown values at the operands of the call
// column paper: where the rule stands
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
MATCH (d:Derivation)-[:DERIVED_AT]->(s)
OPTIONAL MATCH (d)-[:DERIVES]->(target:Class|Method|Field)
RETURN s.name AS site, d.rule AS rule, d.relation AS relation,
  coalesce(target.signature, target.qualifiedName, target.name) AS target,
  COLLECT {MATCH (o:Object)-[source:SOURCE]->(s) RETURN DISTINCT CASE source.kind WHEN 'constant' THEN source.text ELSE o.name END AS premise ORDER BY premise} AS premises,
  d.paper AS paper
ORDER BY site, rule, relation, target
LIMIT $limit
