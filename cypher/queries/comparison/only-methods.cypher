// title: Methods that only one run reaches
// description: The methods that may run according to one run and not according to the other.
// group: comparison
// param $other: string, required: the run that lacks them
// example $other: hsqldb:points-to
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column class: the declaring class
// column method: the method
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (:Current {name: $other})-[:IS]->(h:Generation)
  WHERE h.status = 'complete' OR $allowIncomplete
  RETURN h
}
CALL (g) {
  MATCH (m:Method {generation: g.number})
  WHERE m.reachable AND (m.application OR NOT $application)
  RETURN m
}
CALL (m, h) {
  OPTIONAL MATCH (n:Method {generation: h.number, signature: m.signature})
  WHERE n.reachable
  RETURN count(n) AS found
}
WITH m, found
WHERE found = 0
RETURN m.className AS class, m.signature AS method
ORDER BY class, method
LIMIT $limit
