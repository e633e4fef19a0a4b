// title: How the program comes to the call
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (m:Method)-[:CONTAINS]->(s:ReflectiveSite {generation: g.number, name: $site})
MATCH path = SHORTEST 1 (entry:Method)((a)-[:CALLS]->(b:Method WHERE NOT b.entryPoint)){0,30}(m)
WHERE entry.entryPoint AND entry.generation = g.number
RETURN path, s
