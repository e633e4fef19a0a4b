// title: Methods of a name
// description: The methods with a plain name, such as `close`, in all classes.
// group: structure
// param $name: string, required: the name without class and parameters
// example $name: close
// param $application: boolean, default true: leave out what the application does not declare
// example $application: true
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column method: its signature
// column reachable: whether it may run
// column application: whether the application declares it
// column line: where it begins
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
MATCH (m:Method {generation: g.number, name: $name})
WHERE m.application OR NOT $application
RETURN m.signature AS method, m.reachable AS reachable, m.application AS application, m.line AS line
ORDER BY method
LIMIT $limit
