"""The methods of a program: ids on demand, by type, and what selection may find in each type."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cypher.growing import Growing
from cypher.program import (
    ABSTRACT,
    ACC_STATIC,
    APPLICATION,
    PRIVATE,
    PROTECTED,
    PUBLIC,
    UNREADABLE,
    MethodRows,
    TypeRows,
)
from cypher.schema import NONE, Int32, Int64
from loader.csr import spans
from loader.hierarchy import MADE, Types
from loader.names import INITIALISER, package_of
from loader.overriding import Overriding
from loader.part import Part
from loader.signatures import Signatures
from loader.unit import DROPPED


class MadeMethod(NamedTuple):
    """A method of a class that the JVM makes at run time."""

    name: str
    descriptor: str
    flags: int
    parameters: int
    variables: int


def returned_parameters(part: Part, rows: Int32) -> Int32:
    """Returns the position of the parameter that every return of each method returns, -1 if there is no such."""
    unit, assign = part.unit, part.unit.body["assign"]
    at = unit.body_at["assign"]
    counts = at[rows + 1] - at[rows]
    where = spans(at[rows], counts)
    owner = np.repeat(np.arange(len(rows)), counts)
    parameters = unit.method_parameters[rows]
    source, target = assign["source"][where], assign["target"][where]
    returning = target == parameters[owner]
    lowest, highest = np.full(len(rows), np.iinfo(np.int32).max, np.int32), np.full(len(rows), NONE, np.int32)
    np.minimum.at(lowest, owner[returning], source[returning])
    np.maximum.at(highest, owner[returning], source[returning])
    # A parameter to which something is assigned may be that instead.
    assigned = np.zeros(len(rows), bool)
    assigned[owner[target < parameters[owner]]] = True
    same = (lowest == highest) & (highest < parameters) & ~assigned
    return np.where(same, highest, NONE).astype(np.int32)


class Methods:
    """All methods of the types that were asked for, as arrays with one entry a method.

    `part` is the number of the part that has the method (-1 for one that the JVM makes) and `row` its row
    there; `plain` its signature without package, `signature` the one by which a virtual call selects.
    """

    def __init__(self, types: Types, signatures: Signatures) -> None:
        self.types = types
        self.signatures = signatures
        self.part, self.row, self.declaring = Growing(), Growing(), Growing()
        self.plain, self.signature, self.flags = Growing(), Growing(), Growing()
        self.parameters, self.variables, self.returns = Growing(), Growing(), Growing()
        self.made: list[MadeMethod] = []
        # Whether initialising the type runs something; its `<clinit>`; whether it declares a default method.
        self.runs = Growing()
        self.initialiser: list[int] = []
        self.has_default: list[bool] = []
        self._initialiser = signatures.of(INITIALISER, "()V")
        self._made_at: dict[int, int] = {}
        self._declared: dict[int, dict[int, int]] = {}
        self._names: dict[int, tuple[int, str, str]] = {}
        self._flags: dict[int, int] = {}
        self._overriding = Overriding(types, signatures)
        self._selected: list[tuple[Int64, Int32, Int32]] = []
        self._entered_types = 0
        self._reported_types = 0
        self._reported_methods = 0

    def add_made(self, type_: int, methods: Sequence[MadeMethod]) -> None:
        """Gives a type made by `Types.make` its methods."""
        self._made_at[type_] = len(self.made)
        self.made += methods

    # --- asking
    def declaring_type(self, method: int) -> int:
        """Returns the type that declares `method`."""
        return bisect_right(self.types.first_method, method) - 1

    def of_type(self, type_: int) -> range:
        """Returns the methods that `type_` declares."""
        following = type_ + 1
        end = self.types.first_method[following] if following < len(self.types) else self.types.methods
        return range(self.types.first_method[type_], end)

    def described(self, type_: int) -> list[tuple[int, str, str, int]]:
        """Returns (method, name, descriptor, access flags) of the methods that `type_` declares."""
        self.enter()
        ids, names = self.of_type(type_), self.signatures.names
        plain, flags = (each.view[ids.start : ids.stop].tolist() for each in (self.plain, self.flags))
        return [
            (method, *names[signature][:2], each)
            for method, signature, each in zip(ids, plain, flags, strict=True)
        ]

    def declared(self, type_: int) -> dict[int, int]:
        """Returns the methods that `type_` declares by signature without package."""
        found = self._declared.get(type_)
        if found is None:
            self.enter()
            ids = self.of_type(type_)
            plain = self.plain.view[ids.start : ids.stop].tolist()
            # Of two methods of one name and descriptor the first counts, so it is entered last.
            found = self._declared[type_] = dict(zip(reversed(plain), reversed(ids), strict=True))
        return found

    def flags_of(self, method: int) -> int:
        """Returns the access flags of `method`, with APPLICATION."""
        found = self._flags.get(method)
        if found is None:
            self.enter()
            found = self._flags[method] = int(self.flags.view[method])
        return found

    def name_of(self, method: int) -> tuple[int, str, str]:
        """Returns (declaring type, name, descriptor)."""
        found = self._names.get(method)
        if found is None:
            self.enter()
            name, descriptor, _ = self.signatures.names[self.plain.view[method]]
            found = self._names[method] = self.declaring_type(method), name, descriptor
        return found

    # --- entering
    def enter(self) -> None:
        """Enters the methods of the types that got an id since the last time."""
        first = self._entered_types
        if first == len(self.types):
            return
        self._entered_types = len(self.types)
        self._place(first)
        start = len(self.plain)
        self._describe(first, start)
        self._qualify(first, start)
        self._note_initialisers(first, start)

    def _place(self, first: int) -> None:
        """Enters part, row and declaring type of the methods of the types from `first`."""
        types = self.types
        numbers = np.array(types.number[first:], np.int64)
        bounds = np.array([*types.first_method[first:], types.methods], np.int64)
        counts = np.diff(bounds)
        part_of_type = np.full(len(numbers), NONE, np.int32)
        starts = np.zeros(len(numbers), np.int64)
        for which, part in enumerate(types.classes.parts):
            low = types.classes.first[which]
            here = np.flatnonzero((numbers >= low) & (numbers < types.classes.first[which + 1]))
            part_of_type[here] = which
            starts[here] = part.unit.class_methods_at[numbers[here] - low]
        for made in np.flatnonzero(numbers == MADE).tolist():
            starts[made] = self._made_at[first + made]
        self.declaring.extend(np.repeat(np.arange(first, first + len(numbers)), counts))
        self.part.extend(np.repeat(part_of_type, counts))
        self.row.extend(spans(starts, counts))

    def _describe(self, first: int, start: int) -> None:
        """Enters signature, flags and numbers of variables of the methods from `start`, of the types from `first`."""
        where, rows = self.part.view[start:], self.row.view[start:]
        plain, flags, parameters, variables = (np.empty(len(rows), np.int32) for _ in range(4))
        returns = np.full(len(rows), NONE, np.int32)
        for which, part in enumerate(self.types.classes.parts):
            here = np.flatnonzero(where == which)
            there = rows[here]
            plain[here] = self.signatures.of_refs(part, part.unit.method_signature[there])
            unreadable = part.unit.method_code[there] == DROPPED
            flags[here] = part.unit.method_flags[there] | np.where(unreadable, UNREADABLE, 0)
            parameters[here] = part.unit.method_parameters[there]
            variables[here] = part.unit.method_variables[there]
            returns[here] = returned_parameters(part, there)
        for place in np.flatnonzero(where == NONE).tolist():
            made = self.made[rows[place]]
            plain[place] = self.signatures.of(made.name, made.descriptor)
            flags[place], parameters[place], variables[place] = made.flags, made.parameters, made.variables
        of_type = np.array(self.types.flags[first:], np.int32)[self.declaring.view[start:] - first]
        self.plain.extend(plain)
        self.flags.extend(flags | (of_type & APPLICATION))
        self.parameters.extend(parameters)
        self.variables.extend(variables)
        self.returns.extend(returns)

    def _qualify(self, first: int, start: int) -> None:
        """Enters the signatures by which calls of the methods from `start` select, and what selection may find."""
        plain, flags, declaring = (
            self.plain.view[start:],
            self.flags.view[start:],
            self.declaring.view[start:],
        )
        self._overriding.prepare(map(package_of, self.types.names[first:]))
        selectable = ((flags & (ACC_STATIC | PRIVATE)) == 0) & ~self.signatures.special(plain)
        signature = plain.copy()
        for here in np.flatnonzero(selectable & ((flags & (PUBLIC | PROTECTED)) == 0)).tolist():
            package = package_of(self.types.names[declaring[here]])
            signature[here] = self.signatures.qualified(int(plain[here]), package)
        candidates: dict[int, list[tuple[int, int, int]]] = {}
        rows = np.flatnonzero(selectable & self.signatures.package_private_somewhere(plain))
        for here, type_, each, flag in zip(
            rows.tolist(), declaring[rows].tolist(), plain[rows].tolist(), flags[rows].tolist(), strict=True
        ):
            candidates.setdefault(type_, []).append((each, start + here, flag))
        extra = np.array(self._overriding.extend(candidates), np.int32).reshape(-1, 3)
        for narrower, own in self._overriding.narrower.items():
            signature[narrower - start] = own
        self._overriding.narrower.clear()
        self.signature.extend(signature)
        plainly = np.flatnonzero(selectable)
        of_type = np.concatenate((declaring[plainly], extra[:, 0]))
        by = np.concatenate((plain[plainly], extra[:, 1]))
        method = np.concatenate((plainly.astype(np.int32) + np.int32(start), extra[:, 2]))
        order = np.lexsort((method, by, of_type))
        of_type, by, method = of_type[order], by[order], method[order]
        first_of_key = np.ones(len(by), np.bool_)
        first_of_key[1:] = (np.diff(of_type) != 0) | (np.diff(by) != 0)
        counts = np.bincount(of_type[first_of_key] - first, minlength=len(self.types) - first)
        self._selected.append((counts, by[first_of_key], method[first_of_key]))

    def _note_initialisers(self, first: int, start: int) -> None:
        """Enters what initialising each type from `first` on runs (JVMS 5.5)."""
        types = self.types
        plain, flags, declaring = (
            self.plain.view[start:],
            self.flags.view[start:],
            self.declaring.view[start:],
        )
        initialiser = np.full(len(types) - first, NONE, np.int64)
        here = np.flatnonzero(plain == self._initialiser)
        initialiser[declaring[here] - first] = here + start
        default = np.zeros(len(types) - first, np.bool_)
        default[declaring[(flags & (ABSTRACT | ACC_STATIC)) == 0] - first] = True
        self.initialiser += initialiser.tolist()
        self.has_default += default.tolist()
        known = self.runs.view
        runs: list[bool] = []
        for type_ in range(first, len(types)):
            superclass = types.superclass[type_]
            inherited = (
                runs[superclass - first] if superclass >= first else superclass >= 0 and known[superclass]
            )
            runs.append(
                self.initialiser[type_] >= 0
                or bool(inherited)
                or any(self.initialiser[each] >= 0 for each in self._default_interfaces(type_))
            )
        self.runs.extend(runs)

    def initialisers(self, type_: int) -> list[tuple[int, int]]:
        """Returns (type, `<clinit>`) of what initialising `type_` runs, in that order."""
        self.enter()
        types = self.types
        chain = [type_]
        while not types.is_interface(type_) and types.superclass[chain[-1]] >= 0:
            chain.append(types.superclass[chain[-1]])
        ordered: dict[int, None] = {}
        for each in reversed(chain):
            ordered |= dict.fromkeys((*self._default_interfaces(each), each))
        return [(each, self.initialiser[each]) for each in ordered if self.initialiser[each] >= 0]

    def _default_interfaces(self, type_: int) -> list[int]:
        """Returns the superinterfaces of a class that declare a default method, each after those above it."""
        types = self.types
        if not types.interfaces[type_] or types.is_interface(type_):
            return []
        found: dict[int, None] = {}
        opened: set[int] = set()
        waiting = list(reversed(types.interfaces[type_]))
        while waiting:
            each = waiting[-1]
            if each not in opened:
                opened.add(each)
                waiting += reversed(types.interfaces[each])
                continue
            waiting.pop()
            if self.has_default[each]:
                found[each] = None
        return list(found)

    # --- reporting
    def new_rows(self) -> tuple[TypeRows, MethodRows]:
        """Returns the types and methods that got an id since the last call."""
        self.enter()
        types, first, start = self.types, self._reported_types, self._reported_methods
        supertypes = types.supertypes[first:]
        sizes = np.array([len(each) for each in supertypes], np.int64)
        flat = b"".join(supertypes)
        counts = [np.empty(0, np.int64), *(each[0] for each in self._selected)]
        empty: Int32 = np.empty(0, np.int32)
        type_rows = TypeRows(
            first,
            np.array(types.superclass[first:], np.int32),
            np.array(types.element[first:], np.int32),
            np.array(types.flags[first:], np.int32),
            np.concatenate(([0], np.cumsum(sizes))),
            np.array(np.frombuffer(flat, np.int32)) if flat else empty,
            np.concatenate(([0], np.cumsum(np.concatenate(counts)))),
            np.concatenate([empty, *(each[1] for each in self._selected)]),
            np.concatenate([empty, *(each[2] for each in self._selected)]),
        )
        columns = (self.declaring, self.signature, self.parameters, self.variables, self.flags, self.returns)
        method_rows = MethodRows(start, *(each.view[start:].copy() for each in columns))
        self._selected.clear()
        self._reported_types, self._reported_methods = len(types), len(self.plain)
        return type_rows, method_rows
