// title: The names and values that arrive at the call
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (s:ReflectiveSite {generation: g.number, name: $site})
MATCH path = (s)<-[:SOURCE]-(o:Object)
OPTIONAL MATCH text = (o)-[:STANDS_FOR]->(:Text)
RETURN path, text
LIMIT 50
