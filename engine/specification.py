"""What a user says of a program point: the strings that it may generate (Livshits, Whaley, Lam, § 5.2.7, Fig. 16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Specification:
    """The points at bytecode `offsets`: `at(method, offset)` returns their texts, None where nothing is specified.

    At a call of the reflective API the texts are names: of classes, of the members that it asks for (`m`, or `a.b.C.m`
    to say of which class), or of the members `a.b.C.m` that it acts on. At another call they are what it returns.
    `absent` is told of a name, at a call of the reflective API, that names nothing in the program.
    """

    offsets: Sequence[int] = ()
    at: Callable[[int, int], Sequence[str] | None] = lambda _method, _offset: None
    absent: Callable[[int, int, str], None] = lambda _method, _offset, _text: None
