// title: The program, where it uses reflection
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (s:ReflectiveSite {generation: g.number})
WHERE s.application
MATCH path = (:Package)-[:CONTAINS]->(:Class)-[:DECLARES]->(:Method)-[:CONTAINS]->(s)
RETURN path
ORDER BY s.name
LIMIT 100
