// title: Unresolved calls
// description: The reflective calls of the application that have no known target, but may have others.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 6.2
// head: (ReflectiveSite:Unresolved)
// formal: unresolved(i) :- unknownAt(i), ¬resolvesTo(i, _).
// Differs: the paper says it in words, of Class.forName alone.
MATCH (s:ReflectiveSite {generation: $generation, application: true})
WHERE NOT EXISTS { (s)-[:RESOLVES_TO]->() }
  AND (s.unlisted IS NOT NULL OR EXISTS { (:Object)-[:SOURCE {kind: 'unknown'}]->(s) })
CALL (s) {
  SET s:Unresolved
} IN TRANSACTIONS OF 10000 ROWS
