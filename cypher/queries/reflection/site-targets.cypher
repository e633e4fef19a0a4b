// title: What a reflective call reaches
// description: The classes, methods and fields that a reflective call finds, makes objects of, calls or accesses.
// group: reflection
// param $site: string, required: the reflective call, as a.b.C.m(I)V@OFFSET or a.b.C.m:LINE
// example $site: org.hsqldb.server.HsqlSocketFactory.newFactory(Ljava/lang/String;)Lorg/hsqldb/server/HsqlSocketFactory;@1
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column site: the call
// column api: the method of the API
// column status: resolved, partial or unresolved
// column kind: class, method or field
// column target: its name
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
MATCH (s)-[:RESOLVES_TO]->(target:Class|Method|Field)
RETURN s.name AS site, s.api AS api, s.status AS status,
  CASE WHEN target:Class THEN 'class' WHEN target:Method THEN 'method' ELSE 'field' END AS kind,
  coalesce(target.signature, target.qualifiedName, target.name) AS target
ORDER BY site, kind, target
LIMIT $limit
