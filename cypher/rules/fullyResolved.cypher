// title: Fully resolved calls
// description: The reflective calls of the application to which nothing unknown comes.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 6.2
// head: (ReflectiveSite:FullyResolved)
// formal: fullyResolved(i) :- reflective(i), ¬unknownAt(i).
// Differs: the paper says it in words, of Class.forName alone.
MATCH (s:ReflectiveSite {generation: $generation, application: true})
WHERE s.unlisted IS NULL AND NOT EXISTS { (:Object)-[:SOURCE {kind: 'unknown'}]->(s) }
CALL (s) {
  SET s:FullyResolved
} IN TRANSACTIONS OF 10000 ROWS
