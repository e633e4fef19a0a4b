"""What lies outside the JDK: the application, and libraries of its class path."""

from __future__ import annotations

from cli.naming import place_of
from cli.run import Run
from cypher.program import JDK
from cypher.schema import NONE, Int32


class Outside:
    """Tells types and methods of one run apart."""

    def __init__(self, run: Run) -> None:
        self._names, self._structure = run.names, run.structure

    def is_type(self, type_: int) -> bool:
        """Returns whether a type, or the elements of an array, are defined outside the JDK."""
        element = self.element(type_)
        return element >= 0 and not self._names.type_flags(element) & JDK

    def is_method(self, method: int) -> bool:
        """Returns whether a method, -1 for the JVM, is declared outside the JDK."""
        return method >= 0 and self.is_type(declaring(self._names.columns.methods, method))

    def element(self, type_: int) -> int:
        """Returns the type of the elements of an array of any depth, -1 if they are primitive; of another type itself."""
        while type_ >= 0 and self._names.internal_type(type_).startswith("["):
            type_ = int(self._structure.element[type_])
        return type_


def declaring(members: Int32, member: int) -> int:
    """Returns the type that declares a method or field, -1 if the run has no name for it."""
    row = place_of(members, member)
    return int(members[row, 1]) if row < len(members) and members[row, 0] == member else NONE
