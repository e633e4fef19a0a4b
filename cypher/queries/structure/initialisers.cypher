// title: What initialises a class
// description: The methods with an instruction that triggers the initialisation of a class.
// group: structure
// paper: JVMS 5.5
// param $class: string, required: the class, as a.b.C or C
// example $class: org.hsqldb.server.Server
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column class: the class
// column method: the method
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number, name: $class})
  RETURN c
  UNION
  MATCH (c:Class {generation: g.number, simpleName: $class})
  RETURN c
}
MATCH (m:Method)-[:INITIALISES]->(c)
RETURN DISTINCT c.name AS class, m.signature AS method
ORDER BY class, method
LIMIT $limit
