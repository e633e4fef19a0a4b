"""The JDK's own names and class objects, followed over direct flow only.

The JDK is full of tables that map names to classes (security providers, charsets, resource bundles). Without
contexts, every such name reaches every reflective call, and one call after the other drags in what no program
runs. So the constants in its code, and the classes and members of its own that its reflective calls find, are
not told apart in the closure: a generic object goes in their place. At the operands of its reflective calls
they are found by direct flow (see `engine.direct`), which ends where it leaves the JDK's code: what the closure
has there, in an argument or a result, is what comes to the operand from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from cypher.program import JDK, Program
from cypher.schema import NONE, Facts, Int32
from engine.asked import Asked
from engine.direct import DirectFlow
from engine.kernel.index import OTHER, TEXT
from engine.solver import Solver, Statistics

# From more names than this, a reflective call of the JDK chooses by a table, which is not followed.
MOST_NAMES = 16
# Fields of the JDK of these types are followed.
_FOLLOWED = frozenset(
    f"Ljava/lang/{name};"
    for name in (
        "Class",
        "reflect/Constructor",
        "reflect/Method",
        "reflect/Field",
        "invoke/MethodHandle",
        "invoke/VarHandle",
        "String",
    )
)


# What the JDK's code makes sure of before its reflective calls: classes that come to them by direct flow are subtypes.
# By class and beginning of a method's name; the first that applies counts.
CHECKED = (
    ("java/io/ObjectStreamClass", "lambda$canonicalRecordCtr", "java/lang/Record"),
    ("java/io/ObjectStreamClass", "getExternalizableConstructor", "java/io/Externalizable"),
    ("java/io/ObjectStreamClass", "", "java/io/Serializable"),
)


# Classes of the JDK that make proxies of what they are given, by way of arrays: direct flow doesn't pass these.
PROXIES_AS_GIVEN = frozenset({"java/beans/EventHandler", "javax/management/JMX"})


# Names that the JDK's code composes, by class and method with the `Class.forName`: a closed set.
COMPOSED = {
    ("sun/util/calendar/CalendarSystem", "forName"): ("sun.util.calendar.JulianCalendar",),
}


class Confined:
    """Which methods are of the JDK, which types are confined, and the operands that direct flow resolves."""

    def __init__(self, program: Program, on: bool) -> None:
        self._program, self._on = program, on
        self._covered = Asked(self._is_covered)
        self._confines = Asked(self._is_confined)
        self._flow = DirectFlow(self._follows, self.covers)
        self._added = 0
        self.operands: dict[int, bool] = {}  # and whether they are in the JDK's code
        self._searched: Statistics | None = None

    def covers(self, methods: Int32) -> NDArray[np.bool_]:
        """Returns which methods are of the JDK."""
        return self._covered.many(methods)

    def covers_one(self, method: int) -> bool:
        """Returns whether `method` is of the JDK; -1 is none."""
        return self._covered.one(method)

    def _is_covered(self, method: int) -> bool:
        return self._on and method >= 0 and self.is_of_jdk(self._program.name_of_method(method)[0])

    def composed(self, method: int) -> tuple[str, ...]:
        """Returns the names that a method of the JDK composes and looks up."""
        declaring, name, _ = self._program.name_of_method(method)
        return COMPOSED.get((self._program.name_of_type(declaring), name), ())

    def expects(self, method: int) -> int:
        """Returns the type of which the classes are that reach reflective calls of a method of the JDK, -1 if any may."""
        declaring, name, _ = self._program.name_of_method(method)
        for owner, start, supertype in CHECKED:
            if name.startswith(start) and self._program.name_of_type(declaring) == owner:
                return self._program.type_named(supertype)
        return NONE

    def confines(self, types: Int32) -> NDArray[np.bool_]:
        """Returns for which types the generic class object stands, if they come up in the JDK's code."""
        return self._confines.many(types)

    def confines_one(self, type_: int) -> bool:
        """Returns whether it does for one type."""
        return self._confines.one(type_)

    def _is_confined(self, type_: int) -> bool:
        confined = self._on and type_ >= 0 and self.is_of_jdk(type_)
        return confined and self._program.name_of_type(type_)[0] != "["

    def search(
        self,
        solver: Solver,
        batches: list[Facts],
        parameters: Int32,
        variables: Int32,
        cut: NDArray[np.bool_],
        opaque: Callable[[Int32], NDArray[np.bool_]],
        others: Iterable[int],
    ) -> Iterator[tuple[int, set[tuple[int, int]]]]:
        """Yields each operand to which something else may come by direct flow than before, with all (kind, value) that does.

        Operands are those in the JDK's code and the `others`. `parameters` and `variables` are their
        numbers in each method, by its id; `cut` says of which sites the results come from a model or the rules,
        `opaque` which methods the rules stand for.
        """
        statistics = solver.statistics()
        operands = dict.fromkeys((*(each for each, inside in self.operands.items() if inside), *others))
        if not operands or statistics == self._searched:
            return
        self._searched = statistics
        self._flow.add(batches[self._added :])
        self._added = len(batches)
        self._flow.update(solver, parameters, variables, cut, opaque)
        for operand in operands:
            everywhere = not self.operands.get(operand)
            if self._flow.is_known(operand, everywhere):
                continue
            origins = self._flow.origins(operand, everywhere)
            texts = {each for each in origins if each[0] == TEXT}
            yield operand, origins - texts | {(OTHER, NONE)} if len(texts) > MOST_NAMES else origins

    def origins(self, pointer: int) -> set[tuple[int, int]]:
        """Returns (kind, value) of where what comes to a pointer outside the JDK began as of the last search."""
        return self._flow.origins(pointer, True) if self._searched else set()

    def _follows(self, field: int) -> bool:
        declaring, _, descriptor = self._program.name_of_field(field)
        return descriptor in _FOLLOWED or not self.is_of_jdk(declaring)

    def is_of_jdk(self, type_: int) -> bool:
        """Returns whether the JDK defines a type."""
        return bool(self._program.flags_of_type(type_) & JDK)
