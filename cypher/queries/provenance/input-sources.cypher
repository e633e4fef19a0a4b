// title: What the program reads
// description: The calls that return input from outside the program, by kind and name.
// group: provenance
// param $kind: string, default '': only this kind of input
// example $kind: system property
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column kind: of the input
// column name: which input, if a constant says so
// column input: the call that returns it
// column line: of the call
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (i:InputSource {generation: g.number})
  WHERE (i.application OR NOT $application) AND ($kind = '' OR i.inputKind = $kind)
  RETURN i
}
RETURN i.inputKind AS kind, i.inputName AS name, i.name AS input, i.line AS line
ORDER BY kind, name, input
LIMIT $limit
