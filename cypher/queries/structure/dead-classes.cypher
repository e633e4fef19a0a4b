// title: Classes nobody needs
// description: The classes of the application of which no method can run.
// group: structure
// param $prefix: string, default '': only classes whose names begin with this
// example $prefix: org.hsqldb
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column class: its name
// column methods: how many it declares with a body
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number})
  WHERE c.name STARTS WITH $prefix AND c.application
  RETURN c
}
MATCH (c)-[:DECLARES]->(m:Method)
WHERE NOT m.abstract AND NOT m.synthetic
WITH c, count(m) AS methods, count(CASE WHEN m.reachable THEN 1 END) AS running
WHERE running = 0
RETURN c.name AS class, methods
ORDER BY class
LIMIT $limit
