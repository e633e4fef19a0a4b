"""Whether an implementation of selection (JVMS 5.4.6) is right: hierarchies, with what each call must select."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from cypher.program import ABSTRACT, INTERFACE
from cypher.schema import NONE
from tests.engine.naive import selection
from tests.engine.programs import OBJECT, MethodSpec, Program, Size, TypeSpec, random_program

DEFAULT = 0
# Hierarchies without bodies, with many interfaces.
TYPES_ONLY = Size(interfaces=9, classes=9, arrays=3, functions=0, rows=0)

Select = Callable[[int, int], int]


class Case(NamedTuple):
    """What a call of `signature` on an object of `type` runs, in the hierarchy `program`."""

    program: Program
    type: int
    signature: int
    expected: int


def hierarchy(**types: tuple[tuple[str, ...], dict[int, int]]) -> Program:
    """Returns types with their supertypes and, by signature, the flags of the methods that they declare.

    The names of interfaces begin with I; the first supertype of a class is its superclass. Method `n` is the
    one declared `n`-th.
    """
    numbers = {"Object": 0, "Class": 1} | {name: at for at, name in enumerate(types, 2)}
    above = {"Object": {0}, "Class": {0, 1}}
    specs = [TypeSpec(NONE, NONE, 0, (0,), {}), TypeSpec(OBJECT, NONE, 0, (0, 1), {})]
    methods: list[MethodSpec] = []
    for name, (supertypes, declares) in types.items():
        above[name] = {0, numbers[name]}.union(*(above[each] for each in supertypes))
        declared = {}
        for signature, flags in declares.items():
            declared[signature] = len(methods)
            methods.append(MethodSpec(numbers[name], signature, 1, 3, flags))
        interface = name.startswith("I")
        superclass = NONE if interface else numbers[supertypes[0]]
        flags = INTERFACE | ABSTRACT if interface else 0
        specs.append(TypeSpec(superclass, NONE, flags, tuple(sorted(above[name])), declared))
    return Program(tuple(specs), tuple(methods), len(specs), len(methods), 1, {})


def written_cases() -> Iterator[Case]:
    """Yields the cases of JVMS 5.4.6, each with the expected method by its place."""
    own = hierarchy(A=(("Object",), {0: 0}), B=(("A",), {0: 0}), C=(("B",), {}))
    yield from (Case(own, 2, 0, 0), Case(own, 3, 0, 1), Case(own, 4, 0, 1), Case(own, 4, 1, NONE))

    abstract = hierarchy(A=(("Object",), {0: 0}), B=(("A",), {0: ABSTRACT}), C=(("B",), {}))
    yield from (Case(abstract, 2, 0, 0), Case(abstract, 3, 0, NONE), Case(abstract, 4, 0, NONE))

    class_wins = hierarchy(I=((), {0: DEFAULT, 1: DEFAULT}), A=(("Object", "I"), {0: 0}), B=(("A",), {}))
    yield from (Case(class_wins, 4, 0, 2), Case(class_wins, 4, 1, 1))

    abstract_class_wins = hierarchy(I=((), {0: DEFAULT}), A=(("Object",), {0: ABSTRACT}), B=(("A", "I"), {}))
    yield Case(abstract_class_wins, 4, 0, NONE)

    overridden_default = hierarchy(
        I=((), {0: DEFAULT}), IJ=(("I",), {0: DEFAULT}), A=(("Object", "I"), {}), B=(("A", "IJ"), {})
    )
    yield from (Case(overridden_default, 4, 0, 0), Case(overridden_default, 5, 0, 1))

    reabstracted = hierarchy(I=((), {0: DEFAULT}), IJ=(("I",), {0: ABSTRACT}), A=(("Object", "IJ"), {}))
    yield Case(reabstracted, 4, 0, NONE)

    conflict = hierarchy(I=((), {0: DEFAULT}), IJ=((), {0: DEFAULT}), A=(("Object", "I", "IJ"), {}))
    yield Case(conflict, 4, 0, NONE)

    beside_abstract = hierarchy(
        I=((), {0: DEFAULT, 1: ABSTRACT}), IJ=((), {0: ABSTRACT, 1: DEFAULT}), A=(("Object", "I", "IJ"), {})
    )
    yield from (Case(beside_abstract, 4, 0, 0), Case(beside_abstract, 4, 1, 3))

    diamond = hierarchy(
        I=((), {0: DEFAULT}), IJ=(("I",), {}), IK=(("I",), {}), A=(("Object", "IJ", "IK"), {})
    )
    yield Case(diamond, 5, 0, 0)

    rootless = Program(
        tuple(TypeSpec(NONE, NONE, INTERFACE, above, {}) for above in ((0,), (1,), (2,), (1, 3), (4,))),
        (), 5, 0, 1, {},
    )  # fmt: skip
    yield from (Case(rootless, type_, 0, NONE) for type_ in range(5))

    # The overriding method has number 0.
    first = overridden_default._replace(
        types=tuple(
            each._replace(declared={at: 1 - method for at, method in each.declared.items()})
            for each in overridden_default.types
        ),
        methods=overridden_default.methods[::-1],
    )
    yield from (Case(first, 4, 0, 1), Case(first, 5, 0, 0))

    half = hierarchy(
        I=((), {0: DEFAULT}), IJ=(("I",), {0: DEFAULT}), IK=(("I",), {}), A=(("Object", "IJ", "IK"), {})
    )
    yield Case(half, 5, 0, 1)


def random_cases(number: int) -> Iterator[Case]:
    """Yields all calls in `number` random hierarchies."""
    for seed in range(number):
        program = random_program(seed, TYPES_ONLY)
        signatures = 1 + max((each.signature for each in program.methods), default=0)
        for type_ in range(len(program.types)):
            for signature in range(signatures):
                yield Case(program, type_, signature, selection(program, type_, signature))


def mistakes(cases: list[Case], select_in: Callable[[Program], Select]) -> Iterator[tuple[Case, int]]:
    """Yields the cases that an implementation gets wrong, with what it returns; each is asked twice."""
    for program, group in groupby(cases, key=lambda case: case.program):
        select, listed = select_in(program), list(group)
        for case in (*listed, *reversed(listed)):
            found = select(case.type, case.signature)
            if found != case.expected:
                yield case, found
