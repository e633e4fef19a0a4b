"""Random constraint programs: a hierarchy, methods with parameters, and bodies that are rows of every kind.

A pointer of a body is a local variable (its number, from 0) or a global one (number `g` is written `-2 - g`).
The rows of `ROOT` are there from the beginning and use globals only.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from hypothesis import strategies as st

from cypher.program import ABSTRACT, INTERFACE
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL

OBJECT, CLASS = 0, 1
ROOT = -1
SIGNATURES = 3
FIELDS = 2

# Kinds of row, as often as they are drawn.
KINDS = (
    "new", "assign", "site", "load", "store", "cast", "exclude", "class_objects", "watch", "reach",
    "call", "new", "new", "assign", "site", "site", "load", "store", "tracked",
    "assign_untracked",
)  # fmt: skip

# Returns a number between two others, both included.
Choose: TypeAlias = Callable[[int, int], int]


class TypeSpec(NamedTuple):
    superclass: int
    element: int
    flags: int
    supertypes: tuple[int, ...]
    declared: dict[int, int]


class MethodSpec(NamedTuple):
    declaring: int
    signature: int
    parameters: int
    variables: int
    flags: int
    returns: int = NONE


class Row(NamedTuple):
    """`kind` is a method of `Solver`, or what the object is that is put into a pointer.

    `columns` are the arguments; for `new`, `tracked` and `class_objects` a pointer and a type.
    """

    kind: str
    columns: tuple[int, ...]
    arguments: tuple[tuple[int, int], ...] = ()  # of a site: (position, pointer)


class Program(NamedTuple):
    """`early` types, and the methods that they declare, are known before the others."""

    types: tuple[TypeSpec, ...]
    methods: tuple[MethodSpec, ...]
    early_types: int
    early_methods: int
    global_pointers: int
    bodies: dict[int, tuple[Row, ...]]

    def with_row(self, method: int, row: Row) -> Program:
        return self._replace(bodies={**self.bodies, method: (*self.bodies[method], row)})


class Size(NamedTuple):
    """The most there may be of each; `least` rows in a body."""

    interfaces: int = 3
    classes: int = 4
    arrays: int = 3
    functions: int = 3
    rows: int = 9
    global_pointers: int = 3
    locals: int = 2
    least: int = 0


SMALL = Size()
MIDDLE = Size(4, 8, 4, 8, 12, 6, 4, 3)
LARGE = Size(8, 16, 8, 20, 20, 12, 8, 6)


class Script(NamedTuple):
    """How rows are fed to a solver.

    `spread` filler objects come before each object, so that rows get long; of the rows that could be fed,
    each is with probability `share`, the others later.
    """

    budget: int = 1 << 40
    spread: int = 0
    share: float = 1.0
    seed: int = 0


AT_ONCE = Script()
scripts = st.builds(
    Script,
    budget=st.sampled_from((0, 1, 5, 40, 1 << 40)),
    spread=st.sampled_from((0, 1, 30, 63, 64, 150)),
    share=st.sampled_from((0.1, 0.5, 0.9, 1.0)),
    seed=st.integers(0, 1 << 16),
)


def chosen(choose: Choose, among: list[int], most: int) -> list[int]:
    """Returns up to `most` distinct elements of `among`."""
    left = list(among)
    return [left.pop(choose(0, len(left) - 1)) for _ in range(choose(0, min(most, len(left))))]


def shuffled(choose: Choose, numbers: range) -> list[int]:
    left = list(numbers)
    return [left.pop(choose(0, len(left) - 1)) for _ in numbers]


class Drawing:
    """A program in the making: types in an order in which supertypes come first, then renumbered."""

    def __init__(self, choose: Choose, size: Size) -> None:
        self.choose, self.size = choose, size
        self.superclass: list[int] = [NONE, OBJECT]
        self.element: list[int] = [NONE, NONE]
        self.flags: list[int] = [0, 0]
        self.supertypes: list[set[int]] = [{OBJECT}, {OBJECT, CLASS}]
        self.methods: list[MethodSpec] = []

    def add_type(self, superclass: int, supertypes: list[int], element: int = NONE, flags: int = 0) -> None:
        number = len(self.superclass)
        self.superclass.append(superclass)
        self.element.append(element)
        self.flags.append(flags)
        self.supertypes.append({number, OBJECT}.union(*(self.supertypes[each] for each in supertypes)))

    def add_types(self) -> None:
        """Adds interfaces, classes and arrays, mixed, each below some that are there."""
        kinds = [0] * self.choose(0, self.size.interfaces) + [1] * self.choose(1, self.size.classes)
        for at in shuffled(self.choose, range(len(kinds))):
            interfaces = [each for each, flags in enumerate(self.flags) if flags & INTERFACE]
            above = chosen(self.choose, interfaces, 2)
            if kinds[at] == 0:
                self.add_type(OBJECT if self.choose(0, 1) else NONE, above, flags=INTERFACE | ABSTRACT)
                continue
            classes = [
                each for each, flags in enumerate(self.flags) if not flags & INTERFACE and each != CLASS
            ]
            superclass = classes[self.choose(0, len(classes) - 1)]
            self.add_type(superclass, [superclass, *above], flags=ABSTRACT * self.choose(0, 1))
        for _ in range(self.choose(0, self.size.arrays)):
            element = self.choose(0, len(self.superclass) - 1)
            if element not in self.element:
                above = [
                    array
                    for array, other in enumerate(self.element)
                    if other != NONE and other in self.supertypes[element]
                ]
                self.add_type(OBJECT, above, element)

    def add_methods(self) -> None:
        """Declares methods for some signatures in some types, then functions that nothing selects."""
        for type_, flags in enumerate(self.flags):
            if self.element[type_] == NONE:
                for signature in range(SIGNATURES):
                    kind = self.choose(0, 3)
                    if kind > 1 or (kind == 1 and flags & ABSTRACT):
                        self.add_method(type_, signature, 1, ABSTRACT if kind == 1 else 0)
        for _ in range(self.choose(0, self.size.functions)):
            self.add_method(self.choose(0, len(self.flags) - 1), NONE, 0, 0)

    def add_method(self, declaring: int, signature: int, receivers: int, flags: int) -> None:
        parameters = receivers + self.choose(0, 2)
        variables = parameters + 2 + self.choose(0, self.size.locals)
        returns = self.choose(NONE, parameters - 1) if not flags & ABSTRACT else NONE
        self.methods.append(MethodSpec(declaring, signature, parameters, variables, flags, returns))

    def renumber(self) -> tuple[list[TypeSpec], int, int]:
        """Returns the types in a random order in which `early` ones come first, and how many those are."""
        number, early = len(self.superclass), self.choose(2, len(self.superclass))
        ids = [0, 1]
        ids += shuffled(self.choose, range(2, early)) + shuffled(self.choose, range(early, number))
        ids.append(NONE)  # so that the last, -1, stays
        self.methods = [each._replace(declaring=ids[each.declaring]) for each in self.methods]
        order = shuffled(self.choose, range(len(self.methods)))
        methods = [self.methods[each] for each in order]
        self.methods = sorted(methods, key=lambda each: each.declaring >= early)
        types = [TypeSpec(NONE, NONE, 0, (), {})] * number
        for old, new in enumerate(ids[:-1]):
            declared = {
                each.signature: at
                for at, each in enumerate(self.methods)
                if each.declaring == new and each.signature != NONE
            }
            types[new] = TypeSpec(
                ids[self.superclass[old]],
                ids[self.element[old]],
                self.flags[old],
                tuple(sorted(ids[each] for each in self.supertypes[old])),
                declared,
            )
        return types, early, sum(each.declaring < early for each in self.methods)


# Where the columns of each kind of row name a pointer into which something is put.
TARGETS = {
    "new": (0,), "tracked": (0,), "class_objects": (0,), "assign": (1,), "assign_untracked": (1,), "cast": (2,),
    "exclude": (2,), "load": (2,), "site": (3, 4),
}  # fmt: skip


def redirected(row: Row, last: int, other: int) -> Row:
    """Returns the row with `other` in place of the local variables up to `last` into which it puts something."""
    columns = list(row.columns)
    for place in TARGETS.get(row.kind, ()):
        if 0 <= columns[place] <= last:
            columns[place] = other
    return row._replace(columns=tuple(columns))


class Body:
    """Rows of one method in the making."""

    def __init__(self, choose: Choose, program: Program, method: int) -> None:
        self.choose, self.program, self.method = choose, program, method
        self.locals = program.methods[method].variables if method != ROOT else 0
        self.rows: list[Row] = []

    def pointer(self) -> int:
        found = self.choose(-self.program.global_pointers, self.locals - 1)
        return found if found >= 0 else found - 1

    def optional(self) -> int:
        return self.pointer() if self.choose(0, 3) else NONE

    def type(self) -> int:
        return self.choose(0, len(self.program.types) - 1)

    def field(self) -> int:
        return self.choose(NONE, FIELDS - 1)

    def add(self) -> None:
        kind = KINDS[self.choose(0, len(KINDS) - 1)]
        pointer, other = self.pointer(), self.pointer()
        if kind in {"new", "tracked", "class_objects"}:
            self.rows.append(Row(kind, (pointer, self.type())))
        elif kind in {"assign", "assign_untracked"}:
            self.rows.append(Row(kind, (pointer, other)))
        elif kind in {"cast", "exclude"}:
            self.rows.append(Row(kind, (pointer, self.type(), other)))
        elif kind in {"load", "store"}:
            self.rows.append(Row(kind, (pointer, self.field(), other)))
        elif kind == "watch":
            self.rows.append(Row(kind, (pointer, self.choose(0, 2))))
        elif kind == "reach" and self.program.methods:
            self.rows.append(Row(kind, (self.choose(0, len(self.program.methods) - 1),)))
        elif kind == "site":
            self.add_site()
        elif kind == "call":
            sites = [at for at, row in enumerate(self.rows) if row.kind == "site"]
            if sites:
                site = sites[self.choose(0, len(sites) - 1)]
                self.rows.append(Row(kind, (site, self.choose(0, len(self.program.methods) - 1))))

    def add_return(self) -> None:
        """Has the method always return the parameter that it is said to; or, if it is said of none, not always one."""
        if self.method == ROOT:
            return
        spec = self.program.methods[self.method]
        if spec.returns == NONE:
            assigns = [row.columns for row in self.rows if row.kind == "assign"]
            sources = {source for source, target in assigns if target == spec.parameters}
            if len(sources) == 1 and sources <= set(range(spec.parameters)):
                self.rows.append(Row("new", (spec.parameters, 0)))
            return
        self.rows = [redirected(row, spec.parameters, spec.parameters + 1) for row in self.rows]
        self.rows.append(Row("assign", (spec.returns, spec.parameters)))

    def add_site(self) -> None:
        kind = self.choose(STATIC, VIRTUAL)
        methods = self.program.methods
        callees = [
            at
            for at, each in enumerate(methods)
            if kind == STATIC or (kind == SPECIAL and each.signature != NONE and not each.flags & ABSTRACT)
        ]
        if kind == VIRTUAL:
            target = self.choose(0, SIGNATURES - 1)
        elif callees:
            target = callees[self.choose(0, len(callees) - 1)]
        else:
            return
        receiver = NONE if kind == STATIC else self.optional()
        positions = chosen(self.choose, [0, 1, 2] if kind == STATIC else [1, 2], 2)
        arguments = tuple((position, self.pointer()) for position in sorted(positions))
        columns = (kind, target, receiver, self.optional(), self.optional())
        self.rows.append(Row("site", columns, arguments))


def make_program(choose: Choose, size: Size) -> Program:
    """Returns a program of at most this size."""
    drawing = Drawing(choose, size)
    drawing.add_types()
    drawing.add_methods()
    types, early_types, early_methods = drawing.renumber()
    program = Program(
        tuple(types),
        tuple(drawing.methods),
        early_types,
        early_methods,
        choose(1, size.global_pointers),
        {},
    )
    for method in range(ROOT, len(program.methods)):
        body = Body(choose, program, method)
        if method == ROOT or not program.methods[method].flags & ABSTRACT:
            for _ in range(choose(size.least, size.rows)):
                body.add()
            body.add_return()
        program.bodies[method] = tuple(body.rows)
    for _ in range(1 + size.least):
        if program.methods:
            program = program.with_row(ROOT, Row("reach", (choose(0, len(program.methods) - 1),)))
    return program


def random_program(seed: int, size: Size = LARGE) -> Program:
    """Returns a program that a seed stands for: larger ones than Hypothesis likes to draw."""
    return make_program(random.Random(seed).randint, size)


@st.composite
def programs(draw: st.DrawFn, size: Size = SMALL) -> Program:
    return make_program(lambda low, high: draw(st.integers(low, high)), size)


@st.composite
def programs_and_rows(draw: st.DrawFn) -> tuple[Program, int, Row]:
    """Returns a program with a row to add to the body of one of its methods."""
    program = draw(programs())
    concrete = [at for at in program.bodies if at == ROOT or not program.methods[at].flags & ABSTRACT]
    method = draw(st.sampled_from(concrete))
    body = Body(lambda low, high: draw(st.integers(low, high)), program, method)
    while not body.rows:
        body.add()
    return program, method, body.rows[0]
