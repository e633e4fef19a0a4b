// title: What has an annotation
// description: The classes, methods and fields that have an annotation of a type.
// group: structure
// param $annotation: string, required: the annotation's type, as a.b.C or C
// example $annotation: FunctionalInterface
// param $limit: integer, default 1000: the most rows
// example $limit: 100
// column annotation: its type
// column element: class, method or field
// column name: of the element
MATCH (:Current {name: $run})-[:IS]->(g:Generation)
WHERE g.status = 'complete' OR $allowIncomplete
CALL (g) {
  MATCH (c:Class {generation: g.number, name: $annotation})
  RETURN c
  UNION
  MATCH (c:Class {generation: g.number, simpleName: $annotation})
  RETURN c
}
MATCH (element:Class|Method|Field)-[:ANNOTATED_BY]->(c)
RETURN c.name AS annotation,
  CASE WHEN element:Class THEN 'class' WHEN element:Method THEN 'method' ELSE 'field' END AS element,
  coalesce(element.signature, element.qualifiedName, element.name) AS name
ORDER BY annotation, element, name
LIMIT $limit
