"""The graph of a program: every label, relationship type and property, declared once.

Constraints, indexes, load statements, import headers and the README's tables are derived from here; a node or
relationship that isn't declared is not written.

Every node but `Generation` and `Current` has a `key`, an integer that no other node has, of which the upper bits
are the number of its generation, and that `generation`. Keys also stand in properties that refer to a node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, get_type_hints

from cypher import schema
from cypher.docs import holds_if
from cypher.schema import columns_of, type_name

# Bump whenever what a generation holds changes: it is part of a generation's id.
VERSION = 3

# A key is a generation's number, the place of the label in LABELS, and the number of the node among those.
_LABEL_BITS, _NUMBER_BITS = 6, 34

STRUCTURE, SLICES, FULL = "structure", "slices", "full"
DETAILS = (STRUCTURE, SLICES, FULL)

# Types of properties.
INTEGER, TEXT, BOOLEAN = "int", "string", "boolean"
# A property that is the key of a node; absent if there is none.
KEY = "key"

Properties: TypeAlias = Mapping[str, str]


class Node(NamedTuple):
    """A label, and what its nodes have.

    `more` are labels that some of its nodes have besides; `search` are properties by which nodes are looked up.
    """

    label: str
    holds: str
    properties: Properties
    more: Sequence[str] = ()
    search: Sequence[str] = ()


class Edge(NamedTuple):
    """A relationship type between nodes of two labels, and what such relationships have."""

    type: str
    start: str
    end: str
    holds: str
    properties: Properties = {}  # noqa: RUF012  # nothing changes it

    @property
    def name(self) -> str:
        """Returns what tells this from relationships of the same type between other labels."""
        return f"{self.start}-{self.type}-{self.end}"


_PLACE: Properties = {"offset": INTEGER, "line": INTEGER}
_HANDLE: Properties = {"method": KEY, "offset": INTEGER, "kind": INTEGER}
_EXACT: Properties = {"position": INTEGER, "length": INTEGER, "index": INTEGER}

NODES: tuple[Node, ...] = (
    Node(
        "Archive", "a jar, folder or module image that was read",
        {"name": TEXT, "role": TEXT}, search=("name",),
    ),
    Node("Package", "a package of classes that the graph has", {"name": TEXT}, search=("name",)),
    Node(
        "Class", "a class, interface or array type; phantom if no class file defines it",
        {
            "name": TEXT, "simpleName": TEXT, "kind": TEXT, "application": BOOLEAN, "public": BOOLEAN,
            "abstract": BOOLEAN, "final": BOOLEAN,
        },
        more=("Interface", "Annotation", "Enum", "Array", "Phantom"), search=("name", "simpleName"),
    ),
    Node(
        "Method", "a method or constructor; reachable if it may run",
        {
            "name": TEXT, "signature": TEXT, "qualifiedName": TEXT, "descriptor": TEXT, "className": TEXT,
            "application": BOOLEAN, "reachable": BOOLEAN, "entryPoint": BOOLEAN, "public": BOOLEAN, "static": BOOLEAN,
            "abstract": BOOLEAN, "native": BOOLEAN, "synthetic": BOOLEAN, "line": INTEGER, "parameters": INTEGER,
            "firstVariable": INTEGER, "selector": INTEGER,
        },
        more=("Constructor", "Initialiser"), search=("signature", "qualifiedName", "name"),
    ),
    Node(
        "Field", "a field",
        {
            "name": TEXT, "qualifiedName": TEXT, "descriptor": TEXT, "className": TEXT, "application": BOOLEAN,
            "static": BOOLEAN, "public": BOOLEAN,
        },
        search=("qualifiedName", "name"),
    ),
    Node(
        "CallSite", "a call instruction, or a call that the JVM or a reflective API makes on behalf of one",
        {
            "name": TEXT, "offset": INTEGER, "line": INTEGER, "kind": TEXT, "origin": TEXT, "declared": TEXT,
            "application": BOOLEAN, "declaredType": KEY, "callee": KEY, "signature": INTEGER,
            # of a ReflectiveSite
            "api": TEXT, "role": TEXT, "status": TEXT, "reason": TEXT,
            # (what comes to it of which no single object is told)
            "unlisted": TEXT,
            # of an InputSource
            "inputKind": TEXT, "inputName": TEXT,
        },
        more=("ReflectiveSite", "InputSource"), search=("name",),
    ),
    Node(
        "Pointer",
        "what may refer to objects; at an `Input` an input source enters, an `OpenString` may refer to a string that is "
        "no constant",
        {"name": TEXT, "caption": TEXT, "index": INTEGER, "method": KEY, "field": KEY, "base": KEY},
        more=("Variable", "StaticField", "ObjectField", "SetField", "Input", "OpenString"),
    ),
    Node(
        "Object", "an abstract object: what an instruction allocates, a constant, or a metaobject",
        {
            "name": TEXT, "kind": TEXT, "type": TEXT, "method": KEY, "offset": INTEGER, "line": INTEGER,
            "payload": INTEGER,
        },
        more=("StringObject", "ClassObject", "MethodObject", "FieldObject", "UnknownObject"), search=("name",),
    ),
    Node("ObjectSet", "the objects that one or more pointers may refer to", {"size": INTEGER}),
    Node(
        "Text", "a string constant; `hash` is the SHA-256 of its text in UTF-8",
        {"text": TEXT, "hash": TEXT, "length": INTEGER}, search=("hash",),
    ),
    Node(
        "Derivation", "a row that a rule derived at a reflective call",
        {"rule": TEXT, "paper": TEXT, "relation": TEXT}, search=("rule",),
    ),
    Node(
        "Diagnostic", "an anomaly of the input or of the run",
        {
            "code": TEXT, "severity": TEXT, "effect": TEXT, "text": TEXT, "archive": TEXT, "entry": TEXT,
            "method": TEXT, "offset": INTEGER,
        },
        search=("code",),
    ),
)  # fmt: skip
LABELS = tuple(each.label for each in NODES)

# The labels whose nodes the entities of facts are.
ENTITIES: dict[type[schema.Entity], str] = {
    schema.Type: "Class", schema.Method: "Method", schema.Field: "Field", schema.Text: "Text",
    schema.Variable: "Pointer", schema.HeapObject: "Object", schema.CallSite: "CallSite",
}  # fmt: skip

# From which column to which the relationship of a fact goes. Its other columns are properties. (`Invoke` is a node;
# `HandleConstant` and `ExactArgument` begin at one of two.)
FACT_ENDS: dict[type[tuple[Any, ...]], tuple[str, str]] = {
    schema.New: ("method", "target"),
    schema.StringConstant: ("text", "target"),
    schema.ClassConstant: ("type", "target"),
    schema.MethodConstant: ("callee", "target"),
    schema.Assign: ("source", "target"),
    schema.Cast: ("source", "target"),
    schema.Load: ("base", "target"),
    schema.Store: ("source", "base"),
    schema.ArrayLoad: ("base", "target"),
    schema.ArrayStore: ("source", "base"),
    schema.StaticLoad: ("field", "target"),
    schema.StaticStore: ("source", "field"),
    schema.Argument: ("variable", "site"),
    schema.ResultCast: ("site", "type"),
    schema.Catch: ("source", "target"),
    schema.Uncaught: ("source", "target"),
}


def labels_of(relation: type[tuple[Any, ...]]) -> dict[str, str]:
    """Returns the label of what each column of a fact names, "" for a plain number.

    >>> labels_of(schema.New)
    {'method': 'Method', 'offset': '', 'type': 'Class', 'target': 'Pointer'}
    """
    hints = get_type_hints(relation)
    return {each: ENTITIES.get(hints[each], "") for each in columns_of(relation)}


def _fact_edges() -> Iterator[Edge]:
    """Yields the relationship of each fact that is one."""
    for relation, (start, end) in FACT_ENDS.items():
        labels = labels_of(relation)
        others = {
            name: KEY if label else INTEGER for name, label in labels.items() if name not in (start, end)
        }
        yield Edge(type_name(relation), labels[start], labels[end], holds_if(relation), others)


_STRUCTURE: tuple[Edge, ...] = (
    Edge("CONTAINS", "Archive", "Class", "the archive has the class file"),
    Edge("CONTAINS", "Package", "Class", "the class is of the package"),
    Edge("DECLARES", "Class", "Method", "the class declares the method"),
    Edge("DECLARES", "Class", "Field", "the class declares the field"),
    Edge("EXTENDS", "Class", "Class", "the direct superclass"),
    Edge("IMPLEMENTS", "Class", "Class", "a direct superinterface"),
    Edge("SUBTYPE_OF", "Class", "Class", "a proper supertype, direct or not"),
    Edge("ELEMENT_TYPE", "Class", "Class", "the array's element type, if that is no primitive one"),
    Edge("OVERRIDES", "Method", "Method", "the method overrides or implements the other (JVMS 5.4.5)"),
    Edge("ANNOTATED_BY", "Class", "Class", "the class has an annotation of that type"),
    Edge("ANNOTATED_BY", "Method", "Class", "the method has an annotation of that type"),
    Edge("ANNOTATED_BY", "Field", "Class", "the field has an annotation of that type"),
    Edge("READS", "Method", "Field", "an instruction reads the field, which holds a reference", _PLACE),
    Edge("WRITES", "Method", "Field", "an instruction writes the field, which holds a reference", _PLACE),
    Edge("INITIALISES", "Method", "Class", holds_if(schema.Initialises), {"offset": INTEGER}),
    Edge("CONTAINS", "Method", "CallSite", "the call stands in the method"),
    Edge(
        "CALLS", "Method", "Method",
        "the method may call the other: `kind` is static, special, virtual, reflective or implicit, `rule` what made a "
        "call that is no instruction",
        {**_PLACE, "kind": TEXT, "rule": TEXT, "site": KEY},
    ),
    Edge("TARGETS", "CallSite", "Method", "the call may lead to the method"),
    Edge("CAUSED_BY", "CallSite", "CallSite", "the call is made on behalf of the other"),
    Edge("RESOLVES_TO", "CallSite", "Class", "the reflective call finds, or makes an object of, the class"),
    Edge("RESOLVES_TO", "CallSite", "Method", "the reflective call finds or calls the method"),
    Edge("RESOLVES_TO", "CallSite", "Field", "the reflective call finds or accesses the field"),
    Edge("DERIVED_AT", "Derivation", "CallSite", "the row is about the reflective call"),
    Edge("DERIVES", "Derivation", "Class", "the row holds the class"),
    Edge("DERIVES", "Derivation", "Method", "the row holds the method"),
    Edge("DERIVES", "Derivation", "Field", "the row holds the field"),
)  # fmt: skip

_ANALYSIS: tuple[Edge, ...] = (
    Edge("RETURNS_TO", "CallSite", "Pointer", "takes what the call returns"),
    Edge("THROWS_TO", "CallSite", "Pointer", "takes what the call throws"),
    Edge("ENTERS", "CallSite", "Pointer", "the input source brings what it reads to the pointer"),
    *_fact_edges(),
    Edge("HANDLE_CONSTANT", "Method", "Pointer", holds_if(schema.HandleConstant), _HANDLE),
    Edge("HANDLE_CONSTANT", "Field", "Pointer", holds_if(schema.HandleConstant), _HANDLE),
    Edge("EXACT_ARGUMENT", "Pointer", "CallSite", holds_if(schema.ExactArgument), _EXACT),
    Edge("EXACT_ARGUMENT", "CallSite", "CallSite", "the same of null, or of an array without elements", _EXACT),
    Edge(
        "FLOWS_TO", "Pointer", "Pointer",
        "what the first pointer refers to, the second may refer to: `kind` says how. The only relationships that "
        "paths of values walk. If `kind` is computed, the first is a part of the string at the second, an `Input`",
        {"kind": TEXT, "method": KEY, "offset": INTEGER, "site": KEY},
    ),
    Edge("POINTS_TO", "Pointer", "ObjectSet", "the pointer may refer to all objects of the set"),
    Edge("HOLDS", "ObjectSet", "Object", "the object is in the set"),
    Edge("STANDS_FOR", "Object", "Text", "the object is the string constant"),
    Edge("STANDS_FOR", "Object", "Class", "the object is the class object of the class"),
    Edge("STANDS_FOR", "Object", "Method", "the object is the method or constructor object"),
    Edge("STANDS_FOR", "Object", "Field", "the object is the field object"),
    Edge("INSTANCE_OF", "Object", "Class", "the class of the object"),
    Edge("MADE_BY", "Object", "CallSite", "the call returned the object, of which only that is known"),
    Edge("OPERAND", "Pointer", "CallSite", "the pointer decides what the reflective call does", {"name": TEXT}),
    Edge("SOURCE", "Object", "CallSite", "the constant or unknown value arrives at the call", {"kind": TEXT, "text": TEXT}),
)  # fmt: skip

EDGES: tuple[Edge, ...] = (*_STRUCTURE, *_ANALYSIS)


def key_base(generation: int, label: str) -> int:
    """Returns the key of the node number 0 of `label` in a generation.

    >>> key_base(0, "Archive")
    0
    """
    return (generation << _LABEL_BITS | LABELS.index(label)) << _NUMBER_BITS


def node_of(label: str) -> Node:
    """Returns the declaration of a label."""
    return NODES[LABELS.index(label)]


def edge_named(name: str) -> Edge:
    """Returns the declaration of a relationship by its `name`."""
    return next(each for each in EDGES if each.name == name)
