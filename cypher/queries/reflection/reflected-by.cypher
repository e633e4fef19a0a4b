// title: Which reflective calls reach a class
// description: The reflective calls that reach a class or one of its members.
// group: reflection
// param $class: string, required: the class, as a.b.C or C
// example $class: org.hsqldb.server.HsqlSocketFactorySecure
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column target: the class or member
// column site: the call
// column line: of the call
// column api: the method of the API
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number, name: $class})
  RETURN c
  UNION
  MATCH (c:Class {generation: g.number, simpleName: $class})
  RETURN c
}
CALL (c) {
  MATCH (c)<-[:RESOLVES_TO]-(s:ReflectiveSite)
  RETURN c.name AS target, s
  UNION
  MATCH (c)-[:DECLARES]->(member:Method|Field)<-[:RESOLVES_TO]-(s:ReflectiveSite)
  RETURN coalesce(member.signature, member.qualifiedName) AS target, s
}
RETURN target, s.name AS site, s.line AS line, s.api AS api
ORDER BY target, site
LIMIT $limit
