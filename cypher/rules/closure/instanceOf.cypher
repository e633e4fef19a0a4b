// title: Instances of supertypes
// description: Every type that an object is an instance of.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.4.1: subtype
// head: (SolverObject)-[:SOLVER_INSTANCE_OF]->(SolverType)
// formal: InstanceOf(o, u) :- Type(o, t), SubtypeOf(t, u).
MATCH (o:SolverObject) USING INDEX o:SolverObject(round) WHERE $since <= o.round < $round
MATCH (o)-[:SOLVER_TYPE]->(:SolverType)-[:SOLVER_SUBTYPE_OF]->(u)
CALL (o, u) {
  CREATE (o)-[:SOLVER_INSTANCE_OF]->(u)
} IN TRANSACTIONS OF 20000 ROWS
