// title: What a class extends and implements
// description: The supertypes of a class or interface, direct or not.
// group: structure
// param $class: string, required: the class, as a.b.C or C
// example $class: org.hsqldb.server.Server
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column class: the subtype
// column supertype: the supertype
// column kind: class, interface, annotation, enum or array
// column direct: whether nothing lies between the two
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number, name: $class})
  RETURN c
  UNION
  MATCH (c:Class {generation: g.number, simpleName: $class})
  RETURN c
}
MATCH (c)-[:SUBTYPE_OF]->(super:Class)
RETURN c.name AS class, super.name AS supertype, super.kind AS kind, EXISTS {(c)-[:EXTENDS|IMPLEMENTS]->(super)} AS direct
ORDER BY class, supertype
LIMIT $limit
