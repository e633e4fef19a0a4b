// title: Names of classes
// description: The pointers that may refer to a string constant which is the name of a class of the program.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.7: isTypeString
// head: (Pointer:TypeString)
// formal: isTypeString(v) :- points-to(v, h), string2class(h, _).
// Differs: names of arrays don't count.
MATCH (t:Text {generation: $generation})
WHERE EXISTS { (n:Class {generation: $generation, name: t.text}) WHERE NOT n:Array }
MATCH (t)<-[:STANDS_FOR]-(:StringObject)<-[:HOLDS]-(s:ObjectSet)
WITH DISTINCT s
MATCH (s)<-[:POINTS_TO]-(p:Pointer)
CALL (p) {
  SET p:TypeString
} IN TRANSACTIONS OF 10000 ROWS
