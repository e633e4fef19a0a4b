// title: Partially resolved calls
// description: The reflective calls of the application that have targets, and may have others.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 6.2
// head: (ReflectiveSite:PartiallyResolved)
// formal: partiallyResolved(i) :- resolvesTo(i, _), unknownAt(i).
// Differs: the paper says it in words, of Class.forName alone.
MATCH (s:ReflectiveSite {generation: $generation, application: true})
WHERE EXISTS { (s)-[:RESOLVES_TO]->() }
  AND (s.unlisted IS NOT NULL OR EXISTS { (:Object)-[:SOURCE {kind: 'unknown'}]->(s) })
CALL (s) {
  SET s:PartiallyResolved
} IN TRANSACTIONS OF 10000 ROWS
