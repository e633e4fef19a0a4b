"""What an ad-hoc query may do: read the graph, and nothing else.

Each layer alone has a hole. Together they are an allowlist: what isn't known is refused.

- The text is looked at before the server sees it, since the plan leaves out what is nested in an expression. Tried
  on 5.26 and 2026.08: `RETURN [x IN [1] | COLLECT { LOAD CSV … }]` opens its address, by a plan of `Projection`.
- `EXPLAIN`, which runs nothing, has to say that the query reads, by operators that are known to.
- The query itself runs in a transaction for reading (see `cypher.asking`), with bounds on rows and time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neo4j import Transaction

# A list in 200 others, or a subquery in 50, keeps Neo4j's parser busy for minutes, whatever the time limit says.
LONGEST, DEEPEST = 100_000, 40


class Refused(Exception):
    """The query may do more than read: `str` is the reason, in a sentence for the user."""


# Operators of plans that read, without what stands in parentheses after their names, and without `Partitioned`
# before them.
OPERATORS = frozenset(
    """
    AllNodesScan Anti AntiConditionalApply AntiSemiApply Apply Argument ArgumentTracker
    BidirectionalRepeat CacheProperties CartesianProduct ConditionalApply DirectedAllRelationshipsScan
    DirectedRelationshipByElementIdSeek DirectedRelationshipByIdSeek
    DirectedRelationshipFulltextIndexSearch DirectedRelationshipIndexContainsScan
    DirectedRelationshipIndexEndsWithScan DirectedRelationshipIndexScan DirectedRelationshipIndexSeek
    DirectedRelationshipIndexSeekByRange DirectedRelationshipTypeScan DirectedRelationshipUniqueIndexSeek
    DirectedRelationshipUniqueIndexSeekByRange DirectedRelationshipVectorIndexSearch
    DirectedUnionRelationshipTypesScan Distinct DynamicDirectedRelationshipTypeLookup
    DynamicLabelNodeLookup DynamicUndirectedRelationshipTypeLookup Eager EagerAggregation EmptyResult
    EmptyRow Expand Filter IntersectionNodeByLabelsScan LetAntiSemiApply LetSelectOrAntiSemiApply
    LetSelectOrSemiApply LetSemiApply Limit MultiNodeIndexSeek NodeByElementIdSeek NodeByIdSeek
    NodeByLabelScan NodeCountFromCountStore NodeFulltextIndexSearch NodeHashJoin NodeIndexContainsScan
    NodeIndexEndsWithScan NodeIndexScan NodeIndexSeek NodeIndexSeekByRange NodeLeftOuterHashJoin
    NodeRightOuterHashJoin NodeUniqueIndexSeek NodeUniqueIndexSeekByRange NodeVectorIndexSearch
    NullifyMetadata Optional OptionalExpand OrderedAggregation OrderedDistinct OrderedUnion PartialSort
    PartialTop PathPropagatingBFS PreserveOrder ProcedureCall ProduceResults ProjectEndpoints Projection
    RelationshipCountFromCountStore Repeat RepeatOptions RollUpApply SelectOrAntiSemiApply
    SelectOrSemiApply SemiApply ShortestPath Skip Sort StatefulShortestPath SubtractionNodeByLabelsScan
    Top Top1WithTies TriadicBuild TriadicFilter TriadicSelection UndirectedAllRelationshipsScan
    UndirectedRelationshipByElementIdSeek UndirectedRelationshipByIdSeek
    UndirectedRelationshipFulltextIndexSearch UndirectedRelationshipIndexContainsScan
    UndirectedRelationshipIndexEndsWithScan UndirectedRelationshipIndexScan
    UndirectedRelationshipIndexSeek UndirectedRelationshipIndexSeekByRange UndirectedRelationshipTypeScan
    UndirectedRelationshipUniqueIndexSeek UndirectedRelationshipUniqueIndexSeekByRange
    UndirectedRelationshipVectorIndexSearch UndirectedUnionRelationshipTypesScan Union
    UnionNodeByLabelsScan Unwind ValueHashJoin ValueMergeJoin VarLengthExpand
    """.split()  # noqa: SIM905  # a hundred names read better so
)
PROCEDURES = frozenset(
    {
        "db.index.fulltext.queryNodes", "db.index.fulltext.queryRelationships", "db.labels", "db.propertyKeys",
        "db.relationshipTypes", "db.schema.nodeTypeProperties", "db.schema.relTypeProperties",
        "db.schema.visualization",
    }
)  # fmt: skip
# Functions of a namespace; without one there are only those of Cypher itself, none of which leaves the database.
FUNCTIONS = frozenset(
    f"{type_}.{name}"
    for type_ in ("date", "datetime", "localdatetime", "localtime", "time")
    for name in ("realtime", "statement", "transaction", "truncate")
) | {
    "datetime.fromepoch", "datetime.fromepochmillis", "duration.between", "duration.indays", "duration.inmonths",
    "duration.inseconds", "point.distance", "point.withinbbox", "vector.similarity.cosine",
    "vector.similarity.euclidean",
}  # fmt: skip

# Words that open clauses which do more than read, unless a word follows that can't belong to such a clause.
_OPENING = frozenset({"CALL", "LOAD", "SHOW", "TERMINATE"})
_GOING_ON = frozenset(
    """
    AND AS ASC ASCENDING CONTAINS DESC DESCENDING ELSE END ENDS FILTER FINISH IN IS LET LIMIT MATCH NEXT NOT OFFSET
    OPTIONAL OR ORDER RETURN SKIP STARTS THEN UNION UNWIND WHEN WHERE WITH XOR YIELD
    """.split()  # noqa: SIM905
)

# Strings, comments, and quoted names, as Cypher reads them; what isn't closed goes on to the end.
_HIDING = re.compile(
    r"""'(?:[^'\\]|\\.)*+(?:'|\\?\Z) | "(?:[^"\\]|\\.)*+(?:"|\\?\Z) | //[^\n]*+ | /\*.*?(?:\*/|\Z) | `[^`]*+(?:`|\Z)""",
    re.VERBOSE | re.DOTALL,
)
# What may stand between two words: neither part of a word nor one of ASCII's signs.
_GAP = r"[^\w!-/:-@\[-`{-~]"
_NAME = r"(?:[^\W\d]\w*+|`(?:[^`]|``)++`)"
_NAMES = re.compile(rf"(?>{_NAME}(?:{_GAP}*\.{_GAP}*{_NAME})*+)(?=({_GAP}*\()?)")
_SPACE = re.compile(rf"{_GAP}*")
_PART = re.compile(_NAME)
_PROCEDURE = re.compile(r"([\w.]+)\(")


