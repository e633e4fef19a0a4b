"""Diagnostics for people: one line for each code and archive."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from cli.text import shown
from cypher.schema import Diagnostic

_SEVERITIES = ("error", "warning", "note")
_EFFECTS = ("soundness", "precision", "none")
# A text that is longer is cut in the grouped lines; `diagnostics.jsonl` has it whole.
_WIDTH = 400
# Of a code that more archives have, the first are printed.
_LINES = 20


class Group(NamedTuple):
    """The diagnostics of one severity, code and archive: how many, and the first of them."""

    code: str
    severity: str
    effect: str
    archive: str
    number: int
    text: str

    def document(self) -> dict[str, Any]:
        """Returns the group for programs."""
        found = self._asdict()
        found["count"] = found.pop("number")
        return found


def groups(diagnostics: Sequence[Diagnostic]) -> list[Group]:
    """Returns the diagnostics by severity, code and archive, the gravest first."""
    found = []
    for _, group in groupby(sorted(diagnostics, key=_key), _key):
        listed = list(group)
        first = listed[0]
        inside = f"{first.entry or first.method}: " if first.entry or first.method else ""
        effect = min((each.effect for each in listed), key=_EFFECTS.index)
        found.append(
            Group(first.code, first.severity, effect, first.archive, len(listed), inside + first.text)
        )
    return found


def _key(each: Diagnostic) -> tuple[int, str, str]:
    return _SEVERITIES.index(each.severity), each.code, each.archive


def tell(diagnostics: Sequence[Diagnostic], notes: bool) -> None:
    """Prints one line for each group on standard error, notes only if they are wanted; of each code the first few."""
    wanted = (each for each in groups(diagnostics) if notes or each.severity != "note")
    for (severity, code), alike in groupby(wanted, lambda each: (each.severity, each.code)):
        listed = list(alike)
        for group in listed[:_LINES]:
            where = f"{group.archive}: " if group.archive else ""
            more = f" (and {group.number - 1} more)" if group.number > 1 else ""
            text = group.text if len(group.text) <= _WIDTH else group.text[:_WIDTH] + "…"
            sys.stderr.write(shown(f"{severity} {code}: {where}{text}{more}") + "\n")
        if len(listed) > _LINES:
            sys.stderr.write(f"{severity} {code}: and {len(listed) - _LINES:,} more archives\n")
