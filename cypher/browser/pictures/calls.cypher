// title: How the program comes to the call
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (m:Method)-[:CONTAINS]->(s:ReflectiveSite {generation: g.number, name: $site})
CALL (m) {
  MATCH way = (m)<-[:CALLS*0..]-(entry:Method)
  WHERE entry.entryPoint
  RETURN entry, min(length(way)) AS calls
  ORDER BY entry.application DESC, calls
  LIMIT 1
}
MATCH path = SHORTEST 1 (entry)-[:CALLS]->*(m)
RETURN path, s
