"""What py2neo does for the console: it knows the words of Cypher, where a statement ends, and how to lay out tables.

Its lexer is of 2021. What has come since then, and escapes in strings, it takes for mistakes; those patterns are
replaced here, in a class of our own. The same words, and those of the graph, are what the console suggests.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from py2neo.cypher.lexer import CypherLexer  # type: ignore[import-untyped]
from py2neo.integration import Table  # type: ignore[import-untyped]
from pygments.lexer import bygroups, include  # type: ignore[import-untyped]
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace  # type: ignore[import-untyped]

from cypher import graph
from cypher.guard import FUNCTIONS, PROCEDURES

_NAME = r"`(?:``|[^`])+`|[A-Za-z_][0-9A-Za-z_]*"
_TOKENS: dict[str, list[Any]] = CypherLexer.tokens


class Lexer(CypherLexer):  # type: ignore[misc]  # py2neo has no types
    """Cypher of today.

    >>> [text for kind, text in Lexer().get_tokens("MATCH (a:!B&C|D)") if kind is Name.Label]
    ['B', 'C']
    """

    tokens = _TOKENS | {
        "strings": [
            # What isn't closed yet goes on, and so does the statement.
            (r"'(?:\\[\s\S]|[^\\'])*+(?:'|\Z)", String),
            (r'"(?:\\[\s\S]|[^\\"])*+(?:"|\Z)', String),
            (r"`[^`]*+\Z", Name.Variable),
        ],
        "labels": [
            (rf"([:&!])(\s*)({_NAME})", bygroups(Punctuation, Whitespace, Name.Label)),
            (r"[:&!](?=\s*[!%$(])", Punctuation),
            (r"\$(?=\()", Punctuation),
        ],
        "numbers": [
            (r"[0-9]+(?=\.\.)", Number.Integer),
            (r"\.\.", Operator),
            *_TOKENS["numbers"],
        ],
        # The keys of a map, of which some look like keywords, and the clauses of a subquery.
        "in-{}": [
            (r"([A-Za-z_][0-9A-Za-z_]*)(\s*)(:)(?!:)", bygroups(Name.Variable, Whitespace, Punctuation)),
            (r"(?:COLLECT|COUNT|EXISTS)(?=\s*\{)", Keyword),
            include("keywords"),
            *_TOKENS["in-{}"],
        ],
        "keywords": [(r"(?:COLLECT|COUNT|EXISTS)(?=\s*\{)", Keyword), *_TOKENS["keywords"]],
    }


# What is suggested: words of queries that read.
KEYWORDS = tuple(
    """
    ALL AND AS ASC CALL CASE COLLECT CONTAINS COUNT DESC DISTINCT ELSE END ENDS EXISTS EXPLAIN IN IS LIMIT MATCH NOT
    NULL OPTIONAL OR ORDER BY RETURN SHORTEST SKIP STARTS THEN UNION UNWIND WHEN WHERE WITH XOR YIELD
    """.split()  # noqa: SIM905  # forty words read better so
)
LABELS = tuple(sorted({"Current", "Generation"}.union(*({each.label, *each.more} for each in graph.NODES))))
TYPES = tuple(sorted({"IS"} | {each.type for each in graph.EDGES}))
PROPERTIES = tuple(
    sorted(
        {"key", "generation"}.union(
            *(each.properties for each in graph.NODES), *(each.properties for each in graph.EDGES)
        )
    )
)

_SIGNS = frozenset(":.$&|!")


def _before_cursor(text: str) -> tuple[str, str, int]:
    """Returns the word before the cursor, the sign before that, and where the word begins.

    >>> _before_cursor("MATCH (n: Cla")
    (':', 'Cla', 10)
    """
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    sign = text[:start].rstrip(" \t")[-1:]
    return sign if sign in _SIGNS else "", text[start:], start


class Words(NamedTuple):
    """What the console suggests besides the words of Cypher and of the graph."""

    queries: Sequence[str] = ()
    parameters: Sequence[str] = ()
    commands: Sequence[str] = ()


def suggested(before: str, words: Words) -> tuple[str, list[str]]:
    """Returns the word before the cursor, and what it may become.

    >>> suggested("MATCH (c:Cla", Words()), suggested("MATCH ()-[:CALLS|EXT", Words())
    (('Cla', ['Class', 'ClassObject']), ('EXT', ['EXTENDS']))
    >>> suggested("MATCH (m) WHERE m.qual", Words()), suggested("ret", Words())
    (('qual', ['qualifiedName']), ('ret', ['RETURN']))
    """
    if before.lstrip().startswith(":"):
        command, space, rest = before.lstrip().partition(" ")
        if not space:
            return command, [each for each in words.commands if each.startswith(command)]
        found = words.queries if command == ":run" else ()
        return rest, [each for each in found if each.startswith(rest)]
    sign, word, start = _before_cursor(before)
    if sign == "$":
        return word, _starting(word, words.parameters)
    if sign and sign != ".":
        # Between brackets that aren't closed yet.
        inside = before[:start]
        types = inside.rfind("[") > max(inside.rfind("]"), inside.rfind("("))
        return word, _starting(word, TYPES if types else LABELS)
    stem, dot, last = word.rpartition(".")
    if dot or sign == ".":
        called = sorted(each for each in PROCEDURES | FUNCTIONS if each.startswith(word) and dot)
        return (word, called) if called else (last, _starting(last, PROPERTIES))
    return last, _starting(last, (*KEYWORDS, *sorted(PROCEDURES))) if last and not stem else []


def _starting(word: str, candidates: Iterable[str]) -> list[str]:
    return [each for each in candidates if each.lower().startswith(word.lower())]


def split(text: str) -> tuple[list[str], str]:
    r"""Returns the statements that end with a semicolon, and what is left, if that is more than remarks.

    >>> split("RETURN ';' AS a; // b;\nRETURN 1")
    (["RETURN ';' AS a"], '// b;\nRETURN 1')
    >>> split("RETURN 1; // b;"), split("RETURN 1; /* b")
    ((['RETURN 1'], ''), (['RETURN 1'], '/* b'))
    """
    found, begin, more = [], 0, False
    for place, kind, value in Lexer().get_tokens_unprocessed(text):
        # (Between brackets that aren't closed it is a mistake, but an end nonetheless.)
        if value == ";":
            found.append(text[begin:place].strip())
            begin, more = place + 1, False
        elif kind not in Comment and kind not in Whitespace:
            more = True
    rest = text[begin:].lstrip()
    is_open = rest.startswith("/*") and not rest.rstrip().endswith("*/")
    return [each for each in found if each], rest if more or is_open else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Returns rows as lines below the names of their columns; numbers are set to the right.

    >>> print(table(["a", "n"], [["x", 10], ["yy", 9]]))
     a  |  n
    ----|----
     x  | 10
     yy |  9
    """
    output = io.StringIO()
    Table([tuple(row) for row in rows], list(columns)).write(file=output, header=True, newline="\n")
    return "\n".join(each.rstrip() for each in output.getvalue().splitlines())
