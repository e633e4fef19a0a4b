"""What an analysis returns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from cypher.schema import Diagnostic, Facts, Int32
from engine.heap import Objects
from engine.sites import Sites
from engine.solver import PointsToRows, Statistics

RESOLVED, PARTIAL, UNRESOLVED = "resolved", "partial", "unresolved"
# How the operands are called, with a number each, of the combined handles that a call of a handle calls.
PART = "part "


class Target(NamedTuple):
    """What a reflective site resolves to: `kind` is `type`, `method` or `field`, `id` its id."""

    kind: str
    id: int


class NameSource(NamedTuple):
    """Where a name, or an unknown operand, comes from.

    `kind` is `constant`, with its `text`, or `unknown`; `obj` is the abstract object, -1 if it is of no single one.
    """

    kind: str
    text: str
    obj: int

    @property
    def is_unlisted(self) -> bool:
        """Whether it stands for more that is unknown than is listed object by object."""
        return self.kind == "unknown" and self.obj < 0


@dataclass(frozen=True)
class ReflectiveSite:
    """A call of the reflective API.

    `api` is `a.b.C.m`, `role` as in `engine.reflection.api`. `operands` names the pointers that decide what
    the call does: the string, the class or member object. `reason` is empty unless something is missing. `assumes`
    says on what a call leans whose class or name is known for another reason than that constants come to it
    (see `engine.openness`).
    """

    site: int
    api: str
    role: str
    status: str
    reason: str
    targets: tuple[Target, ...]
    sources: tuple[NameSource, ...]
    operands: dict[str, int]
    assumes: tuple[str, ...] = ()


class Derived(NamedTuple):
    """A row that a rule derived at a reflective site; `detail` is the type, method, field or pointer in it."""

    rule: str
    paper: str
    relation: str
    site: int
    detail: int


# The relations that hold targets: of what kind these are, "" if of handles, that lead to methods and fields alike.
KINDS = {
    "ClassObject": "type", "MethodObject": "method", "NewInstanceTarget": "method", "ResolvedInvoke": "method",
    "FieldObject": "field", "ResolvedField": "field", "HandleObject": "", "HandleTarget": "",
}  # fmt: skip


def target_of(derived: Derived, targets: Collection[Target]) -> Target | None:
    """Returns what a row holds, None unless that is a target; `targets` are those of its site."""
    kind = KINDS.get(derived.relation)
    if kind == "":
        method = Target("method", derived.detail)
        kind = "method" if method in targets else "field"
    return Target(kind, derived.detail) if kind else None


@dataclass(frozen=True)
class Result:
    """All of it, in ids of the program.

    `facts` holds every constraint that was entered, those of models and rules included; `first_variable` the
    first variable of each method in `reached`. `static_fields` pairs fields with their pointers. `passing` tells whether
    a call of a method that always returns a parameter returned the argument.
    """

    mode: str
    complete: bool
    reached: Int32
    first_variable: Int32
    facts: Facts
    sites: Sites
    call_site: Int32
    call_callee: Int32
    objects: Objects
    points_to: PointsToRows
    static_field: Int32
    static_pointer: Int32
    reflective: tuple[ReflectiveSite, ...]
    derived: tuple[Derived, ...]
    statistics: Statistics
    diagnostics: tuple[Diagnostic, ...] = ()
    phases: dict[str, float] = field(default_factory=dict)
    passing: bool = True
