// title: Two runs in numbers
// description: How many methods may run, and how many reflective calls have each status, in two runs.
// group: comparison
// param $other: string, required: the other run
// example $other: hsqldb:points-to
// column what: is counted
// column run: the number in the one run
// column other: the number in the other
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (:Current {name: $other})-[:IS]->(h:Generation)
  WHERE h.status = 'complete' OR $allowIncomplete
  RETURN h
}
UNWIND [[true, g.number], [false, h.number]] AS each
WITH each[0] AS first, each[1] AS number
CALL (number) {
  MATCH (m:Method {generation: number})
  WHERE m.reachable
  RETURN CASE WHEN m.application THEN 'methods of the application' ELSE 'methods of libraries' END AS what, count(*) AS found
  UNION ALL
  MATCH (s:ReflectiveSite {generation: number})
  WHERE s.application
  RETURN 'reflective calls: ' + s.status AS what, count(*) AS found
}
RETURN what, sum(CASE WHEN first THEN found ELSE 0 END) AS run, sum(CASE WHEN first THEN 0 ELSE found END) AS other
ORDER BY what
