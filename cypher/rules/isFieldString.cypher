// title: Names of fields
// description: The pointers that may refer to a string constant which is the name of a field of the program.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.8: isFieldString
// head: (Pointer:FieldString)
// formal: isFieldString(v) :- points-to(v, h), field2method(h, _).
// Differs: the paper prints field2method, which must mean string2field (Figure 15).
MATCH (t:Text {generation: $generation})
WHERE EXISTS { (n:Field {generation: $generation, name: t.text}) }
MATCH (t)<-[:STANDS_FOR]-(:StringObject)<-[:HOLDS]-(s:ObjectSet)
WITH DISTINCT s
MATCH (s)<-[:POINTS_TO]-(p:Pointer)
CALL (p) {
  SET p:FieldString
} IN TRANSACTIONS OF 10000 ROWS
