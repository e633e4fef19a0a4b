// title: How one method comes to call another
// description: A shortest chain of calls from one method to another.
// group: structure
// param $from: string, required: the method where the chain begins, as a.b.C.m or a.b.C.m(I)V
// example $from: org.hsqldb.server.Server.main
// param $to: string, required: the method where it ends
// example $to: org.hsqldb.Database.close
// column from: the first method
// column to: the last method
// column calls: their number
// column methods: those on the way, in order
// column kinds: of the calls, in order
// column path: for pictures
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (a:Method {generation: g.number, qualifiedName: $from})
  RETURN a
  UNION
  MATCH (a:Method {generation: g.number, signature: $from})
  RETURN a
}
CALL (g) {
  MATCH (b:Method {generation: g.number, qualifiedName: $to})
  RETURN b
  UNION
  MATCH (b:Method {generation: g.number, signature: $to})
  RETURN b
}
MATCH path = SHORTEST 1 (a)-[calls:CALLS]->{1,40}(b)
RETURN a.signature AS from, b.signature AS to, length(path) AS calls, [m IN nodes(path) | m.signature] AS methods,
  [call IN calls | call.kind] AS kinds, path
ORDER BY calls, from, to
