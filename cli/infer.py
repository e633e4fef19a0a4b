"""`heliograph graph infer`: rules in Cypher, applied to a run in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from cli.exits import usage
from cli.present import write_json, write_table
from cli.progress import Progress
from cli.query import Place, chosen, connected, failing
from cypher import inference
from cypher.connection import explained
from cypher.inference import Round, Rule


def infer_in(place: Place, run: str | None, names: Sequence[str], progress: Progress) -> list[Round]:
    """Applies the rules of these names, and those that they need, to a run; returns their rounds. Raises `Failure`."""
    try:
        wanted = inference.chosen(names)
    except inference.Unknown as problem:
        raise usage(str(problem)) from None
    with failing(), connected(place) as driver:
        number = chosen(driver, run).number
        with (
            explained(place.uri or "the server", place.user),
            driver.session() as session,
            progress.bar("applying rules", None) as advance,
        ):
            return inference.infer(session, number, wanted, lambda each: advance(0.0, _told(each)))


def _told(each: Round) -> str:
    return f"{each.rule}, round {each.number}: {each.rows:,} rows"


def write_inferred(rounds: Sequence[Round], *, as_json: bool) -> None:
    """Prints what each rule derived."""
    found = {name: list(group) for name, group in groupby(rounds, lambda each: each.rule)}
    patterns = {each.name: each.pattern for each in inference.rules()}
    if as_json:
        write_json(
            [
                {
                    "rule": name,
                    "derives": patterns[name],
                    "rows": sum(each.rows for each in group),
                    "rowsByRound": [each.rows for each in group],
                    "seconds": round(sum(each.seconds for each in group), 3),
                }
                for name, group in found.items()
            ]
        )
        return
    rows = [
        (
            name, patterns[name], sum(each.rows for each in group), " ".join(f"{each.rows:,}" for each in group),
            f"{sum(each.seconds for each in group):.1f}",
        )
        for name, group in found.items()
    ]  # fmt: skip
    write_table(("rule", "derives", "rows#", "by round", "seconds#"), rows)


def write_rules(*, as_json: bool) -> None:
    """Prints the rules, in the order in which they are applied."""
    found: Sequence[Rule] = inference.rules()
    if as_json:
        write_json(
            [
                {
                    "rule": each.name,
                    "derives": each.pattern,
                    "recursive": bool(each.step),
                    "description": each.description,
                    "paper": each.paper,
                    "formal": each.formal,
                    "differs": each.differs,
                    "cypher": each.first + (inference.STEP + each.step if each.step else ""),
                }
                for each in found
            ]
        )
        return
    write_table(("rule", "derives", ""), [(each.name, each.pattern, each.description) for each in found])
