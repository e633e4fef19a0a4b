// title: Who reads and writes a field
// description: The methods with an instruction that reads or writes a field.
// group: structure
// param $field: string, required: the field, as a.b.C.f
// example $field: org.hsqldb.server.Server.serverProperties
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column access: reads or writes
// column method: the method
// column line: of the instruction
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
MATCH (f:Field {generation: g.number, qualifiedName: $field})
MATCH (m:Method)-[use:READS|WRITES]->(f)
RETURN toLower(type(use)) AS access, m.signature AS method, use.line AS line
ORDER BY access, method, use.offset
LIMIT $limit
