// title: Specification points
// description: Where a string that is no constant begins its way to the name of a class: pointers that get one, and not from another pointer that has one.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.7: specPts
// head: (Pointer)-[:SPECIFICATION_POINT]->(CallSite)
MATCH (p:OpenString)-[:LEADS_TO_FOR_NAME {generation: $generation}]->(s:CallSite)
WHERE NOT EXISTS { (q:OpenString)-[f:FLOWS_TO]->(p) WHERE (f.kind = 'computed') = (p:Input) }
WITH DISTINCT p, s
CALL (p, s) {
  CREATE (p)-[:SPECIFICATION_POINT {generation: $generation, round: $round}]->(s)
} IN TRANSACTIONS OF 10000 ROWS
