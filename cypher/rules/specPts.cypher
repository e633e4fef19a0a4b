// title: Specification points
// description: Where a string that is no constant begins its way to the name of a class, method or field: pointers that get one, and not from another pointer that has one.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, §§ 5.2.7–5.2.8: specPts
// head: (Pointer)-[:SPECIFICATION_POINT]->(CallSite)
// formal: specPts(v, i) :- leadsToForName(v, i), ¬lhs(v), ¬isTypeString(v).
// formal: specPts(v, i) :- leadsToInvoke(v, i), ¬lhs(v), ¬isMethodString(v).
// formal: specPts(v, i) :- leadsToField(v, i), ¬lhs(v), ¬isFieldString(v).
// formal: lhs(v) :- assign(v, _).
// formal: lhs(v) :- calls(i, "StringBuffer.append"), ret(i, v).
// formal: lhs(v) :- calls(i, "StringBuffer.append"), actual(i, 0, v).
// formal: lhs(v) :- calls(i, "StringBuffer.toString"), ret(i, v).
// formal: lhs(v) :- calls(i, "new StringBuffer"), actual(i, 0, v).
// formal: lhs(v) :- load(v3, f, v), points-to(v3, h), points-to(v2, h), store(v2, f, _).
// Differs: v gets a string that is no constant, and from no other pointer that has one; so constants that name nothing are no specification points, and v that may be such a name besides is one.
MATCH (p:OpenString)-[:LEADS_TO_FOR_NAME|LEADS_TO_INVOKE|LEADS_TO_FIELD {generation: $generation}]->(s:CallSite)
WHERE NOT EXISTS { (q:OpenString)-[f:FLOWS_TO]->(p) WHERE (f.kind = 'computed') = (p:Input) }
WITH DISTINCT p, s
CALL (p, s) {
  CREATE (p)-[:SPECIFICATION_POINT {generation: $generation, round: $round}]->(s)
} IN TRANSACTIONS OF 10000 ROWS
