// title: What the run may lack
// description: The anomalies by which the run may lack parts of what the program does.
// group: diagnostics
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column code: of the diagnostic
// column severity: note, warning or error
// column archive: where
// column entry: where in the archive
// column method: the method
// column text: what is wrong
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
MATCH (d:Diagnostic {generation: g.number})
WHERE d.effect = 'soundness'
RETURN d.code AS code, d.severity AS severity, d.archive AS archive, d.entry AS entry, d.method AS method, d.text AS text
ORDER BY severity, code, archive, entry, method, text
LIMIT $limit
