"""What the JVM throws by itself: any code may throw it, and each handler of its type catch it (JVMS 2.10)."""

from __future__ import annotations

import numpy as np

from cypher import schema
from cypher.schema import NONE, Rows
from engine.asked import Asked
from engine.constraints import OF_INITIALISERS, Constraints

# Thrown when the JVM runs instructions (JVMS 6.5), or loads, links and initialises (JVMS 5).
THROWN = tuple(
    f"java/lang/{each}"
    for each in (
        "ArithmeticException", "ArrayIndexOutOfBoundsException", "ArrayStoreException", "ClassCastException",
        "IllegalMonitorStateException", "NegativeArraySizeException", "NullPointerException",
        "AbstractMethodError", "BootstrapMethodError", "ClassCircularityError", "ClassFormatError",
        "ExceptionInInitializerError", "IllegalAccessError", "IncompatibleClassChangeError", "InstantiationError",
        "InternalError", "NoClassDefFoundError", "NoSuchFieldError", "NoSuchMethodError", "OutOfMemoryError",
        "StackOverflowError", "UnsatisfiedLinkError", "UnsupportedClassVersionError", "VerifyError",
    )
)  # fmt: skip
# Those objects, and errors that escape initialisers, which the JVM passes on (JVMS 5.5).
JVM_THROWABLES = "throwables of the JVM"


class Thrown:
    """Has handlers catch what the JVM throws, whatever code they handle and even behind another one of the same code."""

    def __init__(self, constraints: Constraints) -> None:
        self._program = program = constraints.program
        self._pool = constraints.pool(JVM_THROWABLES)
        self._caught = Asked(self._is_caught)
        self._above: set[int] = set()  # the supertypes of all that is thrown
        for type_ in map(program.type_named, THROWN):
            if type_ >= 0:
                self._above |= program.supertypes_of(type_)
                constraints.put(self._pool, constraints.throwable(type_))
        self._error = program.type_named("java/lang/Error")
        if self._error >= 0:
            initialisers = constraints.pool(OF_INITIALISERS)
            constraints.add(schema.Cast, NONE, NONE, initialisers, self._error, self._pool)

    def _is_caught(self, type_: int) -> bool:
        """Returns whether handlers of a type may catch some of it."""
        return type_ in self._above or self._error in self._program.supertypes_of(type_)

    def with_thrown(self, catch: Rows) -> Rows:
        """Returns what handlers catch, with what the JVM throws."""
        kept = np.flatnonzero(self._caught.many(catch.type))
        _, first = np.unique(catch.target[kept].astype(np.int64) << 32 | catch.type[kept], return_index=True)
        found = catch.take(kept[first])
        source = np.full(len(found), self._pool, np.int32)
        thrown = Rows(schema.Catch, [found.method, found.offset, source, found.type, found.target])
        return schema.concatenate([catch, thrown])
