// title: Reflective targets that only one run has
// description: The targets of reflective calls that one run has and the other lacks.
// group: comparison
// param $other: string, required: the run that lacks them
// example $other: hsqldb:points-to
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column site: the call
// column api: the method of the API
// column target: the class, method or field
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
CALL (s, h) {
  OPTIONAL MATCH (t:CallSite {generation: h.number, name: s.name})
  WHERE t.api = s.api
  OPTIONAL MATCH (t)-[:RESOLVES_TO]->(target:Class|Method|Field)
  RETURN collect(DISTINCT coalesce(target.signature, target.qualifiedName, target.name)) AS others
}
MATCH (s)-[:RESOLVES_TO]->(target:Class|Method|Field)
WITH s, others, coalesce(target.signature, target.qualifiedName, target.name) AS target
WHERE NOT target IN others
RETURN s.name AS site, s.api AS api, target
ORDER BY site, api, target
LIMIT $limit
