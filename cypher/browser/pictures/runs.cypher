// title: The runs in the graph
MATCH (c:Current)-[:IS]->(g:Generation)
RETURN c.name AS run, g.program AS program, g.mode AS mode, g.status AS status
ORDER BY g.number DESC
