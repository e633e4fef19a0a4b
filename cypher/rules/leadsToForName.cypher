// title: What leads to a name
// description: The pointers from which something flows to the name that a call looks a class up by, through operations on strings as well; calls of input sources end the way.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.7: leadsToForName
// head: (Pointer)-[:LEADS_TO_FOR_NAME]->(CallSite)
// formal: leadsToForName(v, i) :- calls(i, "Class.forName"), actual(i, 1, v).
// formal: leadsToForName(v2, i) :- leadsToForName(v1, i), assign(v1, v2).
// formal: leadsToForName(v2, i) :- leadsToForName(v1, i), load(v3, f, v1), points-to(v3, h3), points-to(v4, h3), store(v4, f, v2).
// formal: leadsToForName(v2, i) :- leadsToForName(v1, i), ret(i2, v1), calls(i2, "StringBuffer.append"), actual(i2, 0, v2).
// formal: leadsToForName(v2, i) :- leadsToForName(v1, i), ret(i2, v1), calls(i2, "StringBuffer.append"), actual(i2, 1, v2).
// formal: leadsToForName(v2, i) :- leadsToForName(v1, i), actual(i2, 0, v1), calls(i2, "StringBuffer.append"), actual(i2, 1, v2).
// Differs: assign, load and store are FLOWS_TO; of a computed string, whatever the operation, its parts are next; and calls of input sources end the way. ClassLoader.loadClass and Lookup.findClass take names, too.
MATCH (p:Pointer)-[:OPERAND {name: 'name'}]->(s:ReflectiveSite {generation: $generation, role: 'class-by-name'})
WITH DISTINCT p, s
CALL (p, s) {
  CREATE (p)-[:LEADS_TO_FOR_NAME {generation: $generation, round: $round}]->(s)
} IN TRANSACTIONS OF 10000 ROWS
// then, as long as that finds more:
MATCH (p:Pointer)-[:LEADS_TO_FOR_NAME {generation: $generation, round: $round - 1}]->(s:CallSite)
MATCH (q:Pointer)-[f:FLOWS_TO]->(p)
WHERE (f.kind = 'computed') = (p:Input)
WITH DISTINCT q, s
WHERE NOT EXISTS { (q)-[:LEADS_TO_FOR_NAME]->(s) }
CALL (q, s) {
  CREATE (q)-[:LEADS_TO_FOR_NAME {generation: $generation, round: $round}]->(s)
} IN TRANSACTIONS OF 10000 ROWS
