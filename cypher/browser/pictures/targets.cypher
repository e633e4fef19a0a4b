// title: What the call finds
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (s:ReflectiveSite {generation: g.number, name: $site})
MATCH path = (:Method)-[:CONTAINS]->(s)-[:RESOLVES_TO]->(:Class|Method|Field)
RETURN path
LIMIT 50
