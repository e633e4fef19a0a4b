// title: Classes by casts of what constructors make
// description: The classes of unknown name whose constructors `Constructor.newInstance` runs, which the casts of its result let pass.
// paper: Livshits, Whaley, Lam. Reflection Analysis for Java. APLAS 2005, § 5.4.2
// head: (SolverReflective)-[:SOLVER_CLASS_OBJECT]->(SolverNamedClass)
// formal: ClassObject(ic, t) :- ConstructorCall(i, v, _, n), UnknownAt(v, ig), GetMember(ig, 'constructor', d, w, _), UnknownAt(w, ic), ForName(ic, _, _), for all ResultCast(i, tc, inside): ConcreteSubtype(t, tc), (inside = 0 or not Jdk(t)), not Encapsulated(t), FindsConstructor(t, d, m), (n = -1 or Length(m, n)), not ParameterClasses(ig, _).
// formal: ClassObject(ic, t) :- ConstructorCall(i, v, _, n), UnknownAt(v, ig), GetMember(ig, 'constructor', d, w, _), UnknownAt(w, ic), ForName(ic, _, _), for all ResultCast(i, tc, inside): ConcreteSubtype(t, tc), (inside = 0 or not Jdk(t)), not Encapsulated(t), FindsConstructor(t, d, m), (n = -1 or Length(m, n)), ParameterClasses(ig, l), Length(m, l), for all ParameterType(m, k, u): (ParameterClass(ig, k, u) or ParameterClass(ig, k, ANY)).
// Differs: `unresolved(ic)` of the paper is that a name which is no constant reaches ic, so partially resolved calls count as well; what i returns is cast on every way on which the method goes on; and t has a constructor that ig may find and i may call.
CALL () {
  MATCH (v)-[u:SOLVER_UNKNOWN_AT]->(ig) USING INDEX u:SOLVER_UNKNOWN_AT(round) WHERE $since <= u.round < $round
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  MATCH (ig)<-[:SOLVER_LOOKUP_SITE]-(look {sort: 'constructor'})
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(w)
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i) USING INDEX n:SOLVER_CONSTRUCTOR_CALL(round) WHERE $since <= n.round < $round
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (ig)<-[:SOLVER_LOOKUP_SITE]-(look {sort: 'constructor'})
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(w)
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH (i)-[c:SOLVER_RESULT_CAST]->() USING INDEX c:SOLVER_RESULT_CAST(round) WHERE $since <= c.round < $round
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (ig)<-[:SOLVER_LOOKUP_SITE]-(look {sort: 'constructor'})
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(w)
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH (look:SolverLookup) USING INDEX look:SolverLookup(round) WHERE $since <= look.round < $round AND look.sort = 'constructor'
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(ig)
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(w)
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH (w)-[k:SOLVER_UNKNOWN_AT]->(ic) USING INDEX k:SOLVER_UNKNOWN_AT(round) WHERE $since <= k.round < $round
  MATCH (w)<-[:SOLVER_LOOKUP_CLASS]-(look {sort: 'constructor'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(ig)
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH ()-[f:SOLVER_FOR_NAME]->(ic) USING INDEX f:SOLVER_FOR_NAME(round) WHERE $since <= f.round < $round
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  MATCH (w)<-[:SOLVER_LOOKUP_CLASS]-(look {sort: 'constructor'})
  MATCH (look)-[:SOLVER_LOOKUP_SITE]->(ig)
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH (ig)-[l:SOLVER_PARAMETER_CLASSES]->() USING INDEX l:SOLVER_PARAMETER_CLASSES(round) WHERE $since <= l.round < $round
  MATCH (ig)<-[:SOLVER_LOOKUP_SITE]-(look {sort: 'constructor'})
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(w)
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, n.length AS length, look, ig, ic
  UNION
  MATCH (ig)-[p:SOLVER_PARAMETER_CLASS]->() USING INDEX p:SOLVER_PARAMETER_CLASS(round) WHERE $since <= p.round < $round
  MATCH (ig)<-[:SOLVER_LOOKUP_SITE]-(look {sort: 'constructor'})
  MATCH (v)-[:SOLVER_UNKNOWN_AT]->(ig)
  MATCH (v)-[n:SOLVER_CONSTRUCTOR_CALL]->(i)
  MATCH (look)-[:SOLVER_LOOKUP_CLASS]->(w)
  MATCH (w)-[:SOLVER_UNKNOWN_AT]->(ic)
  RETURN i, n.length AS length, look, ig, ic
}
WITH i, length, look, ig, ic
WHERE EXISTS { (ic)<-[:SOLVER_FOR_NAME]-() }
MATCH (i)-[c:SOLVER_RESULT_CAST]->(tc)
MATCH (t)-[:SOLVER_CONCRETE_SUBTYPE]->(tc)
WHERE (c.inside = 0 OR NOT t.jdk) AND NOT t.encapsulated AND NOT EXISTS {
  (i)-[:SOLVER_RESULT_CAST]->(other) WHERE NOT EXISTS { (t)-[:SOLVER_CONCRETE_SUBTYPE]->(other) }
} AND EXISTS {
  (t)-[:SOLVER_FINDS_CONSTRUCTOR {declared: look.declared}]->(m) WHERE length IN [-1, m.length] AND (
    NOT EXISTS { (ig)-[:SOLVER_PARAMETER_CLASSES]->() }
    OR EXISTS { (ig)-[:SOLVER_PARAMETER_CLASSES {length: m.length}]->() } AND NOT EXISTS {
      (m)-[p:SOLVER_PARAMETER_TYPE]->(u) WHERE NOT EXISTS {
        (ig)-[k:SOLVER_PARAMETER_CLASS {place: p.place}]->(x) WHERE x = u OR x.any
      }
    }
  )
}
WITH DISTINCT ic, t
WHERE NOT EXISTS { (ic)-[:SOLVER_CLASS_OBJECT]->(t) }
CALL (ic, t) {
  CREATE (ic)-[:SOLVER_CLASS_OBJECT {round: $round}]->(t)
} IN TRANSACTIONS OF 20000 ROWS
