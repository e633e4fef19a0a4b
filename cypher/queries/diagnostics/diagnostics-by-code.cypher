// title: Diagnostics by code
// description: How many anomalies there are of each code.
// group: diagnostics
// column code: of the diagnostic
// column severity: note, warning or error
// column effect: none, precision or soundness
// column found: how many
// column example: the text of one
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
MATCH (d:Diagnostic {generation: g.number})
RETURN d.code AS code, d.severity AS severity, d.effect AS effect, count(*) AS found, min(d.text) AS example
ORDER BY found DESC, code, severity, effect
