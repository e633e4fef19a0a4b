// title: Class-hierarchy dispatch
// description: The methods that a call instruction may run by the declared type of its receiver: what selection (JVMS 5.4.6) finds in each class below it that has instances.
// paper: Sawin, Rountev. Assumption Hierarchy for a CHA Call Graph Construction Algorithm. SCAM 2011, § 2
// head: (CallSite)-[:INFERRED_TARGET]->(Method)
// formal: targets(i, m) :- declared(i, c), selector(i, s), subtype(t, c), ¬abstract(t), selects(t, s, m).
// Differs: the paper says it in words; here subtype(c, c) holds as well, and a static or special call has the one method that it names.
CALL () {
  MATCH (s:CallSite {generation: $generation, origin: 'bytecode'})
  WHERE s.kind <> 'virtual'
  MATCH (m:Method {key: s.callee})
  RETURN s, m
  UNION
  MATCH (s:CallSite {generation: $generation, origin: 'bytecode', kind: 'virtual'})
  WITH s.declaredType AS declared, s.signature AS signature, collect(s) AS sites
  MATCH (t:Class {key: declared})
  CALL (t) {
    RETURN t AS c
    UNION
    MATCH (c:Class)-[:INFERRED_SUBTYPE_OF]->(t)
    RETURN c
  }
  WITH * WHERE NOT c.abstract AND NOT c:Phantom
  CALL (c, signature) {
    OPTIONAL MATCH way = (c)-[:EXTENDS*0..]->(:Class)-[:DECLARES]->(declared:Method {selector: signature})
    WITH c, signature, declared ORDER BY length(way)
    WITH c, signature, collect(declared)[0] AS first
    CALL (c, signature, first) {
      WITH first WHERE first IS NOT NULL
      RETURN first AS m
      UNION
      WITH c, signature, first WHERE first IS NULL
      MATCH (c)-[:INFERRED_SUBTYPE_OF]->(i:Interface)-[:DECLARES]->(default:Method {selector: signature})
      WHERE NOT default.abstract AND NOT EXISTS {
        (c)-[:INFERRED_SUBTYPE_OF]->(j:Interface)-[:INFERRED_SUBTYPE_OF]->(i) WHERE EXISTS { (j)-[:DECLARES]->(:Method {selector: signature}) }
      }
      WITH collect(default) AS specific WHERE size(specific) = 1
      RETURN specific[0] AS m
    }
    RETURN m
  }
  WITH DISTINCT sites, m WHERE NOT m.abstract
  UNWIND sites AS s
  RETURN s, m
}
WITH DISTINCT s, m
CALL (s, m) {
  CREATE (s)-[:INFERRED_TARGET {generation: $generation, round: $round}]->(m)
} IN TRANSACTIONS OF 10000 ROWS
