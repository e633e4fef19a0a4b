// title: Initialisers
// description: `Class.forName` initialises what it returns; `loadClass` does not.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.3
// head: (SolverReflective)-[:SOLVER_INITIALISED_BY]->(SolverNamedClass)
// formal: InitialisedBy(i, t) :- ForName(i, _, 1), ClassObject(i, t).
CALL () {
  MATCH (i)-[c:SOLVER_CLASS_OBJECT]->(t) USING INDEX c:SOLVER_CLASS_OBJECT(round) WHERE $since <= c.round < $round
  MATCH (i)<-[:SOLVER_FOR_NAME {initialises: 1}]-()
  RETURN i, t
  UNION
  MATCH ()-[f:SOLVER_FOR_NAME]->(i) USING INDEX f:SOLVER_FOR_NAME(round) WHERE $since <= f.round < $round AND f.initialises = 1
  MATCH (i)-[:SOLVER_CLASS_OBJECT]->(t)
  RETURN i, t
}
WITH i, t
WHERE NOT EXISTS { (i)-[:SOLVER_INITIALISED_BY]->(t) }
CALL (i, t) {
  CREATE (i)-[:SOLVER_INITIALISED_BY {round: $round}]->(t)
} IN TRANSACTIONS OF 20000 ROWS
