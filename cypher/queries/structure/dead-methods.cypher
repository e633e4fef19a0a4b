// title: Dead code
// description: The methods of the application that can't run, by class.
// group: structure
// param $prefix: string, default '': only classes whose names begin with this
// example $prefix: org.hsqldb.lib
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column class: the declaring class
// column method: the method
// column line: where it begins
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number})
  WHERE c.name STARTS WITH $prefix AND c.application
  RETURN c
}
MATCH (c)-[:DECLARES]->(m:Method)
WHERE NOT m.reachable AND NOT m.abstract AND NOT m.synthetic
RETURN c.name AS class, m.signature AS method, m.line AS line
ORDER BY class, method
LIMIT $limit
