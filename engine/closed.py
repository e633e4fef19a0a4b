"""Library code closed off by a model: what enters it may come back, by type (`--scope application`).

    Entered(o)               :- actual(i, p, v), points-to(v, o), calls(i, m), Library(m).
    points-to(ret(m), o)     :- Library(m), Entered(o), o <: type(ret(m)).
    points-to(mret(m), o)    :- Library(m), Entered(o), o <: Throwable.
    points-to(v, o)          :- load(v, b, f), Library(f), Entered(o), o <: type(f).
    Entered(o)               :- store(b, f, v), Library(f), points-to(v, o).
    Entered(o)               :- Entered(a), a an array, hpoints-to(a, [], o).
    hpoints-to(a, [], o)     :- Entered(a), a an array, Entered(o), o <: element(a).
    Entered(o_t)             :- t a type of the library that a method, a field, a cast or a catch clause names.
    calls(m), with Entered   :- Entered(o), m of the application, selected on o by a method of the library.
    as receiver, arguments
    and for what it returns

The last rule lets the library call back whatever overrides one of its methods: threads, comparators, handlers,
streams. `o_t` stands for all that the library makes itself. Methods that a model or a rule stands for keep it.

The library also makes the application's providers of its services, lists the constants of enums whose classes
entered, calls the method handles that did, and accesses the fields of which it was told where they are. Assumed: it
makes no other objects of the application's classes and looks at none of its members, unless a rule says so
(serialization, resource bundles).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ABSTRACT, APPLICATION, ENUM, INTERFACE, PHANTOM, SYNTHETIC, MethodRows, TypeRows
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Facts, Int32
from engine import heap
from engine.constraints import FINALIZABLE, OBJECT, THROWABLE, Constraints
from engine.handles import HandleEffects
from engine.models import METAOBJECTS, PROVIDERS, UNCAUGHT
from engine.reflection.names import class_of_descriptor
from engine.reflection.relations import OffsetField

ENTERED = "what entered the library"


class ClosedLibrary:
    """Enters the rules above; `is_modelled(method)` says whether a model supplies what calls of a method do."""

    def __init__(
        self, constraints: Constraints, is_modelled: Callable[[int], bool], handles: HandleEffects
    ) -> None:
        self._constraints, self._program = constraints, constraints.program
        self._is_modelled, self._handles = is_modelled, handles
        self._throwable = self._program.type_named(THROWABLE)
        self._metatypes = {self._program.type_named(name) for name in METAOBJECTS}
        self.entered = constraints.pool(ENTERED)
        self._held = {self._program.type_named(OBJECT): self.entered}
        self._made: set[int] = set()
        # By type, what selection finds: signatures with the method that declares each.
        self._declared: dict[int, dict[int, int]] = {}
        self._came_up: list[int] = []
        self._called: dict[int, frozenset[int]] = {}  # on objects of a type

    def start(self) -> None:
        """Enters what holds from the beginning."""
        constraints = self._constraints
        for pool in (UNCAUGHT, FINALIZABLE, PROVIDERS):
            constraints.add(schema.Assign, NONE, NONE, constraints.pool(pool), self.entered)
        constraints.add(schema.ArrayLoad, NONE, NONE, self.entered, self.entered)
        constraints.add(schema.ArrayStore, NONE, NONE, self.entered, NONE, self.entered)
        self._make(self._throwable)
        for service in self._program.services_of_application():
            if not self._is_own(service):
                self._provide(service)
        entered = np.array([self.entered], np.int32)
        constraints.solver.watch(entered, entered)

    def is_open(self, methods: Int32) -> NDArray[np.bool_]:
        """Returns which methods are analysed: those of the application, and what is generated for it."""
        return np.fromiter(map(self._is_open, methods.tolist()), np.bool_, methods.size)

    def _is_open(self, method: int) -> bool:
        return self._is_own(self._program.name_of_method(method)[0])

    def _is_own(self, type_: int) -> bool:
        """Returns whether a type is the application's, or generated: no other names those of the library."""
        flags = self._program.flags_of_type(type_)
        return bool(flags & (APPLICATION | SYNTHETIC))

    def on_rows(self, types: TypeRows, methods: MethodRows) -> tuple[TypeRows, MethodRows]:
        """Returns rows that came up as calls on objects that the library makes need them.

        Such an object may be of any class below its type: selection finds what the type declares or inherits, be it
        abstract. Nothing is known of which parameter a method of the library returns.
        """
        numbers = np.arange(methods.first, methods.first + methods.flags.size, dtype=np.int32)
        own = self.is_open(numbers)
        methods = methods._replace(
            flags=np.where(own, methods.flags, methods.flags & ~ABSTRACT).astype(np.int32),
            returns=np.where(own, methods.returns, NONE).astype(np.int32),
        )
        starts, signatures, declared = (
            types.declared_at.tolist(),
            types.declared_signature,
            types.declared_method,
        )
        found: list[dict[int, int]] = []
        for index, (start, end) in enumerate(pairwise(starts)):
            type_ = types.first + index
            here = dict(zip(signatures[start:end].tolist(), declared[start:end].tolist(), strict=True))
            if types.flags[index] & (ABSTRACT | INTERFACE) and not self._is_own(type_):
                above = sorted(self._program.supertypes_of(type_) - {type_})
                inherited = {key: value for each in above for key, value in self._declared[each].items()}
                here = inherited | here
            self._declared[type_] = here
            found.append(dict(sorted(here.items())))
            self._came_up.append(type_)
        return (
            types._replace(
                declared_at=np.cumsum([0, *map(len, found)], dtype=np.int64),
                declared_signature=np.array([key for each in found for key in each], np.int32),
                declared_method=np.array([value for each in found for value in each.values()], np.int32),
            ),
            methods,
        )

    # --- methods of the library
    def on_methods(self, methods: Int32, firsts: Int32) -> None:
        """Enters what calls of these methods do."""
        constraints, program = self._constraints, self._program
        columns = (methods, firsts, constraints.parameters.of(methods), constraints.opaque(methods))
        for method, first, parameters, opaque in zip(*(each.tolist() for each in columns), strict=True):
            declaring, name, descriptor = program.name_of_method(method)
            if self._is_modelled(method) or (name == "<init>" and program.superclass_of(declaring) < 0):
                continue
            for position in range(0 if opaque else parameters):
                constraints.add(schema.Assign, method, 0, first + position, self.entered)
            returned = class_of_descriptor(program, descriptor.rpartition(")")[2])
            self._bring_back(method, returned, first + parameters)
            self._bring_back(method, self._throwable, first + parameters + 1)

    def _bring_back(self, method: int, type_: int, target: int) -> None:
        """Puts what entered into `target`, if its type is `type_`."""
        if type_ >= 0:
            self._make(type_)
            self._constraints.add(schema.Cast, method, 0, self.entered, type_, target)

    def _make(self, type_: int) -> None:
        """Has the library make objects of a type, if it is its own."""
        constraints, program = self._constraints, self._program
        while type_ >= 0 and type_ not in self._made:
            self._made.add(type_)
            flags = program.flags_of_type(type_)
            if self._is_own(type_) or flags & PHANTOM:
                return
            kind = heap.UNKNOWN if type_ in self._metatypes else heap.ENTRY
            constraints.put(self.entered, constraints.object(kind, type_))
            name = program.name_of_type(type_)
            type_ = class_of_descriptor(program, name[1:]) if name.startswith("[") else NONE

    def _held_as(self, type_: int) -> int:
        """Returns a pointer to what entered and is of `type_`."""
        if type_ not in self._held:
            self._held[type_] = pointer = self._constraints.fresh()
            self._constraints.add(schema.Cast, NONE, NONE, self.entered, type_, pointer)
        return self._held[type_]

    # --- the application's code
    def on_facts(self, facts: Facts) -> None:
        """Enters what the facts of the application's methods say about the library's fields and types."""
        for relation in (schema.Cast, schema.Catch):
            if found := facts.get(relation):
                self._make_all(found.type)
        if load := facts.get(schema.Load):
            for row in self._of_library(load.field):
                method, type_ = int(load.method[row]), self._type_of_field(int(load.field[row]))
                self._bring_back(method, type_, int(load.target[row]))
        if store := facts.get(schema.Store):
            for row in self._of_library(store.field):
                method, source = int(store.method[row]), int(store.source[row])
                self._constraints.add(schema.Assign, method, int(store.offset[row]), source, self.entered)

    def _make_all(self, types: Int32) -> None:
        for type_ in np.unique(types).tolist():
            self._make(type_)

    def _of_library(self, fields: Int32) -> list[int]:
        """Returns the rows with a field that a class of the library declares."""
        distinct, inverse = np.unique(fields, return_inverse=True)
        own = [self._is_own(self._program.name_of_field(each)[0]) for each in distinct.tolist()]
        found: list[int] = np.flatnonzero(~np.array(own, np.bool_)[inverse]).tolist()
        return found

    def _type_of_field(self, field: int) -> int:
        return class_of_descriptor(self._program, self._program.name_of_field(field)[2])

    def on_field(self, field: int, pointer: int) -> None:
        """Enters what a static field of the library holds."""
        if not self._is_own(self._program.name_of_field(field)[0]):
            self._bring_back(NONE, self._type_of_field(field), pointer)
            self._constraints.add(schema.Assign, NONE, NONE, pointer, self.entered)

    # --- calls back
    def flush(self) -> None:
        """Has the library call what the types that came up override of it."""
        while self._came_up:
            came_up, self._came_up = self._came_up, []
            for type_ in came_up:
                if self._is_own(type_) and not self._program.flags_of_type(type_) & INTERFACE:
                    self._call_back(type_)

    def _provide(self, service: int) -> None:
        """Makes the application's providers of a service of the library."""
        constraints, program = self._constraints, self._program
        for method in filter(self._is_open, program.providers_of(service)):
            declaring, name, _ = program.name_of_method(method)
            constraints.initialise([declaring], NONE, NONE)
            if name == "<init>":
                receiver, made = constraints.fresh(), constraints.object(heap.REFLECTIVE, declaring)
                constraints.put(receiver, made)
                constraints.put(self.entered, made)
                constraints.call(NONE, SPECIAL, method, receiver)
            else:
                constraints.call(NONE, STATIC, method, result=self.entered)

    def _call_back(self, type_: int) -> None:
        supertypes = self._program.supertypes_of(type_)
        own = {each for each in supertypes if self._is_own(each)}
        overriding = {signature for each in own for signature in self._declared_by(each)}
        called = {
            signature: method
            for each in sorted(supertypes - own)
            for signature, method in self._declared_by(each).items()
            if signature in overriding
        }
        inherited = self._called.get(self._program.superclass_of(type_), frozenset())
        self._called[type_] = inherited | called.keys()
        for signature, method in called.items():
            if signature not in inherited:
                self._call(type_, signature, method)

    def _declared_by(self, type_: int) -> dict[int, int]:
        return self._declared.get(type_, {})

    def _call(self, type_: int, signature: int, method: int) -> None:
        """Calls what overrides a method of the library, on objects of a class of the application that entered."""
        constraints = self._constraints
        arguments: Iterable[tuple[int, int]] = [
            (position, self._taken(each))
            for position, each in enumerate(self._program.parameter_types(method), start=1)
            if each >= 0
        ]
        receiver = self._held_as(type_)
        constraints.call(NONE, VIRTUAL, signature, receiver, arguments, self.entered, self.entered)

    def _taken(self, type_: int) -> int:
        self._make(type_)
        return self._held_as(type_)

    # --- what the library does with members
    def open_field(self, row: OffsetField) -> None:
        """Has the library read and write a field of which it was told where it is, in what entered."""
        declaring, _, descriptor = self._program.name_of_field(row.field)
        value = class_of_descriptor(self._program, descriptor)
        if descriptor[0] in "L[" and value >= 0 and self._is_own(declaring):
            base, written = self._held_as(declaring), self._held_as(value)
            self._constraints.add(schema.Load, NONE, NONE, base, row.field, self.entered)
            self._constraints.add(schema.Store, NONE, NONE, written, row.field, base)

    def observe(self, pointers: Int32, objects: Int32, types: Int32) -> None:
        """Has the library list the constants of enums whose classes entered, and call handles that did.

        `types` are those that class objects stand for.
        """
        entered = pointers == self.entered
        for obj, type_ in zip(objects[entered].tolist(), types[entered].tolist(), strict=True):
            kind, _, _, _, payload = self._constraints.heap.entry(obj)
            if type_ >= 0 and self._program.flags_of_type(type_) & ENUM and self._is_own(type_):
                self._list_constants(type_)
            elif kind == heap.HANDLE:
                self._handles.call_with_anything(payload >> 4, payload & 15, self.entered)
            elif kind == heap.MADE_HANDLE:
                made = self._handles.made[payload]
                for each in (*made.handles, *made.bound):
                    self._constraints.add(schema.Assign, NONE, NONE, each, self.entered)

    def _list_constants(self, type_: int) -> None:
        values = self._program.method_of(type_, "values", f"()[L{self._program.name_of_type(type_)};")
        if values >= 0:
            self._constraints.initialise([type_], NONE, NONE)
            self._constraints.call(NONE, STATIC, values, result=self.entered)
