// title: The largest dispatches
// description: The calls that may lead to the most methods.
// group: structure
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $least: integer, default 2: leave out calls with fewer targets
// example $least: 10
// param $limit: integer, default 50: the most rows
// example $limit: 20
// column site: the call
// column line: of the call
// column declared: what the instruction names
// column targets: how many methods it may lead to
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:CallSite {generation: g.number})
  WHERE s.kind = 'virtual' AND (s.application OR NOT $application)
  RETURN s
}
WITH s, count {(s)-[:TARGETS]->()} AS targets
WHERE targets >= $least
RETURN s.name AS site, s.line AS line, s.declared AS declared, targets
ORDER BY targets DESC, site
LIMIT $limit
