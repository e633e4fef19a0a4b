// title: Reflective calls by API
// description: How many calls each method of the reflection API has, by status.
// group: reflection
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// column api: the method of the API
// column sites: how many calls
// column resolved: all targets are known
// column partial: there may be others
// column unresolved: no target is known
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application OR NOT $application
  RETURN s
}
RETURN s.api AS api, count(*) AS sites, count(CASE s.status WHEN 'resolved' THEN 1 END) AS resolved,
  count(CASE s.status WHEN 'partial' THEN 1 END) AS partial, count(CASE s.status WHEN 'unresolved' THEN 1 END) AS unresolved
ORDER BY sites DESC, api
