// title: What was wrong
// description: The anomalies of the input and of the run.
// group: diagnostics
// param $code: string, default '': only those with this code
// example $code: CLS-NATIVE
// param $severity: string, default '': note, warning or error
// example $severity: note
// param $limit: integer, default 1000: the most rows
// example $limit: 1000
// column severity: note, warning or error
// column code: of the diagnostic
// column effect: none, precision or soundness
// column archive: where
// column entry: where in the archive
// column method: the method
// column text: what is wrong
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (d:Diagnostic {generation: g.number})
  WHERE ($code = '' OR d.code = $code) AND ($severity = '' OR d.severity = $severity)
  RETURN d
}
RETURN d.severity AS severity, d.code AS code, d.effect AS effect, d.archive AS archive, d.entry AS entry, d.method AS method, d.text AS text
ORDER BY severity, code, archive, entry, method, text
LIMIT $limit
