// title: Which archives call which
// description: The archives whose methods call those of other archives, with the numbers of calls and of methods called.
// group: structure
// column archive: the calling one
// column needs: the called one
// column calls: how many
// column methods: how many of its methods are called
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number})<-[:CONTAINS]-(a:Archive)
  RETURN c, a
}
MATCH (c)-[:DECLARES]->(:Method)-[:CALLS]->(callee:Method)
WITH a, callee, count(*) AS calls
MATCH (callee)<-[:DECLARES]-(:Class)<-[:CONTAINS]-(b:Archive)
WHERE a <> b
RETURN a.name AS archive, b.name AS needs, sum(calls) AS calls, count(callee) AS methods
ORDER BY calls DESC, archive, needs
