// title: Reflective calls that differ
// description: The reflective calls of one run that the other lacks, or has with another status.
// group: comparison
// param $other: string, required: the run that lacks them
// example $other: hsqldb:points-to
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column site: the call
// column api: the method of the API
// column status: in the one run
// column other: the status in the other run; nothing if it lacks the call
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (:Current {name: $other})-[:IS]->(h:Generation)
  WHERE h.status = 'complete' OR $allowIncomplete
  RETURN h
}
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
OPTIONAL MATCH (t:CallSite {generation: h.number, name: s.name})
WHERE t.api = s.api
WITH s, collect(t.status) AS others
WHERE NOT s.status IN others
RETURN s.name AS site, s.api AS api, s.status AS status, others[0] AS other
ORDER BY site, api
LIMIT $limit
