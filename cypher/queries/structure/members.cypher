// title: What a class declares
// description: The methods and fields of a class.
// group: structure
// param $class: string, required: the class, as a.b.C or C
// example $class: org.hsqldb.server.Server
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column class: the class
// column member: method or field
// column name: its signature
// column reachable: whether a method may run
// column line: where a method begins
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number, name: $class})
  RETURN c
  UNION
  MATCH (c:Class {generation: g.number, simpleName: $class})
  RETURN c
}
MATCH (c)-[:DECLARES]->(member:Method|Field)
RETURN c.name AS class, CASE WHEN member:Method THEN 'method' ELSE 'field' END AS member,
  coalesce(member.signature, member.qualifiedName) AS name, member.reachable AS reachable, member.line AS line
ORDER BY class, member DESC, name
LIMIT $limit
