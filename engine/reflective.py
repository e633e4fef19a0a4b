"""Reflective calls in an analysis: finds them, shows the rules what reaches their operands, and does what they derive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cypher import schema
from cypher.program import ABSTRACT, ACC_STATIC, PRIVATE
from cypher.schema import NONE, SPECIAL, STATIC, VIRTUAL, Facts, Int32
from engine import heap
from engine.confined import Confined
from engine.constraints import Constraints
from engine.models import CLASS, WRAPPERS, SiteCall, calls_at
from engine.reflection import api
from engine.reflection import relations as rel
from engine.reflection.api import API, Api
from engine.reflection.modes import rules_in
from engine.reflection.names import Members
from engine.rules import Derivation, Rules
from engine.sites import REFLECTION

INVOCATION_TARGET = "java/lang/reflect/InvocationTargetException"
LOADER = "java/lang/ClassLoader"


class Reflection:
    """The reflective sites of an analysis under one mode."""

    def __init__(self, constraints: Constraints, mode: str, confine_jdk: bool) -> None:
        self._constraints = constraints
        self._program = constraints.program
        self.rules = Rules(
            rules_in(mode), {"program": constraints.program, "members": Members(constraints.program)}
        )
        self.active = bool(rules_in(mode))
        self.sites: dict[int, tuple[Api, SiteCall]] = {}
        self.derivations: list[Derivation] = []
        self._exact: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
        self._lengths: dict[tuple[int, int], int] = {}
        self._watched: set[int] = set()
        self._confined = Confined(constraints.program) if confine_jdk else None
        self._fresh_watches: list[int] = []
        self._metaobjects: dict[tuple[str, int], int] = {}
        self._api = {method: each for each in API if (method := self._method(each)) >= 0}
        self._effects: dict[type, Callable[[Any], None]] = {
            rel.ClassObject: self._return_class,
            rel.InitialisedBy: self._initialise,
            rel.MethodObject: self._return_method,
            rel.FieldObject: self._return_field,
            rel.UnknownObject: self._return_unknown,
            rel.NewInstanceTarget: self._create,
            rel.ResolvedInvoke: self._invoke,
            rel.ResolvedField: self._access,
        }
        load = next((method for method, each in self._api.items() if each.owner == LOADER), NONE)
        self._load_signature = self._program.signature_of(load) if load >= 0 else NONE
        self._loader = self._program.type_named(LOADER)
        self._load_api = next(each for each in API if each.owner == LOADER)

    def _method(self, each: Api) -> int:
        type_ = self._program.type_named(each.owner)
        return self._program.method_of(type_, each.name, each.descriptor) if type_ >= 0 else NONE

    def is_api(self, callees: Int32) -> NDArray[np.bool_]:
        """Returns which methods are final ones of the reflective API, which the rules stand for."""
        methods = [method for method, each in self._api.items() if each.owner != LOADER]
        return np.isin(callees, np.array(methods, np.int32)) & self.active

    # --- finding sites
    def on_sites(self, facts: Facts) -> Int32:
        """Enters the reflective calls of a batch; returns the sites whose results the rules supply."""
        invoke = facts[schema.Invoke]
        mask = np.isin(invoke.callee, np.fromiter(self._api, np.int32))
        if self._load_signature >= 0:
            mask |= (invoke.signature == self._load_signature) & (invoke.kind == VIRTUAL)
        found = np.flatnonzero(mask)
        if found.size == 0:
            return invoke.site[found]
        self._note_exact_arguments(facts, invoke.site[found])
        if self._confined is not None:
            self._confined.note(facts, invoke.method[found])
        kept = []
        for call, callee in zip(calls_at(facts, found), invoke.callee[found].tolist(), strict=True):
            each = self._api.get(callee)
            if each is None and callee >= 0:
                declaring = self._program.name_of_method(callee)[0]
                if self._loader in self._program.supertypes_of(declaring):
                    each = self._load_api
            if each is not None:
                self._enter(each, call)
                kept.append(call.site)
        return np.array(kept, np.int32)

    def _note_exact_arguments(self, facts: Facts, sites: Int32) -> None:
        exact = facts.get(schema.ExactArgument)
        if exact is None:
            return
        exact = exact.take(np.isin(exact.site, sites))
        for site, position, length, index, variable in zip(
            *(column.tolist() for column in exact), strict=True
        ):
            self._lengths[site, position] = length
            if index >= 0:
                self._exact[site][position, index] = variable

    def _enter(self, each: Api, call: SiteCall) -> None:
        self.sites[call.site] = each, call
        if not self.active:
            return
        add = self.rules.add
        site: Any = call.site
        subject: Any = call.argument(each.subject) if each.subject >= 0 else NONE
        named: Any = call.argument(each.named) if each.named >= 0 else NONE
        self._ask(subject, call.method)
        self._ask(named, call.method)
        if each.role == api.FOR_NAME:
            add({rel.ForName: [rel.ForName(site, named, int(each.initialises))]})
        elif each.role == api.GET_MEMBER:
            add({rel.GetMember: [rel.GetMember(site, each.sort, int(each.declared), subject, named)]})
            self._ask_parameters(each, call)
        elif each.role == api.CLASS_NEW:
            add({rel.NewInstanceCall: [rel.NewInstanceCall(site, subject)]})
        elif each.role == api.CONSTRUCTOR_NEW:
            add({rel.ConstructorCall: [rel.ConstructorCall(site, subject)]})
        elif each.role == api.INVOKE:
            add({rel.InvokeCall: [rel.InvokeCall(site, subject)]})
        else:
            add({rel.FieldCall: [rel.FieldCall(site, subject, int(each.role == api.FIELD_SET))]})

    def _ask_parameters(self, each: Api, call: SiteCall) -> None:
        """Tells the rules which parameter classes a member call names, if its array is exact or null."""
        if each.classes < 0:
            return
        site: Any = call.site
        length = self._lengths.get((call.site, each.classes))
        if length is None:
            if call.argument(each.classes) >= 0:
                return
            length = 0
        self.rules.add({rel.ParameterClasses: [rel.ParameterClasses(site, length)]})
        for (position, index), variable in self._exact[call.site].items():
            if position == each.classes and variable >= 0:
                self._watch(variable)
                at: Any = variable
                self.rules.add({rel.ParameterVariable: [rel.ParameterVariable(site, index, at)]})

    def _ask(self, pointer: int, method: int) -> None:
        """Watches an operand; what resolves it may be confined."""
        if pointer < 0:
            return
        if self._confined is not None and self._confined.covers(method):
            self._confined.pointers[pointer] = method
        self._watch(pointer)

    def _watch(self, pointer: int) -> None:
        if pointer >= 0 and pointer not in self._watched:
            self._watched.add(pointer)
            self._fresh_watches.append(pointer)

    def flush(self) -> None:
        """Asks the solver to watch the operands that were found."""
        if self._fresh_watches:
            pointers = np.array(self._fresh_watches, np.int32)
            self._fresh_watches = []
            self._constraints.solver.watch(pointers, pointers)

    # --- what reaches operands
    def observe(self, pointers: Int32, objects: Int32, types: Int32) -> None:
        """Shows the rules new pairs of watched pointers and objects; `types` are those that class objects stand for."""
        rows: dict[type, list[tuple[Any, ...]]] = defaultdict(list)
        unknown: set[Any] = set()
        for pointer, obj, class_type in zip(pointers.tolist(), objects.tolist(), types.tolist(), strict=True):
            if pointer not in self._watched:
                continue
            kind, _, _, _, payload = self._constraints.heap.entry(obj)
            if not self.admits(pointer, kind, payload, class_type):
                unknown.add(pointer)
            elif kind == NONE and class_type >= 0:
                rows[rel.ClassAt].append(rel.ClassAt(pointer, class_type))
            elif kind == heap.CLASS_OBJECT:
                rows[rel.ClassAt].append(rel.ClassAt(pointer, payload))  # type: ignore[arg-type]
            elif kind == heap.STRING:
                text = self._program.text(payload)
                rows[rel.StringAt].append(rel.StringAt(pointer, text))
            elif kind == heap.METHOD_OBJECT:
                rows[rel.MethodAt].append(rel.MethodAt(pointer, payload))  # type: ignore[arg-type]
            elif kind == heap.FIELD_OBJECT:
                rows[rel.FieldAt].append(rel.FieldAt(pointer, payload))  # type: ignore[arg-type]
            elif kind not in (NONE, heap.GENERIC):
                unknown.add(pointer)
        rows[rel.UnknownAt] = [rel.UnknownAt(pointer) for pointer in sorted(unknown)]
        self.rules.add(rows)

    def admits(self, pointer: int, kind: int, payload: int, class_type: int) -> bool:
        """Returns whether an object may resolve the operand at `pointer` (see `engine.confined`)."""
        return self._confined is None or self._confined.admits(pointer, kind, payload, class_type)

    def derive(self) -> bool:
        """Runs the rules and does what they derive; returns whether they derived anything."""
        derived = self.rules.derive()
        for each in derived:
            effect = self._effects.get(each.rule.head)
            if effect is not None:
                effect(each.row)
                self.derivations.append(each)
        return bool(derived)

    # --- what derived rows do
    def _metaobject(self, sort: str, what: int, class_name: str, kind: int) -> int:
        """Returns the object that stands for a method, constructor or field, made on first use."""
        known = self._metaobjects.get((sort, what))
        if known is None:
            type_ = self._program.type_named(class_name)
            known = self._metaobjects[sort, what] = self._constraints.object(kind, type_, payload=what)
        return known

    def _result(self, site: int, objects: Iterable[int]) -> None:
        result = self.sites[site][1].result
        if result >= 0:
            for obj in objects:
                self._constraints.put(result, obj)

    def _return_class(self, row: rel.ClassObject) -> None:
        self._constraints.synchronise()
        self._found(row.site, row.type)
        self._result(
            row.site, self._constraints.solver.class_objects(np.array([row.type], np.int32)).tolist()
        )

    def _initialise(self, row: rel.InitialisedBy) -> None:
        call = self.sites[row.site][1]
        self._constraints.initialise([row.type], call.method, call.offset, row.site)

    def _return_method(self, row: rel.MethodObject) -> None:
        constructor = self._program.name_of_method(row.method)[1] == "<init>"
        self._found(row.site, row.method)
        owner = api.CONSTRUCTOR if constructor else api.METHOD
        self._result(row.site, [self._metaobject("method", row.method, owner, heap.METHOD_OBJECT)])

    def _found(self, site: int, what: int) -> None:
        """Notes that the method of `site` found a class or member by itself."""
        if self._confined is not None:
            self._confined.found.add((self.sites[site][1].method, what))

    def _return_field(self, row: rel.FieldObject) -> None:
        self._found(row.site, row.field)
        self._result(row.site, [self._metaobject("field", row.field, api.FIELD, heap.FIELD_OBJECT)])

    def _return_unknown(self, row: rel.UnknownObject) -> None:
        each, call = self.sites[row.site]
        owner = {"method": api.METHOD, "constructor": api.CONSTRUCTOR, "field": api.FIELD}.get(
            each.sort, CLASS
        )
        key = ("unknown", row.site)
        if key not in self._metaobjects:
            self._metaobjects[key] = self._constraints.object(
                heap.UNKNOWN, self._program.type_named(owner), call.method, call.offset, row.site
            )
        self._result(row.site, [self._metaobjects[key]])

    def _create(self, row: rel.NewInstanceTarget) -> None:
        """A new object flows to the result, its constructor runs on it."""
        each, call = self.sites[row.site]
        constraints = self._constraints
        declaring = self._program.name_of_method(row.method)[0]
        key = ("instance", row.site << 32 | declaring)
        if key not in self._metaobjects:
            self._metaobjects[key] = constraints.object(
                heap.REFLECTIVE, declaring, call.method, call.offset, row.site
            )
        receiver = constraints.fresh()
        constraints.put(receiver, self._metaobjects[key])
        self._result(row.site, [self._metaobjects[key]])
        constraints.initialise([declaring], call.method, call.offset, row.site)
        arguments = self._arguments(each, call, row.method, 1)
        thrown = call.thrown if each.role == api.CLASS_NEW else self._wrapped(call)
        constraints.call(row.site, SPECIAL, row.method, receiver, arguments, NONE, thrown, REFLECTION)

    def _invoke(self, row: rel.ResolvedInvoke) -> None:
        """The receiver, the elements of the argument array, the result and what is thrown flow as in a call."""
        each, call = self.sites[row.site]
        constraints, program = self._constraints, self._program
        declaring, _, descriptor = program.name_of_method(row.method)
        flags = program.flags_of_method(row.method)
        returned = descriptor.rpartition(")")[2]
        result = call.result if returned[0] in "L[" else NONE
        if result < 0 <= call.result and returned != "V":
            self._result(row.site, [self._boxed(returned)])
        thrown = self._wrapped(call)
        if flags & ACC_STATIC:
            constraints.initialise([declaring], call.method, call.offset, row.site)
            arguments = self._arguments(each, call, row.method, 0)
            constraints.call(row.site, STATIC, row.method, NONE, arguments, result, thrown, REFLECTION)
            return
        receiver = self._cast(call, call.argument(each.target), declaring)
        if receiver < 0:
            return
        arguments = self._arguments(each, call, row.method, 1)
        if flags & PRIVATE and not flags & ABSTRACT:
            constraints.call(row.site, SPECIAL, row.method, receiver, arguments, result, thrown, REFLECTION)
        else:
            signature = program.signature_of(row.method)
            constraints.call(row.site, VIRTUAL, signature, receiver, arguments, result, thrown, REFLECTION)

    def _cast(self, call: SiteCall, pointer: int, type_: int) -> int:
        """Returns a fresh pointer to those objects of `pointer` that are of `type_`."""
        if pointer < 0:
            return NONE
        fresh = self._constraints.fresh()
        self._constraints.add(schema.Cast, call.method, call.offset, pointer, type_, fresh)
        return fresh

    def _arguments(self, each: Api, call: SiteCall, method: int, shift: int) -> list[tuple[int, int]]:
        """Returns (position, pointer) of the reference arguments that come out of the argument array."""
        array = call.argument(each.arguments) if each.arguments >= 0 else NONE
        if array < 0:
            return []
        wanted = self._program.parameter_types(method)
        length = self._lengths.get((call.site, each.arguments))
        if length is not None and length != len(wanted):
            return []
        elements = NONE
        found = []
        for index, type_ in enumerate(wanted):
            if type_ < 0:
                continue
            if length is not None:
                source = self._exact[call.site].get((each.arguments, index), NONE)
            else:
                if elements < 0:
                    elements = self._constraints.fresh()
                    self._constraints.add(schema.ArrayLoad, call.method, call.offset, array, elements)
                source = elements
            pointer = self._cast(call, source, type_)
            if pointer >= 0:
                found.append((index + shift, pointer))
        return found

    def _boxed(self, letter: str) -> int:
        """Returns the object of the wrapper class of a primitive type."""
        name = next(name for name, each in WRAPPERS.items() if each == letter)
        return self._metaobject("boxed", ord(letter), f"java/lang/{name}", heap.REFLECTIVE)

    def _wrapped(self, call: SiteCall) -> int:
        """Returns the pointer for what the callee throws; an InvocationTargetException with it is thrown instead."""
        type_ = self._program.type_named(INVOCATION_TARGET)
        if call.thrown < 0 or type_ < 0:
            return call.thrown
        inner, outer = self._constraints.fresh(), self._constraints.fresh()
        self._constraints.put(outer, self._metaobject("thrown", 0, INVOCATION_TARGET, heap.REFLECTIVE))
        self._constraints.add(schema.Assign, call.method, call.offset, outer, call.thrown)
        for field in self._program.fields_of(type_):
            if self._program.name_of_field(field)[1] == "target":
                self._constraints.add(schema.Store, call.method, call.offset, inner, field, outer)
        return inner

    def _access(self, row: rel.ResolvedField) -> None:
        """Loads or stores the field, of the objects at the receiver or the static one."""
        each, call = self.sites[row.site]
        constraints, program = self._constraints, self._program
        declaring, _, descriptor = program.name_of_field(row.field)
        reference = descriptor[0] in "L["
        writing = each.role == api.FIELD_SET
        if program.flags_of_field(row.field) & ACC_STATIC:
            constraints.initialise([declaring], call.method, call.offset, row.site)
            base = NONE
        else:
            base = self._cast(call, call.argument(each.target), declaring)
            if base < 0:
                return
        if writing:
            type_ = program.type_named(descriptor[1:-1] if descriptor[0] == "L" else descriptor)
            value = self._cast(call, call.argument(each.arguments), type_) if reference else NONE
            if value >= 0 and base >= 0:
                constraints.add(schema.Store, call.method, call.offset, value, row.field, base)
            elif value >= 0:
                constraints.add(schema.StaticStore, call.method, call.offset, value, row.field)
        elif not reference:
            self._result(row.site, [self._boxed(descriptor)])
        elif call.result >= 0 and base >= 0:
            constraints.add(schema.Load, call.method, call.offset, base, row.field, call.result)
        elif call.result >= 0:
            constraints.add(schema.StaticLoad, call.method, call.offset, row.field, call.result)
