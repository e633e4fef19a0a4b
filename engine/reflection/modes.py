"""Modes: named sets of rules, each of which derives what the one before does."""

from __future__ import annotations

from engine.reflection import actions, api, casts, entries, generics, handles, library, members, texts
from engine.rules import Rule, rules_of

RULES: tuple[Rule, ...] = tuple(rules_of(entries, generics, members, actions, casts, handles, library, texts))

# What a JVM does in every mode: fields are accessed by var handles and offsets, constant method handles are called.
_JAVA = (
    "fieldObject", "load, store", "offsetField", "memoryAccess", "P-GetMtd", "arrayVarHandle", "unreflectField",
    "handleTarget", "madeHandle", "madeTarget", "serviceProvider", "annotationObject", "parameterClass", "unknownParameter", "proxyInterface",
    "enumConstants", "bundleClass", "allocateInstance",
)  # fmt: skip
_LOCAL = (*_JAVA, "classObjects.local", "calls.clinit", "newInstanceTargets.local")
_POINTS_TO = (
    *_JAVA, "classObjects", "calls.clinit", "P-ForName", "relatedClass", "classesOfMethod", "classesOfField",
    "genericOfClass", "genericOfMethod", "genericOfField", "partOfType", "classOfType",
    "unknownRelated", "newArray", "unknownArray", "memberCandidate", "constructorTypes", "methodObject",
    "listedMethods", "executable", "listedFields", "unknownListed", "ensureInitialized", "newInstanceTargets.1", "newInstanceTargets.2", "resolvedInvoke",
    "handleCandidate", "handleObject", "P-Lookup", "unreflect", "unreflectVarHandle", "P-Unreflect",
    "methodType", "nameOfClass", "nameOfMethod", "nameOfField", "unknownName", "namelessClass",
)  # fmt: skip
_CASTS = (*_POINTS_TO, "classObjects.casts.1", "classObjects.casts.2", "classObjects.casts.listed")
NOTHING, LOCAL, POINTS_TO, CASTS, SOUND = "none", "local", "points-to", "casts", "sound"
# `sound` is `casts` with what the user specifies (§ 6.2 of the paper).
MODES: dict[str, tuple[str, ...]] = {
    NOTHING: _JAVA,
    LOCAL: _LOCAL,
    POINTS_TO: _POINTS_TO,
    CASTS: _CASTS,
    SOUND: _CASTS,
}
ASKING_CASTS = (CASTS, SOUND)
DEFAULT = POINTS_TO
# The modes of Livshits, Whaley and Lam, in the order of their tables.
LIVSHITS = (NOTHING, LOCAL, POINTS_TO, CASTS, SOUND)


def rules_in(mode: str) -> list[Rule]:
    """Returns the rules of `mode`."""
    return [each for each in RULES if each.name in MODES[mode]]


def follows(mode: str, role: str) -> bool:
    """Returns whether calls of java.lang.reflect that have this role have an effect in `mode`."""
    return mode != NOTHING and (mode != LOCAL or role in (api.FOR_NAME, api.CLASS_NEW))
