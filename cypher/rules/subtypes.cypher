// title: Subtype closure
// description: Every proper supertype of a class, direct or not; arrays are covariant (JLS 4.10).
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.4.1: subtype
// head: (Class)-[:INFERRED_SUBTYPE_OF]->(Class)
// formal: subtype(t1, t2) :- extends(t1, t2).
// formal: subtype(t1, t2) :- implements(t1, t2).
// formal: subtype(t1, t3) :- subtype(t1, t2), subtype(t2, t3).
// formal: subtype(a1, a2) :- element(a1, t1), subtype(t1, t2), element(a2, t2).
// Differs: the paper says in words what subtype holds, and computes it beforehand.
CALL () {
  MATCH (c:Class {generation: $generation})-[:EXTENDS|IMPLEMENTS]->(d:Class)
  RETURN c, d
  UNION
  MATCH (d:Class {generation: $generation, name: 'java.lang.Object'})
  MATCH (c:Interface {generation: $generation})
  RETURN c, d
}
CALL (c, d) {
  CREATE (c)-[:INFERRED_SUBTYPE_OF {generation: $generation, round: $round}]->(d)
} IN TRANSACTIONS OF 10000 ROWS
// then, as long as that finds more:
MATCH (b:Class)-[:INFERRED_SUBTYPE_OF {generation: $generation, round: $round - 1}]->(c:Class)
CALL (b, c) {
  MATCH (c)-[:EXTENDS|IMPLEMENTS]->(d:Class)
  RETURN b AS a, d
  UNION
  MATCH (a:Array)-[:ELEMENT_TYPE]->(b)
  MATCH (d:Array)-[:ELEMENT_TYPE]->(c)
  RETURN a, d
}
WITH DISTINCT a, d
WHERE NOT EXISTS { (a)-[:INFERRED_SUBTYPE_OF]->(d) }
CALL (a, d) {
  CREATE (a)-[:INFERRED_SUBTYPE_OF {generation: $generation, round: $round}]->(d)
} IN TRANSACTIONS OF 10000 ROWS
