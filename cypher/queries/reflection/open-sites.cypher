// title: Reflective calls that are not resolved
// description: The reflective calls of which not all targets are known, by reason.
// group: reflection
// param $reason: string, default '': only those with this reason
// example $reason: unknown-name
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column reason: what is unknown
// column site: the call
// column line: of the call
// column api: the method of the API
// column status: partial or unresolved
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
WITH s
WHERE s.status <> 'resolved' AND ($reason = '' OR s.reason = $reason)
RETURN s.reason AS reason, s.name AS site, s.line AS line, s.api AS api, s.status AS status
ORDER BY reason, site
LIMIT $limit
