// title: Where the program begins
// description: The methods that are called from outside the program.
// group: structure
// param $application: boolean, default true: leave out what the application does not declare
// example $application: false
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column method: the entry point
// column application: whether the application declares it
// column line: where it begins
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (m:Method {generation: g.number})
  WHERE m.entryPoint AND (m.application OR NOT $application)
  RETURN m
}
RETURN m.signature AS method, m.application AS application, m.line AS line
ORDER BY application DESC, method
LIMIT $limit
