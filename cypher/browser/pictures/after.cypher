// title: Reflective calls in the same method, and what they reach
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (m:Method)-[:CONTAINS]->(:ReflectiveSite {generation: g.number, name: $site})
MATCH path = (m)-[:CONTAINS]->(:ReflectiveSite)
OPTIONAL MATCH call = (m)-[:CALLS {kind: 'reflective'}]->(:Method)
RETURN path, call
LIMIT 50
