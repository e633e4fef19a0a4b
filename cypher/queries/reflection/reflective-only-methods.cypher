// title: Methods that only reflection reaches
// description: The methods of the application to which no chain of other than reflective calls leads from one of its entry points.
// group: reflection
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column class: the declaring class
// column method: the method
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (entry:Method {generation: g.number})
  WHERE entry.entryPoint AND entry.application
  CALL (entry) {
    MATCH way = (entry)-[:CALLS*0..]->(m)
    WHERE all(call IN relationships(way) WHERE call.kind <> 'reflective')
    RETURN m, min(length(way)) AS calls
  }
  RETURN collect(DISTINCT m) AS plain
}
MATCH (m:Method {generation: g.number})
WHERE m.application AND m.reachable AND NOT m IN plain
WITH m.className AS class, m.signature AS method, count(*) AS one
RETURN class, method
ORDER BY class, method
LIMIT $limit
