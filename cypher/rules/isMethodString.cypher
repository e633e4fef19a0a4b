// title: Names of methods
// description: The pointers that may refer to a string constant which is the name of a method of the program.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.2.8: isMethodString
// head: (Pointer:MethodString)
// formal: isMethodString(v) :- points-to(v, h), string2method(h, _).
MATCH (t:Text {generation: $generation})
WHERE EXISTS { (n:Method {generation: $generation, name: t.text}) }
MATCH (t)<-[:STANDS_FOR]-(:StringObject)<-[:HOLDS]-(s:ObjectSet)
WITH DISTINCT s
MATCH (s)<-[:POINTS_TO]-(p:Pointer)
CALL (p) {
  SET p:MethodString
} IN TRANSACTIONS OF 10000 ROWS
