// title: Reflective calls with the most targets
// description: The reflective calls that reach the most classes, methods and fields.
// group: reflection
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// param $limit: integer, default 50: the most rows
// example $limit: 20
// column site: the call
// column line: of the call
// column api: the method of the API
// column status: resolved, partial or unresolved
// column targets: how many
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
WITH s, count {(s)-[:RESOLVES_TO]->()} AS targets
WHERE targets > 0
RETURN s.name AS site, s.line AS line, s.api AS api, s.status AS status, targets
ORDER BY targets DESC, site
LIMIT $limit
