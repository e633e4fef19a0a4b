"""Reflective calls of the JDK's own code, resolved within their method.

The JDK is full of tables that map names to classes (security providers, charsets, resource bundles). Without
contexts, every such name reaches every such call, and one call after the other drags in what no program runs.
So a call in the JDK's code resolves only what comes from the same method, as in mode LOCAL of the paper
(Livshits et al., 2005), or from code outside the JDK: a constant or class literal there, a class or member that
is none of the JDK's. All else is unknown to it, and listed as such.
"""

from __future__ import annotations

import numpy as np

from cypher import schema
from cypher.program import JDK, Program
from cypher.schema import NONE, Facts, Int32
from engine import heap


class Confined:
    """Says what may resolve the operands of calls in the JDK's methods."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.pointers: dict[int, int] = {}
        self.found: set[tuple[int, int]] = set()
        self._strings: set[tuple[int, int]] = set()
        self._classes: set[tuple[int, int]] = set()

    def covers(self, method: int) -> bool:
        """Returns whether `method` is of the JDK."""
        return self._is_of_jdk(self._program.name_of_method(method)[0])

    def note(self, facts: Facts, methods: Int32) -> None:
        """Notes the constants in the bodies of `methods`."""
        for relation, column, pairs in (
            (schema.StringConstant, "text", self._strings),
            (schema.ClassConstant, "type", self._classes),
        ):
            rows = facts.get(relation)
            if rows is not None:
                rows = rows.take(np.isin(rows.method, methods))
                pairs.update(zip(rows.method.tolist(), getattr(rows, column).tolist(), strict=True))

    def admits(self, pointer: int, kind: int, payload: int, class_type: int) -> bool:
        """Returns whether an object may resolve the operand at `pointer`."""
        method = self.pointers.get(pointer, NONE)
        if method == NONE:
            return True
        if kind == heap.STRING:
            return (method, payload) in self._strings or self._program.is_outside_jdk(payload)
        if kind == NONE and class_type >= 0:
            return (
                not self._is_of_jdk(class_type)
                or (method, class_type) in self._classes
                or (method, class_type) in self.found
            )
        if kind == heap.METHOD_OBJECT:
            declaring = self._program.name_of_method(payload)[0]
        elif kind == heap.FIELD_OBJECT:
            declaring = self._program.name_of_field(payload)[0]
        else:
            return True
        return not self._is_of_jdk(declaring) or (method, payload) in self.found

    def _is_of_jdk(self, type_: int) -> bool:
        return bool(self._program.flags_of_type(type_) & JDK)
