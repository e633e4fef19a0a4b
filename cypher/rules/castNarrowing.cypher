// title: Cast narrowing
// description: The classes that a reflective call of unknown class may make an object of, if the casts that its result meets in its method are right.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.4.2
// head: (CallSite)-[:NARROWED_TO]->(Class)
// formal: classObjects(ic, t) :- calls(i, "Class.newInstance"), actual(i, 0, v), points-to(v, c), ret(i, vret), cast(_, tc, vret), subtype(t, tc), unresolved(ic), points-to(vc, c), ret(ic, vc).
// Differs: t is found for i itself, whichever call ic the class comes from; i may call Constructor.newInstance too and be partially resolved; the casts are those that the result meets in its method within eight assignments; and t has instances.
MATCH (s:ReflectiveSite {generation: $generation})-[:RETURNS_TO]->(r:Pointer)
WHERE s.role IN ['class-new-instance', 'constructor-new-instance'] AND s.status <> 'resolved'
MATCH (r)-[:ASSIGN*0..8]->(v:Pointer)-[cast:CAST]->(:Pointer)
WHERE cast.method = r.method
MATCH (t:Class {key: cast.type})
CALL (t) {
  MATCH (c:Class)-[:INFERRED_SUBTYPE_OF]->(t)
  RETURN c
  UNION
  RETURN t AS c
}
WITH DISTINCT s, c
WHERE c.kind IN ['class', 'enum'] AND NOT c.abstract AND NOT c:Phantom
CALL (s, c) {
  CREATE (s)-[:NARROWED_TO {generation: $generation, round: $round}]->(c)
} IN TRANSACTIONS OF 10000 ROWS
