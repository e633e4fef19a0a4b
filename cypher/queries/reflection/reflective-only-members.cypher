// title: Members that only reflection uses
// description: The methods that are called by reflective calls alone, and the fields that are accessed by them alone.
// group: reflection
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column member: method or field
// column name: its signature
// column sites: how many reflective calls use it
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (s:ReflectiveSite {generation: g.number})-[:RESOLVES_TO]->(target:Method|Field)
  WHERE s.role <> 'member' AND (target.application OR NOT $application)
  RETURN target, count(DISTINCT s) AS sites
}
WITH target, sites
WHERE NOT EXISTS {(target)<-[call:CALLS]-() WHERE call.kind <> 'reflective'} AND NOT EXISTS {(target)<-[:READS|WRITES]-()}
RETURN CASE WHEN target:Method THEN 'method' ELSE 'field' END AS member,
  coalesce(target.signature, target.qualifiedName) AS name, sites
ORDER BY member, name
LIMIT $limit
