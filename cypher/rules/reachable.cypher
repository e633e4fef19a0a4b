// title: Call-graph reachability
// description: The methods that may run: what the JVM calls by itself, and what these call.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.1: calls
// head: (Generation)-[:INFERRED_REACHES]->(Method)
// formal: reachable(m) :- calledByJvm(m).
// formal: reachable(m) :- reachable(n), contains(n, i), calls(i, m).
// Differs: the paper says in words how the call graph is discovered; here calls is what was found then.
MATCH (g:Generation {number: $generation})
MATCH (s:CallSite {generation: $generation})-[:TARGETS]->(m:Method)
WHERE NOT EXISTS { (s)<-[:CONTAINS]-(:Method) }
WITH DISTINCT g, m
CALL (g, m) {
  CREATE (g)-[:INFERRED_REACHES {generation: $generation, round: $round}]->(m)
} IN TRANSACTIONS OF 10000 ROWS
// then, as long as that finds more:
MATCH (g:Generation)-[:INFERRED_REACHES {generation: $generation, round: $round - 1}]->(m:Method)
MATCH (m)-[:CONTAINS]->(:CallSite)-[:TARGETS]->(n:Method)
WITH DISTINCT g, n
WHERE NOT EXISTS { (g)-[:INFERRED_REACHES]->(n) }
CALL (g, n) {
  CREATE (g)-[:INFERRED_REACHES {generation: $generation, round: $round}]->(n)
} IN TRANSACTIONS OF 10000 ROWS
