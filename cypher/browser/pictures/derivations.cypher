// title: The rules that were applied at the call, and what they went by
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
MATCH (s:ReflectiveSite {generation: g.number, name: $site})
MATCH path = (s)<-[:DERIVED_AT]-(d:Derivation)
OPTIONAL MATCH derived = (d)-[:DERIVES]->(:Class|Method|Field)
OPTIONAL MATCH operand = (s)<-[:OPERAND]-(:Pointer)
OPTIONAL MATCH premise = (s)<-[:SOURCE]-(:Object)
RETURN path, derived, operand, premise
LIMIT 50
