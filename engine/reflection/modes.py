"""Modes: named sets of rules. Nothing else in the engine asks which mode is on."""

from __future__ import annotations

from engine.reflection import actions, entries, handles, library, members
from engine.rules import Rule, rules_of

RULES: tuple[Rule, ...] = tuple(rules_of(entries, members, actions, handles, library))

# What a JVM does in every mode: fields are accessed by var handles and offsets, constant method handles are called.
_JAVA = (
    "fieldObject", "load, store", "offsetField", "memoryAccess", "P-GetMtd", "arrayVarHandle", "handleTarget",
    "madeHandle", "madeTarget", "serviceProvider", "annotationObject", "parameterClass", "unknownParameter", "proxyInterface",
    "enumConstants", "bundleClass", "allocateInstance",
)  # fmt: skip
MODES: dict[str, tuple[str, ...]] = {
    "none": _JAVA,
    "points-to": (
        *_JAVA, "classObjects", "calls.clinit", "P-ForName", "relatedClass", "unknownRelated", "newArray",
        "memberCandidate", "constructorTypes", "methodObject",
        "ensureInitialized", "newInstanceTargets.1", "newInstanceTargets.2", "resolvedInvoke", "handleCandidate", "handleObject", "P-Lookup",
        "unreflect", "unreflectVarHandle", "P-Unreflect", "methodType",
    ),
}  # fmt: skip
DEFAULT = "points-to"


def rules_in(mode: str) -> list[Rule]:
    """Returns the rules of `mode`."""
    return [each for each in RULES if each.name in MODES[mode]]


def follows_reflection(mode: str) -> bool:
    """Returns whether calls of java.lang.reflect have an effect in `mode`."""
    return mode != "none"
