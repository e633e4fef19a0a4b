"""Modes: named sets of rules. Nothing else in the engine asks which mode is on."""

from __future__ import annotations

from engine.reflection import actions, entries, members
from engine.rules import Rule, rules_of

RULES: tuple[Rule, ...] = tuple(rules_of(entries, members, actions))

MODES: dict[str, tuple[str, ...]] = {
    "none": (),
    "points-to": (
        "classObjects", "calls.clinit", "P-ForName", "relatedClass", "unknownRelated", "newArray",
        "parameterClass", "memberCandidate", "constructorTypes", "methodObject", "fieldObject", "P-GetMtd",
        "newInstanceTargets.1", "newInstanceTargets.2", "resolvedInvoke", "load, store",
    ),
}  # fmt: skip
DEFAULT = "points-to"


def rules_in(mode: str) -> list[Rule]:
    """Returns the rules of `mode`."""
    return [each for each in RULES if each.name in MODES[mode]]
