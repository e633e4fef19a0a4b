// title: Missing classes and who needs them
// description: The classes that no class file defines, with the application's methods that call into them or initialise them and the classes that extend them.
// group: structure
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column phantom: the missing class
// column need: call, initialisation, annotation or subtype
// column by: the method or class
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (p:Phantom {generation: g.number})
  RETURN collect(p.key) AS keys
}
CALL (g, keys) {
  MATCH (s:CallSite {generation: g.number})
  WHERE s.declaredType IN keys
  MATCH (p:Class {key: s.declaredType})
  MATCH (m:Method)-[:CONTAINS]->(s)
  RETURN p.name AS phantom, 'call' AS need, m.signature AS by
  UNION
  MATCH (p:Phantom {generation: g.number})<-[:INITIALISES]-(m:Method)
  RETURN p.name AS phantom, 'initialisation' AS need, m.signature AS by
  UNION
  MATCH (p:Phantom {generation: g.number})<-[:EXTENDS|IMPLEMENTS]-(c:Class)
  RETURN p.name AS phantom, 'subtype' AS need, c.name AS by
  UNION
  MATCH (p:Phantom {generation: g.number})<-[:ANNOTATED_BY]-(e:Class|Method|Field)
  RETURN p.name AS phantom, 'annotation' AS need, coalesce(e.signature, e.qualifiedName, e.name) AS by
}
RETURN phantom, need, by
ORDER BY phantom, need, by
LIMIT $limit