def check(transaction: Transaction, text: str, parameters: Mapping[str, Any]) -> None:
    """Raises `Refused` if the query may do more than read; what the server has against it passes through."""
    check_text(text)
    # The one statement that is put together of what somebody typed: EXPLAIN runs nothing, whatever follows.
    summary = transaction.run("EXPLAIN\n" + text, dict(parameters)).consume()
    check_plan(summary.query_type, summary.plan)


def check_text(text: str) -> None:
    r"""Raises `Refused` if the text is more than a server should be given, or holds what a plan may hide.

    >>> check_text("MATCH (n:Class) WHERE n.name = 'LOAD CSV' RETURN n // CALL it a day")
    >>> check_text("RETURN [x IN [1] | COLLECT { LOAD/**/CSV FROM $file AS row RETURN row }]")
    Traceback (most recent call last):
        ...
    cypher.guard.Refused: LOAD CSV does more than read the graph
    """
    if not text.strip():
        raise Refused("the query is empty")
    if len(text) > LONGEST:
        raise Refused(f"a query may have {LONGEST:,} characters, and this has {len(text):,}")
    text = text.replace("\r\n", "\n")
    for each in text:
        if unicodedata.category(each) in ("Cc", "Cs") and each not in "\t\n":
            raise Refused(f"the query holds the character U+{ord(each):04X}")
    if "\\u" in text.lower():
        raise Refused("the query holds an escape (\\u…): write the character itself, or use a parameter")
    bare = _HIDING.sub(_shown, text)
    _check_depth(bare)
    opening, end = "", 0
    for match in _NAMES.finditer(bare):
        parts = [_unquoted(each) for each in _PART.findall(match[0])]
        name, word = ".".join(parts), match[0].upper()
        if opening and _SPACE.fullmatch(bare, end, match.start()):
            if opening == "CALL":
                if word not in _GOING_ON and name not in PROCEDURES:
                    raise Refused(f"the procedure {name} is none of those that only read the graph")
            elif word not in _GOING_ON:
                raise Refused(f"{opening} {word} does more than read the graph")
        elif match[1] and len(parts) > 1 and name.lower() not in FUNCTIONS:
            raise Refused(f"the function {name} is none of Cypher's own")
        opening, end = word if word in _OPENING else "", match.end()


def _shown(hiding: re.Match[str]) -> str:
    """Returns what stands for a string, a comment or a quoted name when clauses are looked for."""
    first = hiding[0][0]
    return hiding[0] if first == "`" else " " if first == "/" else "''"


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _check_depth(text: str) -> None:
    depth = 0
    for each in text:
        if each in "([{":
            depth += 1
            if depth > DEEPEST:
                raise Refused(f"brackets are nested more than {DEEPEST} deep")
        elif each in ")]}":
            depth -= 1


def check_plan(kind: str | None, plan: Mapping[str, Any] | None) -> None:
    """Raises `Refused` unless the kind of the query is to read, and its plan has operators alone that do.

    >>> check_plan("r", {"operatorType": "ProduceResults@neo4j", "children": [{"operatorType": "LoadCSV@neo4j"}]})
    Traceback (most recent call last):
        ...
    cypher.guard.Refused: the server would run LoadCSV, which is none of the operators that only read the graph
    """
    if kind != "r":
        raise Refused(
            "the query may change the graph or the server" if kind != "s" else "it is about the server"
        )
    if plan is None:
        raise Refused("the server doesn't say how it would run the query")
    for each in _operators(plan):
        operator = str(each["operatorType"]).partition("@")[0]
        name = operator.partition("(")[0].removeprefix("Partitioned")
        if name not in OPERATORS or operator.endswith("(Locking)"):
            raise Refused(
                f"the server would run {operator}, which is none of the operators that only read the graph"
            )
        if operator == "ProcedureCall":
            found = _PROCEDURE.match(str(each.get("args", {}).get("Details", "")))
            if found is None or found[1] not in PROCEDURES:
                called = found[1] if found else "that is called"
                raise Refused(f"the procedure {called} is none of those that only read the graph")


def _operators(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the operators of a plan."""
    waiting = [plan]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(each.get("children", ()))
