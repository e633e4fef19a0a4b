// title: Which packages call which
// description: The packages whose methods call those of other packages, with the number of calls.
// group: structure
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column package: the calling one
// column needs: the called one
// column calls: how many
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number})<-[:CONTAINS]-(p:Package)
  WHERE c.application OR NOT $application
  RETURN c, p
}
MATCH (c)-[:DECLARES]->(:Method)-[:CALLS]->(callee:Method)
WITH p, callee, count(*) AS calls
MATCH (callee)<-[:DECLARES]-(d:Class)<-[:CONTAINS]-(q:Package)
WHERE p <> q AND (d.application OR NOT $application)
RETURN p.name AS package, q.name AS needs, sum(calls) AS calls
ORDER BY calls DESC, package, needs
LIMIT $limit
