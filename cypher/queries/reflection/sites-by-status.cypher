// title: Reflective calls by status
// description: How many reflective calls are resolved, resolved in part and unresolved, and why.
// group: reflection
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// column status: resolved, partial or unresolved
// column reason: what is unknown, or why there is no target
// column sites: how many calls
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
RETURN s.status AS status, s.reason AS reason, count(*) AS sites
ORDER BY status, sites DESC, reason
