// title: Packages that need each other
// description: The pairs of packages whose methods call each other, the lopsided ones first.
// group: structure
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column package: the one that calls less
// column other: the one that calls more
// column calls: from the package to the other
// column back: from the other to the package
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
WITH p, q, sum(calls) AS calls
WITH CASE WHEN p.name < q.name THEN [p, q] ELSE [q, p] END AS pair,
  collect({from: p.name, to: q.name, calls: calls}) AS ways
WHERE size(ways) = 2
WITH CASE WHEN ways[0].calls > ways[1].calls OR ways[0].calls = ways[1].calls AND ways[0].from > ways[1].from
  THEN reverse(ways) ELSE ways END AS ways
RETURN ways[0].from AS package, ways[0].to AS other, ways[0].calls AS calls, ways[1].calls AS back
ORDER BY toFloat(calls) / back, package, other
LIMIT $limit
