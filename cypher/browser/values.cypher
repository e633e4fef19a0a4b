MATCH (:Current)-[:IS]->(g:Generation)
WHERE g.status = 'complete'
WITH g ORDER BY g.number DESC LIMIT 1
OPTIONAL MATCH (:Current)-[:IS]->(h:Generation)
WHERE h <> g
WITH g, h ORDER BY h.number DESC LIMIT 1
CALL (g) {
  OPTIONAL MATCH (s:ReflectiveSite {generation: g.number})
  WHERE s.application
  RETURN s
  ORDER BY s.role = 'class-by-name' DESC, EXISTS {(:OpenString)-[:OPERAND]->(s)} DESC, s.name
  LIMIT 10
}
CALL (s) {
  OPTIONAL MATCH (operand:OpenString)-[:OPERAND {name: 'name'}]->(s)
  OPTIONAL MATCH way = (operand)<-[:FLOWS_TO*0..]-(start:Input)
  WHERE start:OpenString
    AND all(flow IN relationships(way) WHERE startNode(flow):OpenString AND (flow.kind = 'computed' OR NOT endNode(flow):Input))
  WITH start, min(length(way)) AS steps
  OPTIONAL MATCH (start)<-[:ENTERS]-(i:InputSource)
  WITH i, steps, i.inputKind <> 'computed string' AS outside
  RETURN i, steps, outside
  ORDER BY i.application DESC, outside DESC, steps, i.name
  LIMIT 1
}
WITH g, h, s, i, steps, outside
ORDER BY s.role = 'class-by-name' DESC, coalesce(i.application, false) DESC, coalesce(outside, false) DESC, steps, s.name
LIMIT 1
OPTIONAL MATCH (c:Class)-[:DECLARES]->(:Method)-[:CONTAINS]->(s)
CALL (g) {
  OPTIONAL MATCH (n:InputSource {generation: g.number})
  WHERE n.inputName <> ''
  RETURN n
  ORDER BY n.application DESC, n.name
  LIMIT 1
}
CALL (g) {
  OPTIONAL MATCH (from:Method {generation: g.number})-[call:CALLS]->(to:Method)
  WHERE from.application
  RETURN from, to
  ORDER BY call.kind = 'reflective' DESC, to.application DESC, from.signature, to.signature
  LIMIT 1
}
CALL (g) {
  OPTIONAL MATCH (f:Field {generation: g.number})
  WHERE f.application
  RETURN f
  ORDER BY EXISTS {(:Method)-[:WRITES]->(f)} DESC, f.qualifiedName
  LIMIT 1
}
CALL (g) {
  OPTIONAL MATCH (a:Class {generation: g.number})<-[:ANNOTATED_BY]-(t)
  RETURN a
  ORDER BY t.application DESC, a.name
  LIMIT 1
}
RETURN g.name AS run, coalesce(h.name, g.name) AS other, false AS allowIncomplete, coalesce(s.name, '') AS site,
  coalesce(i.name, '') AS source, coalesce(n.inputName, '') AS input, coalesce(c.name, '') AS class,
  coalesce(to.qualifiedName, '') AS method, coalesce(to.name, '') AS name, coalesce(from.qualifiedName, '') AS from,
  coalesce(to.qualifiedName, '') AS to, coalesce(f.qualifiedName, '') AS field, coalesce(a.name, '') AS annotation
