"""The `invokedynamic` instructions of a method, as the class file has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from cypher.schema import NONE
from loader.expansion import Linkage
from loader.part import Part
from loader.resolution import INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL

# Kinds of method handles up to this are for fields (JVMS 4.4.8); the instruction that calls each other kind.
FIELD_HANDLES = 4
OPCODES = {5: INVOKEVIRTUAL, 6: INVOKESTATIC, 7: INVOKESPECIAL, 8: INVOKESPECIAL, 9: INVOKEINTERFACE}


class Handle(NamedTuple):
    """A method handle constant (JVMS 4.4.8)."""

    kind: int
    owner: str
    name: str
    descriptor: str


class DynamicCall(NamedTuple):
    """An `invokedynamic` instruction of `method`, which a class of type `caller` declares.

    Or one that loads a dynamic constant: then `descriptor` is that of a field.
    `arguments` has variables of the method by position. `static_arguments` are (kind, row) as in
    `loader.unit`. The bootstrap class is "" if the class file has no such bootstrap method.
    """

    part: Part
    method: int
    caller: int
    offset: int
    name: str
    descriptor: str
    result: int
    thrown: int
    arguments: dict[int, int]
    bootstrap_kind: int
    bootstrap_class: str
    bootstrap_name: str
    bootstrap_descriptor: str
    static_arguments: list[tuple[int, int]]

    def text(self, index: int) -> str:
        """Returns static argument `index`, which refers to a text."""
        return self.part.text.one(self.static_arguments[index][1])

    @property
    def is_constant(self) -> bool:
        """Returns whether it loads a constant."""
        return not self.descriptor.startswith("(")

    def handle(self, index: int) -> Handle:
        """Returns static argument `index`, which is a method handle."""
        return read_handle(self.part, self.static_arguments[index][1])


def read_calls(linkage: Linkage, method: int) -> Iterator[DynamicCall]:
    """Yields the `invokedynamic` instructions of a method of a class file."""
    methods, types = linkage.methods, linkage.types
    row = int(methods.row.view[method])
    caller = methods.declaring_type(method)
    part, class_row = types.classes.locate(types.number[caller])
    unit = part.unit
    start, end = (int(each) for each in unit.body_at["dynamic"][row : row + 2])
    columns = [
        unit.body["dynamic"][each][start:end].tolist()
        for each in ("offset", "bootstrap", "signature", "result", "thrown")
    ]
    arguments = _arguments(part, row)
    first, last = (int(each) for each in unit.class_bootstraps_at[class_row : class_row + 2])
    for ordinal, (offset, bootstrap, signature, result, thrown) in enumerate(zip(*columns, strict=True)):
        name, descriptor = part.signature(signature)
        known = 0 <= bootstrap < last - first and unit.bootstrap_method[first + bootstrap] >= 0
        linked = part.method_ref(int(unit.bootstrap_method[first + bootstrap])) if known else ("", "", "")
        kind = int(unit.bootstrap_kind[first + bootstrap]) if known else NONE
        static = _static_arguments(part, first + bootstrap) if known else []
        passed = arguments.get(ordinal, {})
        yield DynamicCall(
            part, method, caller, offset, name, descriptor, result, thrown, passed, kind, *linked, static
        )


def bootstrap_entries(parts: Iterable[Part]) -> Counter[tuple[str, str, str]]:
    """Returns how many entries of class files name each bootstrap method (class, name, descriptor)."""
    found: Counter[tuple[str, str, str]] = Counter()
    for part in parts:
        named = part.unit.bootstrap_method
        refs, counts = np.unique(named[named >= 0], return_counts=True)
        for ref, count in zip(refs.tolist(), counts.tolist(), strict=True):
            found[part.method_ref(ref)] += count
    return found


def _arguments(part: Part, row: int) -> dict[int, dict[int, int]]:
    """Returns, by `invokedynamic` instruction of a method, the variable of each reference argument."""
    unit = part.unit
    start, end = (int(each) for each in unit.body_at["dynamic_argument"][row : row + 2])
    body = unit.body["dynamic_argument"]
    columns = (body[each][start:end].tolist() for each in ("ordinal", "position", "variable"))
    found: dict[int, dict[int, int]] = {}
    for ordinal, position, variable in zip(*columns, strict=True):
        found.setdefault(ordinal, {})[position] = variable
    return found


def _static_arguments(part: Part, bootstrap: int) -> list[tuple[int, int]]:
    unit = part.unit
    start, end = (int(each) for each in unit.bootstrap_arguments_at[bootstrap : bootstrap + 2])
    kinds, refs = unit.bootstrap_argument_kind[start:end], unit.bootstrap_argument_ref[start:end]
    return list(zip(kinds.tolist(), refs.tolist(), strict=True))


def read_handle(part: Part, row: int) -> Handle:
    """Returns method handle `row` of a unit."""
    kind, ref = int(part.unit.handle_kind[row]), int(part.unit.handle_ref[row])
    return Handle(kind, *(part.field_ref(ref) if kind <= FIELD_HANDLES else part.method_ref(ref)))


def host_name(linkage: Linkage, call: DynamicCall, what: str) -> str:
    """Returns a name for the class that the JVM makes for a call site, the same in every run.

    It is written `a/b/C$$Lambda@main+12`; of overloaded methods all but the first have their place among
    them, as in `@main~2+12`.
    """
    types, methods = linkage.types, linkage.methods
    name = linkage.signatures.names[int(methods.plain.view[call.method])][0]
    before = methods.plain.view[types.first_method[call.caller] : call.method]
    rank = sum(linkage.signatures.names[each][0] == name for each in before.tolist())
    overloaded = f"~{rank + 1}" if rank else ""
    return f"{types.names[call.caller]}$${what}@{name}{overloaded}+{call.offset}"
