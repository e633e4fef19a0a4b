// title: What extends or implements a class
// description: The subtypes of a class or interface, direct or not.
// group: structure
// param $class: string, required: the class, as a.b.C or C
// example $class: org.hsqldb.types.Type
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column class: the supertype
// column subtype: the subtype
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
MATCH (sub:Class)-[:SUBTYPE_OF]->(c)
RETURN c.name AS class, sub.name AS subtype, sub.kind AS kind, EXISTS {(sub)-[:EXTENDS|IMPLEMENTS]->(c)} AS direct
ORDER BY class, subtype
LIMIT $limit
