// title: Reflective calls whose names come from outside, to choose from
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (s:ReflectiveSite {generation: g.number})<-[:OPERAND {name: 'name'}]-(:OpenString)
RETURN s.name AS site, s.api AS api, s.status AS status
ORDER BY s.application DESC, site
LIMIT 200
