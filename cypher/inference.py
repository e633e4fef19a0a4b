"""Rules in Cypher: what can be derived on the server from the relationships of a run, as files that one can read and change.

A file is called like its rule and begins with these comments, in this order:

    // title: …
    // description: … (one sentence)
    // paper: … (where the rule is from)
    // head: (START)-[:TYPE]->(END), or (NODE:LABEL) (what it derives)
    // formal: … (a clause of it in Datalog, as the paper prints it or says it in words; one or more of these lines)
    // Differs: … (where the statements depart from that; left out if they don't)

and goes on with the statement of the first round. A recursive rule has a second one, below the line of STEP, which is
run as long as it derives something; it looks at what the round before derived, by the property `round`. Statements
take `$generation` and `$round`, commit by themselves in batches, and derive nothing twice.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import TYPE_CHECKING, LiteralString, NamedTuple

from cypher.load import statements

if TYPE_CHECKING:
    from neo4j import Session

STEP = "// then, as long as that finds more:\n"
_HEADER = re.compile(
    r"// title: (?P<title>.+)\n// description: (?P<description>.+)\n// paper: (?P<paper>.+)\n// head: (?P<head>.+)\n"
    r"(?P<formal>(?:// formal: .+\n)+)(?:// Differs: (?P<differs>.+)\n)?"
)
_FORMAL = re.compile(r"^// formal: (.+)$", re.MULTILINE)
_EDGE = re.compile(r"\((?P<start>[A-Za-z]+)\)-\[:(?P<type>[A-Z_]+)\]->\((?P<end>[A-Za-z]+)\)")
_LABEL = re.compile(r"\((?P<node>[A-Za-z]+):(?P<label>[A-Za-z]+)\)")


class Rule(NamedTuple):
    """A rule: `head` is the relationship type or label that it derives; `step` is empty unless it is recursive.

    `formal` are its clauses in Datalog, `differs` is empty or says where it departs from them.
    """

    name: str
    title: str
    description: str
    paper: str
    pattern: str
    formal: tuple[str, ...]
    differs: str
    head: str
    first: LiteralString
    step: LiteralString

    @property
    def is_label(self) -> bool:
        """Returns whether nodes get a label, and no relationships."""
        return _LABEL.fullmatch(self.pattern) is not None


class Round(NamedTuple):
    """What one round of a rule derived, and in how many seconds."""

    rule: str
    number: int
    rows: int
    seconds: float


class Unknown(Exception):
    """There is no such rule: `str` is the sentence for the user."""


@cache
def rules() -> tuple[Rule, ...]:
    """Returns all rules, each behind those whose heads it asks for."""
    found = {
        file.name.removesuffix(".cypher"): parsed(file.name.removesuffix(".cypher"), file.read_text("utf-8"))
        for file in sorted((files("cypher") / "rules").iterdir(), key=lambda each: each.name)
        if file.name.endswith(".cypher")
    }
    return tuple(found[name] for name in TopologicalSorter(_premises(found)).static_order())


def _premises(found: dict[str, Rule]) -> dict[str, list[str]]:
    """Returns the names of the other rules whose heads each rule asks for."""
    return {
        name: [
            other.name
            for other in found.values()
            if other.name != name and re.search(rf"\b{other.head}\b", rule.first + rule.step)
        ]
        for name, rule in found.items()
    }


def chosen(names: Collection[str]) -> list[Rule]:
    """Returns the rules of these names and those that they need, in order; all of them if there are no names.

    Raises `Unknown`.
    """
    found = {each.name: each for each in rules()}
    for name in names:
        if name not in found:
            raise Unknown(f"there is no rule {name}; there are {', '.join(found)}")
    premises, wanted = _premises(found), set(names or found)
    while more := {each for name in wanted for each in premises[name]} - wanted:
        wanted |= more
    return [each for each in rules() if each.name in wanted]


def infer(
    session: Session,
    generation: int,
    wanted: Collection[Rule],
    tell: Callable[[Round], None] = lambda _: None,
) -> list[Round]:
    """Derives what the rules say of a generation, anew; returns the rounds. `tell` is called after each."""
    found: list[Round] = []
    for rule in wanted:
        _forget(session, rule, generation)
        if not rule.is_label:
            session.run(statements.index_rounds(rule.head)).consume()
            session.run("CALL db.awaitIndexes(300)").consume()
        for each in _rounds(session, rule, generation):
            found.append(each)
            tell(each)
    return found


def _rounds(session: Session, rule: Rule, generation: int) -> Iterator[Round]:
    number, text = 0, rule.first
    while text:
        began = time.monotonic()
        counters = session.run(text, generation=generation, round=number).consume().counters
        rows = counters.labels_added if rule.is_label else counters.relationships_created
        yield Round(rule.name, number, rows, time.monotonic() - began)
        number, text = number + 1, rule.step if rows else ""


def _forget(session: Session, rule: Rule, generation: int) -> None:
    """Deletes what was derived before."""
    text = statements.delete_labels(rule.head) if rule.is_label else statements.delete_rounds(rule.head)
    session.run(text, generation=generation).consume()


def formal_of(text: str) -> tuple[str, ...]:
    """Returns the clauses in the header of a rule."""
    return tuple(_FORMAL.findall(text))


def parsed(name: str, text: LiteralString) -> Rule:
    """Returns a rule from its text. Raises ValueError if the header isn't in the form above."""
    header = _HEADER.match(text)
    if header is None:
        raise ValueError(
            f"{name}: the header must have title, description, paper, head, and formal, in this order"
        )
    match = _EDGE.fullmatch(header["head"]) or _LABEL.fullmatch(header["head"])
    if match is None:
        raise ValueError(f"{name}: {header['head']} is no head")
    first, _, step = text.partition(STEP)
    groups = match.groupdict()
    return Rule(
        name, header["title"], header["description"], header["paper"], header["head"],
        formal_of(header["formal"]), header["differs"] or "",
        groups.get("type") or groups["label"], first, step,
    )  # fmt: skip


def inference_table() -> str:
    """Returns the rules for the documentation, in Markdown."""
    lines = ["| rule | derives | what that is | source |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{each.name}` | `{each.pattern}`{', to the fixpoint' if each.step else ''} | {each.description} | {each.paper} |"
        for each in rules()
    ]
    return "\n".join(lines)
