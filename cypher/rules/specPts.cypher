// title: Specification points
// description: Where something unknown begins its way to the name of a class: what a call of an input source returns, and pointers that get an unknown object from nowhere else.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.3: specPts
// head: (Pointer)-[:SPECIFICATION_POINT]->(CallSite)
MATCH (p:Pointer)-[:LEADS_TO_FOR_NAME {generation: $generation}]->(s:CallSite)
WHERE p:Input
   OR (NOT EXISTS { (:Pointer)-[:FLOWS_TO]->(p) } AND EXISTS { (p)-[:POINTS_TO]->(:ObjectSet)-[:HOLDS]->(:UnknownObject) })
WITH DISTINCT p, s
CALL (p, s) {
  CREATE (p)-[:SPECIFICATION_POINT {generation: $generation, round: $round}]->(s)
} IN TRANSACTIONS OF 10000 ROWS
